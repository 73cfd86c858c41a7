/* Random forests: one tree is grown, and the attacked records are led to its leaves meanwhile.
 *
 * No tree is kept: whoever wants other records led grows it again. The different records that a tree draws stand beside
 * each other, with their weights. Of few classes the weights are added up by level of a key and by class, and splits
 * are judged in one sweep over the levels that occur. Else the records of a node are put in order by counting, and the
 * cost of the sweep depends neither on the number of levels nor on the number of classes. Sums of classes are integers.
 */
#include "core.h"

/* Most records that are sorted by insertion. */
#define INSERTION 24

/* Most classes whose weights are added up by level, and most levels per record of the node. */
#define FEW_CLASSES 16
#define FEW_LEVELS 16

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

/* A node in waiting: its drawn records and its attacked ones. */
typedef struct {
    int64_t start, stop, attacked_start, attacked_stop;
} Waiting;

/* What growing one tree needs; k different records are drawn.
 *
 * key_codes        (p, k) codes of the drawn records
 * weight, y        (k) how often each was drawn, and its class
 * numbers          (k) its number, if there are no classes
 * rows             (k) drawn records by node
 * sorted, codes    (k) records of a node in order of a key, and their codes
 * counts           (widest + 2) buffer
 * occurs, by_class (widest / 64 + 1) and (widest, classes) which levels occur, and weights by level and class; zero
 *                  between sweeps
 * total, left, right   (classes) weights by class of the node (zero between nodes of many classes) and of its children
 * held             (waiting, classes) weights by class of the nodes in waiting, if there are few classes
 * attacked, spare  (attacked) attacked records by node, and a buffer
 */
typedef struct {
    const Training *training;
    const Attacked *led;
    ForestLeaves leaves;
    int64_t leaves_length, classes_length, values_length, waiting_length, held_length, k;
    uint64_t random, *occurs;
    int64_t *total, *left, *right, *keys, *held;
    double *numbers;
    int32_t *key_codes, *weight, *y, *rows, *sorted, *codes, *counts, *by_class, *attacked, *spare;
    Waiting *waiting;
} Growth;

/* What is known of a node before it is split. */
typedef struct {
    int64_t start, stop, weight, squares, present;
    double sum, base;
} Parent;

/* Codes up to `below` go left; the next code of the node is `above`. */
typedef struct {
    double score, threshold;
    int64_t key;
    int32_t below, above;
} Split;

static bool has_few_classes(const Training *training) {
    return training->n_classes > 0 && training->n_classes <= FEW_CLASSES;
}

/* Put the records of a node in order of a key's codes: by insertion where they are few, else by counting. */
static void sort_node(Growth *growth, const int32_t *code, int64_t start, int64_t stop) {
    const int32_t *rows = growth->rows + start;
    int32_t *sorted = growth->sorted, *codes = growth->codes, *counts = growth->counts;
    int64_t m = stop - start;
    if (m <= INSERTION) {
        for (int64_t i = 0; i < m; i++) {
            int32_t row = rows[i], c = code[row];
            int64_t j = i;
            for (; j > 0 && codes[j - 1] > c; j--) {
                codes[j] = codes[j - 1];
                sorted[j] = sorted[j - 1];
            }
            codes[j] = c;
            sorted[j] = row;
        }
        return;
    }
    int32_t low = code[rows[0]], high = low;
    for (int64_t i = 0; i < m; i++) {
        int32_t c = code[rows[i]];
        if (c < low) low = c;
        if (c > high) high = c;
    }
    memset(counts, 0, (size_t)(high - low + 2) * sizeof *counts);
    for (int64_t i = 0; i < m; i++) counts[code[rows[i]] - low + 1]++;
    for (int32_t c = 1; c <= high - low; c++) counts[c] += counts[c - 1];
    for (int64_t i = 0; i < m; i++) {
        int32_t c = code[rows[i]], place = counts[c - low]++;
        sorted[place] = rows[i];
        codes[place] = c;
    }
}

