/* Risk of a node: what a split is meant to lower. */
#include "split.h"

/* Count the classes of some records, or sum their responses; for a numeric response also the squares of its upper
 * bits, the products of its upper and lower bits, and the squares of its lower bits. */
void add_up(const Records *records, int64_t *held, int64_t start, int64_t stop) {
    const int64_t *y = records->y;
    const int32_t *rows = records->rows;
    int64_t counted = counted_classes(records->classes);
    if (counted) {
        for (int64_t c = 0; c < counted; c++) held[c] = 0;
        for (int64_t i = start; i < stop; i++) held[y[rows[i]]]++;
        return;
    }
    int64_t total = 0, high_square = 0, mixed = 0, low_square = 0;
    if (records->classes) {
        for (int64_t i = start; i < stop; i++) total += y[rows[i]];
        held[0] = total;
        held[1] = held[2] = held[3] = 0;
        return;
    }
    for (int64_t i = start; i < stop; i++) {
        int64_t value = y[rows[i]], upper = value >> LOWER_BITS, lower = value & LOWER;
        total += value;
        high_square += upper * upper;
        mixed += upper * lower;
        low_square += lower * lower;
    }
    held[0] = total;
    held[1] = high_square;
    held[2] = mixed;
    held[3] = low_square;
}

/* Within sum of squares q - total^2 / n in 128 bits, q = high 2^42 + mixed 2^22 + low. */
double within(int64_t n, int64_t total, int64_t high_square, int64_t mixed, int64_t low_square) {
    wide_t q = ((wide_t)(uint64_t)high_square << (2 * LOWER_BITS)) + ((wide_t)(uint64_t)mixed << (LOWER_BITS + 1)) +
               (uint64_t)low_square;
    wide_t rest = q * (uint64_t)n - (wide_t)(uint64_t)total * (uint64_t)total;
    return ((double)(uint64_t)(rest >> 64) * 0x1p64 + (double)(uint64_t)rest) / (double)n;
}

Judged judge(int64_t classes, const int64_t *held, int64_t n, int64_t risk) {
    int64_t counted = counted_classes(classes), total = held[0];
    if (counted) {
        int64_t squares = 0, largest = 0;
        for (int64_t c = 0; c < counted; c++) {
            squares += held[c] * held[c];
            largest = larger(largest, held[c]);
        }
        double gini = (double)n - (double)squares / (double)n;
        return (Judged){squares, risk == MISCLASSIFIED ? (double)(n - largest) : gini};
    }
    if (classes == 0) return (Judged){total, within(n, total, held[1], held[2], held[3])};
    if (classes == 1) return (Judged){total, 0.0};
    double gini = 2.0 * (double)total * (double)(n - total) / (double)n;
    return (Judged){total, risk == MISCLASSIFIED ? (double)smaller(total, n - total) : gini};
}
