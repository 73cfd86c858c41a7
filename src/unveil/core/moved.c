/* A node with one record moved: its number of records, its risk, and its likelihood as a leaf. */
#include "walk.h"

/* Total and risk of a node with the record moved. */
Judged judge_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes) {
    const Known *known = &tree->known[at];
    const int32_t *donors = tree->donors + at * tree->v;
    int64_t n = size_with(&tree->nodes[at], leaves, comes), largest = 0, ones = 0;
    if (tree->classes == 0) {
        int64_t held[SUMS] = {known->sum, known->high, known->mixed, known->low};
        if (leaves) add_record(held, tree->y_of[move->old], -1);
        if (comes) add_record(held, tree->y_of[move->new], 1);
        return judge(0, held, n, tree->limits.risk);
    }
    if (tree->classes > 2) {
        int64_t squares = known->sum;
        if (leaves) squares -= 2 * (int64_t)donors[move->old] - 1;
        if (comes) squares += 2 * ((int64_t)donors[move->new] - (leaves && move->old == move->new)) + 1;
        if (tree->limits.risk == GINI) return (Judged){squares, (double)n - (double)squares / (double)n};
        for (int64_t c = 0; c < tree->v; c++) largest = larger(largest, donors_with(donors, c, move, leaves, comes));
        return (Judged){squares, (double)(n - largest)};
    }
    for (int64_t c = 0; c < tree->v; c++)
        if (tree->y_of[c] == 1) ones += donors_with(donors, c, move, leaves, comes);
    return judge(tree->classes, &ones, n, tree->limits.risk);
}

/* Likelihood of a node as a leaf with the record moved. */
Likelihood leaf_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes) {
    if (tree->mix > 0) return (Likelihood){0, leaf_mixed(tree, at, move, leaves, comes)};
    const Known *known = &tree->known[at];
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v;
    const double *logs = tree->logs;
    int64_t possible = known->possible, impossible = known->impossible;
    double total = known->log_sum;
    if (!(leaves && comes && move->old == move->new)) {
        if (leaves) {
            int32_t count = donors[move->old], number = released[move->old];
            if (count == 1) {
                possible -= number;
                impossible += number;
            } else {
                total += (double)number * (logs[count - 1] - logs[count]);
            }
        }
        if (comes) {
            int32_t count = donors[move->new], number = released[move->new];
            if (count == 0) {
                possible += number;
                impossible -= number;
            } else {
                total += (double)number * (logs[count + 1] - logs[count]);
            }
        }
    }
    int64_t n = size_with(&tree->nodes[at], leaves, comes);
    return (Likelihood){impossible, total - (double)possible * logs[n]};
}

/* Class counts of a node with the record moved, by class. */
void classes_with(const Work *work, const Step *step) {
    const KnownTree *tree = work->tree;
    const int32_t *donors = tree->donors + step->node * tree->v;
    for (int64_t c = 0; c < tree->v; c++)
        if (tree->y_of[c] >= 0)
            work->scratch.node[tree->y_of[c]] = donors_with(donors, c, &work->move, step->leaves, step->comes);
}
