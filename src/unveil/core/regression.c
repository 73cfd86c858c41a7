/* Regressions: sums of products over sparse rows, second derivatives of the likelihood of classes, and a quadratic with
 * a penalty of size. */
#include "core.h"

enum { ROWS_PER_SUM = 1024 };

/* Add up sum over rows of weight x_i x_j p_a (1[a = b] - p_b) in total (k c, k c), for columns i <= j of the design.
 *
 * A row of the design is its columns that are not 0, ascending: start (n + 1,), column and x. Of a row with few of them
 * this is far less than the product of dense matrices. */
EXPORT void class_curvature(
    int64_t n, int64_t k, int64_t c, const int64_t *start, const int64_t *column, const double *x, const double *weight,
    const double *p, double *total) {
    for (int64_t row = 0; row < n; row++) {
        const double *of = p + row * c;
        for (int64_t i = start[row]; i < start[row + 1]; i++) {
            for (int64_t j = i; j < start[row + 1]; j++) {
                double product = weight[row] * x[i] * x[j];
                for (int64_t a = 0; a < c; a++) {
                    double share = product * of[a];
                    double *to = total + (column[i] * c + a) * k * c + column[j] * c;
                    for (int64_t b = 0; b < c; b++) to[b] -= share * of[b];
                    to[a] += share;
                }
            }
        }
    }
}

/* Lower slope'd + d' curvature d / 2 + sum price |beta + d|, d the change of beta, by one coordinate after the other:
 * each is set where the rest leaves it lowest. `slope` becomes the slope of the quadratic at the new beta.
 *
 * The end is a round in which none gains more than `least`. Gives the number of rounds. */
EXPORT int64_t descend(
    int64_t n, const double *curvature, const double *price, double least, int64_t most, double *slope, double *beta) {
    for (int64_t done = 1; done <= most; done++) {
        double largest = 0.0;
        for (int64_t j = 0; j < n; j++) {
            const double *row = curvature + j * n;
            double free = beta[j] - slope[j] / row[j], bound = price[j] / row[j];
            double moved = free > bound ? free - bound : free < -bound ? free + bound : 0.0;
            double change = moved - beta[j], gain = change * change * row[j];
            if (change == 0.0) continue;
            beta[j] = moved;
            if (gain > largest) largest = gain;
            for (int64_t i = 0; i < n; i++) slope[i] += change * row[i];
        }
        if (largest <= least) return done;
    }
    return most;
}

/* Add up sum over rows of weight x_i x_j in total (k, k), for columns i <= j; the rows are as above. Sums of some rows
 * each are added up in `part` (k, k), so that rounding does not grow with their number. */
EXPORT void row_products(
    int64_t n, int64_t k, const int64_t *start, const int64_t *column, const double *x, const double *weight,
    double *part, double *total) {
    for (int64_t from = 0; from < n; from += ROWS_PER_SUM) {
        memset(part, 0, (size_t)(k * k) * sizeof *part);
        for (int64_t row = from; row < smaller(from + ROWS_PER_SUM, n); row++) {
            for (int64_t i = start[row]; i < start[row + 1]; i++) {
                double product = weight[row] * x[i], *to = part + column[i] * k;
                for (int64_t j = i; j < start[row + 1]; j++) to[column[j]] += product * x[j];
            }
        }
        for (int64_t i = 0; i < k * k; i++) total[i] += part[i];
    }
}
