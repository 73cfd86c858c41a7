/* Fit a tree again with one record moved, along the path of the record only.
 *
 * Only nodes on the old and the new path of the record see other data. They are walked from the root: where the chosen
 * split stays the best, the walk goes on below it; where it does not, what hangs on the node is grown anew. Then the
 * collapse is redone along the path. Subtrees beside the path keep their figures, unless the price of a split, which
 * depends on the risk of the root, crosses one of the prices that decided something: then the whole tree is grown anew.
 *
 * The result, impossible values and log-likelihood of the release, equals that of a fit to the changed records.
 */
#include "split.h"

/* Prices this close to one that decides something are decided anew. */
#define GUARD 1e-9

/* The record that moves: it leaves with its old value, comes with its new value and predictors, or both. */
typedef struct {
    int64_t record;
    bool leaves, comes;
    int32_t old, new;
    const int32_t *codes;
} Move;

/* A node on the path of the record, and what becomes of it; left, right: steps of its children, -1: not on the path. */
typedef struct {
    int64_t node, left, right, splits, impossible;
    bool leaves, comes, is_split, is_regrown;
    double risk, decrease, paid, log;
} Step;

/* A node that is grown anew; z_start, z_stop: its released records; last: the last node below. */
typedef struct {
    int64_t start, stop, right, splits, z_start, z_stop, last;
    double risk, decrease, paid;
} Regrown;

typedef struct {
    int64_t start, stop, depth, parent, z_start, z_stop;
} Waiting;

/* Buffers of one thread. records: the gathered records of a node; response: their values. */
typedef struct {
    const KnownTree *tree;
    Records records;
    Scratch scratch;
    Best best;
    Levels levels;
    int32_t *response, *z_rows, *z_spare;
    uint8_t *z_goes_right;
    int64_t *recoded, *donors;
    Regrown *regrown;
    int64_t regrown_length;
    Waiting *waiting;
    Step *steps;
} Work;

static void free_work(Work *work) {
    free_scratch(&work->scratch);
    free(work->records.codes);
    free(work->records.y);
    free(work->records.rows);
    free(work->records.wide);
    free(work->levels.number);
    free(work->levels.cells);
    free(work->response);
    free(work->z_rows);
    free(work->z_goes_right);
    free(work->recoded);
    free(work->regrown);
    free(work->waiting);
    free(work->steps);
}

static bool new_work(Work *work, const KnownTree *tree) {
    int64_t m = tree->n + 1, k = tree->classes > 0 ? tree->v : 1, widest = 1;
    for (int64_t f = 0; f < tree->p; f++) widest = larger(widest, tree->n_levels[f]);
    int64_t depth = smaller(tree->limits.max_depth, m) + 2;
    *work = (Work){
        .tree = tree,
        .records = {
            .codes = room(tree->p * m, sizeof(int32_t)), .n_levels = tree->n_levels, .unordered = tree->unordered,
            .wide = room(tree->p, sizeof(int64_t)), .y = room(m, sizeof(int64_t)), .rows = room(m, sizeof(int32_t)),
            .columns = m, .predictors = tree->p, .span = tree->span,
        },
        .levels = {zeros(widest, sizeof(int64_t)), zeros(widest * k, sizeof(int64_t)), 0, k},
        .response = room(m, sizeof(int32_t)),
        .z_rows = room(2 * tree->z, sizeof(int32_t)),
        .z_goes_right = room(tree->z, sizeof(uint8_t)),
        .recoded = zeros(2 * tree->v, sizeof(int64_t)),
        .waiting = room(depth, sizeof(Waiting)),
        .steps = room(2 * depth, sizeof(Step)),
    };
    if (!new_scratch(&work->scratch, m, widest, k) || !work->records.codes || !work->records.wide || !work->records.y ||
        !work->records.rows || !work->levels.number || !work->levels.cells || !work->response || !work->z_rows || !work->z_goes_right ||
        !work->recoded || !work->waiting || !work->steps)
        return false;
    for (int64_t f = 0; f < tree->p; f++) work->records.wide[f] = -1;
    work->z_spare = work->z_rows + tree->z;
    work->donors = work->recoded + tree->v;
    return true;
}

/* Number of records of a node with the record moved. */
static int64_t size_with(const Node *node, bool leaves, bool comes) { return node->stop - node->start - leaves + comes; }

