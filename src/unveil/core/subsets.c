/* The best two sets of levels of an unordered predictor.
 *
 * Numeric response and two classes: with the levels sorted by mean (share of the second class) the best split is one
 * of the cuts of this order (Fisher 1958; Breiman, Friedman, Olshen & Stone 1984, theorem 4.5). Three or more classes:
 * all subsets while 2^(levels - 1) * classes <= 10^6 (exhaustive.c), else the cuts of the order along the first
 * principal component of the class shares (Coppersmith, Hong & Hosking 1999).
 *
 * Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and regression trees.
 * Coppersmith, D., Hong, S. J. & Hosking, J. R. M. (1999). Partitioning nominal attributes in decision trees. Data
 *   Mining and Knowledge Discovery 3, 197-217. doi:10.1023/A:1009869804967
 * Fisher, W. D. (1958). On grouping for maximum homogeneity. JASA 53, 789-798. doi:10.1080/01621459.1958.10501479
 */
#include "split.h"

#define LARGEST_SEARCH 1000000
#define ITERATIONS 50
#define STEADY 1e-10
/* Rounding stays far below this many times NEAR. */
#define SAFETY 1000.0
/* Up to this many levels, all their subsets are scored one after the other. */
#define FEW 5

/* Sort positions by key, equal keys by position (Shell sort: no memory, no recursion). */
void sort_positions(int64_t *order, const double *key, int64_t n_present) {
    for (int64_t v = 0; v < n_present; v++) order[v] = v;
    int64_t gap = 1;
    while (gap < n_present / 9) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t v = gap; v < n_present; v++) {
            int64_t moved = order[v], i = v;
            for (; i >= gap; i -= gap) {
                int64_t other = order[i - gap];
                if (key[other] < key[moved] || (key[other] == key[moved] && other < moved)) break;
                order[i] = other;
            }
            order[i] = moved;
        }
    }
}

/* Whether all sets of levels are searched; three or more classes. */
bool every_set_is_searched(int64_t n_present, int64_t k) {
    return n_present <= MOST_LEVELS && (INT64_C(1) << (n_present - 1)) * k <= LARGEST_SEARCH;
}

/* Score of a split into all levels, which no split into two sets of them exceeds. */
static double most_possible(const Levels *levels, int64_t k, const int64_t *present, int64_t n_present) {
    double most = 0.0;
    for (int64_t v = 0; v < n_present; v++) {
        const int64_t *cells = levels->cells + present[v] * levels->k;
        int64_t squares = 0;
        for (int64_t c = 0; c < k; c++) squares += cells[c] * cells[c];
        most += (double)squares / (double)levels->number[present[v]];
    }
    return most;
}

/* Offer the cuts of the sorted levels. */
static void offer_cuts(
    Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels, int64_t n_present) {
    int64_t n = parent->stop - parent->start, k = parent->counted;
    double bar = bar_of(best);
    for (int64_t c = 0; c < k; c++) scratch->left[c] = 0;
    int64_t n_left = 0, left = 0, right = 0;
    for (int64_t v = 0; v < n_present - 1; v++) {
        int64_t level = scratch->present[scratch->order[v]];
        const int64_t *cells = levels->cells + level * levels->k;
        n_left += levels->number[level];
        if (k) {
            left = right = 0;
            for (int64_t c = 0; c < k; c++) {
                int64_t held = scratch->left[c] + cells[c], rest = scratch->node[c] - held;
                scratch->left[c] = held;
                left += held * held;
                right += rest * rest;
            }
        } else {
            left += cells[0];
        }
        if (n_left < parent->minbucket || n - n_left < parent->minbucket) continue;
        double score = k ? score_counts(n_left, left, n - n_left, right)
                         : score_sums(parent->exact, n, parent->total, n_left, left);
        if (score > bar) {
            if (k)
                offer_counts(best, n_left, left, n - n_left, right, score, feature, v, -1);
            else
                offer_sums(best, parent, n_left, left, score, feature, v, -1);
            bar = bar_of(best);
        }
    }
}

/* One step of the power iteration: axis <- sum_v n_v (p_v - p) (p_v - p)' axis. Gives its change; -1: no direction. */
static double turn_axis(Scratch *scratch, const Parent *parent, const Levels *levels, int64_t n_present) {
    int64_t n = parent->stop - parent->start, k = parent->counted;
    double *axis = scratch->axis, *turned = scratch->turned, middle = 0.0;
    for (int64_t c = 0; c < k; c++) {
        middle += axis[c] * (double)scratch->node[c] / (double)n;
        turned[c] = 0.0;
    }
    for (int64_t v = 0; v < n_present; v++) {
        const int64_t *cells = levels->cells + scratch->present[v] * levels->k;
        double place = 0.0;
        for (int64_t c = 0; c < k; c++) place += axis[c] * (double)cells[c];
        place = place / (double)levels->number[scratch->present[v]] - middle;
        scratch->key[v] = place;
        for (int64_t c = 0; c < k; c++) turned[c] += place * (double)cells[c];
    }
    double length = 0.0;
    for (int64_t c = 0; c < k; c++) length += turned[c] * turned[c];
    if (length == 0.0) return -1.0;
    length = sqrt(length);
    double change = 0.0;
    for (int64_t c = 0; c < k; c++) {
        double there = turned[c] / length, moved = fabs(there - axis[c]);
        if (moved > change) change = moved;
        axis[c] = there;
    }
    return change;
}

