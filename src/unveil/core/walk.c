/* Fit a tree again with one record moved, along the path of the record only, for many candidates together.
 *
 * Only nodes on the old and the new path of the record see other data. They are walked from the root: where the chosen
 * split stays the best, the walk goes on below it; where it does not, what hangs on the node is grown anew. Then the
 * collapse is redone along the path. Subtrees beside the path keep their figures, unless the price of a split, which
 * depends on the risk of the root, crosses one of the prices that decided something: then the whole tree is grown anew.
 *
 * A step is one node for one candidate. Candidates at the same node are a group: the records are gathered once, and
 * the splits are searched together (candidates.c). A group parts where candidates go to different sides. A node that
 * the record leaves, and to which it does not come, is the same for all candidates whose price is the same.
 *
 * The result, impossible values and log-likelihood of the release, equals that of a fit to the changed records.
 */
#include "walk.h"

/* Prices this close to one that decides something are decided anew. */
#define GUARD 1e-9

/* Take the values of a candidate. */
void become(Work *work, int64_t candidate) {
    const Worlds *worlds = work->worlds;
    const Candidate *taken = &work->candidates[candidate];
    work->move.new = taken->new;
    work->move.comes = taken->comes;
    for (int64_t j = 0; j < worlds->n_features; j++)
        work->move.codes[worlds->features[j]] = worlds->feature_codes[j * worlds->n + taken->world];
}

/* Append a step; -1: no memory. */
static int64_t new_step(Work *work, int64_t node, int64_t candidate, bool leaves, bool comes) {
    int64_t at = work->n_steps;
    if (!lengthen((void **)&work->steps, &work->steps_length, at + 1, sizeof(Step))) return -1;
    work->steps[at] = (Step){
        .node = node, .candidate = candidate, .left = -1, .right = -1, .leaves = leaves, .comes = comes,
    };
    work->n_steps++;
    return at;
}

/* Judge the steps of a group; work->able receives those that may be split. Gives their number. */
static int64_t judge_group(Work *work, int64_t start, int64_t stop) {
    const KnownTree *tree = work->tree;
    int64_t able = 0;
    for (int64_t at = start; at < stop; at++) {
        Step *step = &work->steps[at];
        const Node *node = &tree->nodes[step->node];
        become(work, step->candidate);
        Judged judged = judge_with(tree, step->node, &work->move, step->leaves, step->comes);
        step->risk = judged.risk;
        step->total = judged.total;
        int64_t n = size_with(node, step->leaves, step->comes);
        double least = work->candidates[step->candidate].least;
        if (may_split(&tree->limits, n, node->depth, judged.risk, least)) work->able[able++] = at;
    }
    return able;
}

/* Gather the records of a group; its steps stand at the same node. */
static void gather_group(Work *work, const Step *step) {
    int64_t n = size_with(&work->tree->nodes[step->node], step->leaves, step->comes);
    become(work, step->candidate);
    gather(work, step->node, step->leaves, step->comes);
    sort_gathered(work, &work->records, SPARSE * n);
}

/* Grow anew the steps whose best split is not that of the node. */
static bool regrow_others(Work *work, int64_t able, bool gathered) {
    for (int64_t i = 0; i < able; i++) {
        Step *step = &work->steps[work->able[i]];
        if (!step->is_split || step->stays) continue;
        if (!gathered) gather_group(work, step);
        gathered = true;
        become(work, step->candidate);
        if (step->comes) put_in(work);
        if (!regrow(work, step, work->candidates[step->candidate].least)) return false;
    }
    return true;
}

/* Whether a node that the record leaves is the same for two candidates. */
static bool alike_beside(const Work *work, int64_t one, int64_t other) {
    const Candidate *a = &work->candidates[one], *b = &work->candidates[other];
    if (a->least != b->least) return false;
    return work->tree->mix <= 0 || (a->comes == b->comes && a->new == b->new);
}

/* The child of a step on one side is another step. */
static void link(Work *work, int64_t step, int right, int64_t child) {
    if (right)
        work->steps[step].right = child;
    else
        work->steps[step].left = child;
}

