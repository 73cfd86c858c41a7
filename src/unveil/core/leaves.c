/* What is done with grown trees: cuts, collapse, leaves, and the way of records to them. */
#include "core.h"

/* Cut and threshold halfway between the codes next to the cut.
 *
 * first    (predictors) where the values of an ordered predictor begin in `values`
 * values   values of the codes, ascending within a predictor
 */
EXPORT void fill_cuts(
    int64_t n, const int64_t *feature, const int64_t *low, const int64_t *high, const int64_t *first,
    const double *values, int32_t *cut, double *threshold) {
    for (int64_t split = 0; split < n; split++) {
        if (low[split] < 0) continue;
        const double *value = values + first[feature[split]];
        double below = value[low[split]], above = value[high[split]], middle = 0.5 * below + 0.5 * above;
        /* neighbouring floating-point numbers and infinities have nothing in the middle */
        if (!(middle > below)) middle = above;
        threshold[split] = middle;
        int64_t least = low[split] + 1, most = high[split];
        while (least < most) {
            int64_t between = (least + most) / 2;
            if (value[between] < middle)
                least = between + 1;
            else
                most = between;
        }
        cut[split] = (int32_t)least;
    }
}

/* Mark the inner nodes whose subtrees do not pay for their splits.
 *
 * right     (t) right child, -1 in leaves
 * decrease  (t) decrease of risk by the split of a node; 0 in leaves
 * price     cp * R(root)
 * gone      (t) true where the node becomes a leaf, also below another such node
 * paid, splits   (t) buffers of zeros
 */
static void collapse_nodes(
    int64_t t, const int32_t *right, const double *decrease, double price, uint8_t *gone, double *paid,
    int64_t *splits) {
    for (int64_t node = t - 1; node >= 0; node--) {
        if (right[node] < 0) continue;
        double total = decrease[node] + paid[node + 1] + paid[right[node]];
        int64_t count = 1 + splits[node + 1] + splits[right[node]];
        if (total > price * (double)count) {
            paid[node] = total;
            splits[node] = count;
        } else {
            gone[node] = 1;
        }
    }
}

/* Say which nodes stay split when splits that are worth less than those above them go first.
 *
 * right   (t) right child, -1 in leaves
 * risk    (t) risk of each node
 * price   what a split has to be worth
 * split   (t) true where the node stays split, also below a node that does not
 * below   (t) buffer that holds the risks
 * worth, splits   (t) buffers of zeros
 */
EXPORT void keep_splits(
    int64_t t, const int32_t *right, const double *risk, double price, uint8_t *split, double *below, double *worth,
    int64_t *splits) {
    for (int64_t node = t - 1; node >= 0; node--) {
        if (right[node] < 0) continue;
        int64_t less = node + 1, more = right[node];
        if (worth[more] < worth[less]) {
            less = more;
            more = node + 1;
        }
        double below_less = below[less], below_more = below[more];
        int64_t splits_less = splits[less], splits_more = splits[more];
        double average = (risk[node] - (below_less + below_more)) / (double)(1 + splits_less + splits_more);
        if (average > worth[less]) {
            below_less = risk[less];
            splits_less = 0;
            average = (risk[node] - (below_less + below_more)) / (double)(1 + splits_more);
            if (average > worth[more]) {
                below_more = risk[more];
                splits_more = 0;
                average = risk[node] - (below_less + below_more);
            }
        }
        if (average <= price) continue;
        split[node] = 1;
        worth[node] = average;
        below[node] = below_less + below_more;
        splits[node] = 1 + splits_less + splits_more;
    }
}

/* The price at which each node becomes a leaf: the largest decrease per split over all subtrees that keep the split of
 * the node. The price is raised to the decrease per split of what is left of the subtree until nothing changes. */
EXPORT void complexities(
    int64_t t, const int32_t *right, const double *decrease, double *result, int64_t *last, double *paid,
    int64_t *splits) {
    for (int64_t node = t - 1; node >= 0; node--) {
        last[node] = right[node] < 0 ? node : last[right[node]];
        if (right[node] < 0) continue;
        double price = -INFINITY;
        for (;;) {
            for (int64_t below = last[node]; below >= node; below--) {
                bool stays = right[below] >= 0 && (below == node || result[below] > price);
                paid[below] = stays ? decrease[below] + paid[below + 1] + paid[right[below]] : 0.0;
                splits[below] = stays ? 1 + splits[below + 1] + splits[right[below]] : 0;
            }
            double raised = paid[node] / (double)splits[node];
            if (raised <= price) break;
            price = raised;
        }
        result[node] = price;
    }
}

