/* Grow a tree: split nodes until they are small, pure or deep.
 *
 * Nodes are visited depth first, left before right, so that the records of a node stay one stretch of rows and the left
 * child of a node is the node after it. Records keep their order within a node, so that a fit depends on the set of
 * records only.
 *
 * What makes it fast: the counts by level of the larger child of a large node are its own minus those of the smaller
 * child, and the records of a node that has become much smaller are copied together in memory.
 */
#include "split.h"

/* Records are copied together when a node has this many times fewer than when they were copied last. */
#define SHRUNK 8
/* The smallest node whose counts by level are kept, and cells per record of such a node. */
#define SMALLEST_KEPT 128
#define CELLS_PER_RECORD 8

bool new_scratch(Scratch *scratch, int64_t m, int64_t widest, int64_t k) {
    int64_t sums = larger(k, SUMS);
    *scratch = (Scratch){
        .present = zeros(3 * widest, sizeof(int64_t)),
        .node = zeros(3 * sums, sizeof(int64_t)),
        .rank = room(MOST_LEVELS, sizeof(int64_t)),
        .key = zeros(widest, sizeof(double)),
        .axis = zeros(2 * k, sizeof(double)),
        .table = room(MOST_LEVELS, sizeof(double)),
        .gram = room(MOST_LEVELS * (MOST_LEVELS + 4), sizeof(double)),
        .block = room(5 << BLOCK_BITS, sizeof(double)),
        .outside = room((INT64_C(1) << OUTSIDE_BITS) * (5 + BLOCK_BITS), sizeof(double)),
        .codes = room(2 * m, sizeof(int32_t)),
        .goes_right = room(m, sizeof(uint8_t)),
    };
    if (!scratch->present || !scratch->node || !scratch->rank || !scratch->key || !scratch->axis || !scratch->table ||
        !scratch->gram || !scratch->block || !scratch->outside || !scratch->codes || !scratch->goes_right)
        return false;
    scratch->order = scratch->present + widest;
    scratch->side = scratch->order + widest;
    scratch->left = scratch->node + sums;
    scratch->right = scratch->left + sums;
    scratch->turned = scratch->axis + k;
    scratch->classes = scratch->codes + m;
    return true;
}

void free_scratch(Scratch *scratch) {
    free(scratch->present);
    free(scratch->node);
    free(scratch->rank);
    free(scratch->key);
    free(scratch->axis);
    free(scratch->table);
    free(scratch->gram);
    free(scratch->block);
    free(scratch->outside);
    free(scratch->codes);
    free(scratch->goes_right);
}

/* Add the records of a node to the counts of one predictor. */
void count_predictor(
    const Levels *levels, const int32_t *codes, const int64_t *y, const int32_t *rows, int64_t start, int64_t stop,
    int64_t counted) {
    int64_t *number = levels->number, *cells = levels->cells, k = levels->k;
    if (counted) {
        for (int64_t i = start; i < stop; i++) {
            int32_t row = rows[i], code = codes[row];
            number[code]++;
            cells[code * k + y[row]]++;
        }
    } else {
        for (int64_t i = start; i < stop; i++) {
            int32_t row = rows[i], code = codes[row];
            number[code]++;
            cells[code * k] += y[row];
        }
    }
}

/* Counts by level of several nodes, each in a slot: one predictor after the other, those that are read in sorted order
 * left out. The last slot is a buffer for a single predictor, of zeros between uses. */
typedef struct {
    int64_t *number, *cells, *offset, *free;
    int64_t levels, k, slots, n_free, smallest;
} Counts;

