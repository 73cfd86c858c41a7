/* Loops over text: quotes in delimited text, and codes of texts. */
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

/* Counts line feeds, carriage returns, zero bytes and quotes.
 *
 * marks  (4) receives the counts
 */
EXPORT void text_marks(int64_t n, const uint8_t *text, int64_t *marks) {
    memset(marks, 0, 4 * sizeof *marks);
    while (n > 0) {
        /* Counts of one byte do not overflow within so few, and many of them are raised at once. */
        int64_t size = smaller(n, UINT8_MAX);
        uint8_t feeds = 0, returns = 0, zeros = 0, quotes = 0;
        for (int64_t i = 0; i < size; i++) {
            feeds += text[i] == '\n';
            returns += text[i] == '\r';
            zeros += text[i] == 0;
            quotes += text[i] == '"';
        }
        marks[0] += feeds;
        marks[1] += returns;
        marks[2] += zeros;
        marks[3] += quotes;
        text += size;
        n -= size;
    }
}

static uint64_t hash_of(const uint8_t *text, int64_t length) {
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = (uint64_t)length * odd, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, text, (size_t)length);
    hash = (hash ^ word) * odd;
    return hash ^ hash >> 32;
}

/* Codes of texts: those that are known have theirs, others get the next ones, as long as there is room.
 *
 * begin   first text that has no code yet, of n
 * offset  (n + 1) where each text begins
 * slots   size of the table, a power of two
 * table   (slots) code in each slot, -1 where it is free
 * known   (1) number of texts that have a code; changed
 * hash    (most) hash of each known text
 * ends    (most + 1) where each known text begins in `store`, and where the last ends
 * bytes   size of `store`
 * code    (n) changed
 *
 * Returns the first text without a code: n, or the one for which there is no room.
 */
EXPORT int64_t text_codes(int64_t begin, int64_t n, const int32_t *offset, const uint8_t *text, int64_t slots,
                          int32_t *table, int64_t *known, int64_t most, int64_t *hash, int64_t *ends, int64_t bytes,
                          uint8_t *store, int32_t *code) {
    for (int64_t i = begin; i < n; i++) {
        const uint8_t *one = text + offset[i];
        int64_t length = offset[i + 1] - offset[i];
        uint64_t mixed = hash_of(one, length);
        int64_t slot = (int64_t)(mixed & (uint64_t)(slots - 1));
        for (; table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
            int64_t k = table[slot];
            if ((uint64_t)hash[k] == mixed && ends[k + 1] - ends[k] == length && !memcmp(store + ends[k], one, (size_t)length))
                break;
        }
        if (table[slot] < 0) {
            int64_t k = *known;
            if (k >= most || ends[k] + length > bytes) return i;
            memcpy(store + ends[k], one, (size_t)length);
            ends[k + 1] = ends[k] + length;
            hash[k] = (int64_t)mixed;
            table[slot] = (int32_t)k;
            *known = k + 1;
        }
        code[i] = table[slot];
    }
    return n;
}

/* Gives known texts their slots in an empty table. */
EXPORT void text_slots(int64_t known, const int64_t *hash, int64_t slots, int32_t *table) {
    for (int64_t k = 0; k < known; k++) {
        int64_t slot = (int64_t)((uint64_t)hash[k] & (uint64_t)(slots - 1));
        while (table[slot] >= 0) slot = (slot + 1) & (slots - 1);
        table[slot] = (int32_t)k;
    }
}