/* Number of an end of growth, of `size` bytes. */
static inline void note_end(void *end, int64_t size, int64_t record, int64_t number) {
    if (size == 1)
        ((uint8_t *)end)[record] = (uint8_t)number;
    else if (size == 2)
        ((uint16_t *)end)[record] = (uint16_t)number;
    else
        ((uint32_t *)end)[record] = (uint32_t)number;
}

/* Where growth ended for each record, as the number of the end from left to right, of `size` bytes. */
static void fill_ends(int64_t t, const Node *nodes, const int32_t *order, void *end, int64_t size) {
    int64_t ends = 0;
    for (int64_t node = 0; node < t; node++) {
        if (nodes[node].right >= 0) continue;
        for (int64_t i = nodes[node].start; i < nodes[node].stop; i++) note_end(end, size, order[i], ends);
        ends++;
    }
}

/* Number the nodes at which records stop from left to right; gives their number. */
static int64_t number_leaves(int64_t t, const Node *nodes, const Settled *settled) {
    int64_t leaves = 0, reach = 0;
    for (int64_t node = 0; node < t; node++) {
        settled->leaf[node] = -1;
        if (nodes[node].right >= 0 && !settled->collapsed[node]) continue;
        /* a node lies below an earlier one that stops exactly if its records end where those do, or before */
        if (nodes[node].start < reach) continue;
        reach = nodes[node].stop;
        settled->leaf_start[leaves] = nodes[node].start;
        settled->leaf_node[leaves] = (int32_t)node;
        settled->leaf[node] = (int32_t)leaves++;
    }
    settled->leaf_start[leaves] = nodes[0].stop;
    return leaves;
}

/* Collapse a grown tree and number its leaves; gives their number.
 *
 * order           records by node
 * misclassified   whether the risk is a number of misclassified records
 * unit            what risks and gains are multiplied by, twice
 * end             of `size` bytes for each record: where growth ended
 * settled         the result; `collapsed` holds zeros
 * paid, splits    (t) buffers of zeros
 */
EXPORT int64_t settle_tree(
    int64_t t, const Node *nodes, const int32_t *order, double cp, int64_t misclassified, double unit, void *end,
    int64_t size, const Settled *settled, double *paid, int64_t *splits) {
    for (int64_t i = 0; i < t; i++) {
        const Node *node = nodes + i;
        bool by_risk = misclassified && node->right >= 0;
        settled->feature[i] = (int32_t)node->feature;
        settled->right[i] = (int32_t)node->right;
        settled->depth[i] = (int32_t)node->depth;
        settled->start[i] = node->start;
        settled->stop[i] = node->stop;
        settled->side_start[i] = node->sides;
        settled->decrease[i] = by_risk ? node->risk - nodes[i + 1].risk - nodes[node->right].risk : node->gain;
    }
    collapse_nodes(t, settled->right, settled->decrease, cp * nodes[0].risk, settled->collapsed, paid, splits);
    for (int64_t i = 0; i < t; i++) {
        /* one factor at a time: a square of the unit may be out of range where the figures are 0 */
        settled->risk[i] = nodes[i].risk * unit * unit;
        settled->gain[i] = nodes[i].gain * unit * unit;
        settled->rival_gain[i] = nodes[i].rival_gain * unit * unit;
        if (!misclassified) settled->decrease[i] = settled->gain[i];
    }
    fill_ends(t, nodes, order, end, size);
    return number_leaves(t, nodes, settled);
}

/* Records sorted by code, equal codes in their order: by counting.
 *
 * following   (n_levels + 1) buffer of zeros
 */
EXPORT void sort_by_code(int64_t m, const int32_t *codes, int64_t n_levels, int64_t *following, int32_t *order) {
    for (int64_t i = 0; i < m; i++) following[codes[i] + 1]++;
    for (int64_t level = 0; level < n_levels; level++) following[level + 1] += following[level];
    for (int64_t i = 0; i < m; i++) order[following[codes[i]]++] = (int32_t)i;
}

static inline int64_t group_at(const void *group, int64_t size, int64_t i) {
    if (size == 1) return ((const uint8_t *)group)[i];
    if (size == 2) return ((const uint16_t *)group)[i];
    return (int64_t)((const uint32_t *)group)[i];
}

/* Values by stretch, within a stretch in their order.
 *
 * group      (m) groups of the values, of `size` bytes each
 * stretch    stretch of each group
 * following  where each stretch starts; used up
 * values     (m) of `width` bytes each: 1, 2, 4 or 8
 */
EXPORT void arrange(
    int64_t m, const void *group, int64_t size, const int64_t *stretch, int64_t *following, const void *values,
    int64_t width, void *result) {
    for (int64_t i = 0; i < m; i++) {
        int64_t place = following[stretch[group_at(group, size, i)]]++;
        if (width == 1)
            ((uint8_t *)result)[place] = ((const uint8_t *)values)[i];
        else if (width == 2)
            ((uint16_t *)result)[place] = ((const uint16_t *)values)[i];
        else if (width == 4)
            ((uint32_t *)result)[place] = ((const uint32_t *)values)[i];
        else
            ((uint64_t *)result)[place] = ((const uint64_t *)values)[i];
    }
}