/* Largest sum of squared class weights over weight, of both sides, in a sweep over the sorted records. */
static Split best_cut_of_classes(Growth *growth, const Parent *node) {
    const int32_t *y = growth->y, *codes = growth->codes;
    int64_t *left = growth->left, *right = growth->right, m = node->stop - node->start;
    for (int64_t i = 0; i < m; i++) {
        int32_t c = y[growth->sorted[i]];
        left[c] = 0;
        right[c] = growth->total[c];
    }
    int64_t left_squares = 0, right_squares = node->squares, before = 0;
    Split best = {.score = -1.0};
    for (int64_t i = 0; i < m - 1; i++) {
        int32_t row = growth->sorted[i], c = y[row];
        int64_t w = growth->weight[row];
        before += w;
        left_squares += w * (2 * left[c] + w);
        left[c] += w;
        right_squares -= w * (2 * right[c] - w);
        right[c] -= w;
        if (codes[i] == codes[i + 1]) continue;
        double score = (double)left_squares / (double)before + (double)right_squares / (double)(node->weight - before);
        if (score > best.score) best = (Split){.score = score, .below = codes[i], .above = codes[i + 1]};
    }
    return best;
}

/* Largest sum of squared sums over weight, of both sides, in a sweep over the sorted records. */
static Split best_cut_of_numbers(Growth *growth, const Parent *node) {
    const int32_t *codes = growth->codes;
    double left = 0.0;
    int64_t before = 0;
    Split best = {.score = -1.0};
    for (int64_t i = 0; i < node->stop - node->start - 1; i++) {
        int32_t row = growth->sorted[i];
        before += growth->weight[row];
        left += (double)growth->weight[row] * growth->numbers[row];
        if (codes[i] == codes[i + 1]) continue;
        double rest = node->sum - left;
        double score = left * left / (double)before + rest * rest / (double)(node->weight - before);
        if (score > best.score) best = (Split){.score = score, .below = codes[i], .above = codes[i + 1]};
    }
    return best;
}

/* The same cut as best_cut_of_classes, by weights added up by level: sums of integers do not depend on their order. */
static inline Split best_cut_of_levels(
    Growth *growth, const Parent *node, const int32_t *code, int64_t levels, int64_t classes) {
    const int32_t *restrict rows = growth->rows, *restrict of_class = growth->y, *restrict weight = growth->weight;
    int32_t *restrict by_class = growth->by_class;
    uint64_t *restrict occurs = growth->occurs;
    int64_t *restrict left = growth->left;
    const int64_t *restrict total = growth->total;
    for (int64_t i = node->start; i < node->stop; i++) {
        int32_t row = rows[i], c = code[row];
        occurs[c >> 6] |= UINT64_C(1) << (c & 63);
        by_class[c * classes + of_class[row]] += weight[row];
    }
    memset(left, 0, (size_t)classes * sizeof *left);
    int64_t before = 0;
    int32_t below = -1;
    Split best = {.score = -1.0};
    for (int64_t word = 0; word <= (levels - 1) >> 6; word++) {
        uint64_t rest = occurs[word];
        occurs[word] = 0;
        for (; rest; rest &= rest - 1) {
            int32_t c = (int32_t)(word << 6) + __builtin_ctzll(rest), *here = by_class + c * classes;
            if (below >= 0) {
                int64_t left_squares = 0, right_squares = 0;
                for (int64_t y = 0; y < classes; y++) {
                    int64_t other = total[y] - left[y];
                    left_squares += left[y] * left[y];
                    right_squares += other * other;
                }
                double after = (double)(node->weight - before);
                double score = (double)left_squares / (double)before + (double)right_squares / after;
                if (score > best.score) best = (Split){.score = score, .below = below, .above = c};
            }
            for (int64_t y = 0; y < classes; y++) {
                left[y] += here[y];
                before += here[y];
                here[y] = 0;
            }
            below = c;
        }
    }
    return best;
}

/* The best cut of one key; a score below 0 says that the node has one level. */
static Split best_cut(Growth *growth, const Parent *node, int64_t f) {
    const Training *training = growth->training;
    const int32_t *code = growth->key_codes + f * growth->k;
    int64_t classes = training->n_classes, m = node->stop - node->start;
    int64_t levels = training->starts[f + 1] - training->starts[f];
    if (has_few_classes(training) && levels <= FEW_LEVELS * m) {
        /* the loops over so few classes are unrolled */
        if (classes == 2) return best_cut_of_levels(growth, node, code, levels, 2);
        if (classes == 3) return best_cut_of_levels(growth, node, code, levels, 3);
        return best_cut_of_levels(growth, node, code, levels, classes);
    }
    sort_node(growth, code, node->start, node->stop);
    if (growth->codes[0] == growth->codes[m - 1]) return (Split){.score = -1.0};
    return classes ? best_cut_of_classes(growth, node) : best_cut_of_numbers(growth, node);
}