/* Donors of a node that have a value, with the record moved. */
static int64_t donors_with(const int32_t *donors, int64_t value, const Move *move, bool leaves, bool comes) {
    return (int64_t)donors[value] - (leaves && value == move->old) + (comes && value == move->new);
}

/* Sums of a numeric response with one record more (sign 1) or less (-1). */
static void add_record(int64_t held[SUMS], int64_t y, int64_t sign) {
    int64_t upper = y >> LOWER_BITS, lower = y & LOWER;
    held[0] += sign * y;
    held[1] += sign * upper * upper;
    held[2] += sign * upper * lower;
    held[3] += sign * lower * lower;
}

/* Total and risk of a node with the record moved. */
static Judged judge_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes) {
    const Known *known = &tree->known[at];
    const int32_t *donors = tree->donors + at * tree->v;
    int64_t n = size_with(&tree->nodes[at], leaves, comes), largest = 0, ones = 0;
    if (tree->classes == 0) {
        int64_t held[SUMS] = {known->sum, known->high, known->mixed, known->low};
        if (leaves) add_record(held, tree->y_of[move->old], -1);
        if (comes) add_record(held, tree->y_of[move->new], 1);
        return judge(0, held, n, tree->limits.risk);
    }
    if (tree->classes > 2) {
        int64_t squares = known->sum;
        if (leaves) squares -= 2 * (int64_t)donors[move->old] - 1;
        if (comes) squares += 2 * ((int64_t)donors[move->new] - (leaves && move->old == move->new)) + 1;
        if (tree->limits.risk == GINI) return (Judged){squares, (double)n - (double)squares / (double)n};
        for (int64_t c = 0; c < tree->v; c++) largest = larger(largest, donors_with(donors, c, move, leaves, comes));
        return (Judged){squares, (double)(n - largest)};
    }
    for (int64_t c = 0; c < tree->v; c++)
        if (tree->y_of[c] == 1) ones += donors_with(donors, c, move, leaves, comes);
    return judge(tree->classes, &ones, n, tree->limits.risk);
}

/* Impossible values and log-likelihood of some released records. */
typedef struct {
    int64_t impossible;
    double log;
} Likelihood;

/* Likelihood of a node as a leaf with the record moved. */
static Likelihood leaf_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes) {
    const Known *known = &tree->known[at];
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v;
    const double *logs = tree->logs;
    int64_t possible = known->possible, impossible = known->impossible;
    double total = known->log_sum;
    if (!(leaves && comes && move->old == move->new)) {
        if (leaves) {
            int32_t count = donors[move->old], number = released[move->old];
            if (count == 1) {
                possible -= number;
                impossible += number;
            } else {
                total += (double)number * (logs[count - 1] - logs[count]);
            }
        }
        if (comes) {
            int32_t count = donors[move->new], number = released[move->new];
            if (count == 0) {
                possible += number;
                impossible -= number;
            } else {
                total += (double)number * (logs[count + 1] - logs[count]);
            }
        }
    }
    int64_t n = size_with(&tree->nodes[at], leaves, comes);
    return (Likelihood){impossible, total - (double)possible * logs[n]};
}

/* Offer the splits of a predictor by its counts by level. */
static void offer_levels(Work *work, const Parent *parent, int64_t f) {
    if (work->tree->unordered[f])
        split_levels(&work->best, &work->scratch, parent, f, &work->levels);
    else
        thresholds_of_levels(&work->best, &work->scratch, parent, f, &work->levels);
}

/* Best split of a node whose counts by level are kept. */
static void find_counted(Work *work, const Parent *parent, int64_t counted_as, const Move *move, bool leaves, bool comes) {
    const KnownTree *tree = work->tree;
    int64_t counted = parent->counted, k = larger(counted, 1), levels = tree->offset[tree->p];
    int64_t old_y = tree->y_of[move->old], new_y = tree->y_of[move->new];
    reset(&work->best, parent);
    work->levels.k = k;
    for (int64_t f = 0; f < tree->p; f++) {
        int64_t *number = work->levels.number, *cells = work->levels.cells, first = counted_as * levels + tree->offset[f];
        size_t size = (size_t)(work->levels.levels = tree->n_levels[f]);
        memcpy(number, tree->number + first, size * sizeof *number);
        memcpy(cells, tree->cells + first * tree->k, size * (size_t)k * sizeof *cells);
        if (leaves) {
            int32_t level = tree->codes[f * tree->n + move->record];
            number[level]--;
            cells[level * k + (counted ? old_y : 0)] -= counted ? 1 : old_y;
        }
        if (comes) {
            int32_t level = move->codes[f];
            number[level]++;
            cells[level * k + (counted ? new_y : 0)] += counted ? 1 : new_y;
        }
        offer_levels(work, parent, f);
        memset(number, 0, size * sizeof *number);
        memset(cells, 0, size * (size_t)k * sizeof *cells);
    }
}