/* Append the steps of one child: those of candidates that come to it, then those of candidates that only leave it. */
static bool descend(Work *work, int64_t able, int right) {
    const KnownTree *tree = work->tree;
    const Step first = work->steps[work->able[0]];
    const Node *node = &tree->nodes[first.node];
    int64_t child = right ? node->right : first.node + 1, last = -1;
    bool leaves = first.leaves && goes_right(tree, node, old_code(work, node->feature)) == right;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < able; i++) {
            int64_t at = work->able[i], candidate = work->steps[at].candidate;
            if (!work->steps[at].stays) continue;
            become(work, candidate);
            bool comes = first.comes && goes_right(tree, node, work->move.codes[node->feature]) == right;
            if (pass == 0 ? !comes : comes || !leaves) continue;
            bool shared = pass == 1 && last >= 0 && alike_beside(work, work->steps[last].candidate, candidate);
            if (!shared) last = new_step(work, child, candidate, leaves, comes);
            if (last < 0) return false;
            link(work, at, right, last);
        }
        last = -1;
    }
    return true;
}

/* Take one step down the path for a group of candidates: find the best splits of the node with the record moved. Where
 * it is the split of the node, its children on the path become steps; where it is another one, the node is grown
 * anew. */
static bool take_steps(Work *work, int64_t start, int64_t stop) {
    int64_t able = judge_group(work, start, stop);
    if (!able) return true;
    const Step *first = &work->steps[work->able[0]];
    int64_t node = first->node;
    bool gathers = work->tree->known[node].counted_as < 0;
    if (gathers) gather_group(work, first);
    find_splits(work, work->able, able);
    if (!regrow_others(work, able, gathers)) return false;
    if (work->tree->nodes[node].right < 0) return true;
    return descend(work, able, 0) && descend(work, able, 1);
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
    double log = work->tree->mix > 0 ? beside_mixed(work->tree, node, &work->move) : k->below_log;
    return (Below){work->tree->nodes[node].risk, k->paid, log, k->splits, k->below_impossible};
}

/* Redo the collapse at one step; the steps below it are done. */
static void settle_step(Work *work, Step *step) {
    const KnownTree *tree = work->tree;
    if (step->is_regrown) return;
    if (tree->mix > 0) become(work, step->candidate);
    if (step->is_split) {
        Below left = below(work, step->left, step->node + 1);
        Below right = below(work, step->right, tree->nodes[step->node].right);
        if (tree->limits.risk == MISCLASSIFIED) step->decrease = step->risk - left.risk - right.risk;
        double paid = step->decrease + left.paid + right.paid;
        int64_t count = 1 + left.splits + right.splits;
        if (paid > work->candidates[step->candidate].least * (double)count) {
            step->paid = paid;
            step->splits = count;
            step->log = left.log + right.log;
            step->impossible = left.impossible + right.impossible;
            return;
        }
    }
    become(work, step->candidate);
    Likelihood leaf = leaf_with(tree, step->node, &work->move, step->leaves, step->comes);
    step->paid = 0.0;
    step->splits = 0;
    step->log = leaf.log;
    step->impossible = leaf.impossible;
}

/* Whether a class comes or goes. */
static bool classes_change(const KnownTree *tree, const Move *move) {
    if (tree->classes == 0 || (move->leaves && move->comes && move->old == move->new)) return false;
    return (move->leaves && tree->donors[move->old] == 1) || (move->comes && tree->donors[move->new] == 0);
}

/* Whether the whole tree is to be grown anew; else the price of a split is written down. */
static bool changes_root(const Work *work, Candidate *candidate) {
    const KnownTree *tree = work->tree;
    const Move *move = &work->move;
    int64_t m = size_with(&tree->nodes[0], move->leaves, move->comes);
    if (m == 0 || (m == 1 && move->comes) || tree->nodes[0].stop == tree->nodes[0].start || classes_change(tree, move))
        return true;
    double least = tree->limits.cp * judge_with(tree, 0, move, move->leaves, move->comes).risk;
    candidate->least = least;
    bool decisions_stay = tree->lowest * (1 + GUARD) <= least && least < tree->highest * (1 - GUARD);
    return least != tree->price && !decisions_stay;
}

/* Begin at the root: candidates with which the record is fitted, then one step for those without. Where the whole tree
 * is grown anew, the step is done at once. False: no memory. */
static bool stand_at_root(Work *work, int64_t size) {
    int64_t without = -1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t c = 0; c < size; c++) {
            Candidate *candidate = &work->candidates[c];
            if (candidate->comes != (pass == 0)) continue;
            become(work, c);
            bool anew = changes_root(work, candidate);
            bool shared = !candidate->comes && without >= 0;
            candidate->root = shared ? without : new_step(work, 0, c, work->move.leaves, candidate->comes);
            if (candidate->root < 0) return false;
            if (!candidate->comes) without = candidate->root;
            if (anew && !shared && !regrow_root(work, &work->steps[candidate->root])) return false;
        }
    }
    return true;
}

