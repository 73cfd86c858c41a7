/* Short loops over records: donors, distances, and what the collapse lost. */
#include "core.h"

/* Code of a donor for every record.
 *
 * leaf    (n) leaf of every record
 * start   (l + 1) the donors of leaf i are at the places start[i] ... start[i + 1] - 1
 * pool    codes of the donors, of `size` bytes each
 * share   (n) where in its leaf the donor is, from 0 to below 1
 */
EXPORT void draw_donors(
    int64_t n, const int32_t *leaf, const int64_t *start, const void *pool, int64_t size, const double *share,
    int32_t *codes) {
    for (int64_t i = 0; i < n; i++) {
        int64_t first = start[leaf[i]];
        /* A number below 1 times a size below 2^31 rounds to less than the size. */
        int64_t at = first + (int64_t)(share[i] * (double)(start[leaf[i] + 1] - first));
        codes[i] = size == 1   ? ((const uint8_t *)pool)[at]
                   : size == 2 ? ((const uint16_t *)pool)[at]
                               : ((const int32_t *)pool)[at];
    }
}

/* First record of each level; first holds zeros. */
EXPORT void first_records(int64_t n, const int32_t *codes, int64_t *first) {
    for (int64_t i = n - 1; i >= 0; i--) first[codes[i]] = i;
}

/* The distance 1 of one column, in whole steps. */
#define UNIT (1 << 20)
#define BLOCK 4096

/* The k nearest records of each target, and how many records lie within a radius; see _membership/distance.py.
 *
 * amounts, levels                  (n, a) and (n, b) targets
 * column_amounts, column_levels    (a, m) and (b, m) records
 * distances                        (n, k) ascending; lowered where a record is nearer
 * within                           (n) receives numbers of records
 */
EXPORT void search_nearest(
    int64_t n, int64_t m, int64_t a, int64_t b, const int32_t *amounts, const int32_t *levels,
    const int32_t *column_amounts, const int32_t *column_levels, int64_t k, int64_t *distances, int64_t *within,
    int64_t radius) {
    int32_t sums[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        int64_t *near = distances + i * k;
        for (int64_t start = 0; start < m; start += BLOCK) {
            int64_t size = smaller(BLOCK, m - start);
            memset(sums, 0, sizeof sums);
            for (int64_t c = 0; c < a; c++) {
                const int32_t *column = column_amounts + c * m + start, here = amounts[i * a + c];
                for (int64_t j = 0; j < size; j++) {
                    int32_t apart = column[j] - here;
                    apart = apart >= 0 ? apart : -apart;
                    sums[j] += apart < UNIT ? apart : UNIT;
                }
            }
            for (int64_t c = 0; c < b; c++) {
                const int32_t *column = column_levels + c * m + start, here = levels[i * b + c];
                for (int64_t j = 0; j < size; j++) sums[j] += column[j] != here ? UNIT : 0;
            }
            int64_t inside = 0;
            for (int64_t j = 0; j < size; j++) inside += sums[j] <= radius;
            within[i] += inside;
            for (int64_t j = 0; j < size; j++) {
                if (sums[j] >= near[k - 1]) continue;
                int64_t place = k - 1;
                for (; place > 0 && near[place - 1] > sums[j]; place--) near[place] = near[place - 1];
                near[place] = sums[j];
            }
        }
    }
}

/* How far the nearest records of each target are, and how many there are; see _membership/linked_records.py.
 *
 * A column adds the distance of two places on its axis, at most 1. Distances that differ by no more than the tolerance
 * are the same.
 *
 * places      (n, p) targets
 * columns     (p, m) records, of which there are so many alike: counts (m)
 * distances   (n) receives the smallest distance
 * ties        (n) receives the number of records that are so far
 */
