/* Search through all subsets of the levels of an unordered predictor; three or more classes.
 *
 * With C(S) the class counts of a set S of levels and q(S) = |C(S)|^2 / n(S), the score of a split is
 * q(left) + q(right). Two facts make the search short:
 *
 * - |C(S)|^2 is a quadratic form in the levels. A subset made of one part in a block of eight levels and one part
 *   outside costs a few additions: the sums of the parts, stored once, and the product of the two, which is extended
 *   level by level. Blocks are scored at a time.
 * - q(S + T) <= q(S) + q(T). Hence no split whose levels outside the block fall into H and H' can score more than
 *   q(H) + q(H') plus the best score of the block alone. Blocks are visited by falling bound until none can matter
 *   (branch and bound as in Koontz, Narendra & Fukunaga 1975; the Gini split is their two-group problem). The levels
 *   with the smallest scatter form the block, which makes the bounds tight.
 *
 * The last present level is on the right. Among equally good subsets the first in the order of the reflected Gray code
 * is taken, whose bit i says whether the i-th present level is on the left; best->cut is its place in this order.
 *
 * Koontz, W. L. G., Narendra, P. M. & Fukunaga, K. (1975). A branch and bound clustering algorithm. IEEE Transactions
 *   on Computers C-24, 908-915. doi:10.1109/T-C.1975.224336
 */
#include "split.h"

/* Columns of gram after the products with the other levels. */
enum { WITH_NODE = MOST_LEVELS, WITH_OUTSIDE, NUMBER, SCATTER, GRAM_COLUMNS };
/* Rows of block: number, squares, product with the node, twice the product with the set outside, score. */
enum { BLOCK_NUMBER, BLOCK_SQUARES, BLOCK_NODE, BLOCK_OUTSIDE, BLOCK_SCORE, BLOCK_ROWS };
/* Columns of outside: number, squares, product with the node, product with all levels outside, bound of the score;
 * then products with the levels of the block. */
enum { OUT_NUMBER, OUT_SQUARES, OUT_NODE, OUT_ALL, OUT_BOUND, OUT_BLOCK, OUT_COLUMNS = OUT_BLOCK + BLOCK_BITS };
#define SUBSETS (1 << BLOCK_BITS)

static inline double *gram_of(const Scratch *scratch, int64_t level) {
    return scratch->gram + level * GRAM_COLUMNS;
}
static inline double *block_of(const Scratch *scratch, int row) { return scratch->block + row * SUBSETS; }
static inline double *outside_of(const Scratch *scratch, int64_t part) {
    return scratch->outside + part * OUT_COLUMNS;
}

/* Products of the class counts of levels with each other and with the node. */
static void fill_gram(Scratch *scratch, const Parent *parent, const Levels *levels, int64_t n_present) {
    for (int64_t v = 0; v < n_present; v++) {
        double *gram = gram_of(scratch, v);
        for (int64_t w = 0; w < n_present; w++) gram[w] = 0.0;
        gram[WITH_NODE] = 0.0;
        gram[NUMBER] = (double)levels->number[scratch->present[v]];
    }
    for (int64_t c = 0; c < parent->counted; c++) {
        if (scratch->node[c] == 0) continue;
        double *table = scratch->table;
        for (int64_t v = 0; v < n_present; v++) table[v] = (double)levels->cells[scratch->present[v] * levels->k + c];
        for (int64_t v = 0; v < n_present; v++) {
            if (table[v] == 0.0) continue;
            double *gram = gram_of(scratch, v), held = table[v];
            gram[WITH_NODE] += held * (double)scratch->node[c];
            for (int64_t w = 0; w < n_present; w++) gram[w] += held * table[w];
        }
    }
}

/* Sort levels by falling scatter n_v |p_v - p|^2. */
static void rank_levels(Scratch *scratch, double n, double total, int64_t n_present, int64_t n_outside) {
    int64_t *rank = scratch->rank;
    for (int64_t v = 0; v < n_present; v++) {
        double *gram = gram_of(scratch, v), number = gram[NUMBER];
        double scatter = gram[v] / number - 2.0 * gram[WITH_NODE] / n + number * total / (n * n);
        gram[SCATTER] = scatter;
        int64_t i = v;
        for (; i > 0 && gram_of(scratch, rank[i - 1])[SCATTER] < scatter; i--) rank[i] = rank[i - 1];
        rank[i] = v;
    }
    for (int64_t v = 0; v < n_present; v++) {
        double *gram = gram_of(scratch, v), product = 0.0;
        for (int64_t i = 0; i < n_outside; i++) product += gram[rank[i]];
        gram[WITH_OUTSIDE] = product;
    }
}

