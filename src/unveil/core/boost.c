/* Trees of gradient boosting, of three splits at most from the root to a leaf.
 *
 * A tree is a heap: the children of node i are 2 i + 1 and 2 i + 2, and nodes 7 to 14 are the leaves 0 to 7. A node that
 * is not split leads to its left. Predictors are numbers in bins; a gap is the last slot of its predictor. */
#include "core.h"

enum { DEPTH = 3, SPLITS = 7 };

static const double LEAST_CURVATURE = 1e-3, NO_CURVATURE = 1e-15;
/* Of splits whose gains differ by a smaller share, which is rounding, the first one stays. */
static const double TIE = 1e-12;

/* Sums over records: of slopes and curvatures of the loss, and their number. The last one makes its size even. */
typedef struct Sums {
    double slope, curvature, records, none;
} Sums;

typedef struct Work {
    const Boosting *data;
    const BoostedTree *tree;
    const double *slope, *curvature;
    double *predicted;
    Sums *levels[DEPTH];
    int32_t *rows, *spare;
    uint8_t *goes_right;
} Work;

typedef struct Cut {
    int64_t feature, cut;
    bool gaps_left;
    double gain;
    Sums left;
} Cut;

static Sums added(Sums a, Sums b, double sign) {
    return (Sums){
        a.slope + sign * b.slope, a.curvature + sign * b.curvature, a.records + sign * b.records, 0.0};
}

static double best_value(Sums sums) { return -sums.slope / (sums.curvature + NO_CURVATURE); }

/* Sums by slot over the rows from start to stop. */
static void add_up_slots(const Work *work, int64_t start, int64_t stop, Sums *levels) {
    const Boosting *data = work->data;
    memset(levels, 0, (size_t)data->starts[data->p] * sizeof *levels);
    for (int64_t i = start; i < stop; i++) {
        int64_t row = work->rows[i];
        Sums one = {work->slope[row], work->curvature[row], data->records[row], 0.0};
        const int32_t *slots = data->slots + row * data->p;
        for (int64_t f = 0; f < data->p; f++) {
            Sums *to = &levels[slots[f]];
            to->slope += one.slope;
            to->curvature += one.curvature;
            to->records += one.records;
        }
    }
}

/* Take a split if it is allowed and gains clearly more than the best one so far. */
static void offer(const Work *work, Cut offered, Sums total, double loss, Cut *best) {
    Sums left = offered.left, right = added(total, left, -1.0);
    double least = (double)work->data->least;
    if (left.records < least || right.records < least) return;
    if (left.curvature < LEAST_CURVATURE || right.curvature < LEAST_CURVATURE) return;
    offered.gain = loss - left.slope * best_value(left) - right.slope * best_value(right);
    if (offered.gain > best->gain * (1.0 + TIE)) *best = offered;
}

/* The best split of a node whose records have the value so far: gaps to the right, and where there are some to the
 * left too. */
static Cut best_cut(const Work *work, const Sums *levels, Sums total, double value) {
    const Boosting *data = work->data;
    Cut best = {-1, 0, false, 0.0, {0}};
    for (int64_t f = 0; f < data->p; f++) {
        int64_t first = data->starts[f], gap = data->starts[f + 1] - 1;
        for (int side = 0; side <= (data->gaps[f] ? 1 : 0); side++) {
            Sums left = side ? levels[gap] : (Sums){0};
            int64_t end = data->gaps[f] && !side ? gap : gap - 1;
            for (int64_t slot = first; slot < end; slot++) {
                left = added(left, levels[slot], 1.0);
                offer(work, (Cut){f, slot - first, side, 0.0, left}, total, total.slope * value, &best);
            }
        }
    }
    return best;
}

static void finish(const Work *work, int64_t node, int64_t depth, int64_t start, int64_t stop, double value) {
    double step = value * work->data->rate;
    work->tree->value[((node + 1) << (DEPTH - depth)) - SPLITS - 1] = step;
    for (int64_t i = start; i < stop; i++) work->predicted[work->rows[i]] += step;
}

