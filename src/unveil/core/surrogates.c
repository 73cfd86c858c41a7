/* Surrogate splits: splits of another predictor that send the records of a node the same way as the split of the node.
 *
 * A surrogate agrees with the split of the node on more records than sending all of them with the majority does
 * (Breiman, Friedman, Olshen & Stone 1984, section 5.3).
 */
#include "core.h"

/* The best surrogate of one predictor. */
typedef struct {
    int64_t agreement, low, high;
    bool flip;
} Rule;

/* Count the records of each level that the split of the node sends left and right: table (levels, 2). */
static void count_sides(
    int64_t *table, const int32_t *codes, int64_t levels, const int32_t *order, int64_t start, int64_t middle,
    int64_t stop) {
    memset(table, 0, (size_t)(2 * levels) * sizeof *table);
    for (int64_t i = start; i < stop; i++) table[2 * codes[order[i]] + (i >= middle)]++;
}

static Rule rule_of_sets(const int64_t *table, int64_t levels) {
    int64_t agreement = 0;
    bool to_left = false, to_right = false;
    for (int64_t level = 0; level < levels; level++) {
        int64_t here = table[2 * level], there = table[2 * level + 1];
        agreement += larger(here, there);
        if (here + there) {
            to_left |= here >= there;
            to_right |= here < there;
        }
    }
    return (Rule){to_left && to_right ? agreement : 0, -1, -1, false};
}

static Rule rule_of_thresholds(const int64_t *table, int64_t levels, int64_t n_left, int64_t n_right) {
    int64_t left = 0, right = 0, low = -1;
    Rule rule = {0, -1, -1, false};
    for (int64_t level = 0; level < levels; level++) {
        if (table[2 * level] + table[2 * level + 1] == 0) continue;
        if (low >= 0) {
            int64_t same = left + n_right - right, exchanged = right + n_left - left;
            if (larger(same, exchanged) > rule.agreement)
                rule = (Rule){larger(same, exchanged), low, level, exchanged > same};
        }
        left += table[2 * level];
        right += table[2 * level + 1];
        low = level;
    }
    return rule;
}

/* Find the surrogates of the wanted nodes, at most `most` each; gives their number, -1: no memory. */
EXPORT int64_t find_surrogates(
    const Records *records, int64_t t, const Node *nodes, const uint8_t *wanted, int64_t most, Surrogates *found,
    int64_t *n_sides) {
    int64_t p = records->predictors, n_found = 0, widest = 1;
    for (int64_t f = 0; f < p; f++) widest = larger(widest, records->n_levels[f]);
    int64_t *table = room(2 * widest, sizeof(int64_t));
    Rule *rules = room(p, sizeof(Rule));
    if (!table || !rules) {
        free(table);
        free(rules);
        return -1;
    }
    *n_sides = 0;
    for (int64_t at = 0; at < t; at++) {
        found->start[at] = n_found;
        if (!wanted[at]) continue;
        const Node *node = &nodes[at];
        int64_t middle = nodes[node->right].start, n_left = middle - node->start, n_right = node->stop - middle;
        for (int64_t f = 0; f < p; f++) {
            rules[f].agreement = 0;
            if (f == node->feature) continue;
            const int32_t *codes = records->codes + f * records->columns;
            count_sides(table, codes, records->n_levels[f], records->rows, node->start, middle, node->stop);
            rules[f] = records->unordered[f] ? rule_of_sets(table, records->n_levels[f])
                                             : rule_of_thresholds(table, records->n_levels[f], n_left, n_right);
        }
        for (int64_t rank = 0; rank < most; rank++) {
            int64_t f = 0;
            for (int64_t other = 1; other < p; other++)
                if (rules[other].agreement > rules[f].agreement) f = other;
            if (rules[f].agreement <= larger(n_left, n_right)) break;
            found->feature[n_found] = f;
            found->agreement[n_found] = rules[f].agreement;
            if (records->unordered[f]) {
                const int32_t *codes = records->codes + f * records->columns;
                count_sides(table, codes, records->n_levels[f], records->rows, node->start, middle, node->stop);
                found->side_start[n_found] = *n_sides;
                for (int64_t level = 0; level < records->n_levels[f]; level++) {
                    int64_t here = table[2 * level], there = table[2 * level + 1];
                    found->sides[(*n_sides)++] = here + there == 0 ? UNSEEN : (here >= there ? LEFT : RIGHT);
                }
            } else {
                found->low[n_found] = rules[f].low;
                found->high[n_found] = rules[f].high;
                found->flip[n_found] = rules[f].flip;
            }
            rules[f].agreement = 0;
            n_found++;
        }
    }
    found->start[t] = n_found;
    free(table);
    free(rules);
    return n_found;
}
