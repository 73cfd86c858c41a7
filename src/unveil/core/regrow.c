/* Grow a node anew from its gathered records, collapse what has grown, and take the likelihood of its leaves. */
#include "walk.h"

/* Ordered predictors with more cells of levels and classes than this are read in sorted order. */
#define NARROW 32

/* A node that is grown anew; z_start, z_stop: its released records; last: the last node below. */
struct Regrown {
    int64_t start, stop, right, splits, z_start, z_stop, last;
    double risk, decrease, paid;
};

/* A node in waiting; parent: the node whose right child it is (-1: a left child). */
struct Waiting {
    int64_t start, stop, depth, parent, z_start, z_stop;
};

/* Number the classes that occur among the gathered records anew. */
static void recode_classes(Work *work) {
    int64_t *recoded = work->recoded, classes = 0;
    memset(recoded, 0, (size_t)work->tree->v * sizeof *recoded);
    for (int64_t i = 0; i < work->records.m; i++) recoded[work->response[i]] = 1;
    for (int64_t c = 0; c < work->tree->v; c++)
        if (recoded[c]) recoded[c] = classes++;
    for (int64_t i = 0; i < work->records.m; i++) work->records.y[i] = recoded[work->response[i]];
    work->records.classes = classes;
}

/* Send released records to the children; gives where those of the right child begin. */
static int64_t divide_release(Work *work, const Waiting *waiting, int64_t feature, int64_t cut) {
    const int32_t *codes = work->tree->z_codes + feature * work->tree->z;
    bool unordered = work->tree->unordered[feature];
    for (int64_t i = waiting->z_start; i < waiting->z_stop; i++) {
        int32_t row = work->z_rows[i], code = codes[row];
        work->z_goes_right[row] = unordered ? (uint8_t)(work->scratch.side[code] & RIGHT) : code >= cut;
    }
    return divide_rows(work->z_rows, work->z_spare, work->z_goes_right, waiting->z_start, waiting->z_stop);
}

/* Likelihood of a leaf that was grown anew. */
static Likelihood regrown_leaf(Work *work, const Regrown *leaf) {
    const KnownTree *tree = work->tree;
    const Move *move = &work->move;
    int64_t *donors = work->donors, possible = 0, impossible = 0, size = leaf->stop - leaf->start;
    int64_t n = size_with(&tree->nodes[0], move->leaves, move->comes);
    double total = 0.0;
    for (int64_t i = leaf->start; i < leaf->stop; i++) donors[work->response[work->growing.rows[i]]]++;
    for (int64_t i = leaf->z_start; i < leaf->z_stop; i++) {
        int32_t code = tree->z_response[work->z_rows[i]];
        int64_t count = donors[code];
        if (tree->mix > 0) {
            int64_t all = donors_with(tree->donors, code, move, move->leaves, move->comes);
            total += log_mixed(tree->mix, count, size, all, n);
        } else if (count) {
            possible++;
            total += tree->logs[count];
        } else {
            impossible++;
        }
    }
    for (int64_t i = leaf->start; i < leaf->stop; i++) donors[work->response[work->growing.rows[i]]] = 0;
    return (Likelihood){impossible, total - (double)possible * tree->logs[size]};
}

/* Collapse the regrown nodes, and add up the likelihood of the leaves that are left. */
static Likelihood collapse_regrown(Work *work, int64_t t, double price) {
    Regrown *nodes = work->regrown;
    for (int64_t at = t - 1; at >= 0; at--) {
        Regrown *node = &nodes[at];
        node->last = node->right < 0 ? at : nodes[node->right].last;
        if (node->right < 0) continue;
        const Regrown *left = node + 1, *right = &nodes[node->right];
        if (work->tree->limits.risk == MISCLASSIFIED) node->decrease = node->risk - left->risk - right->risk;
        double total = node->decrease + left->paid + right->paid;
        int64_t count = 1 + left->splits + right->splits;
        if (total > price * (double)count) {
            node->paid = total;
            node->splits = count;
        }
    }
    Likelihood all = {0, 0.0};
    for (int64_t at = 0; at < t;) {
        if (nodes[at].splits > 0) {
            at++;
            continue;
        }
        Likelihood leaf = regrown_leaf(work, &nodes[at]);
        all.impossible += leaf.impossible;
        all.log += leaf.log;
        at = nodes[at].last + 1;
    }
    return all;
}

