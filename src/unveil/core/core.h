/* What all loops share: layouts of nodes and records, and small helpers.
 *
 * Arrays come from numpy and their sizes stand beside them. No function keeps a pointer after it has returned, and
 * there are no global variables: any number of threads may call any function at the same time.
 */
#ifndef UNVEIL_CORE_H
#define UNVEIL_CORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layouts.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef unsigned __int128 wide_t;

enum { DONE = 0, NO_MEMORY = 1 };

enum { SQUARES = 0, MISCLASSIFIED = 1, GINI = 2 };

/* The sides of levels at an unordered split: 0 left, 1 right, 2 (3) not in the node, with the majority to the left
 * (right). The lowest bit is the side. */
enum { LEFT = 0, RIGHT = 1, UNSEEN = 2 };

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Number of classes if they are counted (three or more), else 0: the response is summed. */
static inline int64_t counted_classes(int64_t classes) { return classes > 2 ? classes : 0; }

/* What is kept of a value that one donor less or more has (see mixed.c): the number of donors stays, or changes by one
 * as well. */
enum { GOES, COMES, GOES_ALONE, COMES_ALONE, MIXED_CHANGES };
enum { MIXED_SUMS = 2 };

/* Logarithm of the probability of a value where donors are mixed: `inside` of `size` donors of the leaf, and `count` of
 * all n donors have it. 0 where nobody has it: an impossible value is counted, and has no logarithm. */
static inline double log_mixed(double mix, int64_t inside, int64_t size, int64_t count, int64_t n) {
    if (count <= 0 || n <= 0) return 0.0;
    double own = size > 0 ? (double)inside / (double)size : 0.0;
    return log((1.0 - mix) * own + mix * (double)count / (double)n);
}

/* Change of a log-likelihood where a donor of the whole column goes, comes, or both.
 *
 * of_old, of_new   (MIXED_CHANGES) of the value that goes and of the one that comes; the same where they are equal
 * sums             (MIXED_SUMS) over all values, with one donor less and one more
 */
static inline double change_mixed(
    const double *of_old, const double *of_new, const double *sums, bool leaves, bool comes, bool same) {
    if (leaves && comes) return same ? 0.0 : of_old[GOES] + of_new[COMES];
    if (leaves) return sums[0] + of_old[GOES_ALONE];
    return comes ? sums[1] + of_new[COMES_ALONE] : 0.0;
}

/* Memory for `number` things, at least one byte; null where there is none. */
static inline void *room(int64_t number, size_t size) {
    size_t bytes;
    if (number < 0 || __builtin_mul_overflow((size_t)number, size, &bytes)) return NULL;
    return malloc(bytes ? bytes : 1);
}

static inline void *zeros(int64_t number, size_t size) { return calloc(number > 0 ? (size_t)number : 1, size); }

/* Make an array longer if it has fewer than `needed` entries; false where there is no memory (the array stays). */
static inline bool lengthen(void **array, int64_t *length, int64_t needed, size_t size) {
    if (needed <= *length) return true;
    int64_t longer = larger(needed, 2 * *length);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)longer, size, &bytes)) return false;
    void *moved = realloc(*array, bytes);
    if (!moved) return false;
    *array = moved;
    *length = longer;
    return true;
}

/* Put the records that go right behind those that go left, each part in its order; gives where the right ones start. */
static inline int64_t divide_rows(
    int32_t *restrict rows, int32_t *restrict spare, const uint8_t *restrict goes_right, int64_t start, int64_t stop) {
    int64_t left = start, right = 0;
    for (int64_t i = start; i < stop; i++) {
        int32_t row = rows[i];
        int64_t to_right = goes_right[row];
        rows[left] = row;
        spare[right] = row;
        left += 1 - to_right;
        right += to_right;
    }
    memcpy(rows + left, spare, (size_t)right * sizeof *rows);
    return left;
}

#endif