static bool new_counts(Counts *counts, const Records *records, int64_t k, int64_t max_depth) {
    int64_t p = records->predictors, single = 1;
    *counts = (Counts){.k = k, .offset = zeros(p + 1, sizeof(int64_t))};
    if (!counts->offset) return false;
    for (int64_t f = 0; f < p; f++) {
        int64_t held = records->wide[f] < 0 ? records->n_levels[f] : 0;
        counts->offset[f + 1] = counts->offset[f] + held;
        single = larger(single, held);
    }
    counts->levels = larger(counts->offset[p], single);
    counts->smallest = larger(SMALLEST_KEPT, counts->levels * k / CELLS_PER_RECORD);
    counts->slots =
        records->m >= counts->smallest ? smaller(max_depth + 2, records->m / counts->smallest + 1) : 0;
    counts->free = room(counts->slots, sizeof(int64_t));
    counts->number = room((counts->slots + 1) * counts->levels, sizeof(int64_t));
    counts->cells = room((counts->slots + 1) * counts->levels * k, sizeof(int64_t));
    if (!counts->free || !counts->number || !counts->cells) return false;
    for (int64_t slot = 0; slot < counts->slots; slot++) counts->free[slot] = counts->slots - 1 - slot;
    counts->n_free = counts->slots;
    memset(counts->number + counts->slots * counts->levels, 0, (size_t)counts->levels * sizeof(int64_t));
    memset(counts->cells + counts->slots * counts->levels * k, 0, (size_t)(counts->levels * k) * sizeof(int64_t));
    return true;
}

static void free_counts(Counts *counts) {
    free(counts->offset);
    free(counts->free);
    free(counts->number);
    free(counts->cells);
}

static int64_t take_slot(Counts *counts) { return counts->free[--counts->n_free]; }

static void give_slot_back(Counts *counts, int64_t slot) {
    if (slot >= 0) counts->free[counts->n_free++] = slot;
}

/* The levels of one predictor in a slot. */
static Levels levels_of(const Counts *counts, int64_t slot, int64_t first, int64_t levels) {
    int64_t at = slot * counts->levels + first;
    return (Levels){counts->number + at, counts->cells + at * counts->k, levels, counts->k};
}

/* Count a node by level of every predictor into a slot; numbers of records are added up from those by class. */
static void count_node(Counts *counts, int64_t slot, const Records *records, int64_t start, int64_t stop) {
    int64_t k = counts->k, counted = counted_classes(records->classes);
    memset(counts->number + slot * counts->levels, 0, (size_t)counts->levels * sizeof(int64_t));
    memset(counts->cells + slot * counts->levels * k, 0, (size_t)(counts->levels * k) * sizeof(int64_t));
    for (int64_t f = 0; f < records->predictors; f++) {
        int64_t held = counts->offset[f + 1] - counts->offset[f];
        if (!held) continue;
        Levels levels = levels_of(counts, slot, counts->offset[f], held);
        const int32_t *codes = records->codes + f * records->columns;
        if (!counted) {
            count_predictor(&levels, codes, records->y, records->rows, start, stop, counted);
            continue;
        }
        for (int64_t i = start; i < stop; i++) {
            int32_t row = records->rows[i];
            levels.cells[codes[row] * k + records->y[row]]++;
        }
        for (int64_t level = 0; level < held; level++)
            for (int64_t c = 0; c < k; c++) levels.number[level] += levels.cells[level * k + c];
    }
}

static void subtract(int64_t *restrict counts, const int64_t *restrict part, int64_t size) {
    for (int64_t i = 0; i < size; i++) counts[i] -= part[i];
}

/* Slots of the children of a node, -1 where they have none. */
typedef struct {
    int64_t left, right;
} Slots;

/* Turn the counts of a divided node into those of its children. */
static Slots pass_on(
    Counts *counts, int64_t slot, const Records *records, int64_t start, int64_t middle, int64_t stop) {
    if (slot < 0) return (Slots){-1, -1};
    bool left_smaller = middle - start < stop - middle;
    int64_t fewer = left_smaller ? middle - start : stop - middle;
    if (stop - start - fewer < counts->smallest) {
        give_slot_back(counts, slot);
        return (Slots){-1, -1};
    }
    int64_t other = take_slot(counts), levels = counts->levels, cells = levels * counts->k;
    count_node(counts, other, records, left_smaller ? start : middle, left_smaller ? middle : stop);
    subtract(counts->number + slot * levels, counts->number + other * levels, levels);
    subtract(counts->cells + slot * cells, counts->cells + other * cells, cells);
    if (fewer < counts->smallest) {
        give_slot_back(counts, other);
        other = -1;
    }
    return left_smaller ? (Slots){other, slot} : (Slots){slot, other};
}

