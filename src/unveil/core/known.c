/* What is known of a fitted tree before a record moves: where released records end, counts, figures of nodes. */
#include "walk.h"

/* Write the last node below each node, and the last node of the path of every released record. */
EXPORT void mark_last(const KnownTree *tree, int32_t *ends) {
    Node *nodes = tree->nodes;
    for (int64_t at = tree->t - 1; at >= 0; at--)
        nodes[at].last = nodes[at].right < 0 ? at : nodes[nodes[at].right].last;
    for (int64_t i = 0; i < tree->z; i++) {
        int64_t here = 0;
        while (nodes[here].right >= 0) {
            int32_t code = tree->z_codes[nodes[here].feature * tree->z + i];
            here = goes_right(tree, &nodes[here], code) ? nodes[here].right : here + 1;
        }
        ends[i] = (int32_t)here;
    }
}

/* Counts by level of the kept nodes; number and cells are zeros. */
EXPORT void count_kept(const KnownTree *tree) {
    int64_t levels = tree->offset[tree->p];
    for (int64_t at = 0; at < tree->t; at++) {
        if (tree->known[at].counted_as < 0) continue;
        int64_t *number = tree->number + tree->known[at].counted_as * levels;
        int64_t *cells = tree->cells + tree->known[at].counted_as * levels * tree->k;
        for (int64_t f = 0; f < tree->p; f++) {
            for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++) {
                int32_t row = tree->order[i];
                int64_t level = tree->offset[f] + tree->codes[f * tree->n + row];
                int64_t y = tree->y_of[tree->response[row]];
                number[level]++;
                cells[level * tree->k + (tree->classes > 2 ? y : 0)] += tree->classes > 2 ? 1 : y;
            }
        }
    }
}

/* Donors, released records and sums of a node where growth ended. */
static void add_end(const KnownTree *tree, int64_t at, int32_t *donors, int32_t *released) {
    Known *known = &tree->known[at];
    int64_t held[SUMS] = {0};
    for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++) {
        int32_t code = tree->response[tree->order[i]];
        donors[code]++;
        if (tree->classes == 0) add_record(held, tree->y_of[code], 1);
    }
    for (int64_t i = known->z_start; i < known->z_stop; i++) released[tree->z_response[tree->z_order[i]]]++;
    known->sum = held[0];
    known->high = held[1];
    known->mixed = held[2];
    known->low = held[3];
}

/* Figures of a split: what its children know, and the collapse. The prices at which its decisions stay. */
static void fill_split(KnownTree *tree, int64_t at) {
    const Node *node = &tree->nodes[at];
    Known *known = &tree->known[at];
    const Known *left = known + 1, *right = &tree->known[node->right];
    int64_t v = tree->v;
    for (int64_t c = 0; c < v; c++) {
        tree->donors[at * v + c] = tree->donors[(at + 1) * v + c] + tree->donors[node->right * v + c];
        tree->released[at * v + c] = tree->released[(at + 1) * v + c] + tree->released[node->right * v + c];
    }
    known->sum = left->sum + right->sum;
    known->high = left->high + right->high;
    known->mixed = left->mixed + right->mixed;
    known->low = left->low + right->low;
    known->decrease = node->gain;
    if (tree->limits.risk == MISCLASSIFIED)
        known->decrease = node->risk - tree->nodes[at + 1].risk - tree->nodes[node->right].risk;
    if (node->risk < tree->highest) tree->highest = node->risk;
    double total = known->decrease + left->paid + right->paid;
    int64_t count = 1 + left->splits + right->splits;
    double each = total / (double)count;
    if (total > tree->price * (double)count) {
        known->paid = total;
        known->splits = count;
        if (each < tree->highest) tree->highest = each;
        known->below_log = left->below_log + right->below_log;
        known->below_impossible = left->below_impossible + right->below_impossible;
    } else if (each > tree->lowest) {
        tree->lowest = each;
    }
}

/* Likelihood of a node as a leaf. */
static void fill_leaf(const KnownTree *tree, int64_t at) {
    Known *known = &tree->known[at];
    const int32_t *donors = tree->donors + at * tree->v, *released = tree->released + at * tree->v;
    int64_t squares = 0;
    for (int64_t c = 0; c < tree->v; c++) {
        squares += (int64_t)donors[c] * donors[c];
        if (donors[c] > 0) {
            known->possible += released[c];
            known->log_sum += (double)released[c] * tree->logs[donors[c]];
        } else {
            known->impossible += released[c];
        }
    }
    if (tree->classes > 0) known->sum = squares;
    if (known->splits > 0) return;
    int64_t n = tree->nodes[at].stop - tree->nodes[at].start;
    known->below_log = known->log_sum - (double)known->possible * tree->logs[n];
    known->below_impossible = known->impossible;
}

/* Figures of all nodes, children before parents; donors and released are zeros. The price of a split, and the lowest
 * and highest price at which every decision of growth and collapse stays. */
EXPORT void fill_known(KnownTree *tree) {
    const Limits *limits = &tree->limits;
    tree->price = limits->cp * tree->nodes[0].risk;
    tree->lowest = -1.0;
    tree->highest = INFINITY;
    for (int64_t at = tree->t - 1; at >= 0; at--) {
        const Node *node = &tree->nodes[at];
        if (node->right >= 0) {
            fill_split(tree, at);
        } else {
            add_end(tree, at, tree->donors + at * tree->v, tree->released + at * tree->v);
            int64_t n = node->stop - node->start;
            bool waits = n >= limits->minsplit && n >= 2 * limits->minbucket && node->depth < limits->max_depth;
            if (waits && node->risk <= tree->price && node->risk > tree->lowest) tree->lowest = node->risk;
        }
        fill_leaf(tree, at);
    }
}
