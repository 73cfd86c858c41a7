/* The search for the best split of a node. */
#ifndef UNVEIL_SPLIT_H
#define UNVEIL_SPLIT_H

#include "core.h"

/* Floating-point scores decide when they differ by more than this share, fractions of integers otherwise. */
#define NEAR 1e-12
#define LARGEST_EXACT 0x1p62
/* Classes are sorted by level, not counted, when there are more than this many cells per record. */
#define SPARSE 4
#define BLOCK_BITS 8
#define OUTSIDE_BITS 10
/* Most levels of an exhaustive search (of its 10^6: 2^18 subsets of 3 classes fit, 2^19 do not). */
#define MOST_LEVELS (BLOCK_BITS + OUTSIDE_BITS + 1)
/* What is held of a node whose response is summed: the sum, and three parts of the sum of squares. */
#define SUMS 4
#define LOWER_BITS 21
#define LOWER ((INT64_C(1) << LOWER_BITS) - 1)

/* The node that is being split; its records are rows[start] ... rows[stop - 1].
 *
 * exact     whether the scores of its splits fit into 128-bit fractions
 * total     sum of the response; with counted classes the sum of squared class counts
 * counted   number of classes if they are counted, else 0
 */
typedef struct {
    int64_t start, stop, total, minbucket, counted;
    bool exact;
} Parent;

/* The best split of a node so far, and the score of the runner-up.
 *
 * The score of a split of a numeric response or of two classes, with sums S of integers, is
 *     (S_left n - S n_left)^2 / (n_left n_right),
 * which is n times the decrease of the within sum of squares, and half of n times the decrease of Gini. With three or
 * more classes it is
 *     sum_k left_k^2 / n_left + sum_k right_k^2 / n_right,
 * which is the decrease of n times Gini but for a constant of the node.
 *
 * Both are fractions of integers. THE TIE RULE: a split replaces the best one only if its fraction is larger, so that
 * among equals the first predictor and then the first cut stays. Subsets of levels are not offered in their order:
 * there the smaller place wins. In nodes whose fractions do not fit into 128 bits (n^2 times the span of the response
 * above 2^62) scores within NEAR of each other count as equal.
 *
 * cut and after are the last code to the left and the first to the right; or the place in an order of levels; or the
 * set of levels.
 */
typedef struct {
    double score, rival;
    wide_t numerator;
    uint64_t divisor;
    int64_t feature, cut, after;
} Best;

/* Buffers of a search; l levels of the widest predictor, k counted classes (at least 1), m records.
 *
 * present   (l) levels that occur in the node
 * order     (l) their positions, sorted
 * side      (l) where the levels go
 * key       (l) what levels are sorted by
 * node, left, right   (max(k, SUMS)) class counts of the node and of its children; or, in `node`, its sums
 * axis, turned        (k) a direction in the space of classes
 * codes, classes      (m) codes in ascending order, and the responses that belong to them
 * goes_right          (m) side of every record
 * table, gram, rank, block, outside   of the exhaustive search, see exhaustive.c
 */
typedef struct {
    int64_t *present, *order, *side, *node, *left, *right, *rank;
    double *key, *axis, *turned, *table, *gram, *block, *outside;
    int32_t *codes, *classes;
    uint8_t *goes_right;
} Scratch;

bool new_scratch(Scratch *scratch, int64_t m, int64_t widest, int64_t k);
void free_scratch(Scratch *scratch);

/* Records and class counts (or sums) of one predictor's levels in a node. */
typedef struct {
    int64_t *number;
    int64_t *cells;
    int64_t levels, k;
} Levels;

void split_levels(Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels);
double most_unreached(Scratch *scratch, const Parent *parent, const Levels *levels, int64_t level);
bool every_set_is_searched(int64_t n_present, int64_t k);
void sort_positions(int64_t *order, const double *key, int64_t n_present);
void thresholds_of_levels(Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels);
void thresholds_of_sorted(
    Best *best, Scratch *scratch, const Parent *parent, const Records *records, int64_t feature);
void thresholds_of_sorted_classes(Best *best, Scratch *scratch, const Parent *parent, int64_t feature);
void sort_by_level(
    Scratch *scratch, const Parent *parent, const Levels *levels, const int32_t *codes, const int64_t *y,
    const int32_t *rows);
void search_all(
    Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels, int64_t n_present);
void search_few(
    Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels, int64_t n_present);

void add_up(const Records *records, int64_t *held, int64_t start, int64_t stop);
double within(int64_t n, int64_t total, int64_t high_square, int64_t mixed, int64_t low_square);
/* Total and risk of n records from what add_up gives. */
typedef struct {
    int64_t total;
    double risk;
} Judged;
Judged judge(int64_t classes, const int64_t *held, int64_t n, int64_t risk);