/* Copy the records of a node, without the one that leaves and with the one that comes; gives their number. */
static int64_t gather_node(Work *work, int64_t at, const Move *move, bool leaves, bool comes) {
    const KnownTree *tree = work->tree;
    Records *records = &work->records;
    int32_t *rows = records->rows;
    int64_t m = 0;
    for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++)
        if (!leaves || tree->order[i] != move->record) rows[m++] = tree->order[i];
    for (int64_t f = 0; f < tree->p; f++) {
        const int32_t *codes = tree->codes + f * tree->n;
        for (int64_t i = 0; i < m; i++) records->codes[f * records->columns + i] = codes[rows[i]];
        if (comes) records->codes[f * records->columns + m] = move->codes[f];
    }
    for (int64_t i = 0; i < m; i++) work->response[i] = tree->response[rows[i]];
    if (comes) work->response[m++] = move->new;
    for (int64_t i = 0; i < m; i++) {
        records->y[i] = tree->y_of[work->response[i]];
        rows[i] = (int32_t)i;
    }
    records->m = m;
    records->classes = tree->classes;
    return m;
}

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

/* Best split of gathered records. */
static void find_gathered(Work *work, const Parent *parent) {
    Records *records = &work->records;
    Levels *levels = &work->levels;
    levels->k = larger(parent->counted, 1);
    reset(&work->best, parent);
    for (int64_t f = 0; f < records->predictors; f++) {
        const int32_t *codes = records->codes + f * records->columns;
        levels->levels = records->n_levels[f];
        if (parent->counted && !records->unordered[f] &&
            levels->levels * levels->k > SPARSE * (parent->stop - parent->start)) {
            sort_by_level(&work->scratch, parent, levels, codes, records->y, records->rows);
            thresholds_of_sorted_classes(&work->best, &work->scratch, parent, f);
            continue;
        }
        count_predictor(levels, codes, records->y, records->rows, parent->start, parent->stop, parent->counted);
        offer_levels(work, parent, f);
        for (int64_t level = 0; level < levels->levels; level++) {
            if (!levels->number[level]) continue;
            levels->number[level] = 0;
            memset(levels->cells + level * levels->k, 0, (size_t)levels->k * sizeof(int64_t));
        }
    }
}

