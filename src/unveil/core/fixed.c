/* The likelihood of a tree that is held as fitted, with one record moved: donor counts alone. */
#include "core.h"

/* Cell of a leaf and a value, -1: no donor. */
static int64_t cell_of(const LeafCells *cells, int64_t leaf, int32_t code) {
    int64_t low = cells->start[leaf], high = cells->start[leaf + 1], end = high;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (cells->code[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && cells->code[low] == code ? low : -1;
}

/* Code of a predictor of a record (codes[f * columns]) in a world. */
static inline int32_t code_in_world(
    const int32_t *codes, int64_t columns, const Worlds *worlds, const int64_t *place, int32_t f, int64_t world) {
    return place[f] < 0 ? codes[f * columns] : worlds->feature_codes[place[f] * worlds->n + world];
}

/* Leaf of a record in a world. */
static int64_t leaf_in_world(
    const Routing *tree, const int32_t *codes, int64_t columns, const Worlds *worlds, const int64_t *place,
    int64_t world) {
    int64_t node = 0;
    while (tree->leaf[node] < 0) {
        int32_t code = code_in_world(codes, columns, worlds, place, tree->feature[node], world);
        bool to_right = tree->side_start[node] < 0 ? code >= tree->cut[node]
                                                   : tree->sides[tree->side_start[node] + code] & 1;
        node = to_right ? tree->right[node] : node + 1;
    }
    return tree->leaf[node];
}

/* Whether the predictors have the same codes as in the world before. */
static bool as_before(const Worlds *worlds, int64_t world) {
    for (int64_t j = 0; j < worlds->n_features; j++) {
        const int32_t *code = worlds->feature_codes + j * worlds->n + world;
        if (code[0] != code[-1]) return false;
    }
    return true;
}

/* Whether the predictors have other codes than those of the record. */
static bool is_moved(const int32_t *codes, int64_t columns, const Worlds *worlds, int64_t world) {
    for (int64_t j = 0; j < worlds->n_features; j++)
        if (worlds->feature_codes[j * worlds->n + world] != codes[worlds->features[j] * columns]) return true;
    return false;
}

/* A record in a world: the leaves and values that it leaves and comes to, and whether it does. */
typedef struct {
    int64_t first, second;
    int32_t old, new;
    bool leaves, comes;
} Moved;

/* Change of the likelihood of a leaf where donors are mixed, beyond what its column changes in every leaf. */
static double leaf_change_mixed(
    const LeafCells *cells, const MixedDonors *all, const Moved *moved, int64_t leaf, bool leaves, bool comes) {
    int64_t size = cells->leaf_donors[leaf], n = all->n - moved->leaves + moved->comes;
    double change = 0.0;
    for (int64_t cell = cells->start[leaf]; cell < cells->start[leaf + 1]; cell++) {
        if (!cells->released[cell]) continue;
        int32_t code = cells->code[cell];
        bool goes = code == moved->old, arrives = code == moved->new;
        int64_t count = all->donors[code] - (moved->leaves && goes) + (moved->comes && arrives);
        int64_t inside = cells->donors[cell], then = inside - (leaves && goes) + (comes && arrives);
        change += (double)cells->released[cell] * (log_mixed(all->mix, then, size - leaves + comes, count, n) -
                                                   log_mixed(all->mix, inside, size, count, n));
    }
    return change;
}

/* Change of the likelihood of a tree whose donors are mixed. */
static double change_of_mixed(const LeafCells *cells, const MixedDonors *all, const Moved *moved) {
    bool leaves = moved->leaves, comes = moved->comes, stays = leaves && comes && moved->first == moved->second;
    const double *of_old = all->change + moved->old * MIXED_CHANGES, *of_new = all->change + moved->new * MIXED_CHANGES;
    double change = change_mixed(of_old, of_new, all->sums, leaves, comes, moved->old == moved->new);
    if (leaves) change += leaf_change_mixed(cells, all, moved, moved->first, true, stays);
    if (comes && !stays) change += leaf_change_mixed(cells, all, moved, moved->second, false, true);
    return change;
}

/* Changes of the likelihood for all records and worlds, trees held; see _posterior/fixed.py for the formula.
 *
 * codes        (predictors, columns) original records
 * place        (predictors) place of each predictor among those that differ between worlds, -1: not one of them
 * response     (columns) their values
 * leaf_of      (columns) their leaves
 * logs         logarithms of whole numbers
 * mixed        all donors where they are mixed; its mix is 0 where they are not
 * impossible   (r, worlds) is added to
 * change       (r, worlds) is added to
 */
EXPORT void add_fixed(
    const Routing *tree, const LeafCells *cells, const Worlds *worlds, const int32_t *codes, const int64_t *place,
    int64_t columns, const int32_t *response, const int32_t *leaf_of, const double *logs, const MixedDonors *mixed,
    int64_t *impossible, double *change) {
    for (int64_t i = 0; i < worlds->n_members; i++) {
        int64_t record = worlds->members[i], first = leaf_of[record], second = first;
        bool leaves = worlds->fitted[record];
        int32_t old = response[record];
        int64_t old_cell = leaves ? cell_of(cells, first, old) : -1;
        for (int64_t c = 0; c < worlds->n; c++) {
            int64_t at = i * worlds->n + c;
            int32_t new = worlds->own ? worlds->response_codes[c] : old;
            bool comes = worlds->own ? worlds->included[c] : leaves;
            /* Neighbouring worlds mostly differ in the response alone: the way to the leaf is taken once. */
            if (c == 0 || !as_before(worlds, c))
                second = is_moved(codes + record, columns, worlds, c)
                             ? leaf_in_world(tree, codes + record, columns, worlds, place, c)
                             : first;
            bool stays = leaves && comes && first == second;
            if ((!leaves && !comes) || (stays && new == old)) continue;
            if (mixed->mix > 0) {
                const Moved moved = {first, second, old, new, leaves, comes};
                change[at] += change_of_mixed(cells, mixed, &moved);
                if (leaves && mixed->donors[old] == 1 && !(comes && new == old)) impossible[at] += mixed->released[old];
                continue;
            }
            int64_t lost = 0;
            if (leaves) {
                int64_t count = cells->donors[old_cell], released = cells->released[old_cell];
                int64_t size = cells->leaf_donors[first], total = cells->leaf_released[first];
                if (count == 1)
                    lost = released;
                else
                    change[at] += (double)released * (logs[count - 1] - logs[count]);
                if (stays)
                    change[at] += (double)lost * logs[size];
                else
                    change[at] += (double)total * logs[size] - (double)(total - lost) * logs[size - 1];
                impossible[at] += lost;
            }
            if (comes) {
                int64_t cell = cell_of(cells, second, new);
                if (cell >= 0) {
                    int64_t count = cells->donors[cell];
                    change[at] += (double)cells->released[cell] * (logs[count + 1] - logs[count]);
                }
                if (!stays) {
                    int64_t size = cells->leaf_donors[second];
                    change[at] += (double)cells->leaf_released[second] * (logs[size] - logs[size + 1]);
                }
            }
        }
    }
}