void count_predictor(
    const Levels *levels, const int32_t *codes, const int64_t *y, const int32_t *rows, int64_t start, int64_t stop,
    int64_t counted);
int64_t divide(
    const Records *records, Scratch *scratch, int64_t start, int64_t stop, int64_t feature, int64_t cut,
    int64_t minsplit);

/* Whether a / a_divisor is larger than b / b_divisor: both products have up to 192 bits. */
static inline bool exceeds(wide_t a, uint64_t a_divisor, wide_t b, uint64_t b_divisor) {
    wide_t a_low = (wide_t)(uint64_t)a * b_divisor, b_low = (wide_t)(uint64_t)b * a_divisor;
    wide_t a_high = (wide_t)(uint64_t)(a >> 64) * b_divisor + (a_low >> 64);
    wide_t b_high = (wide_t)(uint64_t)(b >> 64) * a_divisor + (b_low >> 64);
    return a_high != b_high ? a_high > b_high : (uint64_t)a_low > (uint64_t)b_low;
}

/* Start a node: no split yet, and a split has to exceed the score of the undivided node. */
static inline void reset(Best *best, const Parent *parent) {
    int64_t numerator = parent->counted ? parent->total : 0;
    int64_t divisor = parent->counted ? parent->stop - parent->start : 1;
    best->score = best->rival = (double)numerator / (double)divisor;
    best->numerator = (wide_t)(uint64_t)numerator;
    best->divisor = (uint64_t)divisor;
    best->feature = best->cut = best->after = -1;
}

/* The score a split must exceed to matter: that of the runner-up. */
static inline double bar_of(const Best *best) { return best->rival * (1.0 - NEAR); }

/* Take a split if it is better than the best one. */
static inline void offer(
    Best *best, bool exact, double score, wide_t numerator, uint64_t divisor, int64_t feature, int64_t cut,
    int64_t after) {
    bool near = fabs(score - best->score) <= NEAR * best->score;
    bool better;
    if (near && exact)
        better = exceeds(numerator, divisor, best->numerator, best->divisor);
    else
        better = score > best->score && !near;
    if (!better && exact && near && feature == best->feature && cut < best->cut)
        better = !exceeds(best->numerator, best->divisor, numerator, divisor);
    if (!better) {
        if (score > best->rival) best->rival = score;
        return;
    }
    if (best->feature >= 0 && best->score > best->rival) best->rival = best->score;
    *best = (Best){score, best->rival, numerator, divisor, feature, cut, after};
}

/* Score of a split from numbers of records and sums of the response. */
static inline double score_sums(bool exact, int64_t n, int64_t total, int64_t n_left, int64_t left) {
    int64_t n_right = n - n_left;
    if (exact) {
        double distance = (double)(left * n - total * n_left);
        return distance * distance / ((double)n_left * (double)n_right);
    }
    double mean_left = (double)left / (double)n_left, mean_right = (double)(total - left) / (double)n_right;
    double gap = mean_left - mean_right;
    if (fabs(gap) <= NEAR * (mean_left > mean_right ? mean_left : mean_right)) return 0.0;
    return gap * gap * ((double)n_left * (double)n_right);
}

static inline void offer_sums(
    Best *best, const Parent *parent, int64_t n_left, int64_t left, double score, int64_t feature, int64_t cut,
    int64_t after) {
    int64_t n = parent->stop - parent->start;
    wide_t square = 0;
    if (parent->exact) {
        int64_t distance = left * n - parent->total * n_left;
        uint64_t size = (uint64_t)(distance < 0 ? -distance : distance);
        square = (wide_t)size * size;
    }
    offer(best, parent->exact, score, square, (uint64_t)n_left * (uint64_t)(n - n_left), feature, cut, after);
}

/* Score of a split from numbers of records and sums of squared class counts. */
static inline double score_counts(int64_t n_left, int64_t left, int64_t n_right, int64_t right) {
    return (double)left / (double)n_left + (double)right / (double)n_right;
}

static inline void offer_counts(
    Best *best, int64_t n_left, int64_t left, int64_t n_right, int64_t right, double score, int64_t feature,
    int64_t cut, int64_t after) {
    wide_t numerator = (wide_t)(uint64_t)left * (uint64_t)n_right + (wide_t)(uint64_t)right * (uint64_t)n_left;
    offer(best, true, score, numerator, (uint64_t)n_left * (uint64_t)n_right, feature, cut, after);
}

#endif