/* Cut of an ordered predictor: smaller codes go left; as fill_cuts. */
static int64_t cut_between(const KnownTree *tree, int64_t feature, int64_t low, int64_t high) {
    int64_t first = tree->value_start[feature];
    if (first == tree->value_start[feature + 1]) return (low + high + 1) / 2;
    const double *values = tree->values + first;
    double middle = 0.5 * values[low] + 0.5 * values[high];
    if (!(middle > values[low])) middle = values[high];
    int64_t cut = low + 1;
    while (values[cut] < middle) cut++;
    return cut;
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
    int64_t *donors = work->donors, possible = 0, impossible = 0;
    double total = 0.0;
    for (int64_t i = leaf->start; i < leaf->stop; i++) donors[work->response[work->records.rows[i]]]++;
    for (int64_t i = leaf->z_start; i < leaf->z_stop; i++) {
        int64_t count = donors[tree->z_response[work->z_rows[i]]];
        if (count) {
            possible++;
            total += tree->logs[count];
        } else {
            impossible++;
        }
    }
    for (int64_t i = leaf->start; i < leaf->stop; i++) donors[work->response[work->records.rows[i]]] = 0;
    return (Likelihood){impossible, total - (double)possible * tree->logs[leaf->stop - leaf->start]};
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

/* The node of a parent that is to be split. */
static Parent parent_of(const KnownTree *tree, int64_t start, int64_t stop, int64_t total, int64_t classes) {
    double n = (double)(stop - start);
    return (Parent){
        .start = start, .stop = stop, .total = total, .minbucket = tree->limits.minbucket,
        .counted = counted_classes(classes), .exact = n * n * (double)tree->span <= LARGEST_EXACT,
    };
}

static bool may_split(const Limits *limits, int64_t n, int64_t depth, double risk, double least) {
    return n >= limits->minsplit && n >= 2 * limits->minbucket && depth < limits->max_depth && risk > least;
}

/* Decrease of risk by the best split of a node. */
static double gain_of(const Best *best, const Parent *parent, int64_t classes) {
    double n = (double)(parent->stop - parent->start);
    double base = parent->counted ? (double)parent->total / n : 0.0;
    return (best->score - base) * (parent->counted ? 1.0 : (classes ? 2.0 / n : 1.0 / n));
}

/* Grow the gathered records of a node anew, collapse, and take the likelihood; the first of work->regrown is the node.
 *
 * least   risk at or below which nodes are not split, and the price of a split
 */
static bool regrow(Work *work, int64_t at, double least, Likelihood *likelihood) {
    const KnownTree *tree = work->tree;
    const Limits *limits = &tree->limits;
    const Known *known = &tree->known[at];
    Records *records = &work->records;
    int64_t z = known->z_stop - known->z_start, t = 0, n_waiting = 1;
    memcpy(work->z_rows, tree->z_order + known->z_start, (size_t)z * sizeof(int32_t));
    work->waiting[0] = (Waiting){0, records->m, tree->nodes[at].depth, -1, 0, z};
    while (n_waiting) {
        Waiting waiting = work->waiting[--n_waiting];
        if (!lengthen((void **)&work->regrown, &work->regrown_length, t + 1, sizeof(Regrown))) return false;
        int64_t here = t++, n = waiting.stop - waiting.start;
        if (waiting.parent >= 0) work->regrown[waiting.parent].right = here;
        add_up(records, work->scratch.node, waiting.start, waiting.stop);
        Judged judged = judge(records->classes, work->scratch.node, n, limits->risk);
        Regrown *node = &work->regrown[here];
        *node = (Regrown){
            .start = waiting.start, .stop = waiting.stop, .right = -1, .z_start = waiting.z_start,
            .z_stop = waiting.z_stop, .risk = judged.risk,
        };
        if (!may_split(limits, n, waiting.depth, judged.risk, least)) continue;
        Parent parent = parent_of(tree, waiting.start, waiting.stop, judged.total, records->classes);
        find_gathered(work, &parent);
        int64_t feature = work->best.feature;
        if (feature < 0) continue;
        node->decrease = gain_of(&work->best, &parent, records->classes);
        node->right = 0;
        int64_t cut = tree->unordered[feature] ? 0 : cut_between(tree, feature, work->best.cut, work->best.after);
        int64_t z_middle = divide_release(work, &waiting, feature, cut), depth = waiting.depth + 1;
        int64_t middle = divide(
            records, &work->scratch, waiting.start, waiting.stop, feature, work->best.cut, limits->minsplit);
        work->waiting[n_waiting++] = (Waiting){middle, waiting.stop, depth, here, z_middle, waiting.z_stop};
        work->waiting[n_waiting++] = (Waiting){waiting.start, middle, depth, -1, waiting.z_start, z_middle};
    }
    *likelihood = collapse_regrown(work, t, least);
    return true;
}

/* Whether the best split sends everything where the split of the node sends it. */
static bool same_split(const Work *work, const Node *node) {
    const Best *best = &work->best;
    if (node->right < 0 || best->feature != node->feature) return false;
    if (!work->tree->unordered[best->feature])
        return (best->cut == node->low && best->after == node->high) ||
               cut_between(work->tree, best->feature, best->cut, best->after) == node->cut;
    for (int64_t level = 0; level < work->tree->n_levels[best->feature]; level++)
        if ((work->scratch.side[level] & RIGHT) != (work->tree->sides[node->sides + level] & RIGHT)) return false;
    return true;
}

static bool goes_right(const KnownTree *tree, const Node *node, int32_t code) {
    return node->sides < 0 ? code >= node->cut : tree->sides[node->sides + code] & RIGHT;
}

/* Whether a class comes or goes. */
static bool classes_change(const KnownTree *tree, const Move *move) {
    if (tree->classes == 0 || (move->leaves && move->comes && move->old == move->new)) return false;
    return (move->leaves && tree->donors[move->old] == 1) || (move->comes && tree->donors[move->new] == 0);
}

/* The likelihood by growing the whole tree anew. */
static bool from_root(Work *work, const Move *move, Likelihood *likelihood) {
    const KnownTree *tree = work->tree;
    int64_t m = gather_node(work, 0, move, move->leaves, move->comes);
    if (tree->classes) recode_classes(work);
    add_up(&work->records, work->scratch.node, 0, m);
    Judged judged = judge(work->records.classes, work->scratch.node, m, tree->limits.risk);
    return regrow(work, 0, tree->limits.cp * judged.risk, likelihood);
}

/* Class counts of a node with the record moved, by class. */
static void classes_with(const Work *work, int64_t at, const Move *move, bool leaves, bool comes) {
    const KnownTree *tree = work->tree;
    for (int64_t c = 0; c < tree->v; c++)
        if (tree->y_of[c] >= 0)
            work->scratch.node[tree->y_of[c]] = donors_with(tree->donors + at * tree->v, c, move, leaves, comes);
}

/* Take one step down the path: find the best split of the node with the record moved. Where it is the split of the
 * node, its children on the path become steps; where it is another one, the node is grown anew. */
static bool take_step(Work *work, int64_t at, int64_t *n_steps, const Move *move, double least) {
    const KnownTree *tree = work->tree;
    Step *step = &work->steps[at];
    bool leaves = step->leaves, comes = step->comes;
    const Node *node = &tree->nodes[step->node];
    int64_t n = size_with(node, leaves, comes), counted_as = tree->known[step->node].counted_as;
    Judged judged = judge_with(tree, step->node, move, leaves, comes);
    *step = (Step){.node = step->node, .leaves = leaves, .comes = comes, .left = -1, .right = -1, .risk = judged.risk};
    if (!may_split(&tree->limits, n, node->depth, judged.risk, least)) return true;
    Parent parent = parent_of(tree, 0, n, judged.total, tree->classes);
    if (counted_as < 0) gather_node(work, step->node, move, leaves, comes);
    if (parent.counted) classes_with(work, step->node, move, leaves, comes);
    if (counted_as >= 0)
        find_counted(work, &parent, counted_as, move, leaves, comes);
    else
        find_gathered(work, &parent);
    if (work->best.feature < 0) return true;
    if (!same_split(work, node)) {
        if (counted_as >= 0) gather_node(work, step->node, move, leaves, comes);
        Likelihood likelihood;
        if (!regrow(work, step->node, least, &likelihood)) return false;
        step->is_regrown = true;
        step->paid = work->regrown[0].paid;
        step->splits = work->regrown[0].splits;
        step->impossible = likelihood.impossible;
        step->log = likelihood.log;
        return true;
    }
    step->is_split = true;
    step->decrease = gain_of(&work->best, &parent, tree->classes);
    bool old_right = leaves && goes_right(tree, node, tree->codes[node->feature * tree->n + move->record]);
    bool new_right = comes && goes_right(tree, node, move->codes[node->feature]);
    bool old_left = leaves && !old_right, new_left = comes && !new_right;
    if (old_left || new_left) {
        step->left = (*n_steps)++;
        work->steps[step->left] = (Step){.node = step->node + 1, .leaves = old_left, .comes = new_left};
    }
    if (old_right || new_right) {
        step->right = (*n_steps)++;
        work->steps[step->right] = (Step){.node = node->right, .leaves = old_right, .comes = new_right};
    }
    return true;
}

/* What the collapse leaves of a child: that of its step if it is on the path, else as it was. */
typedef struct {
    double risk, paid, log;
    int64_t splits, impossible;
} Below;

static Below below(const Work *work, int64_t step, int64_t node) {
    if (step >= 0) {
        const Step *s = &work->steps[step];
        return (Below){s->risk, s->paid, s->log, s->splits, s->impossible};
    }
    const Known *k = &work->tree->known[node];
    return (Below){work->tree->nodes[node].risk, k->paid, k->below_log, k->splits, k->below_impossible};
}

/* Redo the collapse at one step; the steps below it are done. */
static void settle_step(Work *work, Step *step, const Move *move, double least) {
    const KnownTree *tree = work->tree;
    if (step->is_regrown) return;
    if (step->is_split) {
        Below left = below(work, step->left, step->node + 1);
        Below right = below(work, step->right, tree->nodes[step->node].right);
        if (tree->limits.risk == MISCLASSIFIED) step->decrease = step->risk - left.risk - right.risk;
        double paid = step->decrease + left.paid + right.paid;
        int64_t count = 1 + left.splits + right.splits;
        if (paid > least * (double)count) {
            step->paid = paid;
            step->splits = count;
            step->log = left.log + right.log;
            step->impossible = left.impossible + right.impossible;
            return;
        }
    }
    Likelihood leaf = leaf_with(tree, step->node, move, step->leaves, step->comes);
    step->paid = 0.0;
    step->splits = 0;
    step->log = leaf.log;
    step->impossible = leaf.impossible;
}

/* Likelihood of the release under the tree fitted with one record moved; false: no memory. */
static bool walk(Work *work, const Move *move, Likelihood *likelihood) {
    const KnownTree *tree = work->tree;
    int64_t m = size_with(&tree->nodes[0], move->leaves, move->comes);
    if (m == 0) {
        *likelihood = (Likelihood){tree->z, 0.0};
        return true;
    }
    if ((m == 1 && move->comes) || tree->nodes[0].stop == tree->nodes[0].start || classes_change(tree, move))
        return from_root(work, move, likelihood);
    double least = tree->limits.cp * judge_with(tree, 0, move, move->leaves, move->comes).risk;
    bool decisions_stay = tree->lowest * (1 + GUARD) <= least && least < tree->highest * (1 - GUARD);
    if (least != tree->price && !decisions_stay) return from_root(work, move, likelihood);
    int64_t n_steps = 1;
    work->steps[0] = (Step){.leaves = move->leaves, .comes = move->comes};
    for (int64_t step = 0; step < n_steps; step++)
        if (!take_step(work, step, &n_steps, move, least)) return false;
    for (int64_t step = n_steps - 1; step >= 0; step--) settle_step(work, &work->steps[step], move, least);
    *likelihood = (Likelihood){work->steps[0].impossible, work->steps[0].log};
    return true;
}

/* Walk for several records and worlds; see Worlds in worlds.h.
 *
 * wanted            (r, worlds) what is to be computed
 * impossible, log   (r, worlds) receive impossible values and log-likelihoods
 */
EXPORT int walk_many(
    const KnownTree *tree, const Worlds *worlds, const uint8_t *wanted, int64_t *impossible, double *log) {
    Work work;
    int32_t *codes = room(tree->p, sizeof(int32_t));
    bool done = new_work(&work, tree) && codes;
    for (int64_t i = 0; done && i < worlds->n_members; i++) {
        int64_t record = worlds->members[i];
        Move move = {.record = record, .leaves = worlds->fitted[record], .old = tree->response[record], .codes = codes};
        for (int64_t f = 0; f < tree->p; f++) codes[f] = tree->codes[f * tree->n + record];
        for (int64_t c = 0; done && c < worlds->n; c++) {
            int64_t at = i * worlds->n + c;
            if (!wanted[at]) continue;
            move.new = worlds->own ? worlds->response_codes[c] : move.old;
            move.comes = worlds->own ? worlds->included[c] : move.leaves;
            bool same = move.leaves == move.comes && (!move.comes || move.new == move.old);
            for (int64_t j = 0; j < worlds->n_features; j++) {
                int64_t f = worlds->features[j];
                codes[f] = worlds->feature_codes[j * worlds->n + c];
                same = same && codes[f] == tree->codes[f * tree->n + record];
            }
            Likelihood likelihood = {tree->known[0].below_impossible, tree->known[0].below_log};
            if (!same && (move.leaves || move.comes)) done = walk(&work, &move, &likelihood);
            impossible[at] = likelihood.impossible;
            log[at] = likelihood.log;
        }
    }
    free_work(&work);
    free(codes);
    return done ? DONE : NO_MEMORY;
}

/* Write the last node below each node, and the last node of the path of every released record. */
EXPORT void mark_last(const KnownTree *tree, int32_t *ends) {
    Node *nodes = tree->nodes;
    for (int64_t at = tree->t - 1; at >= 0; at--)
        nodes[at].last = nodes[at].right < 0 ? at : nodes[nodes[at].right].last;
    for (int64_t i = 0; i < tree->z; i++) {
        int64_t here = 0;
        while (nodes[here].right >= 0) {
            int32_t code = tree->z_codes[nodes[here].feature * tree->z + i];
            here = goes_right(tree, &nodes[here], code) ? nodes[here].right : here + 1;
        }
        ends[i] = (int32_t)here;
    }
}

/* Counts by level of the kept nodes; number and cells are zeros. */
EXPORT void count_kept(const KnownTree *tree) {
    int64_t levels = tree->offset[tree->p];
    for (int64_t at = 0; at < tree->t; at++) {
        if (tree->known[at].counted_as < 0) continue;
        int64_t *number = tree->number + tree->known[at].counted_as * levels;
        int64_t *cells = tree->cells + tree->known[at].counted_as * levels * tree->k;
        for (int64_t f = 0; f < tree->p; f++) {
            for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++) {
                int32_t row = tree->order[i];
                int64_t level = tree->offset[f] + tree->codes[f * tree->n + row];
                int64_t y = tree->y_of[tree->response[row]];
                number[level]++;
                cells[level * tree->k + (tree->classes > 2 ? y : 0)] += tree->classes > 2 ? 1 : y;
            }
        }
    }
}

