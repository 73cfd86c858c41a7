/* What is known of a fitted tree before a record moves: where released records end, counts, and figures of all nodes. */
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

/* Figures of all nodes, children before parents; donors and released are zeros. The price of a split, and the lowest
 * and highest price at which every decision of growth and collapse stays. */
EXPORT void fill_known(KnownTree *tree) {
    const Limits *limits = &tree->limits;
    int64_t v = tree->v;
    double price = limits->cp * tree->nodes[0].risk, lowest = -1.0, highest = INFINITY;
    for (int64_t at = tree->t - 1; at >= 0; at--) {
        const Node *node = &tree->nodes[at];
        Known *known = &tree->known[at];
        int32_t *donors = tree->donors + at * v, *released = tree->released + at * v;
        int64_t n = node->stop - node->start;
        if (node->right < 0) {
            add_end(tree, at, donors, released);
            bool waits = n >= limits->minsplit && n >= 2 * limits->minbucket && node->depth < limits->max_depth;
            if (waits && node->risk <= price && node->risk > lowest) lowest = node->risk;
        } else {
            const Known *left = known + 1, *right = &tree->known[node->right];
            for (int64_t c = 0; c < v; c++) {
                donors[c] = donors[v + c] + tree->donors[node->right * v + c];
                released[c] = released[v + c] + tree->released[node->right * v + c];
            }
            known->sum = left->sum + right->sum;
            known->high = left->high + right->high;
            known->mixed = left->mixed + right->mixed;
            known->low = left->low + right->low;
            known->decrease = node->gain;
            if (limits->risk == MISCLASSIFIED)
                known->decrease = node->risk - tree->nodes[at + 1].risk - tree->nodes[node->right].risk;
            if (node->risk < highest) highest = node->risk;
            double total = known->decrease + left->paid + right->paid;
            int64_t count = 1 + left->splits + right->splits;
            double each = total / (double)count;
            if (total > price * (double)count) {
                known->paid = total;
                known->splits = count;
                if (each < highest) highest = each;
                known->below_log = left->below_log + right->below_log;
                known->below_impossible = left->below_impossible + right->below_impossible;
            } else if (each > lowest) {
                lowest = each;
            }
        }
        int64_t squares = 0;
        for (int64_t c = 0; c < v; c++) {
            squares += (int64_t)donors[c] * donors[c];
            if (donors[c] > 0) {
                known->possible += released[c];
                known->log_sum += (double)released[c] * tree->logs[donors[c]];
            } else {
                known->impossible += released[c];
            }
        }
        if (tree->classes > 0) known->sum = squares;
        if (known->splits == 0) {
            known->below_log = known->log_sum - (double)known->possible * tree->logs[n];
            known->below_impossible = known->impossible;
        }
    }
    tree->price = price;
    tree->lowest = lowest;
    tree->highest = highest;
}
