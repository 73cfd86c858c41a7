/* Draw the unknown values of many persons where the splits of all trees are held: donor counts follow the state. Only
 * cells and leaves with released records are counted; the counts of others, and of the places that stand for none, mean
 * nothing. */
#include "core.h"

/* Log-likelihood that one more donor adds to a cell. A released cell without a donor costs the penalty. */
static double gain_of_cell(const Disclosed *d, int64_t cell) {
    if (!d->released[cell]) return 0.0;
    int64_t n = d->donors[cell];
    return n ? (double)d->released[cell] * (d->logs[n + 1] - d->logs[n]) : d->penalty;
}

/* The same for a leaf: its donors share what is drawn. */
static double gain_of_leaf(const Disclosed *d, int64_t leaf) {
    if (!d->leaf_released[leaf]) return 0.0;
    int64_t m = d->leaf_donors[leaf];
    return m ? (double)d->leaf_released[leaf] * (d->logs[m] - d->logs[m + 1]) : 0.0;
}

/* Put a person with a value in (by = 1), or take it out (by = -1). */
static void move(Disclosed *d, int64_t person, int64_t value, int64_t by) {
    int64_t at = person * d->t * d->c + value;
    for (int64_t tree = 0; tree < d->t; tree++, at += d->c) {
        int32_t cell = d->cell[at], leaf = d->leaf[at];
        if (d->released[cell]) {
            if (d->donors[cell] == (by < 0)) d->empty -= by;
            d->donors[cell] += by;
            d->gain[cell] = gain_of_cell(d, cell);
        }
        if (d->leaf_released[leaf]) {
            d->leaf_donors[leaf] += by;
            d->leaf_gain[leaf] = gain_of_leaf(d, leaf);
        }
    }
}

/* Log-likelihood that a person adds with a value. */
static double gain_with(const Disclosed *d, int64_t person, int64_t value) {
    double sum = 0.0;
    int64_t at = person * d->t * d->c + value;
    for (int64_t tree = 0; tree < d->t; tree++, at += d->c) sum += d->gain[d->cell[at]] + d->leaf_gain[d->leaf[at]];
    return sum;
}

/* Number of released cells without a donor that a person fills with a value. */
static int64_t filled_with(const Disclosed *d, int64_t person, int64_t value) {
    int64_t found = 0, at = person * d->t * d->c + value;
    for (int64_t tree = 0; tree < d->t; tree++, at += d->c) {
        int32_t cell = d->cell[at];
        found += d->released[cell] > 0 && d->donors[cell] == 0;
    }
    return found;
}

/* Gains by the counts as they are: after a change of the penalty. */
EXPORT void weigh_cells(Disclosed *d) {
    for (int64_t cell = 0; cell < d->q; cell++) d->gain[cell] = gain_of_cell(d, cell);
    for (int64_t leaf = 0; leaf < d->l; leaf++) d->leaf_gain[leaf] = gain_of_leaf(d, leaf);
}

/* Put all persons in, each with its value; the counts are those of the known records before. */
EXPORT void put_persons(Disclosed *d) {
    d->empty = 0;
    for (int64_t cell = 0; cell < d->q; cell++) d->empty += d->released[cell] > 0 && d->donors[cell] == 0;
    for (int64_t person = 0; person < d->u; person++) move(d, person, d->state[person], 1);
    weigh_cells(d);
}

/* Log-likelihood of the state as it is, without what the penalty adds. */
EXPORT double log_of_state(const Disclosed *d) {
    double sum = 0.0;
    for (int64_t cell = 0; cell < d->q; cell++)
        if (d->released[cell]) sum += (double)d->released[cell] * d->logs[d->donors[cell]];
    for (int64_t leaf = 0; leaf < d->l; leaf++)
        if (d->leaf_released[leaf]) sum -= (double)d->leaf_released[leaf] * d->logs[d->leaf_donors[leaf]];
    return sum;
}

/* Weights of the values of a person who was taken out; the largest is 1. */
static void weigh_values(const Disclosed *d, int64_t person, double *weight) {
    const double *prior = d->log_prior + person * d->c;
    for (int64_t value = 0; value < d->c; value++) weight[value] = prior[value];
    int64_t at = person * d->t * d->c;
    for (int64_t tree = 0; tree < d->t; tree++, at += d->c) {
        const int32_t *cell = d->cell + at, *leaf = d->leaf + at;
        for (int64_t value = 0; value < d->c; value++) weight[value] += d->gain[cell[value]] + d->leaf_gain[leaf[value]];
    }
}

/* From logarithms to shares that sum to 1; at least one is finite. */
static void to_shares(double *weight, int64_t n) {
    double top = -INFINITY, sum = 0.0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, weight[i]);
    for (int64_t i = 0; i < n; i++) sum += weight[i] = exp(weight[i] - top);
    for (int64_t i = 0; i < n; i++) weight[i] /= sum;
}

/* Draw the value of each person given those of all others.
 *
 * uniform   (u) numbers from 0 to below 1
 * weight    (c) room
 */
EXPORT void draw_values(Disclosed *d, const double *uniform, double *weight) {
    for (int64_t person = 0; person < d->u; person++) {
        move(d, person, d->state[person], -1);
        weigh_values(d, person, weight);
        to_shares(weight, d->c);
        int64_t value = 0, last = 0;
        double left = uniform[person];
        for (; value < d->c; value++) {
            if (weight[value] > 0) last = value;
            if ((left -= weight[value]) < 0) break;
        }
        d->state[person] = (int32_t)(value < d->c ? value : last);
        move(d, person, d->state[person], 1);
    }
}

/* Propose to pairs of persons to exchange their values.
 *
 * pairs     (n, 2) the persons
 * uniform   (n) numbers from 0 to below 1
 */
EXPORT void swap_values(Disclosed *d, int64_t n, const int32_t *pairs, const double *uniform) {
    for (int64_t i = 0; i < n; i++) {
        int64_t one = pairs[2 * i], two = pairs[2 * i + 1];
        int32_t first = d->state[one], second = d->state[two];
        if (first == second) continue;
        const double *prior = d->log_prior + one * d->c, *prior_two = d->log_prior + two * d->c;
        double rise = prior[second] - prior[first] + prior_two[first] - prior_two[second];
        if (rise == -INFINITY) continue;
        move(d, one, first, -1);
        rise -= gain_with(d, one, first);
        move(d, two, second, -1);
        rise -= gain_with(d, two, second);
        rise += gain_with(d, one, second);
        move(d, one, second, 1);
        rise += gain_with(d, two, first);
        move(d, two, first, 1);
        if (rise >= 0 || uniform[i] < exp(rise)) {
            d->state[one] = second;
            d->state[two] = first;
            continue;
        }
        move(d, one, second, -1);
        move(d, two, first, -1);
        move(d, one, first, 1);
        move(d, two, second, 1);
    }
}

/* Probability of each value of each person given all others, where every released cell has a donor, and keeps one.
 *
 * shares   (u, c) receives them
 */
EXPORT void give_shares(Disclosed *d, double *shares) {
    for (int64_t person = 0; person < d->u; person++) {
        double *weight = shares + person * d->c;
        move(d, person, d->state[person], -1);
        weigh_values(d, person, weight);
        if (d->empty) {
            /* What this person alone fills has to be filled: the penalty is the same for all that do. */
            for (int64_t value = 0; value < d->c; value++)
                if (filled_with(d, person, value) < d->empty) weight[value] = -INFINITY;
        }
        to_shares(weight, d->c);
        move(d, person, d->state[person], 1);
    }
}