EXPORT void count_nearest(
    int64_t n, int64_t m, int64_t p, const double *places, const double *columns, const int64_t *counts,
    double tolerance, double *distances, int64_t *ties) {
    double sums[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        double nearest = INFINITY;
        int64_t found = 0;
        for (int64_t start = 0; start < m; start += BLOCK) {
            int64_t size = smaller(BLOCK, m - start);
            for (int64_t j = 0; j < size; j++) sums[j] = 0.0;
            for (int64_t c = 0; c < p; c++) {
                const double *column = columns + c * m + start, here = places[i * p + c];
                for (int64_t j = 0; j < size; j++) {
                    double apart = fabs(column[j] - here);
                    sums[j] += apart < 1.0 ? apart : 1.0;
                }
            }
            for (int64_t j = 0; j < size; j++) {
                if (sums[j] > nearest + tolerance) continue;
                found = (sums[j] < nearest - tolerance ? 0 : found) + counts[start + j];
                nearest = sums[j] < nearest ? sums[j] : nearest;
            }
        }
        distances[i] = nearest;
        ties[i] = found;
    }
}

static double k_log_k(int64_t count) { return count > 0 ? (double)count * log2((double)count) : 0.0; }

/* Mutual information of side and class, times records, and number of classes less one. */
typedef struct {
    double bits, freedom;
} SplitBits;

static SplitBits split_bits(
    const int32_t *codes, int64_t start, int64_t middle, int64_t stop, int64_t *left, int64_t *right) {
    for (int64_t i = start; i < stop; i++) (i < middle ? left : right)[codes[i]]++;
    double bits = k_log_k(stop - start) - k_log_k(middle - start) - k_log_k(stop - middle);
    int64_t classes = 0;
    for (int64_t i = start; i < stop; i++) {
        int64_t a = left[codes[i]], b = right[codes[i]];
        if (a + b == 0) continue;
        bits += k_log_k(a) + k_log_k(b) - k_log_k(a + b);
        classes++;
        left[codes[i]] = right[codes[i]] = 0;
    }
    return (SplitBits){bits, (double)classes - 1.0};
}

/* Logarithm of (a bound of) the number of splits of a node with so many records. */
static double log_candidates(double records, int64_t p, const double *n_levels, const uint8_t *unordered) {
    double largest = -INFINITY, total = 0.0;
    for (int64_t f = 0; f < p; f++) {
        double levels = n_levels[f] < records ? n_levels[f] : records;
        double candidates = unordered[f] ? levels * log(2.0) : log(levels);
        if (candidates > largest) {
            total = total * exp(largest - candidates) + 1.0;
            largest = candidates;
        } else {
            total += exp(candidates - largest);
        }
    }
    return largest + log(total);
}

/* Bits, times records, of the removed splits that are not there by chance; see synthesis/diagnostics.py.
 *
 * codes         classes of the records, by node
 * n_levels      (p) numbers of levels of the predictors, unordered (p) whether they are split into sets
 * left, right   (classes) buffers of zeros
 */
EXPORT double outstanding_bits(
    int64_t t, const int32_t *codes, const int64_t *start, const int64_t *stop, const int32_t *right_child,
    const int32_t *leaf, int64_t p, const double *n_levels, const uint8_t *unordered, double chance, int64_t *left,
    int64_t *right) {
    int64_t removed = 0, reach = 0;
    for (int64_t node = 0; node < t; node++) {
        if (leaf[node] >= 0) reach = larger(reach, stop[node]);
        removed += right_child[node] >= 0 && start[node] < reach;
    }
    chance = log((double)removed / chance);
    double widest = 0.0, total = 0.0;
    for (int64_t f = 0; f < p; f++)
        if (unordered[f] && n_levels[f] > widest) widest = n_levels[f];
    reach = 0;
    for (int64_t node = 0; node < t; node++) {
        if (leaf[node] >= 0) reach = larger(reach, stop[node]);
        if (right_child[node] < 0 || start[node] >= reach) continue;
        double records = (double)(stop[node] - start[node]);
        /* Most removed splits are too small for any outcome to count: one bit per record is the most a split can hold.
         * The candidates of the predictor with the most levels alone tell so for most of them. */
        if (log(2.0) * (records - (records < widest ? records : widest)) <= chance) continue;
        double surprise = log_candidates(records, p, n_levels, unordered) + chance;
        if (log(2.0) * records <= surprise) continue;
        SplitBits split = split_bits(codes, start[node], stop[node + 1], stop[node], left, right);
        if (2.0 * log(2.0) * split.bits > split.freedom + 2.0 * sqrt(split.freedom * surprise) + 2.0 * surprise)
            total += split.bits;
    }
    return total;
}
