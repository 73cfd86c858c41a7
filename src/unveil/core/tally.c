/* Loops that count records by the codes of their columns. */
#include "core.h"

/* Records whose codes stay in the processor's cache from column to column. */
#define BLOCK 4096
/* Values of a column of which several tables of counts stay there. */
#define FEW 512
#define TABLES 4

/* The code of each record: what its values in all columns are worth together.
 *
 * indices  (columns) where the (n) places of the records' values begin, as addresses
 * worths   (columns) where the table begins of what each place adds
 * code     (n) receives the codes
 */
EXPORT void add_worths(int64_t n, int64_t columns, const int64_t *indices, const int64_t *worths, int64_t *code) {
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t stop = smaller(start + BLOCK, n);
        memset(code + start, 0, (size_t)(stop - start) * sizeof *code);
        for (int64_t c = 0; c < columns; c++) {
            const int32_t *index = (const int32_t *)(intptr_t)indices[c];
            const int64_t *worth = (const int64_t *)(intptr_t)worths[c];
            for (int64_t i = start; i < stop; i++) code[i] += worth[index[i]];
        }
    }
}

/* Counts records by code. */
EXPORT void tally(int64_t n, const int64_t *code, int64_t *counts) {
    for (int64_t i = 0; i < n; i++) counts[code[i]]++;
}

/* Counts records by their code and one more column, of which each place is worth a number below `levels`. */
EXPORT void tally_beside(int64_t n, const int64_t *code, int64_t levels, const int32_t *index, const int64_t *worth,
                         int64_t *counts) {
    for (int64_t i = 0; i < n; i++) counts[code[i] * levels + worth[index[i]]]++;
}

/* Writes the place of whole numbers in a table that begins with the number `first`; -1 for numbers beyond it.
 * Returns how many are beyond it or have no place in the table yet. */
EXPORT int64_t places_of(int64_t n, const int64_t *values, int64_t first, int64_t size, const int32_t *table,
                         int32_t *place) {
    int64_t unknown = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)values[i] - (uint64_t)first;
        int32_t found = at < (uint64_t)size ? table[at] : -1;
        unknown += found < 0;
        place[i] = found;
    }
    return unknown;
}

/* Counts records by the place of their value in a table of `size` places.
 *
 * Neighbours often have the same value, and a count can be raised only after it was written: of few values, neighbours
 * are counted in tables of their own. */
EXPORT void tally_places(int64_t n, const int32_t *place, int64_t size, int64_t *counts) {
    int64_t tables[TABLES][FEW] = {{0}}, i = 0;
    if (size <= FEW) {
        for (; i + TABLES <= n; i += TABLES)
            for (int64_t t = 0; t < TABLES; t++) tables[t][place[i + t]]++;
        for (int64_t t = 0; t < TABLES; t++)
            for (int64_t at = 0; at < size; at++) counts[at] += tables[t][at];
    }
    for (; i < n; i++) counts[place[i]]++;
}

/* Takes counts apart: from codes of cells in single files, in ascending order, to cells and key combinations.
 *
 * A code is ((combination * targets) + target) * files + file, and the combination is made of the codes of the keys, the
 * first of which counts most.
 *
 * codes     (n) one may be repeated
 * records   (n) number of records of each
 * n_levels  (keys) number of codes of each key
 * q, t      (n) place of the combination, and code of the target, of each cell
 * counts    (files, n) number of records of each cell in each file; zeros
 * levels    (keys, n) code of each key in each combination
 * size      (1) number of combinations
 *
 * Returns the number of cells.
 */
EXPORT int64_t take_apart(int64_t n, const int64_t *codes, const int64_t *records, int64_t files, int64_t targets,
                          int64_t keys, const int64_t *n_levels, int64_t *q, int64_t *t, int64_t *counts,
                          int32_t *levels, int64_t *size) {
    int64_t cells = 0, combinations = 0, cell = -1, combination = -1;
    int64_t end_of_cell = -1, end_of_combination = -1;
    for (int64_t i = 0; i < n; i++) {
        /* Most codes belong to the cell or the combination before them: no division is needed then. */
        if (codes[i] >= end_of_cell) {
            cell = codes[i] / files;
            end_of_cell = (cell + 1) * files;
            if (codes[i] >= end_of_combination) {
                combination = cell / targets;
                end_of_combination = (combination + 1) * targets * files;
                int64_t rest = combination;
                for (int64_t k = keys - 1; k >= 0; k--) {
                    int64_t above = rest / n_levels[k];
                    levels[k * n + combinations] = (int32_t)(rest - above * n_levels[k]);
                    rest = above;
                }
                combinations++;
            }
            q[cells] = combinations - 1;
            t[cells] = cell - combination * targets;
            cells++;
        }
        counts[(codes[i] - cell * files) * n + cells - 1] += records[i];
    }
    *size = combinations;
    return cells;
}

/* Brings equal neighbours together: each code once, at the front of the array, and how often it occurred.
 *
 * codes    (n) ascending; changed
 * records  (n) number of records of each code that is left
 *
 * Returns how many are left.
 */
EXPORT int64_t run_lengths(int64_t n, int64_t *codes, int64_t *records) {
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        if (left && codes[left - 1] == codes[i]) {
            records[left - 1]++;
        } else {
            codes[left] = codes[i];
            records[left++] = 1;
        }
    }
    return left;
}
