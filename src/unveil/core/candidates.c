/* The best splits of a node for several candidates, which share the work where that is exact.
 *
 * Candidates that differ in predictors only: the splits of the other predictors are the same for all of them.
 *
 * Candidates that differ in the value of the response only: every split has the same records for all of them.
 *
 * - The response is summed. With sums S, the root of the score of a split is
 *       |S_left n - S n_left| / sqrt(n_left n_right),
 *   and S_left n - S n_left is linear in the value y of the record. So this root is a convex function of y; where the
 *   term keeps its sign, it is linear. If a split is the best one at two values, and keeps the sign, then between them
 *   every other split lies below its chord, which lies below the best split: the split stays the best one. Cuts of
 *   sorted levels are no exception: a set of levels that is offered between the two values is offered at one of them,
 *   because the mean of the record's own level is all that changes; and at the other one it was compared as well
 *   (most_unreached).
 * - The classes are counted. Let a child have n records beside L of a class, the moving record not counted. Another
 *   class of that record changes the score of the split by 2 (L' - L) / n, so by less than 2. Predictors that are too
 *   far behind by this bound are left out.
 *
 * Both need exact scores. Elsewhere each candidate is searched alone.
 */
#include "walk.h"

/* More than another class of one record can change a score. */
#define CLASS_EFFECT 2.001
/* Margins of comparisons that only decide what is searched. */
#define SURE (1.0 + 1e-9)