/* Add up the classes or numbers of a node; growth->total holds the weights by class until it is cleared. */
static Parent judge_node(Growth *growth, int64_t start, int64_t stop) {
    const Training *training = growth->training;
    Parent node = {.start = start, .stop = stop};
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = start; i < stop; i++) {
        int32_t row = growth->rows[i];
        int64_t w = growth->weight[row];
        node.weight += w;
        if (training->n_classes) {
            int64_t *total = &growth->total[growth->y[row]];
            if (*total == 0) node.present++;
            node.squares += w * (2 * *total + w);
            *total += w;
        } else {
            double v = growth->numbers[row];
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

/* The same from the weights by class, where there are few classes. */
static Parent judge_total(Growth *growth, int64_t start, int64_t stop, const int64_t *held) {
    Parent node = {.start = start, .stop = stop};
    for (int64_t c = 0; c < growth->training->n_classes; c++) {
        growth->total[c] = held[c];
        node.weight += held[c];
        node.squares += held[c] * held[c];
        node.present += held[c] > 0;
    }
    node.base = (double)node.squares / (double)node.weight;
    return node;
}

/* Weights by class of the children, from those of the node in `held`: the smaller one is counted, the other is what is
 * left. The right one takes the place of the node. */
static void share_total(Growth *growth, int64_t *held, int64_t start, int64_t middle, int64_t stop) {
    int64_t classes = growth->training->n_classes, *right = held, *left = held + classes;
    bool left_is_smaller = middle - start < stop - middle;
    int64_t counted[FEW_CLASSES] = {0};
    for (int64_t i = left_is_smaller ? start : middle; i < (left_is_smaller ? middle : stop); i++)
        counted[growth->y[growth->rows[i]]] += growth->weight[growth->rows[i]];
    for (int64_t c = 0; c < classes; c++) {
        int64_t rest = held[c] - counted[c];
        left[c] = left_is_smaller ? counted[c] : rest;
        right[c] = left_is_smaller ? rest : counted[c];
    }
}

/* Best split of a node over `mtry` keys drawn at random; key -1: none. */
static Split find_split(Growth *growth, const Parent *node) {
    const Training *training = growth->training;
    Split best = {.score = node->base * (1 + 1e-12), .key = -1};
    if (node->weight <= training->min_node_size || node->present <= 1) return best;
    int64_t *keys = growth->keys;
    for (int64_t tried = 0; tried < training->mtry; tried++) {
        int64_t other = tried + random_below(&growth->random, training->p - tried), f = keys[other];
        keys[other] = keys[tried];
        keys[tried] = f;
        Split split = best_cut(growth, node, f);
        if (!(split.score > best.score)) continue;
        const double *values = training->values + training->starts[f];
        double below = values[split.below], above = values[split.above], middle = 0.5 * below + 0.5 * above;
        best = split;
        best.key = f;
        best.threshold = below <= middle && middle < above ? middle : below;
    }
    return best;
}

/* Room for `entries` more entries of leaves and one more leaf. */
static bool room_for_leaf(Growth *growth, int64_t entries) {
    ForestLeaves *leaves = &growth->leaves;
    int64_t needed = leaves->n_entries + entries;
    return lengthen((void **)&leaves->start, &growth->leaves_length, leaves->n_leaves + 2, sizeof(int32_t)) &&
           lengthen((void **)&leaves->of_class, &growth->classes_length, needed, sizeof(int32_t)) &&
           lengthen((void **)&leaves->value, &growth->values_length, needed, sizeof(float));
}

/* Make a leaf of a node: shares of its classes, or its mean. */
static bool make_leaf(Growth *growth, const Parent *node, const Waiting *waiting) {
    ForestLeaves *leaves = &growth->leaves;
    if (!room_for_leaf(growth, larger(node->present, 1))) return false;
    if (leaves->n_leaves == 0) leaves->start[0] = 0;
    if (growth->training->n_classes) {
        for (int64_t i = node->start; i < node->stop; i++) {
            int32_t c = growth->y[growth->rows[i]];
            if (!growth->total[c]) continue;
            leaves->of_class[leaves->n_entries] = c;
            leaves->value[leaves->n_entries++] = (float)((double)growth->total[c] / (double)node->weight);
            growth->total[c] = 0;
        }
    } else {
        leaves->of_class[leaves->n_entries] = 0;
        leaves->value[leaves->n_entries++] = (float)(node->sum / (double)node->weight);
    }
    for (int64_t i = waiting->attacked_start; i < waiting->attacked_stop; i++)
        growth->led->leaf[growth->attacked[i]] = (int32_t)leaves->n_leaves;
    leaves->start[++leaves->n_leaves] = (int32_t)leaves->n_entries;
    return true;
}

/* Put the drawn records that go right behind those that go left; gives where the right ones start. */
static int64_t divide_drawn(Growth *growth, const Parent *node, const Split *split) {
    const int32_t *code = growth->key_codes + split->key * growth->k;
    int32_t *restrict rows = growth->rows, *restrict spare = growth->sorted, below = split->below;
    int64_t left = node->start, right = 0;
    for (int64_t i = node->start; i < node->stop; i++) {
        int32_t row = rows[i];
        int64_t to_right = code[row] > below;
        rows[left] = row;
        spare[right] = row;
        left += 1 - to_right;
        right += to_right;
    }
    memcpy(rows + left, spare, (size_t)right * sizeof *rows);
    return left;
}

/* The same for attacked records, whose values the training records may lack. */
static int64_t divide_attacked(Growth *growth, const Waiting *waiting, const Split *split) {
    const double *values = growth->led->values + split->key * growth->led->n;
    int32_t *restrict rows = growth->attacked, *restrict spare = growth->spare;
    double threshold = split->threshold;
    int64_t left = waiting->attacked_start, right = 0;
    for (int64_t i = left; i < waiting->attacked_stop; i++) {
        int32_t row = rows[i];
        int64_t to_left = values[row] <= threshold;
        rows[left] = row;
        spare[right] = row;
        left += to_left;
        right += 1 - to_left;
    }
    memcpy(rows + left, spare, (size_t)right * sizeof *rows);
    return left;
}

/* Room for `needed` nodes in waiting, and for their weights by class. */
static bool room_to_wait(Growth *growth, int64_t needed) {
    int64_t held = has_few_classes(growth->training) ? needed * growth->training->n_classes : 0;
    return lengthen((void **)&growth->waiting, &growth->waiting_length, needed, sizeof(Waiting)) &&
           lengthen((void **)&growth->held, &growth->held_length, held, sizeof(int64_t));
}

static bool grow_from_root(Growth *growth) {
    const Training *training = growth->training;
    bool few = has_few_classes(training);
    if (!room_to_wait(growth, 1)) return false;
    growth->waiting[0] = (Waiting){0, growth->k, 0, growth->led->n};
    if (few) {
        memset(growth->held, 0, (size_t)training->n_classes * sizeof *growth->held);
        for (int64_t i = 0; i < growth->k; i++) growth->held[growth->y[i]] += growth->weight[i];
    }
    for (int64_t n_waiting = 1; n_waiting;) {
        Waiting waiting = growth->waiting[--n_waiting];
        if (!room_to_wait(growth, n_waiting + 2)) return false;
        int64_t *held = growth->held + n_waiting * training->n_classes;
        Parent node = few ? judge_total(growth, waiting.start, waiting.stop, held)
                          : judge_node(growth, waiting.start, waiting.stop);
        Split split = find_split(growth, &node);
        if (split.key < 0) {
            if (!make_leaf(growth, &node, &waiting)) return false;
            continue;
        }
        if (training->n_classes && !few)
            for (int64_t i = node.start; i < node.stop; i++) growth->total[growth->y[growth->rows[i]]] = 0;
        int64_t middle = divide_drawn(growth, &node, &split), between = divide_attacked(growth, &waiting, &split);
        if (few) share_total(growth, held, node.start, middle, node.stop);
        growth->waiting[n_waiting++] = (Waiting){middle, node.stop, between, waiting.attacked_stop};
        growth->waiting[n_waiting++] = (Waiting){node.start, middle, waiting.attacked_start, between};
    }
    return true;
}

/* Draw as many records as there are with replacement, and set the different ones beside each other. */
static bool draw(Growth *growth) {
    const Training *training = growth->training;
    int64_t n = training->n, p = training->p, classes = larger(training->n_classes, 1), widest = 1, k = 0;
    for (int64_t f = 0; f < p; f++) widest = larger(widest, training->starts[f + 1] - training->starts[f]);
    int64_t cells = training->n_classes <= FEW_CLASSES ? widest * classes : 0;
    int32_t *drawn = zeros(n, sizeof(int32_t));
    if (drawn) {
        for (int64_t i = 0; i < training->m; i++) drawn[training->cell[random_below(&growth->random, training->m)]]++;
        for (int64_t i = 0; i < n; i++) k += drawn[i] > 0;
    }
    growth->k = k;
    growth->occurs = zeros((widest >> 6) + 1, sizeof(uint64_t));
    growth->by_class = zeros(cells, sizeof(int32_t));
    growth->total = zeros(3 * classes, sizeof(int64_t));
    growth->keys = room(p, sizeof(int64_t));
    growth->key_codes = room((p + 5) * k, sizeof(int32_t));
    growth->numbers = room(training->n_classes ? 0 : k, sizeof(double));
    growth->counts = room(widest + 2, sizeof(int32_t));
    growth->attacked = room(2 * growth->led->n, sizeof(int32_t));
    bool done = drawn && growth->occurs && growth->by_class && growth->total && growth->keys && growth->key_codes &&
                growth->numbers && growth->counts && growth->attacked;
    if (done) {
        growth->left = growth->total + classes;
        growth->right = growth->left + classes;
        growth->weight = growth->key_codes + p * k;
        growth->y = growth->weight + k;
        growth->rows = growth->y + k;
        growth->sorted = growth->rows + k;
        growth->codes = growth->sorted + k;
        growth->spare = growth->attacked + growth->led->n;
        int32_t *chosen = growth->rows;
        for (int64_t i = n - 1, at = k; at > 0; i--) {
            chosen[at - 1] = (int32_t)i;
            at -= drawn[i] > 0;
        }
        for (int64_t i = 0; i < k; i++) growth->weight[i] = drawn[chosen[i]];
        for (int64_t f = 0; f < p; f++)
            for (int64_t i = 0; i < k; i++) growth->key_codes[f * k + i] = training->codes[f * n + chosen[i]];
        if (training->n_classes)
            for (int64_t i = 0; i < k; i++) growth->y[i] = training->classes[chosen[i]];
        else
            for (int64_t i = 0; i < k; i++) growth->numbers[i] = training->numbers[chosen[i]];
        for (int64_t i = 0; i < k; i++) growth->rows[i] = (int32_t)i;
        for (int64_t f = 0; f < p; f++) growth->keys[f] = f;
        for (int64_t i = 0; i < growth->led->n; i++) growth->attacked[i] = (int32_t)i;
    }
    free(drawn);
    return done;
}

/* Grow one tree on as many records drawn with replacement; the leaves are given back by free_forest_leaves. */
EXPORT int grow_forest_tree(const Training *training, uint64_t seed, const Attacked *attacked, ForestLeaves *leaves) {
    Growth growth = {.training = training, .led = attacked, .random = seed};
    bool done = draw(&growth) && grow_from_root(&growth);
    free(growth.occurs);
    free(growth.by_class);
    free(growth.total);
    free(growth.keys);
    free(growth.key_codes);
    free(growth.numbers);
    free(growth.counts);
    free(growth.attacked);
    free(growth.waiting);
    free(growth.held);
    *leaves = growth.leaves;
    return done ? DONE : NO_MEMORY;
}

EXPORT void free_forest_leaves(ForestLeaves *leaves) {
    free(leaves->start);
    free(leaves->of_class);
    free(leaves->value);
}

/* Add to the result (n, outputs) what the leaf of every record holds. */
EXPORT void add_leaves(
    const int32_t *leaf, const int32_t *start, const int32_t *of_class, const float *value, int64_t n, int64_t outputs,
    double *result) {
    for (int64_t i = 0; i < n; i++)
        for (int32_t e = start[leaf[i]]; e < start[leaf[i] + 1]; e++) result[i * outputs + of_class[e]] += value[e];
}