/* Move the records of a node to its children; gives where the right child starts. */
int64_t divide(
    const Records *records, Scratch *scratch, int64_t start, int64_t stop, int64_t feature, int64_t cut,
    int64_t minsplit) {
    const int32_t *codes = records->codes + feature * records->columns;
    uint8_t *goes_right = scratch->goes_right;
    if (records->unordered[feature])
        for (int64_t i = start; i < stop; i++)
            goes_right[records->rows[i]] = (uint8_t)scratch->side[codes[records->rows[i]]];
    else
        for (int64_t i = start; i < stop; i++) goes_right[records->rows[i]] = codes[records->rows[i]] > cut;
    int64_t middle = divide_rows(records->rows, scratch->codes, goes_right, start, stop);
    if (middle - start < minsplit && stop - middle < minsplit) return middle;
    for (int64_t w = 0; w < records->n_wide; w++)
        divide_rows(records->sorted_rows + w * records->m, scratch->codes, goes_right, start, stop);
    return middle;
}

/* Columns for copies of nodes, each SHRUNK times smaller than the last. */
static bool new_copies(Records *copies, const Records *records) {
    *copies = *records;
    copies->columns = 0;
    for (int64_t copied = records->m / SHRUNK; copied; copied /= SHRUNK) copies->columns += copied;
    copies->codes = room(records->predictors * copies->columns, sizeof(int32_t));
    copies->y = room(copies->columns, sizeof(int64_t));
    copies->origin = room(copies->columns, sizeof(int32_t));
    return copies->codes && copies->y && copies->origin;
}

static void free_copies(Records *copies) {
    free(copies->codes);
    free(copies->y);
    free(copies->origin);
}

/* Copy the records of a node to neighbouring columns, without changing what the node is. */
static void gather(
    const Records *records, Records *copies, int32_t *place, int64_t start, int64_t stop, int64_t first) {
    int32_t *rows = records->rows;
    int64_t n = stop - start;
    for (int64_t f = 0; f < records->predictors; f++) {
        const int32_t *codes = records->codes + f * records->columns;
        int32_t *close = copies->codes + f * copies->columns + first;
        for (int64_t i = 0; i < n; i++) close[i] = codes[rows[start + i]];
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t row = rows[start + i];
        copies->origin[first + i] = records->origin ? records->origin[row] : row;
        copies->y[first + i] = records->y[row];
        place[row] = (int32_t)(first + i);
        rows[start + i] = (int32_t)(first + i);
    }
    for (int64_t w = 0; w < records->n_wide; w++) {
        int32_t *sorted = records->sorted_rows + w * records->m;
        for (int64_t i = start; i < stop; i++) sorted[i] = place[sorted[i]];
    }
}

/* A node in waiting: the node whose right child it is (-1: a left child), its slot, how many records were copied
 * together with its own, and the first free column for copies. */
typedef struct {
    int64_t start, stop, depth, parent, slot, gathered, free;
} Waiting;

/* All that growing a tree needs. held: class counts or sums of the nodes in waiting. */
typedef struct {
    Records records, copies;
    Limits limits;
    Scratch scratch;
    Counts counts;
    Best best;
    Waiting *waiting;
    int64_t *held;
    int64_t held_size, n_waiting, waiting_length, held_length;
    Node *nodes;
    int64_t n_nodes, nodes_length;
    uint8_t *sides;
    int64_t n_sides, sides_length;
} Growth;

/* Share what is known of the classes or sums of a node among its children; `right` holds what is known of the node.
 *
 * Only the smaller child is added up; the rest is that of the larger one. */
static void share(
    const Records *records, int64_t *left, int64_t *right, int64_t size, int64_t start, int64_t middle, int64_t stop) {
    bool left_smaller = middle - start < stop - middle;
    add_up(records, left, left_smaller ? start : middle, left_smaller ? middle : stop);
    for (int64_t c = 0; c < size; c++) {
        int64_t fewer = left[c], more = right[c] - fewer;
        left[c] = left_smaller ? fewer : more;
        right[c] = left_smaller ? more : fewer;
    }
}

