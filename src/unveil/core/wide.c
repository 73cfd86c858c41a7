/* The wide integers of split.h under names that tests can call. */
#include "split.h"

static wide_t join(uint64_t high, uint64_t low) { return ((wide_t)high << 64) | low; }

/* Whether the first fraction is larger. */
EXPORT int64_t fraction_exceeds(
    uint64_t high, uint64_t low, uint64_t divisor, uint64_t other_high, uint64_t other_low, uint64_t other_divisor) {
    return exceeds(join(high, low), divisor, join(other_high, other_low), other_divisor);
}

/* Within sum of squares of n integers. */
EXPORT double within_squares(int64_t n, int64_t *y, int32_t *rows) {
    Records records = {.y = y, .rows = rows};
    int64_t held[SUMS];
    add_up(&records, held, 0, n);
    return within(n, held[0], held[1], held[2], held[3]);
}
