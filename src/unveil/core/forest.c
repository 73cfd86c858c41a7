/* Random forests: one tree is grown, and its leaves are added up.
 *
 * The cells of a node (records with the same keys and target, with a weight) are put in order by counting, and splits
 * are judged in one sweep whose cost depends neither on the number of levels nor on the number of classes. Sums of
 * classes are integers.
 */
#include "core.h"

/* Most records that are sorted by insertion. */
#define INSERTION 24

/* The next of a SplitMix64 sequence. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A whole number below n (n < 2^32). */
static int64_t random_below(uint64_t *state, int64_t n) {
    return (int64_t)(((next_random(state) >> 32) * (uint64_t)n) >> 32);
}

/* A node in waiting; parent: the node whose right child it is, -1: a left child. */
typedef struct {
    int64_t start, stop, parent;
} Waiting;

/* What growing one tree needs.
 *
 * weight           (n) how often each different record was drawn
 * records          (n) drawn records by node
 * sorted, codes    (n) records of a node in order of a key, and their codes
 * counts           (widest + 2) buffer
 * total, left, right   (classes) weights by class of the node (zero between nodes) and of its children
 */
typedef struct {
    const Training *training;
    ForestTree tree;
    int64_t nodes_length, right_length, threshold_length, leaves_length, classes_length, values_length;
    uint64_t random;
    int64_t *weight, *total, *left, *right, *keys;
    int32_t *records, *sorted, *codes, *counts;
    Waiting *waiting;
} Growth;

/* What is known of a node before it is split. */
typedef struct {
    int64_t start, stop, weight, squares, present;
    double sum, base;
} Parent;

typedef struct {
    double score, threshold;
    int64_t key, place;
} Split;

/* Put the records of a node in order of a key's codes: by insertion where they are few, else by counting. */
static void sort_node(Growth *growth, const int32_t *code, int64_t start, int64_t stop) {
    const int32_t *records = growth->records + start;
    int32_t *sorted = growth->sorted, *codes = growth->codes, *counts = growth->counts;
    int64_t m = stop - start;
    if (m <= INSERTION) {
        for (int64_t i = 0; i < m; i++) {
            int32_t record = records[i], c = code[record];
            int64_t j = i;
            for (; j > 0 && codes[j - 1] > c; j--) {
                codes[j] = codes[j - 1];
                sorted[j] = sorted[j - 1];
            }
            codes[j] = c;
            sorted[j] = record;
        }
        return;
    }
    int32_t low = code[records[0]], high = low;
    for (int64_t i = 0; i < m; i++) {
        int32_t c = code[records[i]];
        if (c < low) low = c;
        if (c > high) high = c;
    }
    memset(counts, 0, (size_t)(high - low + 2) * sizeof *counts);
    for (int64_t i = 0; i < m; i++) counts[code[records[i]] - low + 1]++;
    for (int32_t c = 1; c <= high - low; c++) counts[c] += counts[c - 1];
    for (int64_t i = 0; i < m; i++) {
        int32_t c = code[records[i]], place = counts[c - low]++;
        sorted[place] = records[i];
        codes[place] = c;
    }
}

/* Largest sum of squared class weights over weight, of both sides, and the last place on the left. */
static Split best_cut_of_classes(Growth *growth, const Parent *node) {
    const int32_t *y = growth->training->classes;
    int64_t *left = growth->left, *right = growth->right, m = node->stop - node->start;
    for (int64_t i = 0; i < m; i++) {
        int32_t c = y[growth->sorted[i]];
        left[c] = 0;
        right[c] = growth->total[c];
    }
    int64_t left_squares = 0, right_squares = node->squares, before = 0;
    Split best = {.score = -1.0, .place = -1};
    for (int64_t i = 0; i < m - 1; i++) {
        int32_t record = growth->sorted[i], c = y[record];
        int64_t w = growth->weight[record];
        before += w;
        left_squares += w * (2 * left[c] + w);
        left[c] += w;
        right_squares -= w * (2 * right[c] - w);
        right[c] -= w;
        if (growth->codes[i] == growth->codes[i + 1]) continue;
        double score = (double)left_squares / (double)before + (double)right_squares / (double)(node->weight - before);
        if (score > best.score) {
            best.score = score;
            best.place = i;
        }
    }
    return best;
}

/* Largest sum of squared sums over weight, of both sides, and the last place on the left. */
static Split best_cut_of_numbers(Growth *growth, const Parent *node) {
    const double *y = growth->training->numbers;
    double left = 0.0;
    int64_t before = 0;
    Split best = {.score = -1.0, .place = -1};
    for (int64_t i = 0; i < node->stop - node->start - 1; i++) {
        int32_t record = growth->sorted[i];
        before += growth->weight[record];
        left += (double)growth->weight[record] * y[record];
        if (growth->codes[i] == growth->codes[i + 1]) continue;
        double rest = node->sum - left;
        double score = left * left / (double)before + rest * rest / (double)(node->weight - before);
        if (score > best.score) {
            best.score = score;
            best.place = i;
        }
    }
    return best;
}

