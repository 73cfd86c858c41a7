/* The records of a node with one record moved, and the splits of a predictor there.
 *
 * Large nodes have counts by level (count_kept), which are copied and changed by one record. The records of other nodes
 * are gathered; the record that comes is the last of them, so that one candidate can follow another. */
#include "walk.h"

#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)

void free_work(Work *work) {
    free_scratch(&work->scratch);
    free(work->records.codes);
    free(work->records.y);
    free(work->records.rows);
    free(work->records.wide);
    free(work->records.sorted_rows);
    free(work->levels.number);
    free(work->levels.cells);
    free(work->response);
    free(work->z_rows);
    free(work->z_goes_right);
    free(work->recoded);
    free(work->regrown);
    free(work->waiting);
    free(work->move.codes);
    free(work->candidates);
    free(work->steps);
    free(work->able);
    free(work->varies);
    free(work->top);
}

bool new_work(Work *work, const KnownTree *tree, const Worlds *worlds) {
    int64_t m = tree->n + 1, p = tree->p, k = tree->classes > 0 ? tree->v : 1, widest = 1, ordered = 0;
    for (int64_t f = 0; f < p; f++) {
        widest = larger(widest, tree->n_levels[f]);
        ordered += !tree->unordered[f];
    }
    *work = (Work){
        .tree = tree,
        .worlds = worlds,
        .records = {
            .codes = room(p * m, sizeof(int32_t)), .n_levels = tree->n_levels, .unordered = tree->unordered,
            .wide = room(2 * p, sizeof(int64_t)), .sorted_rows = room(2 * ordered * m, sizeof(int32_t)),
            .y = room(m, sizeof(int64_t)), .rows = room(3 * m, sizeof(int32_t)), .columns = m, .predictors = p,
            .span = tree->span,
        },
        .levels = {zeros(widest, sizeof(int64_t)), zeros(widest * k, sizeof(int64_t)), 0, k},
        .response = room(m, sizeof(int32_t)),
        .z_rows = room(2 * tree->z, sizeof(int32_t)),
        .z_goes_right = room(tree->z, sizeof(uint8_t)),
        .recoded = zeros(2 * tree->v, sizeof(int64_t)),
        .move.codes = room(p, sizeof(int32_t)),
        .candidates = room(TOGETHER, sizeof(Candidate)),
        .able = room(2 * TOGETHER, sizeof(int64_t)),
        .varies = zeros(p, sizeof(bool)),
        .top = room(p, sizeof(double)),
    };
    Records *records = &work->records;
    if (!new_scratch(&work->scratch, m, widest, k) || !records->codes || !records->wide || !records->sorted_rows ||
        !records->y || !records->rows || !work->levels.number || !work->levels.cells || !work->response ||
        !work->z_rows || !work->z_goes_right || !work->recoded || !work->move.codes || !work->candidates ||
        !work->able || !work->varies || !work->top)
        return false;
    work->growing = *records;
    work->growing.wide = records->wide + p;
    work->growing.sorted_rows = records->sorted_rows + ordered * m;
    work->growing.rows = records->rows + m;
    work->spare = records->rows + 2 * m;
    work->z_spare = work->z_rows + tree->z;
    work->donors = work->recoded + tree->v;
    for (int64_t j = 0; j < worlds->n_features; j++) work->varies[worlds->features[j]] = true;
    return true;
}

/* Sort the gathered records by a predictor: digit by digit, the lowest first. */
static void sort_rows(const Work *work, const Records *records, int64_t f) {
    const int32_t *codes = records->codes + f * records->columns;
    int64_t m = records->m, n_levels = records->n_levels[f], passes = 1;
    while (n_levels > INT64_C(1) << (DIGIT_BITS * passes)) passes++;
    int32_t *sorted = records->sorted_rows + records->wide[f] * m, *from = sorted, *to = work->spare;
    for (int64_t i = 0; i < m; i++) from[i] = (int32_t)i;
    for (int64_t pass = 0; pass < passes; pass++) {
        int64_t place[DIGITS] = {0}, before = 0;
        int shift = (int)(DIGIT_BITS * pass);
        for (int64_t i = 0; i < m; i++) place[(codes[i] >> shift) & (DIGITS - 1)]++;
        for (int64_t digit = 0; digit < DIGITS; digit++) {
            int64_t here = place[digit];
            place[digit] = before;
            before += here;
        }
        for (int64_t i = 0; i < m; i++) to[place[(codes[from[i]] >> shift) & (DIGITS - 1)]++] = from[i];
        int32_t *turned = from;
        from = to;
        to = turned;
    }
    if (from != sorted) memcpy(sorted, from, (size_t)m * sizeof *sorted);
}

/* Sort the gathered records by the ordered predictors that have more than `narrow` cells of levels and classes. */
void sort_gathered(Work *work, Records *records, int64_t narrow) {
    int64_t k = larger(counted_classes(records->classes), 1);
    records->n_wide = 0;
    for (int64_t f = 0; f < records->predictors; f++) {
        records->wide[f] = -1;
        if (records->unordered[f] || records->n_levels[f] * k <= narrow) continue;
        records->wide[f] = records->n_wide++;
        sort_rows(work, records, f);
    }
}