static Parent parent_with(const Work *work, const Step *step) {
    int64_t n = size_with(&work->tree->nodes[step->node], step->leaves, step->comes);
    return parent_of(work->tree, 0, n, step->total, work->tree->classes);
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

/* Turn to a candidate, and start its search. */
static void begin(Work *work, const Step *step, const Parent *parent) {
    become(work, step->candidate);
    if (work->tree->known[step->node].counted_as < 0 && step->comes) put_in(work);
    if (parent->counted) classes_with(work, step);
    reset(&work->best, parent);
    work->unreached = 0.0;
}

/* Offer the splits of a predictor. */
static void offer_predictor(Work *work, const Step *step, const Parent *parent, int64_t f) {
    if (work->tree->known[step->node].counted_as >= 0)
        offer_counted(work, parent, f, step);
    else
        offer_gathered(work, &work->records, parent, f);
}

/* Write down what the search has found. */
static void note(const Work *work, Step *step, const Parent *parent, bool stays) {
    step->is_split = work->best.feature >= 0;
    step->stays = step->is_split && stays;
    step->score = work->best.score;
    step->unreached = work->unreached;
    step->decrease = gain_of(work->best.score, parent, work->tree->classes);
}

/* Search for one candidate. */
static void find_alone(Work *work, Step *step) {
    Parent parent = parent_with(work, step);
    begin(work, step, &parent);
    for (int64_t f = 0; f < work->tree->p; f++) offer_predictor(work, step, &parent, f);
    note(work, step, &parent, work->best.feature >= 0 && same_split(work, &work->tree->nodes[step->node]));
}

/* Whether a split comes before another one: it is better, or as good and of an earlier predictor. */
static bool precedes(const Best *one, const Best *other) {
    if (other->feature < 0 || one->feature < 0) return one->feature >= 0;
    if (exceeds(one->numerator, one->divisor, other->numerator, other->divisor)) return true;
    return one->feature < other->feature &&
           !exceeds(other->numerator, other->divisor, one->numerator, one->divisor);
}

/* Search for candidates that differ in predictors: the other predictors are searched once. */
static void find_common(Work *work, const int64_t *able, int64_t size) {
    Step *first = &work->steps[able[0]];
    const Node *node = &work->tree->nodes[first->node];
    Parent parent = parent_with(work, first);
    begin(work, first, &parent);
    for (int64_t f = 0; f < work->tree->p; f++)
        if (!work->varies[f]) offer_predictor(work, first, &parent, f);
    Best common = work->best;
    bool common_stays = common.feature >= 0 && same_split(work, node);
    for (int64_t i = 0; i < size; i++) {
        Step *step = &work->steps[able[i]];
        begin(work, step, &parent);
        if (common.feature >= 0) work->best.rival = common.score;
        for (int64_t f = 0; f < work->tree->p; f++)
            if (work->varies[f]) offer_predictor(work, step, &parent, f);
        bool own = precedes(&work->best, &common);
        if (!own) work->best = common;
        note(work, step, &parent, own ? same_split(work, node) : common_stays);
    }
}

/* What becomes of the sum of the left child and of its number of records. */
typedef struct {
    int64_t n, sum;
} Left;

static Left left_with(const Work *work, const Step *step) {
    const KnownTree *tree = work->tree;
    const Node *node = &tree->nodes[step->node];
    bool leaves = step->leaves && !goes_right(tree, node, old_code(work, node->feature));
    bool comes = step->comes && !goes_right(tree, node, work->move.codes[node->feature]);
    int64_t sum = tree->known[step->node + 1].sum;
    if (leaves) sum -= tree->y_of[work->move.old];
    if (comes) sum += tree->y_of[work->candidates[step->candidate].new];
    return (Left){size_with(node + 1, leaves, comes), sum};
}

/* Whether the mean of the left child is above that of the node (1), below it (-1), or the same. */
static int side_of_mean(const Work *work, const Step *step) {
    Parent parent = parent_with(work, step);
    Left left = left_with(work, step);
    int64_t distance = left.sum * (parent.stop - parent.start) - parent.total * left.n;
    return (distance > 0) - (distance < 0);
}

/* Whether the split of the node is certain to be the best one for all values between those of two candidates. */
static bool holds_between(const Work *work, const Step *low, const Step *high) {
    if (!low->stays || !high->stays || side_of_mean(work, low) != side_of_mean(work, high)) return false;
    return low->unreached * SURE < low->score && high->unreached * SURE < high->score;
}

/* Search between two candidates that have been searched; the response is summed. */
static void find_between(Work *work, const int64_t *able, int64_t low, int64_t high) {
    if (high - low < 2) return;
    if (!holds_between(work, &work->steps[able[low]], &work->steps[able[high]])) {
        int64_t middle = (low + high) / 2;
        find_alone(work, &work->steps[able[middle]]);
        find_between(work, able, low, middle);
        find_between(work, able, middle, high);
        return;
    }
    for (int64_t i = low + 1; i < high; i++) {
        Step *step = &work->steps[able[i]];
        Parent parent = parent_with(work, step);
        Left left = left_with(work, step);
        step->is_split = step->stays = true;
        step->score = score_sums(true, parent.stop - parent.start, parent.total, left.n, left.sum);
        step->decrease = gain_of(step->score, &parent, work->tree->classes);
    }
}

/* Search for the first candidate, predictor by predictor; work->top receives the most that each of them scores for it.
 */
static void find_first(Work *work, Step *step) {
    Parent parent = parent_with(work, step);
    begin(work, step, &parent);
    Best first = work->best;
    bool stays = false;
    for (int64_t f = 0; f < work->tree->p; f++) {
        reset(&work->best, &parent);
        // What is too far behind for every candidate need not be told apart.
        if (first.feature >= 0) work->best.rival = fmax(work->best.rival, first.score - 3 * CLASS_EFFECT);
        offer_predictor(work, step, &parent, f);
        work->top[f] = fmax(work->best.score, work->best.rival);
        int64_t levels = work->tree->n_levels[f];
        if (work->tree->unordered[f] && !every_set_is_searched(levels, parent.counted)) work->top[f] = INFINITY;
        if (!precedes(&work->best, &first)) continue;
        first = work->best;
        stays = same_split(work, &work->tree->nodes[step->node]);
    }
    work->best = first;
    note(work, step, &parent, stays);
}

/* Score of the split of the node, up to rounding. */
static double score_of_split(Work *work, const Step *step) {
    const KnownTree *tree = work->tree;
    const Node *node = &tree->nodes[step->node];
    int64_t at[2] = {step->node + 1, node->right};
    double score = 0.0;
    for (int side = 0; side < 2; side++) {
        bool leaves = step->leaves && goes_right(tree, node, old_code(work, node->feature)) == side;
        bool comes = step->comes && goes_right(tree, node, work->move.codes[node->feature]) == side;
        int64_t squares = judge_with(tree, at[side], &work->move, leaves, comes).total;
        score += (double)squares / (double)size_with(&tree->nodes[at[side]], leaves, comes);
    }
    return score;
}

/* Search for candidates that differ in their class. */
static void find_classes(Work *work, const int64_t *able, int64_t size) {
    Step *first = &work->steps[able[0]];
    find_first(work, first);
    for (int64_t i = 1; i < size; i++) {
        Step *step = &work->steps[able[i]];
        Parent parent = parent_with(work, step);
        begin(work, step, &parent);
        double reached = first->stays ? score_of_split(work, step) : first->score - CLASS_EFFECT;
        for (int64_t f = 0; f < work->tree->p; f++)
            if ((work->top[f] + CLASS_EFFECT) * SURE >= reached) offer_predictor(work, step, &parent, f);
        if (work->best.feature < 0 || work->best.score * SURE < reached)
            find_alone(work, step);
        else
            note(work, step, &parent, same_split(work, &work->tree->nodes[step->node]));
    }
}

/* Find the best splits of some steps at the same node, by ascending value where the response differs. */
void find_splits(Work *work, const int64_t *able, int64_t size) {
    const Step *first = &work->steps[able[0]];
    Parent parent = parent_with(work, first);
    bool exact = parent.exact || parent.counted, own = work->worlds->own, several = work->worlds->n_features > 0;
    bool shared = size > 1 && exact && first->comes;
    if (shared && !own) {
        find_common(work, able, size);
    } else if (shared && !several && parent.counted) {
        find_classes(work, able, size);
    } else if (shared && !several && work->tree->classes == 0) {
        find_alone(work, &work->steps[able[0]]);
        find_alone(work, &work->steps[able[size - 1]]);
        find_between(work, able, 0, size - 1);
    } else {
        for (int64_t i = 0; i < size; i++) find_alone(work, &work->steps[able[i]]);
    }
}