/* Put the rows of a node by side; gives where the right ones start. */
static int64_t divide(const Work *work, Cut cut, int64_t start, int64_t stop) {
    const Boosting *data = work->data;
    int64_t first = data->starts[cut.feature], gap = data->starts[cut.feature + 1] - 1;
    for (int64_t i = start; i < stop; i++) {
        int64_t row = work->rows[i], slot = data->slots[row * data->p + cut.feature];
        work->goes_right[row] = slot == gap ? !cut.gaps_left : slot - first > cut.cut;
    }
    return divide_rows(work->rows, work->spare, work->goes_right, start, stop);
}

static void grow_node(
    const Work *work, int64_t node, int64_t depth, int64_t start, int64_t stop, Sums total, double value,
    Sums *levels) {
    const Boosting *data = work->data;
    Cut cut = {-1, 0, false, 0.0, {0}};
    if (depth < DEPTH && total.records >= 2.0 * (double)data->least)
        cut = best_cut(work, levels, total, value);
    if (depth < DEPTH) work->tree->feature[node] = (int32_t)cut.feature;
    if (cut.feature < 0) {
        finish(work, node, depth, start, stop, value);
        return;
    }
    Sums left = cut.left, right = added(total, left, -1.0);
    /* where no record had a gap, gaps go with the majority */
    bool gaps_left = data->gaps[cut.feature] ? cut.gaps_left : left.records > right.records;
    work->tree->cut[node] = (int32_t)cut.cut;
    work->tree->gaps_left[node] = gaps_left;
    int64_t middle = divide(work, cut, start, stop);
    Sums *of_left = levels, *of_right = levels;
    if (depth + 1 < DEPTH) {
        /* the sums of the larger child are what those of the smaller one leave */
        Sums *fewer = work->levels[depth + 1];
        bool left_is_fewer = middle - start < stop - middle;
        add_up_slots(work, left_is_fewer ? start : middle, left_is_fewer ? middle : stop, fewer);
        for (int64_t slot = 0; slot < data->starts[data->p]; slot++)
            levels[slot] = added(levels[slot], fewer[slot], -1.0);
        *(left_is_fewer ? &of_left : &of_right) = fewer;
    }
    grow_node(work, 2 * node + 1, depth + 1, start, middle, left, best_value(left), of_left);
    grow_node(work, 2 * node + 2, depth + 1, middle, stop, right, best_value(right), of_right);
}

/* Grow a tree to the slopes and curvatures (m) of the loss, and add its values to what is predicted (m). */
EXPORT int grow_boosted_tree(
    const Boosting *data, const double *slope, const double *curvature, const BoostedTree *tree, double *predicted) {
    int64_t m = data->m, slots = data->starts[data->p];
    Work work = {data, tree, slope, curvature, predicted, {0}, 0, 0, 0};
    Sums *levels = room(slots * DEPTH, sizeof *levels);
    work.rows = room(m, sizeof *work.rows);
    work.spare = room(m, sizeof *work.spare);
    work.goes_right = room(m, sizeof *work.goes_right);
    int code = levels && work.rows && work.spare && work.goes_right ? DONE : NO_MEMORY;
    if (code == DONE) {
        for (int64_t d = 0; d < DEPTH; d++) work.levels[d] = levels + d * slots;
        Sums total = {0};
        for (int64_t row = 0; row < m; row++) {
            work.rows[row] = (int32_t)row;
            total = added(total, (Sums){slope[row], curvature[row], data->records[row], 0.0}, 1.0);
        }
        add_up_slots(&work, 0, m, levels);
        grow_node(&work, 0, 0, 0, m, total, 0.0, levels);
    }
    free(levels);
    free(work.rows);
    free(work.spare);
    free(work.goes_right);
    return code;
}

/* Add the values of a tree to what is predicted (n) of records whose bins are codes (n, p); -1 is a gap. */
EXPORT void add_boosted_tree(
    int64_t n, int64_t p, const int32_t *codes, const BoostedTree *tree, double *predicted) {
    for (int64_t row = 0; row < n; row++) {
        int64_t node = 0;
        for (int64_t depth = 0; depth < DEPTH; depth++) {
            int32_t feature = tree->feature[node], code = feature < 0 ? 0 : codes[row * p + feature];
            bool right = feature >= 0 && (code < 0 ? !tree->gaps_left[node] : code > tree->cut[node]);
            node = 2 * node + 1 + right;
        }
        predicted[row] += tree->value[node - SPLITS];
    }
}