/* Key of a level: its place on the first principal component of the levels' class shares.
 *
 * Power iteration from the level that differs most from the node. */
static void principal_order(Scratch *scratch, const Parent *parent, const Levels *levels, int64_t n_present) {
    int64_t n = parent->stop - parent->start, k = parent->counted;
    double farthest = -1.0;
    for (int64_t v = 0; v < n_present; v++) {
        const int64_t *cells = levels->cells + scratch->present[v] * levels->k;
        double number = (double)levels->number[scratch->present[v]], distance = 0.0;
        for (int64_t c = 0; c < k; c++) {
            double gap = (double)cells[c] / number - (double)scratch->node[c] / (double)n;
            distance += gap * gap;
        }
        distance *= number;
        if (distance <= farthest) continue;
        farthest = distance;
        for (int64_t c = 0; c < k; c++)
            scratch->axis[c] = (double)cells[c] / number - (double)scratch->node[c] / (double)n;
    }
    for (int i = 0; i < ITERATIONS; i++) {
        double change = turn_axis(scratch, parent, levels, n_present);
        if (change < STEADY) return;
    }
}

/* Write where each level goes; levels that are not in the node follow the larger child. */
static void write_sides(Best *best, Scratch *scratch, const Levels *levels, int64_t n_present, bool by_order) {
    int64_t gray = best->cut ^ (best->cut >> 1), balance = 0;
    for (int64_t level = 0; level < levels->levels; level++) scratch->side[level] = UNSEEN;
    for (int64_t i = 0; i < n_present; i++) {
        int64_t level = scratch->present[by_order ? scratch->order[i] : i];
        bool to_left = by_order ? i <= best->cut : (gray >> i) & 1;
        scratch->side[level] = to_left ? LEFT : RIGHT;
        balance += to_left ? levels->number[level] : -levels->number[level];
    }
    if (balance >= 0) return;
    for (int64_t level = 0; level < levels->levels; level++)
        if (scratch->side[level] == UNSEEN) scratch->side[level] = UNSEEN | RIGHT;
}

/* Offer splits of an unordered predictor; scratch->side says where levels go if one of them is best. */
void split_levels(Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels) {
    int64_t k = parent->counted, n_present = 0;
    for (int64_t level = 0; level < levels->levels; level++)
        if (levels->number[level]) scratch->present[n_present++] = level;
    if (n_present < 2) return;
    bool by_order = true;
    if (k == 0) {
        for (int64_t v = 0; v < n_present; v++) {
            int64_t level = scratch->present[v];
            scratch->key[v] = (double)levels->cells[level * levels->k] / (double)levels->number[level];
        }
    } else if (every_set_is_searched(n_present, k)) {
        by_order = false;
        double most = most_possible(levels, k, scratch->present, n_present);
        if (most * (1.0 + NEAR * SAFETY) <= best->rival * (1.0 - NEAR)) return;
        if (n_present <= FEW)
            search_few(best, scratch, parent, feature, levels, n_present);
        else
            search_all(best, scratch, parent, feature, levels, n_present);
    } else {
        principal_order(scratch, parent, levels, n_present);
    }
    if (by_order) {
        sort_positions(scratch->order, scratch->key, n_present);
        offer_cuts(best, scratch, parent, feature, levels, n_present);
    }
    if (best->feature == feature) write_sides(best, scratch, levels, n_present, by_order);
}

/* Largest score of the cuts that are not offered now, but would be if one level had another mean; summed response, and
 * right after split_levels.
 *
 * The other levels keep their order. So with another mean, what goes left is the first j of them, with or without the
 * level: with it for j < place, without it for j > place is what the present order does not offer. */
double most_unreached(Scratch *scratch, const Parent *parent, const Levels *levels, int64_t level) {
    int64_t n = parent->stop - parent->start, n_present = 0, n_left = 0, left = 0;
    for (int64_t other = 0; other < levels->levels; other++)
        if (levels->number[other]) scratch->present[n_present++] = other;
    int64_t number = levels->number[level], sum = levels->cells[level * levels->k];
    double most = 0.0;
    bool passed = false;
    for (int64_t v = 0; number && v < n_present; v++) {
        int64_t here = scratch->present[scratch->order[v]];
        if (here == level) {
            passed = true;
            continue;
        }
        // Before the level's place: the others so far with it. Behind it: the others up to here without it.
        int64_t n_with = n_left + number, with = left + sum;
        n_left += levels->number[here];
        left += levels->cells[here * levels->k];
        int64_t n_side = passed ? n_left : n_with, side = passed ? left : with;
        if (n_side < parent->minbucket || n - n_side < parent->minbucket || n_side == n) continue;
        double score = score_sums(parent->exact, n, parent->total, n_side, side);
        if (score > most) most = score;
    }
    return most;
}