/* Offer the splits of one predictor; the counts of the node are in a slot, or (-1) are made here. */
static void offer_predictor(Growth *growth, const Records *records, const Parent *parent, int64_t f, int64_t slot) {
    Scratch *scratch = &growth->scratch;
    Counts *counts = &growth->counts;
    Best *best = &growth->best;
    const int32_t *codes = records->codes + f * records->columns;
    int64_t n = parent->stop - parent->start;
    if (records->wide[f] >= 0) {
        thresholds_of_sorted(best, scratch, parent, records, f);
        return;
    }
    bool counted_here = slot < 0;
    Levels levels = levels_of(
        counts, counted_here ? counts->slots : slot, counted_here ? 0 : counts->offset[f], records->n_levels[f]);
    if (counted_here && parent->counted && !records->unordered[f] && levels.levels * levels.k > SPARSE * n) {
        sort_by_level(scratch, parent, &levels, codes, records->y, records->rows);
        thresholds_of_sorted_classes(best, scratch, parent, f);
        return;
    }
    if (counted_here)
        count_predictor(&levels, codes, records->y, records->rows, parent->start, parent->stop, parent->counted);
    if (records->unordered[f])
        split_levels(best, scratch, parent, f, &levels);
    else
        thresholds_of_levels(best, scratch, parent, f, &levels);
    if (counted_here) {
        memset(levels.number, 0, (size_t)levels.levels * sizeof(int64_t));
        memset(levels.cells, 0, (size_t)(levels.levels * levels.k) * sizeof(int64_t));
    }
}

/* Write down the best split of a node. */
static bool note_split(Growth *growth, Node *node, const Parent *parent) {
    const Best *best = &growth->best;
    const Records *records = &growth->records;
    double n = (double)(node->stop - node->start);
    node->feature = best->feature;
    if (records->unordered[best->feature]) {
        int64_t levels = records->n_levels[best->feature];
        if (!lengthen((void **)&growth->sides, &growth->sides_length, growth->n_sides + levels, 1)) return false;
        node->sides = growth->n_sides;
        for (int64_t level = 0; level < levels; level++)
            growth->sides[growth->n_sides + level] = (uint8_t)growth->scratch.side[level];
        growth->n_sides += levels;
    } else {
        node->low = best->cut;
        node->high = best->after;
    }
    double base = parent->counted ? (double)parent->total / n : 0.0;
    double unit = parent->counted ? 1.0 : (records->classes ? 2.0 / n : 1.0 / n);
    node->gain = (best->score - base) * unit;
    node->rival_gain = (best->rival - base) * unit;
    return true;
}

/* A new node at the end; null where there is no memory. */
static Node *new_node(Growth *growth, const Waiting *waiting) {
    if (!lengthen((void **)&growth->nodes, &growth->nodes_length, growth->n_nodes + 1, sizeof(Node))) return NULL;
    int64_t at = growth->n_nodes++;
    if (waiting->parent >= 0) growth->nodes[waiting->parent].right = at;
    growth->nodes[at] = (Node){
        .start = waiting->start, .stop = waiting->stop, .depth = waiting->depth, .right = -1, .feature = -1,
        .low = -1, .high = -1, .sides = -1, .cut = -1, .last = -1,
    };
    return &growth->nodes[at];
}

/* Records of a finished node under the numbers of the call. */
static void restore_rows(const Records *here, int64_t start, int64_t stop) {
    if (here->origin)
        for (int64_t i = start; i < stop; i++) here->rows[i] = here->origin[here->rows[i]];
}