/* Copy the records of a node, without the one that leaves; the one that comes is put behind them. */
void gather(Work *work, int64_t at, bool leaves, bool comes) {
    const KnownTree *tree = work->tree;
    Records *records = &work->records;
    int32_t *rows = records->rows;
    int64_t m = 0;
    for (int64_t i = tree->nodes[at].start; i < tree->nodes[at].stop; i++)
        if (!leaves || tree->order[i] != work->move.record) rows[m++] = tree->order[i];
    for (int64_t f = 0; f < tree->p; f++) {
        const int32_t *codes = tree->codes + f * tree->n;
        int32_t *gathered = records->codes + f * records->columns;
        for (int64_t i = 0; i < m; i++) gathered[i] = codes[rows[i]];
        gathered[m] = work->move.codes[f];
    }
    for (int64_t i = 0; i < m; i++) work->response[i] = tree->response[rows[i]];
    work->response[m] = work->move.new;
    if (comes) m++;
    for (int64_t i = 0; i < m; i++) {
        records->y[i] = tree->y_of[work->response[i]];
        rows[i] = (int32_t)i;
    }
    records->m = m;
    records->classes = tree->classes;
}

/* Give the record that comes, the last of the gathered ones, the values of another candidate. */
void put_in(Work *work) {
    Records *records = &work->records;
    int64_t last = records->m - 1;
    work->response[last] = work->move.new;
    records->y[last] = work->tree->y_of[work->move.new];
    for (int64_t f = 0; f < records->predictors; f++) {
        int32_t *code = records->codes + f * records->columns + last;
        if (*code == work->move.codes[f]) continue;
        *code = work->move.codes[f];
        if (records->wide[f] >= 0) sort_rows(work, records, f);
    }
}

/* Offer the splits of a predictor by its counts by level; candidates: whether others are compared with this one. */
static void offer_levels(Work *work, const Parent *parent, int64_t f, bool candidates) {
    if (!work->tree->unordered[f]) {
        thresholds_of_levels(&work->best, &work->scratch, parent, f, &work->levels);
        return;
    }
    split_levels(&work->best, &work->scratch, parent, f, &work->levels);
    if (candidates && !parent->counted) {
        double score = most_unreached(&work->scratch, parent, &work->levels, work->move.codes[f]);
        if (score > work->unreached) work->unreached = score;
    }
}

/* Offer the splits of a predictor of gathered records. */
void offer_gathered(Work *work, const Records *records, const Parent *parent, int64_t f) {
    Levels *levels = &work->levels;
    if (records->wide[f] >= 0) {
        thresholds_of_sorted(&work->best, &work->scratch, parent, records, f);
        return;
    }
    levels->k = larger(parent->counted, 1);
    levels->levels = records->n_levels[f];
    count_predictor(
        levels, records->codes + f * records->columns, records->y, records->rows, parent->start, parent->stop,
        parent->counted);
    offer_levels(work, parent, f, records == &work->records);
    for (int64_t level = 0; level < levels->levels; level++) {
        if (!levels->number[level]) continue;
        levels->number[level] = 0;
        memset(levels->cells + level * levels->k, 0, (size_t)levels->k * sizeof(int64_t));
    }
}

/* Offer the splits of a predictor at a node whose counts by level are kept. */
void offer_counted(Work *work, const Parent *parent, int64_t f, const Step *step) {
    const KnownTree *tree = work->tree;
    Levels *levels = &work->levels;
    int64_t counted = parent->counted, k = levels->k = larger(counted, 1);
    int64_t first = tree->known[step->node].counted_as * tree->offset[tree->p] + tree->offset[f];
    size_t size = (size_t)(levels->levels = tree->n_levels[f]);
    memcpy(levels->number, tree->number + first, size * sizeof(int64_t));
    memcpy(levels->cells, tree->cells + first * k, size * (size_t)k * sizeof(int64_t));
    if (step->leaves) {
        int64_t level = old_code(work, f), y = tree->y_of[work->move.old];
        levels->number[level]--;
        levels->cells[level * k + (counted ? y : 0)] -= counted ? 1 : y;
    }
    if (step->comes) {
        int64_t level = work->move.codes[f], y = tree->y_of[work->move.new];
        levels->number[level]++;
        levels->cells[level * k + (counted ? y : 0)] += counted ? 1 : y;
    }
    offer_levels(work, parent, f, true);
    memset(levels->number, 0, size * sizeof(int64_t));
    memset(levels->cells, 0, size * (size_t)k * sizeof(int64_t));
}

/* Cut of an ordered predictor: smaller codes go left; as fill_cuts. */
int64_t cut_between(const KnownTree *tree, int64_t feature, int64_t low, int64_t high) {
    int64_t first = tree->value_start[feature];
    if (first == tree->value_start[feature + 1]) return (low + high + 1) / 2;
    const double *values = tree->values + first;
    double middle = 0.5 * values[low] + 0.5 * values[high];
    if (!(middle > values[low])) middle = values[high];
    int64_t cut = low + 1;
    while (values[cut] < middle) cut++;
    return cut;
}