/* Add up the classes or numbers of a node; growth->total holds the weights by class until it is cleared. */
static Parent judge_node(Growth *growth, int64_t start, int64_t stop) {
    const Training *training = growth->training;
    Parent node = {.start = start, .stop = stop};
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = start; i < stop; i++) {
        int32_t record = growth->records[i];
        int64_t w = growth->weight[record];
        node.weight += w;
        if (training->n_classes) {
            int64_t *total = &growth->total[training->classes[record]];
            if (*total == 0) node.present++;
            node.squares += w * (2 * *total + w);
            *total += w;
        } else {
            double v = training->numbers[record];
            node.sum += (double)w * v;
            if (v < low) low = v;
            if (v > high) high = v;
        }
    }
    if (training->n_classes) {
        node.base = (double)node.squares / (double)node.weight;
    } else {
        node.base = node.sum * node.sum / (double)node.weight;
        node.present = high > low ? 2 : 1;
    }
    return node;
}

/* Best split of a node over `mtry` keys drawn at random; key -1: none. */
static Split find_split(Growth *growth, const Parent *node) {
    const Training *training = growth->training;
    Split best = {.score = node->base * (1 + 1e-12), .key = -1};
    if (node->weight <= training->min_node_size || node->present <= 1) return best;
    int64_t m = node->stop - node->start, *keys = growth->keys;
    for (int64_t tried = 0; tried < training->mtry; tried++) {
        int64_t other = tried + random_below(&growth->random, training->p - tried), f = keys[other];
        keys[other] = keys[tried];
        keys[tried] = f;
        sort_node(growth, training->codes + f * training->n, node->start, node->stop);
        if (growth->codes[0] == growth->codes[m - 1]) continue;
        Split split = training->n_classes ? best_cut_of_classes(growth, node) : best_cut_of_numbers(growth, node);
        if (!(split.score > best.score)) continue;
        const double *values = training->values + training->starts[f];
        double below = values[growth->codes[split.place]], above = values[growth->codes[split.place + 1]];
        double middle = 0.5 * below + 0.5 * above;
        best = (Split){split.score, below <= middle && middle < above ? middle : below, f, split.place};
    }
    return best;
}

/* Room for `entries` more entries of leaves and one more leaf. */
static bool room_for_leaf(Growth *growth, int64_t entries) {
    ForestTree *tree = &growth->tree;
    int64_t needed = tree->n_entries + entries;
    return lengthen((void **)&tree->leaf_start, &growth->leaves_length, tree->n_leaves + 2, sizeof(int32_t)) &&
           lengthen((void **)&tree->leaf_class, &growth->classes_length, needed, sizeof(int32_t)) &&
           lengthen((void **)&tree->leaf_value, &growth->values_length, needed, sizeof(float));
}

/* Make a leaf of a node: shares of its classes, or its mean. */
static bool make_leaf(Growth *growth, const Parent *node, int64_t at) {
    ForestTree *tree = &growth->tree;
    const Training *training = growth->training;
    if (!room_for_leaf(growth, larger(node->present, 1))) return false;
    tree->feature[at] = -1;
    tree->threshold[at] = 0.0;
    tree->right[at] = (int32_t)tree->n_leaves;
    if (tree->n_leaves == 0) tree->leaf_start[0] = 0;
    if (training->n_classes) {
        for (int64_t i = node->start; i < node->stop; i++) {
            int32_t c = training->classes[growth->records[i]];
            if (!growth->total[c]) continue;
            tree->leaf_class[tree->n_entries] = c;
            tree->leaf_value[tree->n_entries++] = (float)((double)growth->total[c] / (double)node->weight);
            growth->total[c] = 0;
        }
    } else {
        tree->leaf_class[tree->n_entries] = 0;
        tree->leaf_value[tree->n_entries++] = (float)(node->sum / (double)node->weight);
    }
    tree->leaf_start[++tree->n_leaves] = (int32_t)tree->n_entries;
    return true;
}

/* Put the records that go right behind those that go left; gives where the right ones start. */
static int64_t divide_node(Growth *growth, const Parent *node, const Split *split) {
    const Training *training = growth->training;
    const int32_t *code = training->codes + split->key * training->n;
    const double *values = training->values + training->starts[split->key];
    int64_t left = node->start, right = 0;
    for (int64_t i = node->start; i < node->stop; i++) {
        int32_t record = growth->records[i];
        if (values[code[record]] <= split->threshold)
            growth->records[left++] = record;
        else
            growth->sorted[right++] = record;
    }
    memcpy(growth->records + left, growth->sorted, (size_t)right * sizeof(int32_t));
    return left;
}