/* Visit the node that waits last: judge it, split it where that pays, and let its children wait. */
static bool visit(Growth *growth) {
    const Limits *limits = &growth->limits;
    Waiting waiting = growth->waiting[--growth->n_waiting];
    int64_t at = growth->n_waiting, start = waiting.start, stop = waiting.stop, n = stop - start;
    if (!lengthen((void **)&growth->waiting, &growth->waiting_length, at + 2, sizeof(Waiting)) ||
        !lengthen((void **)&growth->held, &growth->held_length, (at + 2) * growth->held_size, sizeof(int64_t)))
        return false;
    int64_t *held = growth->held + at * growth->held_size;
    Node *node = new_node(growth, &waiting);
    if (!node) return false;
    int64_t number = node - growth->nodes, classes = growth->records.classes;
    Judged judged = judge(classes, held, n, limits->risk);
    node->risk = judged.risk;
    double least = limits->cp * growth->nodes[0].risk;
    Records *here = waiting.gathered < growth->records.m ? &growth->copies : &growth->records;
    bool may_split = n >= limits->minsplit && n >= 2 * limits->minbucket && waiting.depth < limits->max_depth;
    growth->best.feature = -1;
    Parent parent = {
        .start = start, .stop = stop, .total = judged.total, .minbucket = limits->minbucket,
        .counted = counted_classes(classes),
        .exact = (double)n * (double)n * (double)growth->records.span <= LARGEST_EXACT,
    };
    if (may_split && judged.risk > least) {
        if (n * SHRUNK <= waiting.gathered) {
            gather(here, &growth->copies, growth->scratch.classes, start, stop, waiting.free);
            here = &growth->copies;
            waiting.gathered = n;
            waiting.free += n;
        }
        if (waiting.slot < 0 && n >= growth->counts.smallest) {
            waiting.slot = take_slot(&growth->counts);
            count_node(&growth->counts, waiting.slot, here, start, stop);
        }
        memcpy(growth->scratch.node, held, (size_t)growth->held_size * sizeof *held);
        reset(&growth->best, &parent);
        for (int64_t f = 0; f < here->predictors; f++) offer_predictor(growth, here, &parent, f, waiting.slot);
    }
    if (growth->best.feature < 0) {
        give_slot_back(&growth->counts, waiting.slot);
        restore_rows(here, start, stop);
        return true;
    }
    if (!note_split(growth, node, &parent)) return false;
    int64_t middle = divide(
        here, &growth->scratch, start, stop, growth->best.feature, growth->best.cut, limits->minsplit);
    share(here, held + growth->held_size, held, growth->held_size, start, middle, stop);
    Slots slots = pass_on(&growth->counts, waiting.slot, here, start, middle, stop);
    int64_t depth = waiting.depth + 1;
    growth->waiting[at] = (Waiting){middle, stop, depth, number, slots.right, waiting.gathered, waiting.free};
    growth->waiting[at + 1] = (Waiting){start, middle, depth, -1, slots.left, waiting.gathered, waiting.free};
    growth->n_waiting += 2;
    return true;
}

/* Room for a fit, and the root in waiting. */
static bool begin(Growth *growth) {
    const Records *records = &growth->records;
    int64_t widest = 1, k = larger(counted_classes(records->classes), 1);
    for (int64_t f = 0; f < records->predictors; f++) widest = larger(widest, records->n_levels[f]);
    growth->held_size = larger(counted_classes(records->classes), SUMS);
    if (!new_scratch(&growth->scratch, records->m, widest, k) || !new_copies(&growth->copies, records) ||
        !new_counts(&growth->counts, records, k, growth->limits.max_depth) ||
        !lengthen((void **)&growth->waiting, &growth->waiting_length, 1, sizeof(Waiting)) ||
        !lengthen((void **)&growth->held, &growth->held_length, growth->held_size, sizeof(int64_t)))
        return false;
    add_up(records, growth->held, 0, records->m);
    growth->waiting[0] = (Waiting){0, records->m, 0, -1, -1, records->m, 0};
    growth->n_waiting = 1;
    return true;
}

EXPORT int grow_tree(const Records *records, const Limits *limits, Grown *grown) {
    Growth growth = {.records = *records, .limits = *limits};
    bool done = begin(&growth);
    while (done && growth.n_waiting) done = visit(&growth);
    free_scratch(&growth.scratch);
    free_copies(&growth.copies);
    free_counts(&growth.counts);
    free(growth.waiting);
    free(growth.held);
    *grown = (Grown){growth.nodes, growth.sides, growth.n_nodes, growth.n_sides};
    return done ? DONE : NO_MEMORY;
}

EXPORT void free_grown(Grown *grown) {
    free(grown->nodes);
    free(grown->sides);
}