/* The end of the group that begins with a step: the same node, and the record leaves or comes alike. */
static int64_t end_of_group(const Work *work, int64_t start) {
    const Step *first = &work->steps[start];
    int64_t stop = start + 1;
    while (stop < work->n_steps && stop - start < TOGETHER) {
        const Step *step = &work->steps[stop];
        if (step->node != first->node || step->leaves != first->leaves || step->comes != first->comes ||
            step->is_regrown)
            break;
        stop++;
    }
    return stop;
}

/* Walk with some candidates of one record; false: no memory. */
static bool walk(Work *work, int64_t size) {
    work->n_steps = 0;
    if (!stand_at_root(work, size)) return false;
    for (int64_t start = 0, stop; start < work->n_steps; start = stop) {
        stop = work->steps[start].is_regrown ? start + 1 : end_of_group(work, start);
        if (!work->steps[start].is_regrown && !take_steps(work, start, stop)) return false;
    }
    for (int64_t step = work->n_steps - 1; step >= 0; step--) settle_step(work, &work->steps[step]);
    return true;
}

/* Worlds in ascending order of the response, in which candidates are taken. */
static int64_t *order_of_worlds(const KnownTree *tree, const Worlds *worlds) {
    int64_t *order = room(worlds->n, sizeof(int64_t));
    double *key = room(worlds->n, sizeof(double));
    if (order && key) {
        for (int64_t c = 0; c < worlds->n; c++)
            key[c] = worlds->own ? (double)tree->y_of[worlds->response_codes[c]] : 0.0;
        sort_positions(order, key, worlds->n);
    }
    bool done = key != NULL;
    free(key);
    if (done) return order;
    free(order);
    return NULL;
}

/* Where the answers go: (worlds) of one record. */
typedef struct {
    const uint8_t *wanted;
    int64_t *impossible;
    double *log;
} Answers;

/* Add a world to the candidates of the record; false if the record is there what it was. */
static bool add_candidate(Work *work, int64_t world, int64_t place) {
    const Worlds *worlds = work->worlds;
    const Move *move = &work->move;
    int32_t new = worlds->own ? worlds->response_codes[world] : move->old;
    bool comes = worlds->own ? worlds->included[world] : move->leaves;
    bool same = move->leaves == comes && (!comes || new == move->old);
    for (int64_t j = 0; j < worlds->n_features; j++)
        same = same && worlds->feature_codes[j * worlds->n + world] == old_code(work, worlds->features[j]);
    if (same || (!move->leaves && !comes)) return false;
    work->candidates[place] = (Candidate){.world = world, .new = new, .comes = comes};
    return true;
}

/* Walk with the worlds of one record that are wanted, some of them at a time. */
static bool walk_record(Work *work, const int64_t *order, const Answers *answers) {
    const KnownTree *tree = work->tree;
    const Move *move = &work->move;
    int64_t size = 0;
    for (int64_t i = 0; i < work->worlds->n; i++) {
        int64_t world = order[i];
        if (answers->wanted[world]) {
            answers->impossible[world] = tree->known[0].below_impossible;
            answers->log[world] = tree->known[0].below_log;
            size += add_candidate(work, world, size);
        }
        if (size < TOGETHER && i < work->worlds->n - 1) continue;
        if (size && !walk(work, size)) return false;
        for (int64_t c = 0; c < size; c++) {
            const Candidate *candidate = &work->candidates[c];
            const Step *root = &work->steps[candidate->root];
            become(work, c);
            answers->impossible[candidate->world] =
                tree->mix > 0 ? impossible_mixed(tree, move, move->leaves, move->comes) : root->impossible;
            answers->log[candidate->world] = root->log;
        }
        size = 0;
    }
    return true;
}

/* Walk for several records and worlds; see Worlds in layouts.h.
 *
 * wanted            (r, worlds) what is to be computed
 * impossible, log   (r, worlds) receive impossible values and log-likelihoods
 */
EXPORT int walk_many(
    const KnownTree *tree, const Worlds *worlds, const uint8_t *wanted, int64_t *impossible, double *log) {
    Work work;
    int64_t *order = order_of_worlds(tree, worlds);
    bool done = new_work(&work, tree, worlds) && order;
    for (int64_t i = 0; done && i < worlds->n_members; i++) {
        int64_t record = worlds->members[i], at = i * worlds->n;
        work.move.record = record;
        work.move.leaves = worlds->fitted[record];
        work.move.old = tree->response[record];
        for (int64_t f = 0; f < tree->p; f++) work.move.codes[f] = old_code(&work, f);
        done = walk_record(&work, order, &(Answers){wanted + at, impossible + at, log + at});
    }
    free_work(&work);
    free(order);
    return done ? DONE : NO_MEMORY;
}
