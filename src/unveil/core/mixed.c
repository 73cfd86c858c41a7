/* Donors of a leaf mixed with those of the whole column: the likelihood of leaves, and of subtrees beside a path.
 *
 * A value is drawn with probability (1 - mix) inside / size + mix count / n, where `inside` of the `size` donors of the
 * leaf and `count` of all n donors have it. A record that moves changes count and n, and so the likelihood of every
 * leaf. What it changes below a node is kept by value, so that subtrees beside its path need one look each. */
#include "walk.h"

/* Likelihood below a node if a value has one donor less or more, and if there is one donor less or more in all. */
static void fill_leaf_mixed(KnownTree *tree, int64_t at) {
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v, *all = tree->donors;
    int64_t size = tree->nodes[at].stop - tree->nodes[at].start, n = tree->nodes[0].stop - tree->nodes[0].start;
    double *sums = tree->mixed_sums + at * MIXED_SUMS, log = 0.0;
    for (int64_t c = 0; c < tree->v; c++) {
        if (!released[c]) continue;
        double number = (double)released[c], *change = tree->mixed + (at * tree->v + c) * MIXED_CHANGES;
        double now = number * log_mixed(tree->mix, donors[c], size, all[c], n);
        double of_fewer = number * log_mixed(tree->mix, donors[c], size, all[c], n - 1);
        double of_more = number * log_mixed(tree->mix, donors[c], size, all[c], n + 1);
        log += now;
        sums[0] += of_fewer - now;
        sums[1] += of_more - now;
        change[GOES] = number * log_mixed(tree->mix, donors[c], size, all[c] - 1, n) - now;
        change[COMES] = number * log_mixed(tree->mix, donors[c], size, all[c] + 1, n) - now;
        change[GOES_ALONE] = number * log_mixed(tree->mix, donors[c], size, all[c] - 1, n - 1) - of_fewer;
        change[COMES_ALONE] = number * log_mixed(tree->mix, donors[c], size, all[c] + 1, n + 1) - of_more;
    }
    tree->known[at].below_log = log;
}

/* Released values that no donor has, with the record moved. */
int64_t impossible_mixed(const KnownTree *tree, const Move *move, bool leaves, bool comes) {
    int64_t impossible = 0;
    for (int64_t c = 0; c < tree->v; c++)
        if (!donors_with(tree->donors, c, move, leaves, comes)) impossible += tree->released[c];
    return impossible;
}

/* Figures of all nodes, children before parents; fill_known has told what the collapse leaves. */
EXPORT void fill_mixed(KnownTree *tree) {
    for (int64_t at = tree->t - 1; at >= 0; at--) {
        Known *known = &tree->known[at];
        known->below_impossible = 0;
        if (known->splits == 0) {
            fill_leaf_mixed(tree, at);
            continue;
        }
        int64_t children[2] = {at + 1, tree->nodes[at].right}, entries = tree->v * MIXED_CHANGES;
        known->below_log = tree->known[children[0]].below_log + tree->known[children[1]].below_log;
        for (int side = 0; side < 2; side++) {
            const double *change = tree->mixed + children[side] * entries;
            for (int64_t j = 0; j < entries; j++) tree->mixed[at * entries + j] += change[j];
            for (int64_t j = 0; j < MIXED_SUMS; j++)
                tree->mixed_sums[at * MIXED_SUMS + j] += tree->mixed_sums[children[side] * MIXED_SUMS + j];
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
    for (int64_t c = 0; c < tree->v; c++) {
        if (!released[c]) continue;
        int64_t inside = donors_with(donors, c, move, leaves, comes);
        int64_t count = donors_with(tree->donors, c, move, move->leaves, move->comes);
        log += (double)released[c] * log_mixed(tree->mix, inside, size, count, n);
    }
    return log;
}

/* Log-likelihood of what the collapse leaves of a subtree beside the path. */
double beside_mixed(const KnownTree *tree, int64_t at, const Move *move) {
    const double *change = tree->mixed + at * tree->v * MIXED_CHANGES;
    return tree->known[at].below_log + change_mixed(
        change, tree->mixed_sums + at * MIXED_SUMS, move->leaves, move->comes, move->old, move->new);
}