/* Donors, released records and sums of a node where growth ended. */
static void add_end(const KnownTree *tree, int64_t at, int32_t *donors, int32_t *released) {
    Known *known = &tree->known[at];
    int64_t held[SUMS] = {0};
    for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++) {
        int32_t code = tree->response[tree->order[i]];
        donors[code]++;
        if (tree->classes == 0) add_record(held, tree->y_of[code], 1);
    }
    for (int64_t i = known->z_start; i < known->z_stop; i++) released[tree->z_response[tree->z_order[i]]]++;
    known->sum = held[0];
    known->high = held[1];
    known->mixed = held[2];
    known->low = held[3];
}

/* Figures of all nodes, children before parents; donors and released are zeros. The price of a split, and the lowest
 * and highest price at which every decision of growth and collapse stays. */
EXPORT void fill_known(KnownTree *tree) {
    const Limits *limits = &tree->limits;
    int64_t v = tree->v;
    double price = limits->cp * tree->nodes[0].risk, lowest = -1.0, highest = INFINITY;
    for (int64_t at = tree->t - 1; at >= 0; at--) {
        const Node *node = &tree->nodes[at];
        Known *known = &tree->known[at];
        int32_t *donors = tree->donors + at * v, *released = tree->released + at * v;
        int64_t n = node->stop - node->start;
        if (node->right < 0) {
            add_end(tree, at, donors, released);
            bool waits = n >= limits->minsplit && n >= 2 * limits->minbucket && node->depth < limits->max_depth;
            if (waits && node->risk <= price && node->risk > lowest) lowest = node->risk;
        } else {
            const Known *left = known + 1, *right = &tree->known[node->right];
            for (int64_t c = 0; c < v; c++) {
                donors[c] = donors[v + c] + tree->donors[node->right * v + c];
                released[c] = released[v + c] + tree->released[node->right * v + c];
            }
            known->sum = left->sum + right->sum;
            known->high = left->high + right->high;
            known->mixed = left->mixed + right->mixed;
            known->low = left->low + right->low;
            known->decrease = node->gain;
            if (limits->risk == MISCLASSIFIED)
                known->decrease = node->risk - tree->nodes[at + 1].risk - tree->nodes[node->right].risk;
            if (node->risk < highest) highest = node->risk;
            double total = known->decrease + left->paid + right->paid;
            int64_t count = 1 + left->splits + right->splits;
            double each = total / (double)count;
            if (total > price * (double)count) {
                known->paid = total;
                known->splits = count;
                if (each < highest) highest = each;
                known->below_log = left->below_log + right->below_log;
                known->below_impossible = left->below_impossible + right->below_impossible;
            } else if (each > lowest) {
                lowest = each;
            }
        }
        int64_t squares = 0;
        for (int64_t c = 0; c < v; c++) {
            squares += (int64_t)donors[c] * donors[c];
            if (donors[c] > 0) {
                known->possible += released[c];
                known->log_sum += (double)released[c] * tree->logs[donors[c]];
            } else {
                known->impossible += released[c];
            }
        }
        if (tree->classes > 0) known->sum = squares;
        if (known->splits == 0) {
            known->below_log = known->log_sum - (double)known->possible * tree->logs[n];
            known->below_impossible = known->impossible;
        }
    }
    tree->price = price;
    tree->lowest = lowest;
    tree->highest = highest;
}