/* The first predictor with a code out of its range, -1: none. */
EXPORT int64_t first_out_of_range(
    int64_t predictors, int64_t m, const int32_t *codes, const int64_t *n_levels) {
    for (int64_t f = 0; f < predictors; f++) {
        const int32_t *column = codes + f * m;
        /* as a number without a sign, a negative code is a large one */
        uint32_t most = 0;
        for (int64_t i = 0; i < m; i++) most = (uint32_t)column[i] > most ? (uint32_t)column[i] : most;
        if (m && (int64_t)most >= n_levels[f]) return f;
    }
    return -1;
}

/* The codes of a predictor that begin at an address. */
static inline const int32_t *column_at(const int64_t *columns, int32_t feature) {
    return (const int32_t *)(intptr_t)columns[feature];
}

/* Whether a record whose level was not in the node goes right: by the first surrogate that knows its level. */
static bool unseen_goes_right(
    const Splits *splits, const int64_t *columns, int64_t node, int32_t row, bool majority) {
    for (int64_t s = splits->first_surrogate[node]; s < splits->first_surrogate[node + 1]; s++) {
        int32_t code = column_at(columns, splits->feature[s])[row];
        if (splits->side_start[s] < 0) return (code >= splits->cut[s]) != splits->flip[s];
        uint8_t side = splits->sides[splits->side_start[s] + code];
        if (side < UNSEEN) return side == RIGHT;
    }
    return majority;
}

/* Put a row behind those that go left, or behind those that go right. */
static inline void put_row(
    int32_t *restrict rows, int32_t *restrict spare, int32_t row, int64_t to_right, int64_t *left, int64_t *right) {
    rows[*left] = row;
    spare[*right] = row;
    *left += 1 - to_right;
    *right += to_right;
}

/* Divide the records of a node in two, each part in its order; gives where those that go right start. */
static int64_t send_down(
    const Splits *splits, const int64_t *columns, int64_t node, int32_t *restrict rows, int32_t *restrict spare,
    int64_t start, int64_t stop) {
    const int32_t *column = column_at(columns, splits->feature[node]);
    const uint8_t *sides = splits->sides + splits->side_start[node];
    int64_t left = start, right = 0;
    if (splits->side_start[node] < 0) {
        int32_t cut = splits->cut[node];
        for (int64_t i = start; i < stop; i++) put_row(rows, spare, rows[i], column[rows[i]] >= cut, &left, &right);
    } else if (splits->first_surrogate[node] == splits->first_surrogate[node + 1]) {
        for (int64_t i = start; i < stop; i++)
            put_row(rows, spare, rows[i], sides[column[rows[i]]] & RIGHT, &left, &right);
    } else {
        for (int64_t i = start; i < stop; i++) {
            uint8_t side = sides[column[rows[i]]];
            bool to_right = side & RIGHT;
            if (side >= UNSEEN) to_right = unseen_goes_right(splits, columns, node, rows[i], to_right);
            put_row(rows, spare, rows[i], to_right, &left, &right);
        }
    }
    memcpy(rows + left, spare, (size_t)right * sizeof *rows);
    return left;
}

/* Leaf of every record.
 *
 * All records go down together, divided at every node as in the fit: a processor cannot foresee which way a single
 * record turns; how many records turn right does not matter to it.
 *
 * columns   (predictors) where the n codes of each predictor begin; those that no split uses are not read
 */
EXPORT int route(const Splits *splits, int64_t t, const int64_t *columns, int64_t n, int32_t *result) {
    typedef struct {
        int64_t node, start, stop;
    } Part;
    int32_t *rows = room(2 * n, sizeof(int32_t));
    Part *waiting = room(t / 2 + 2, sizeof(Part));
    if (!rows || !waiting) {
        free(rows);
        free(waiting);
        return NO_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) rows[i] = (int32_t)i;
    int64_t n_waiting = 1;
    waiting[0] = (Part){0, 0, n};
    while (n_waiting) {
        Part part = waiting[--n_waiting];
        while (part.start < part.stop && splits->leaf[part.node] < 0) {
            int64_t middle = send_down(splits, columns, part.node, rows, rows + n, part.start, part.stop);
            if (middle < part.stop) waiting[n_waiting++] = (Part){splits->right[part.node], middle, part.stop};
            part.node++;
            part.stop = middle;
        }
        for (int64_t i = part.start; i < part.stop; i++) result[rows[i]] = splits->leaf[part.node];
    }
    free(rows);
    free(waiting);
    return DONE;
}
