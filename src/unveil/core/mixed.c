/* Donors of a leaf mixed with those of the whole column: the likelihood of leaves, and of subtrees beside a path.
 *
 * A value is drawn with probability (1 - mix) inside / size + mix count / n, where `inside` of the `size` donors of the
 * leaf and `count` of all n donors have it. A record that moves changes count and n, and so the likelihood of every
 * leaf. What it changes below a node is kept by value, so that subtrees beside its path need one look each. */
#include "walk.h"

/* What is kept of a value at a node; -1 where no released record of the node has it. */
static int64_t entry_of(const KnownTree *tree, int64_t at, int32_t code) {
    int64_t low = tree->mixed_start[at], high = tree->mixed_start[at + 1], end = high;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (tree->mixed_code[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && tree->mixed_code[low] == code ? low : -1;
}

/* Likelihood below a node that is a leaf: as it is, and if there is one donor less or more of a value and in all. */
static void fill_leaf_mixed(KnownTree *tree, int64_t at) {
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v, *all = tree->donors;
    int64_t size = tree->nodes[at].stop - tree->nodes[at].start, n = tree->nodes[0].stop - tree->nodes[0].start;
    double *sums = tree->mixed_sums + at * MIXED_SUMS, log = 0.0, mix = tree->mix;
    for (int64_t entry = tree->mixed_start[at]; entry < tree->mixed_start[at + 1]; entry++) {
        int32_t c = tree->mixed_code[entry];
        double number = (double)released[c], *change = tree->mixed + entry * MIXED_CHANGES;
        double now = number * log_mixed(mix, donors[c], size, all[c], n);
        double of_fewer = number * log_mixed(mix, donors[c], size, all[c], n - 1);
        double of_more = number * log_mixed(mix, donors[c], size, all[c], n + 1);
        log += now;
        sums[0] += of_fewer - now;
        sums[1] += of_more - now;
        change[GOES] = number * log_mixed(mix, donors[c], size, all[c] - 1, n) - now;
        change[COMES] = number * log_mixed(mix, donors[c], size, all[c] + 1, n) - now;
        change[GOES_ALONE] = number * log_mixed(mix, donors[c], size, all[c] - 1, n - 1) - of_fewer;
        change[COMES_ALONE] = number * log_mixed(mix, donors[c], size, all[c] + 1, n + 1) - of_more;
    }
    tree->known[at].below_log = log;
}

/* Add what is kept of a child to that of its parent: every value of the child is one of the parent. */
static void add_child(KnownTree *tree, int64_t at, int64_t child) {
    int64_t entry = tree->mixed_start[at];
    tree->known[at].below_log += tree->known[child].below_log;
    for (int64_t j = 0; j < MIXED_SUMS; j++)
        tree->mixed_sums[at * MIXED_SUMS + j] += tree->mixed_sums[child * MIXED_SUMS + j];
    for (int64_t of_child = tree->mixed_start[child]; of_child < tree->mixed_start[child + 1]; of_child++) {
        while (tree->mixed_code[entry] < tree->mixed_code[of_child]) entry++;
        for (int64_t j = 0; j < MIXED_CHANGES; j++)
            tree->mixed[entry * MIXED_CHANGES + j] += tree->mixed[of_child * MIXED_CHANGES + j];
    }
}

/* Released values that no donor has, with the record moved. */
int64_t impossible_mixed(const KnownTree *tree, const Move *move, bool leaves, bool comes) {
    int64_t impossible = 0;
    for (int64_t entry = tree->mixed_start[0]; entry < tree->mixed_start[1]; entry++) {
        int32_t c = tree->mixed_code[entry];
        if (!donors_with(tree->donors, c, move, leaves, comes)) impossible += tree->released[c];
    }
    return impossible;
}

/* Figures of all nodes, children before parents; fill_known has told what the collapse leaves. */
EXPORT void fill_mixed(KnownTree *tree) {
    for (int64_t at = tree->t - 1; at >= 0; at--) {
        Known *known = &tree->known[at];
        known->below_impossible = 0;
        known->below_log = 0.0;
        if (known->splits == 0) {
            fill_leaf_mixed(tree, at);
        } else {
            add_child(tree, at, at + 1);
            add_child(tree, at, tree->nodes[at].right);
        }
    }
    tree->known[0].below_impossible = impossible_mixed(tree, &(Move){0}, false, false);
}

/* Log-likelihood of a node as a leaf with the record moved; it leaves and comes at the root as the move says. */
double leaf_mixed(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes) {
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v;
    int64_t size = size_with(&tree->nodes[at], leaves, comes);
    int64_t n = size_with(&tree->nodes[0], move->leaves, move->comes);
    double log = 0.0;
    for (int64_t entry = tree->mixed_start[at]; entry < tree->mixed_start[at + 1]; entry++) {
        int32_t c = tree->mixed_code[entry];
        int64_t inside = donors_with(donors, c, move, leaves, comes);
        int64_t count = donors_with(tree->donors, c, move, move->leaves, move->comes);
        log += (double)released[c] * log_mixed(tree->mix, inside, size, count, n);
    }
    return log;
}

/* Log-likelihood of what the collapse leaves of a subtree beside the path. */
double beside_mixed(const KnownTree *tree, int64_t at, const Move *move) {
    static const double nothing[MIXED_CHANGES] = {0};
    int64_t old = entry_of(tree, at, move->old), new = entry_of(tree, at, move->new);
    const double *of_old = old < 0 ? nothing : tree->mixed + old * MIXED_CHANGES;
    const double *of_new = new < 0 ? nothing : tree->mixed + new * MIXED_CHANGES;
    const double *sums = tree->mixed_sums + at * MIXED_SUMS;
    bool same = move->old == move->new;
    return tree->known[at].below_log + change_mixed(of_old, of_new, sums, move->leaves, move->comes, same);
}