/* Number, squares and product with the node of the subsets of the block. */
static void fill_block(Scratch *scratch, int64_t n_outside, int64_t inside) {
    const int64_t *rank = scratch->rank + n_outside;
    double *number = block_of(scratch, BLOCK_NUMBER), *squares = block_of(scratch, BLOCK_SQUARES);
    double *product = block_of(scratch, BLOCK_NODE), *extra = block_of(scratch, BLOCK_OUTSIDE);
    number[0] = squares[0] = product[0] = extra[0] = 0.0;
    for (int64_t bit = 0; bit < inside; bit++) {
        const double *gram = gram_of(scratch, rank[bit]);
        for (int64_t lower = 0; lower < bit; lower++) {
            int64_t step = INT64_C(1) << lower;
            double more = 2.0 * gram[rank[lower]];
            for (int64_t s = 0; s < step; s++) extra[step + s] = extra[s] + more;
        }
        int64_t half = INT64_C(1) << bit;
        for (int64_t s = 0; s < half; s++) {
            number[half + s] = number[s] + gram[NUMBER];
            squares[half + s] = squares[s] + gram[rank[bit]] + extra[s];
            product[half + s] = product[s] + gram[WITH_NODE];
        }
    }
}

/* Best score of the block alone; one side may be empty. */
static double best_alone(const Scratch *scratch, int64_t inside) {
    const double *number = block_of(scratch, BLOCK_NUMBER), *squares = block_of(scratch, BLOCK_SQUARES);
    int64_t last = (INT64_C(1) << inside) - 1;
    double best = squares[last] / number[last];
    for (int64_t s = 1; s < last - s; s++) {
        double score = squares[s] / number[s] + squares[last - s] / number[last - s];
        if (score > best) best = score;
    }
    return best;
}

/* Sums and bounds of the sets of levels outside the block; the first level is always on the right. */
static void fill_outside(Scratch *scratch, int64_t n_outside, int64_t inside) {
    const int64_t *rank = scratch->rank;
    for (int column = 0; column < OUT_COLUMNS; column++) outside_of(scratch, 0)[column] = 0.0;
    for (int64_t bit = 0; bit < n_outside - 1; bit++) {
        int64_t level = rank[bit + 1], half = INT64_C(1) << bit;
        const double *gram = gram_of(scratch, level);
        for (int64_t part = 0; part < half; part++) {
            const double *less = outside_of(scratch, part);
            double *more = outside_of(scratch, half + part), product = 0.0;
            for (int64_t lower = 0; lower < bit; lower++)
                if ((part >> lower) & 1) product += gram[rank[lower + 1]];
            more[OUT_NUMBER] = less[OUT_NUMBER] + gram[NUMBER];
            more[OUT_SQUARES] = less[OUT_SQUARES] + gram[level] + 2.0 * product;
            more[OUT_NODE] = less[OUT_NODE] + gram[WITH_NODE];
            more[OUT_ALL] = less[OUT_ALL] + gram[WITH_OUTSIDE];
            for (int64_t v = 0; v < inside; v++) more[OUT_BLOCK + v] = less[OUT_BLOCK + v] + gram[rank[n_outside + v]];
        }
    }
    if (n_outside == 1) {
        outside_of(scratch, 0)[OUT_BOUND] = INFINITY;
        return;
    }
    double number = 0.0, squares = 0.0, alone = best_alone(scratch, inside);
    for (int64_t i = 0; i < n_outside; i++) {
        number += gram_of(scratch, rank[i])[NUMBER];
        squares += gram_of(scratch, rank[i])[WITH_OUTSIDE];
    }
    for (int64_t part = 0; part < INT64_C(1) << (n_outside - 1); part++) {
        double *set = outside_of(scratch, part), held = set[OUT_NUMBER];
        double bound = alone + (squares - 2.0 * set[OUT_ALL] + set[OUT_SQUARES]) / (number - held);
        set[OUT_BOUND] = held > 0.0 ? bound + set[OUT_SQUARES] / held : bound;
    }
}

/* Scores of the subsets of a block with one set outside; of no meaning where a child is empty. */
static void score_block(Scratch *scratch, int64_t size, const double *set, double n, double total) {
    const double *restrict number = block_of(scratch, BLOCK_NUMBER);
    const double *restrict squares = block_of(scratch, BLOCK_SQUARES);
    const double *restrict product = block_of(scratch, BLOCK_NODE);
    const double *restrict extra = block_of(scratch, BLOCK_OUTSIDE);
    double *restrict scores = block_of(scratch, BLOCK_SCORE);
    double set_number = set[OUT_NUMBER], set_squares = set[OUT_SQUARES], set_node = set[OUT_NODE];
    /* Without a condition, so that several subsets are worked on at a time. */
    for (int64_t s = 0; s < size; s++) {
        double n_left = number[s] + set_number, n_right = n - n_left;
        double left = squares[s] + set_squares + extra[s];
        double right = total - 2.0 * (product[s] + set_node) + left;
        scores[s] = (left * n_right + right * n_left) / (n_left * n_right);
    }
}

