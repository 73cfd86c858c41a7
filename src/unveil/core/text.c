/* A loop over delimited text. */
#include "core.h"

static int is_edge(uint8_t byte, uint8_t delimiter) {
    /* Two quotes side by side mean one quote. */
    return byte == delimiter || byte == '\n' || byte == '\r' || byte == '"';
}

/* Whether all quotes of a block are at the edge of a field, or doubled: 1 or 0.
 *
 * text   (n) the next bytes of a file
 * state  (3) what the block before has left, and the next one takes on: whether a quote is open; whether the last byte
 *        was a quote that closes, so that an edge must follow; the last byte
 */
EXPORT int64_t quotes_at_edges(int64_t n, const uint8_t *text, int64_t delimiter, uint8_t *state) {
    int open = state[0], closing = state[1];
    uint8_t last = state[2];
    for (int64_t i = 0; i < n; i++) {
        uint8_t byte = text[i];
        if (closing && !is_edge(byte, (uint8_t)delimiter)) return 0;
        closing = 0;
        if (byte == '"') {
            if (!open && !is_edge(last, (uint8_t)delimiter)) return 0;
            closing = open;
            open = !open;
        }
        last = byte;
    }
    state[0] = (uint8_t)open;
    state[1] = (uint8_t)closing;
    state[2] = last;
    return 1;
}