/* Best split of a node that has grown anew; false if there is none. */
static bool find_regrown(Work *work, const Parent *parent) {
    reset(&work->best, parent);
    for (int64_t f = 0; f < work->growing.predictors; f++) offer_gathered(work, &work->growing, parent, f);
    return work->best.feature >= 0;
}

/* Visit the node that waits last, the t-th one; its children wait. */
static void visit(Work *work, int64_t t, int64_t *n_waiting, double least) {
    const KnownTree *tree = work->tree;
    const Limits *limits = &tree->limits;
    Records *records = &work->growing;
    Waiting waiting = work->waiting[--*n_waiting];
    int64_t n = waiting.stop - waiting.start;
    if (waiting.parent >= 0) work->regrown[waiting.parent].right = t;
    add_up(records, work->scratch.node, waiting.start, waiting.stop);
    Judged judged = judge(records->classes, work->scratch.node, n, limits->risk);
    Regrown *node = &work->regrown[t];
    *node = (Regrown){
        .start = waiting.start, .stop = waiting.stop, .right = -1, .z_start = waiting.z_start,
        .z_stop = waiting.z_stop, .risk = judged.risk,
    };
    if (!may_split(limits, n, waiting.depth, judged.risk, least)) return;
    Parent parent = parent_of(tree, waiting.start, waiting.stop, judged.total, records->classes);
    if (!find_regrown(work, &parent)) return;
    const Best *best = &work->best;
    node->decrease = gain_of(best->score, &parent, records->classes);
    node->right = 0;
    int64_t cut = tree->unordered[best->feature] ? 0 : cut_between(tree, best->feature, best->cut, best->after);
    int64_t z_middle = divide_release(work, &waiting, best->feature, cut), depth = waiting.depth + 1;
    int64_t middle =
        divide(records, &work->scratch, waiting.start, waiting.stop, best->feature, best->cut, limits->minsplit);
    work->waiting[(*n_waiting)++] = (Waiting){middle, waiting.stop, depth, t, z_middle, waiting.z_stop};
    work->waiting[(*n_waiting)++] = (Waiting){waiting.start, middle, depth, -1, waiting.z_start, z_middle};
}

/* Grow the gathered records of a node anew, collapse, and take the likelihood; false: no memory.
 *
 * least   risk at or below which nodes are not split, and the price of a split
 */
bool regrow(Work *work, Step *step, double least) {
    const KnownTree *tree = work->tree;
    const Known *known = &tree->known[step->node];
    Records *records = &work->growing;
    int64_t z = known->z_stop - known->z_start, n_waiting = 1;
    records->m = work->records.m;
    records->classes = work->records.classes;
    memcpy(records->rows, work->records.rows, (size_t)records->m * sizeof *records->rows);
    sort_gathered(work, records, NARROW);
    memcpy(work->z_rows, tree->z_order + known->z_start, (size_t)z * sizeof(int32_t));
    if (!lengthen((void **)&work->waiting, &work->waiting_length, 1, sizeof(Waiting))) return false;
    work->waiting[0] = (Waiting){0, records->m, tree->nodes[step->node].depth, -1, 0, z};
    int64_t t = 0;
    for (; n_waiting; t++) {
        if (!lengthen((void **)&work->regrown, &work->regrown_length, t + 1, sizeof(Regrown)) ||
            !lengthen((void **)&work->waiting, &work->waiting_length, n_waiting + 1, sizeof(Waiting)))
            return false;
        visit(work, t, &n_waiting, least);
    }
    Likelihood likelihood = collapse_regrown(work, t, least);
    step->is_regrown = true;
    step->paid = work->regrown[0].paid;
    step->splits = work->regrown[0].splits;
    step->impossible = likelihood.impossible;
    step->log = likelihood.log;
    return true;
}

/* Grow the whole tree anew; without records every released value is impossible. */
bool regrow_root(Work *work, Step *step) {
    const KnownTree *tree = work->tree;
    if (size_with(tree->nodes, step->leaves, step->comes) == 0) {
        step->is_regrown = true;
        step->impossible = tree->z;
        return true;
    }
    gather(work, 0, step->leaves, step->comes);
    if (tree->classes) recode_classes(work);
    add_up(&work->records, work->scratch.node, 0, work->records.m);
    Judged judged = judge(work->records.classes, work->scratch.node, work->records.m, tree->limits.risk);
    return regrow(work, step, tree->limits.cp * judged.risk);
}