/* Place of a subset of the present levels in the order of the reflected Gray code. */
static int64_t place_of(const int64_t *rank, int64_t n_present, int64_t n_outside, int64_t part, int64_t s) {
    int64_t subset = 0;
    for (int64_t bit = 1; bit < n_outside; bit++) subset |= ((part >> (bit - 1)) & 1) << rank[bit];
    for (int64_t bit = 0; bit < n_present - n_outside; bit++) subset |= ((s >> bit) & 1) << rank[n_outside + bit];
    if ((subset >> (n_present - 1)) & 1) subset = (INT64_C(1) << n_present) - 1 - subset;
    for (int shift = 1; shift <= 16; shift *= 2) subset ^= subset >> shift;
    return subset;
}

/* Offer every split into two sets of levels. */
void search_all(
    Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels, int64_t n_present) {
    int64_t n = parent->stop - parent->start, inside = smaller(n_present - 1, BLOCK_BITS);
    int64_t n_outside = n_present - inside, parts = INT64_C(1) << (n_outside - 1), size = INT64_C(1) << inside;
    double total = (double)parent->total;
    fill_gram(scratch, parent, levels, n_present);
    rank_levels(scratch, (double)n, total, n_present, n_outside);
    fill_block(scratch, n_outside, inside);
    fill_outside(scratch, n_outside, inside);
    const double *number = block_of(scratch, BLOCK_NUMBER), *squares = block_of(scratch, BLOCK_SQUARES);
    const double *product = block_of(scratch, BLOCK_NODE), *scores = block_of(scratch, BLOCK_SCORE);
    double *extra = block_of(scratch, BLOCK_OUTSIDE);
    for (;;) {
        int64_t part = 0;
        for (int64_t other = 1; other < parts; other++)
            if (outside_of(scratch, other)[OUT_BOUND] > outside_of(scratch, part)[OUT_BOUND]) part = other;
        double *set = outside_of(scratch, part), bar = bar_of(best);
        if (set[OUT_BOUND] <= bar) return;
        set[OUT_BOUND] = -1.0;
        for (int64_t bit = 0; bit < inside; bit++) {
            int64_t half = INT64_C(1) << bit;
            double more = 2.0 * set[OUT_BLOCK + bit];
            for (int64_t s = 0; s < half; s++) extra[half + s] = extra[s] + more;
        }
        score_block(scratch, size, set, (double)n, total);
        for (int64_t s = 0; s < size; s++) {
            if (scores[s] <= bar) continue;
            int64_t n_left = (int64_t)(number[s] + set[OUT_NUMBER]);
            if (n_left < parent->minbucket || n - n_left < parent->minbucket) continue;
            int64_t left = (int64_t)(squares[s] + set[OUT_SQUARES] + extra[s]);
            int64_t right = parent->total - 2 * (int64_t)(product[s] + set[OUT_NODE]) + left;
            int64_t subset = place_of(scratch->rank, n_present, n_outside, part, s);
            offer_counts(best, n_left, left, n - n_left, right, scores[s], feature, subset, -1);
            bar = bar_of(best);
        }
    }
}

/* Offer every split of a few levels into two sets, as search_all does, in the order of the Gray code. */
void search_few(
    Best *best, Scratch *scratch, const Parent *parent, int64_t feature, const Levels *levels, int64_t n_present) {
    int64_t n = parent->stop - parent->start, k = parent->counted, n_left = 0;
    double bar = bar_of(best);
    for (int64_t c = 0; c < k; c++) scratch->left[c] = 0;
    for (int64_t place = 1; place < INT64_C(1) << (n_present - 1); place++) {
        int moved = 0;
        while (!((place >> moved) & 1)) moved++;
        int64_t sign = ((place ^ (place >> 1)) >> moved) & 1 ? 1 : -1;
        int64_t level = scratch->present[moved], left = 0, right = 0;
        const int64_t *cells = levels->cells + level * levels->k;
        n_left += sign * levels->number[level];
        for (int64_t c = 0; c < k; c++) {
            int64_t held = scratch->left[c] + sign * cells[c], rest = scratch->node[c] - held;
            scratch->left[c] = held;
            left += held * held;
            right += rest * rest;
        }
        int64_t n_right = n - n_left;
        if (n_left < parent->minbucket || n_right < parent->minbucket) continue;
        double score =
            ((double)left * (double)n_right + (double)right * (double)n_left) / ((double)n_left * (double)n_right);
        if (score > bar) {
            offer_counts(best, n_left, left, n_right, right, score, feature, place, -1);
            bar = bar_of(best);
        }
    }
}
