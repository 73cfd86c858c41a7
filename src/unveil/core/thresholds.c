/* The best threshold of a numeric or ordered predictor.
 *
 * Predictors with few levels are counted by level; predictors with many are read in an order that is sorted once for
 * the whole tree and kept when records move to the children. Either way a node of m records costs O(m).
 */
#include "split.h"

/* Records whose place in memory is known so many steps before they are read. */
#define AHEAD 16

/* Move one level's records from the right to the left; the sums of squared class counts follow. */
static inline void move_level(
    const Scratch *scratch, const int64_t *cells, int64_t k, int64_t *left_squares, int64_t *right_squares) {
    int64_t left = 0, right = 0;
    for (int64_t c = 0; c < k; c++) {
        int64_t held = scratch->left[c] + cells[c], rest = scratch->node[c] - held;
        scratch->left[c] = held;
        left += held * held;
        right += rest * rest;
    }
    *left_squares = left;
    *right_squares = right;
}

/* Offer the thresholds of a predictor that is counted by level. */
void thresholds_of_levels(Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels) {
    int64_t n = parent->stop - parent->start, k = parent->counted;
    double bar = bar_of(best);
    for (int64_t c = 0; c < k; c++) scratch->left[c] = 0;
    int64_t n_left = 0, left = 0, right = parent->total, code = -1;
    for (int64_t level = 0; level < levels->levels; level++) {
        if (levels->number[level] == 0) continue;
        int64_t n_right = n - n_left;
        if (n_right < parent->minbucket) break;
        if (n_left >= parent->minbucket) {
            double score = k ? score_counts(n_left, left, n_right, right)
                             : score_sums(parent->exact, n, parent->total, n_left, left);
            if (score > bar) {
                if (k)
                    offer_counts(best, n_left, left, n_right, right, score, feature, code, level);
                else
                    offer_sums(best, parent, n_left, left, score, feature, code, level);
                bar = bar_of(best);
            }
        }
        n_left += levels->number[level];
        code = level;
        if (k)
            move_level(scratch, levels->cells + level * levels->k, k, &left, &right);
        else
            left += levels->cells[level * levels->k];
    }
}

/* Ask for what a later record of an order needs: it lies anywhere in memory. */
static inline void fetch_ahead(const int32_t *rows, int64_t i, int64_t n, const int32_t *codes, const int64_t *y) {
    int32_t later = rows[smaller(i + AHEAD, n - 1)];
    __builtin_prefetch(codes + later);
    __builtin_prefetch(y + later);
}

/* Offer the thresholds of a predictor whose records are sorted by code; summed response. */
static void thresholds_of_sorted_sums(
    Best *best, const Parent *parent, int64_t feature, const int32_t *codes, const int64_t *y, const int32_t *sorted) {
    int64_t n = parent->stop - parent->start, left = 0;
    double bar = bar_of(best);
    const int32_t *rows = sorted + parent->start;
    int32_t row = rows[0], after = codes[row];
    for (int64_t n_left = 1; n_left <= n - parent->minbucket; n_left++) {
        left += y[row];
        fetch_ahead(rows, n_left, n, codes, y);
        row = rows[n_left];
        int32_t code = after;
        after = codes[row];
        if (code == after || n_left < parent->minbucket) continue;
        double score = score_sums(parent->exact, n, parent->total, n_left, left);
        if (score > bar) {
            offer_sums(best, parent, n_left, left, score, feature, code, after);
            bar = bar_of(best);
        }
    }
}

/* Offer the thresholds of sorted codes (scratch->codes and ->classes); three or more classes. */
void thresholds_of_sorted_classes(Best *best, Scratch *scratch, const Parent *parent, int64_t feature) {
    int64_t n = parent->stop - parent->start;
    double bar = bar_of(best);
    for (int64_t c = 0; c < parent->counted; c++) {
        scratch->left[c] = 0;
        scratch->right[c] = scratch->node[c];
    }
    int64_t left = 0, right = parent->total, after = scratch->codes[0];
    for (int64_t n_left = 1; n_left <= n - parent->minbucket; n_left++) {
        int32_t y = scratch->classes[n_left - 1];
        int64_t held = scratch->left[y], rest = scratch->right[y];
        left += 2 * held + 1;
        right -= 2 * rest - 1;
        scratch->left[y] = held + 1;
        scratch->right[y] = rest - 1;
        int64_t code = after;
        after = scratch->codes[n_left];
        if (code == after || n_left < parent->minbucket) continue;
        double score = score_counts(n_left, left, n - n_left, right);
        if (score > bar) {
            offer_counts(best, n_left, left, n - n_left, right, score, feature, code, after);
            bar = bar_of(best);
        }
    }
}

/* Offer the thresholds of a predictor whose rows are kept in sorted order. */
void thresholds_of_sorted(
    Best *best, Scratch *scratch, const Parent *parent, const Records *records, int64_t feature) {
    const int32_t *codes = records->codes + feature * records->columns;
    const int32_t *sorted = records->sorted_rows + records->wide[feature] * records->m;
    if (!parent->counted) {
        thresholds_of_sorted_sums(best, parent, feature, codes, records->y, sorted);
        return;
    }
    const int32_t *rows = sorted + parent->start;
    int64_t n = parent->stop - parent->start;
    for (int64_t i = 0; i < n; i++) {
        int32_t row = rows[i];
        fetch_ahead(rows, i, n, codes, records->y);
        scratch->codes[i] = codes[row];
        scratch->classes[i] = (int32_t)records->y[row];
    }
    thresholds_of_sorted_classes(best, scratch, parent, feature);
}

/* Sort the codes and classes of the node by counting; `number` is zero before and after. */
void sort_by_level(
    Scratch *scratch, const Parent *parent, const Levels *levels, const int32_t *codes, const int64_t *y,
    const int32_t *rows) {
    int64_t *number = levels->number;
    for (int64_t i = parent->start; i < parent->stop; i++) number[codes[rows[i]]]++;
    int64_t before = 0;
    for (int64_t level = 0; level < levels->levels; level++) {
        int64_t here = number[level];
        number[level] = before;
        before += here;
    }
    for (int64_t i = parent->start; i < parent->stop; i++) {
        int32_t row = rows[i], code = codes[row];
        int64_t place = number[code]++;
        scratch->codes[place] = code;
        scratch->classes[place] = (int32_t)y[row];
    }
    memset(number, 0, (size_t)levels->levels * sizeof *number);
}