static bool room_for_node(Growth *growth) {
    ForestTree *tree = &growth->tree;
    int64_t needed = tree->n_nodes + 1;
    return lengthen((void **)&tree->feature, &growth->nodes_length, needed, sizeof(int32_t)) &&
           lengthen((void **)&tree->right, &growth->right_length, needed, sizeof(int32_t)) &&
           lengthen((void **)&tree->threshold, &growth->threshold_length, needed, sizeof(double));
}

static bool grow_from(Growth *growth, int64_t n_records) {
    ForestTree *tree = &growth->tree;
    growth->waiting[0] = (Waiting){0, n_records, -1};
    for (int64_t n_waiting = 1; n_waiting;) {
        Waiting waiting = growth->waiting[--n_waiting];
        if (!room_for_node(growth)) return false;
        int64_t at = tree->n_nodes++;
        if (waiting.parent >= 0) tree->right[waiting.parent] = (int32_t)at;
        Parent node = judge_node(growth, waiting.start, waiting.stop);
        Split split = find_split(growth, &node);
        if (split.key < 0) {
            if (!make_leaf(growth, &node, at)) return false;
            continue;
        }
        if (growth->training->n_classes)
            for (int64_t i = node.start; i < node.stop; i++)
                growth->total[growth->training->classes[growth->records[i]]] = 0;
        tree->feature[at] = (int32_t)split.key;
        tree->threshold[at] = split.threshold;
        int64_t middle = divide_node(growth, &node, &split);
        growth->waiting[n_waiting++] = (Waiting){middle, node.stop, at};
        growth->waiting[n_waiting++] = (Waiting){node.start, middle, -1};
    }
    return true;
}

/* Draw as many records as there are with replacement; gives the number of different ones, -1: no memory. */
static int64_t draw(Growth *growth) {
    const Training *training = growth->training;
    int64_t n = training->n, classes = larger(training->n_classes, 1), widest = 0, k = 0;
    for (int64_t f = 0; f < training->p; f++) widest = larger(widest, training->starts[f + 1] - training->starts[f]);
    growth->weight = zeros(n, sizeof(int64_t));
    growth->total = zeros(3 * classes, sizeof(int64_t));
    growth->keys = room(training->p, sizeof(int64_t));
    growth->records = room(3 * n, sizeof(int32_t));
    growth->counts = room(widest + 2, sizeof(int32_t));
    growth->waiting = room(n + 2, sizeof(Waiting));
    if (!growth->weight || !growth->total || !growth->keys || !growth->records || !growth->counts || !growth->waiting)
        return -1;
    growth->left = growth->total + classes;
    growth->right = growth->left + classes;
    growth->sorted = growth->records + n;
    growth->codes = growth->sorted + n;
    for (int64_t i = 0; i < training->m; i++) growth->weight[training->cell[random_below(&growth->random, training->m)]]++;
    for (int64_t i = 0; i < n; i++)
        if (growth->weight[i]) growth->records[k++] = (int32_t)i;
    for (int64_t f = 0; f < training->p; f++) growth->keys[f] = f;
    return k;
}

/* Grow one tree on as many records drawn with replacement; given back by free_forest_tree. */
EXPORT int grow_forest_tree(const Training *training, uint64_t seed, ForestTree *tree) {
    Growth growth = {.training = training, .random = seed};
    int64_t drawn = draw(&growth);
    bool done = drawn >= 0 && grow_from(&growth, drawn);
    free(growth.weight);
    free(growth.total);
    free(growth.keys);
    free(growth.records);
    free(growth.counts);
    free(growth.waiting);
    *tree = growth.tree;
    return done ? DONE : NO_MEMORY;
}

EXPORT void free_forest_tree(ForestTree *tree) {
    free(tree->feature);
    free(tree->threshold);
    free(tree->right);
    free(tree->leaf_start);
    free(tree->leaf_class);
    free(tree->leaf_value);
}

/* Add to the result (n, outputs) what the leaf of every record (p, n) holds. */
EXPORT void add_leaves(const ForestTree *tree, const double *values, int64_t n, int64_t outputs, double *result) {
    for (int64_t i = 0; i < n; i++) {
        int32_t node = 0;
        while (tree->feature[node] >= 0)
            node = values[tree->feature[node] * n + i] <= tree->threshold[node] ? node + 1 : tree->right[node];
        int32_t leaf = tree->right[node];
        for (int32_t e = tree->leaf_start[leaf]; e < tree->leaf_start[leaf + 1]; e++)
            result[i * outputs + tree->leaf_class[e]] += tree->leaf_value[e];
    }
}
