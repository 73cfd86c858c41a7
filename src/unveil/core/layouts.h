/* The layouts of what Python and the loops share.
 *
 * A layout is a list of fields. The list makes the struct, and a text that the Python side reads, so that both have the
 * same fields at the same places. Numbers beside an array are its shape. Arrays are stored row by row.
 */
#ifndef UNVEIL_LAYOUTS_H
#define UNVEIL_LAYOUTS_H

#include <stdint.h>

#define FIELD(type, name) type name;
#define TEXT(type, name) #type " " #name ";"
#define LAYOUT(Name, FIELDS)                                                                                           \
    typedef struct Name {                                                                                              \
        FIELDS(FIELD)                                                                                                  \
    } Name;

/* A node of a tree. Nodes stand in the order of visit: the left child of a node is the next one.
 *
 * start, stop     its records are order[start] ... order[stop - 1]
 * depth           0 for the root
 * right           right child; -1 where growth ended
 * feature         predictor that splits the node; -1 where growth ended
 * low, high       ordered predictors: last code to the left, first code to the right; -1 otherwise
 * sides           unordered predictors: where the sides of the levels begin; -1 otherwise
 * cut             ordered predictors: smaller codes go left; -1 otherwise
 * last            last node below
 * risk            risk of the node
 * gain            gain of the split (squared steps, or n times Gini)
 * rival_gain      gain of the best other split
 */
#define NODE_FIELDS(F)                                                                                                 \
    F(int64_t, start) F(int64_t, stop) F(int64_t, depth) F(int64_t, right) F(int64_t, feature) F(int64_t, low)         \
    F(int64_t, high) F(int64_t, sides) F(int64_t, cut) F(int64_t, last) F(double, risk) F(double, gain)                \
    F(double, rival_gain)
LAYOUT(Node, NODE_FIELDS)

/* The records of a fit: m fitted records among `columns` records, `predictors` predictors.
 *
 * codes           (predictors, columns) codes
 * n_levels        (predictors,) numbers of levels
 * unordered       (predictors,) whether levels are split into sets
 * wide            (predictors,) row of sorted_rows that belongs to the predictor; -1: none
 * sorted_rows     (n_wide, m) records sorted by a predictor with many levels; used up by the fit
 * y               (columns,) response in integers
 * rows            (m,) records by node; their order changes
 * origin          (columns,) which record of the call each column is; null where it is the record of the same number
 * classes         0 for a numeric response, else its number of classes
 * span            largest y where it is summed
 */
#define RECORDS_FIELDS(F)                                                                                              \
    F(int32_t *, codes) F(int64_t *, n_levels) F(uint8_t *, unordered) F(int64_t *, wide) F(int32_t *, sorted_rows)    \
    F(int64_t *, y) F(int32_t *, rows) F(int32_t *, origin) F(int64_t, columns) F(int64_t, predictors)                 \
    F(int64_t, n_wide) F(int64_t, m) F(int64_t, classes) F(int64_t, span)
LAYOUT(Records, RECORDS_FIELDS)

/* When a node is split, and which risk decides; see Settings in unveil/trees. */
#define LIMITS_FIELDS(F)                                                                                               \
    F(int64_t, minbucket) F(int64_t, minsplit) F(int64_t, max_depth) F(int64_t, risk) F(double, cp)
LAYOUT(Limits, LIMITS_FIELDS)

/* The nodes of a grown tree and the sides of levels; given back by free_grown. */
#define GROWN_FIELDS(F) F(Node *, nodes) F(uint8_t *, sides) F(int64_t, n_nodes) F(int64_t, n_sides)
LAYOUT(Grown, GROWN_FIELDS)

/* A tree of t nodes and l leaves after the collapse; see Tree in unveil/trees. `leaf_node` and `leaf_start` have room
 * for t and t + 1 leaves. */
#define SETTLED_FIELDS(F)                                                                                              \
    F(int32_t *, feature) F(int32_t *, right) F(int32_t *, depth) F(int64_t *, start) F(int64_t *, stop)               \
    F(int64_t *, side_start) F(double *, risk) F(double *, gain) F(double *, rival_gain) F(double *, decrease)         \
    F(uint8_t *, collapsed) F(int32_t *, leaf) F(int32_t *, leaf_node) F(int64_t *, leaf_start)
LAYOUT(Settled, SETTLED_FIELDS)

/* The splits of a tree, followed by its surrogates: s splits, t nodes.
 *
 * feature          (s) predictor
 * cut              (s) smaller codes go left
 * side_start       (s) where the sides of the levels begin, -1 for thresholds
 * flip             (s) whether left and right are exchanged
 * right            (t) right child
 * leaf             (t) leaf where a record stops, -1: it goes on
 * first_surrogate  (t + 1) first surrogate of each node, as index of a split
 */
#define SPLITS_FIELDS(F)                                                                                               \
    F(int32_t *, feature) F(int32_t *, cut) F(int64_t *, side_start) F(uint8_t *, sides) F(uint8_t *, flip)            \
    F(int32_t *, right) F(int32_t *, leaf) F(int64_t *, first_surrogate)
LAYOUT(Splits, SPLITS_FIELDS)

/* s surrogates by falling agreement, equal ones by predictor; `sides` has n_sides entries.
 *
 * start       (t + 1) first surrogate of each node
 * low, high   last code below and first code above the threshold; -1 for sets of levels
 * flip        whether codes below the threshold go right
 * side_start  where the sides of the levels begin, -1 for thresholds
 * agreement   records that are sent the same way
 */
#define SURROGATES_FIELDS(F)                                                                                           \
    F(int64_t *, start) F(int64_t *, feature) F(int64_t *, low) F(int64_t *, high) F(uint8_t *, flip)                  \
    F(int64_t *, side_start) F(uint8_t *, sides) F(int64_t *, agreement)
LAYOUT(Surrogates, SURROGATES_FIELDS)

/* Different records of a training table, and the settings of a tree.
 *
 * codes     (p, n) keys, as positions in their distinct values
 * starts    (p + 1) where the values of a key begin in `values`
 * cell      (m) by record, the different record that it is
 * classes   (n) target where n_classes is not 0; else numbers (n)
 */
#define TRAINING_FIELDS(F)                                                                                             \
    F(int32_t *, codes) F(int64_t *, starts) F(double *, values) F(int32_t *, cell) F(int32_t *, classes)              \
    F(double *, numbers) F(int64_t, p) F(int64_t, n) F(int64_t, m) F(int64_t, n_classes) F(int64_t, mtry)              \
    F(int64_t, min_node_size)
LAYOUT(Training, TRAINING_FIELDS)

/* Records that a forest is applied to.
 *
 * values   (p, n) their keys, as numbers
 * leaf     (n) the leaf that each is led to
 */
#define ATTACKED_FIELDS(F) F(double *, values) F(int32_t *, leaf) F(int64_t, n)
LAYOUT(Attacked, ATTACKED_FIELDS)

/* What the leaves of a tree of a forest hold, by order of visit: shares of classes, or a mean. Those of leaf l are the
 * entries start[l] ... start[l + 1] - 1. */
#define FOREST_LEAVES_FIELDS(F)                                                                                        \
    F(int32_t *, start) F(int32_t *, of_class) F(float *, value) F(int64_t, n_leaves) F(int64_t, n_entries)
LAYOUT(ForestLeaves, FOREST_LEAVES_FIELDS)

/* What is asked: records and the worlds in which they have other values.
 *
 * members          (r) the records
 * fitted           (n) whether each original record is fitted
 * features         (q) predictors that differ between worlds
 * feature_codes    (q, worlds) their codes
 * own              whether the response differs between worlds
 * response_codes   (worlds) its code, if so
 * included         (worlds) whether a record with this value is fitted, if so
 */
#define WORLDS_FIELDS(F)                                                                                               \
    F(int64_t *, members) F(uint8_t *, fitted) F(int64_t *, features) F(int32_t *, feature_codes)                      \
    F(int32_t *, response_codes) F(uint8_t *, included) F(int64_t, n_members) F(int64_t, n_features) F(int64_t, n)     \
    F(int64_t, own)
LAYOUT(Worlds, WORLDS_FIELDS)

/* Where a tree sends a record; as in unveil.trees.Tree. */
#define ROUTING_FIELDS(F)                                                                                              \
    F(int32_t *, feature) F(int32_t *, right) F(int32_t *, cut) F(int64_t *, side_start) F(uint8_t *, sides)           \
    F(int32_t *, leaf)
LAYOUT(Routing, ROUTING_FIELDS)

/* Donors and released records by leaf and value.
 *
 * start                        (l + 1) first cell of each leaf
 * code                         (q) value, ascending within a leaf
 * donors, released             (q) donors and released records
 * leaf_donors, leaf_released   (l) the same by leaf, without released records that cannot come from the leaf
 */
#define LEAF_CELLS_FIELDS(F)                                                                                           \
    F(int64_t *, start) F(int32_t *, code) F(int64_t *, donors) F(int64_t *, released) F(int64_t *, leaf_donors)       \
    F(int64_t *, leaf_released)
LAYOUT(LeafCells, LEAF_CELLS_FIELDS)

/* All donors of a held tree that mixes them, by value (v).
 *
 * donors, released   donors and released records
 * change, sums       (v, MIXED_CHANGES) and (MIXED_SUMS) what one donor less or more changes in all leaves; see mixed.c
 * n                  number of donors
 */
#define MIXED_DONORS_FIELDS(F)                                                                                         \
    F(int64_t *, donors) F(int64_t *, released) F(double *, change) F(double *, sums) F(int64_t, n) F(double, mix)
LAYOUT(MixedDonors, MIXED_DONORS_FIELDS)

/* What is known of a node besides its place.
 *
 * sum, high, mixed, low          sum of the response, and of its squares in three parts (see add_up); with classes,
 *                                `sum` is the sum of squared class counts
 * decrease, paid                 decrease of risk by the split, and by what the collapse leaves of the subtree
 * splits                         splits that the collapse leaves
 * possible, impossible, log_sum  of the released records of the node as a leaf: those it can produce, those it cannot,
 *                                and the sum of log(donors with the value) over the possible ones
 * below_impossible, below_log    the same under what the collapse leaves
 * z_start, z_stop                its released records are z_order[z_start] ... z_order[z_stop - 1]
 * counted_as                     row of the kept counts by level, -1: not kept
 */
#define KNOWN_FIELDS(F)                                                                                                \
    F(int64_t, sum) F(int64_t, high) F(int64_t, mixed) F(int64_t, low) F(int64_t, splits) F(int64_t, possible)         \
    F(int64_t, impossible) F(int64_t, below_impossible) F(int64_t, z_start) F(int64_t, z_stop) F(int64_t, counted_as)  \
    F(double, decrease) F(double, paid) F(double, log_sum) F(double, below_log)
LAYOUT(Known, KNOWN_FIELDS)

/* A fitted tree, the release, and all that moving one record takes: n original and z released records, p predictors, v
 * values of the response.
 *
 * codes, response          (p, n) and (n) originals
 * z_codes, z_response      (p, z) and (z) release
 * y_of                     (v) response in integers by code; -1 for classes that do not occur
 * n_levels, unordered      (p)
 * values, value_start      values of numeric predictors, and (p + 1) where those of a predictor begin
 * logs                     (n + 2) natural logarithms of whole numbers; 0 at 0
 * nodes, known             (t)
 * sides, order, z_order    sides of levels; original (m) and released (z) records by node
 * donors, released         (t, v) records of a node by value
 * number, cells            (h, l) and (h, l, k) records and classes (or sums) by level of the nodes that are kept
 * offset                   (p + 1) first level of each predictor in these
 * price, lowest, highest   price of a split; the lowest and highest price at which no decision changes
 * mix                      probability that a donor is one of all and not of the leaf
 * mixed_start, mixed_code  (t + 1) and (e) the values of the released records of each node, ascending
 * mixed, mixed_sums        (e, MIXED_CHANGES) and (t, MIXED_SUMS) what one donor less or more of such a value, and in all,
 *                          changes below the node; these four only where donors are mixed (see mixed.c)
 */
#define KNOWN_TREE_FIELDS(F)                                                                                           \
    F(int32_t *, codes) F(int32_t *, response) F(int32_t *, z_codes) F(int32_t *, z_response) F(int64_t *, y_of)       \
    F(int64_t *, n_levels) F(uint8_t *, unordered) F(double *, values) F(int64_t *, value_start) F(double *, logs)     \
    F(Node *, nodes) F(Known *, known) F(uint8_t *, sides) F(int32_t *, order) F(int32_t *, z_order)                   \
    F(int32_t *, donors) F(int32_t *, released) F(int64_t *, number) F(int64_t *, cells) F(int64_t *, offset)          \
    F(int64_t, n) F(int64_t, z) F(int64_t, p) F(int64_t, v) F(int64_t, t) F(int64_t, k) F(int64_t, classes)            \
    F(int64_t, span) F(Limits, limits) F(double, price) F(double, lowest) F(double, highest) F(double, mix)            \
    F(int64_t *, mixed_start) F(int32_t *, mixed_code) F(double *, mixed) F(double *, mixed_sums)
LAYOUT(KnownTree, KNOWN_TREE_FIELDS)

/* What boosting is trained on: m rows that stand for records with equal predictors.
 *
 * slots     (m, p) place of each predictor's bin among those of all predictors; a gap is the last one of its predictor
 * starts    (p + 1) first slot of each predictor
 * gaps      (p) whether there are gaps
 * records   (m) number of records of each row
 * least     fewest records of a leaf
 * rate      share of a tree's values that is added
 */
#define BOOSTING_FIELDS(F)                                                                                             \
    F(int32_t *, slots) F(int64_t *, starts) F(uint8_t *, gaps) F(double *, records) F(int64_t, m) F(int64_t, p)       \
    F(int64_t, least) F(double, rate)
LAYOUT(Boosting, BOOSTING_FIELDS)

/* A boosted tree, a heap of three levels of splits (7) and one of leaves (8).
 *
 * feature     predictor; -1 where all go left
 * cut         last bin that goes left
 * gaps_left   whether gaps go left
 * value       of each leaf
 */
#define BOOSTED_TREE_FIELDS(F)                                                                                         \
    F(int32_t *, feature) F(int32_t *, cut) F(uint8_t *, gaps_left) F(double *, value)
LAYOUT(BoostedTree, BOOSTED_TREE_FIELDS)

/* Persons whose values are unknown, and the trees whose splits are held: u persons, c values, t trees, q cells and l
 * leaves of all trees one after the other, the last of each standing for none.
 *
 * cell, leaf                (u, t, c) cell and leaf that a person comes to in a tree with a value
 * state                     (u) value of each person
 * log_prior                 (u, c) logarithms of the prior
 * donors, released          (q) donors as the state has them, and released records
 * leaf_donors, leaf_released   (l) the same by leaf
 * gain, leaf_gain           (q) and (l) log-likelihood that one more donor adds
 * logs                      natural logarithms of whole numbers; 0 at 0
 * empty                     number of released cells without a donor
 * penalty                   what such a cell costs
 */
#define DISCLOSED_FIELDS(F)                                                                                            \
    F(int32_t *, cell) F(int32_t *, leaf) F(int32_t *, state) F(double *, log_prior) F(int64_t *, donors)              \
    F(int64_t *, released) F(int64_t *, leaf_donors) F(int64_t *, leaf_released) F(double *, gain)                     \
    F(double *, leaf_gain) F(double *, logs) F(int64_t, u) F(int64_t, c) F(int64_t, t) F(int64_t, q) F(int64_t, l)     \
    F(int64_t, empty) F(double, penalty)
LAYOUT(Disclosed, DISCLOSED_FIELDS)

/* All layouts. */
#define LAYOUTS(L) L(Node, NODE_FIELDS) L(Records, RECORDS_FIELDS) L(Limits, LIMITS_FIELDS) L(Grown, GROWN_FIELDS) L(Settled, SETTLED_FIELDS) L(Splits, SPLITS_FIELDS) L(Surrogates, SURROGATES_FIELDS) L(Training, TRAINING_FIELDS) L(Attacked, ATTACKED_FIELDS) L(ForestLeaves, FOREST_LEAVES_FIELDS) L(Worlds, WORLDS_FIELDS) L(Routing, ROUTING_FIELDS) L(LeafCells, LEAF_CELLS_FIELDS) L(MixedDonors, MIXED_DONORS_FIELDS) L(Known, KNOWN_FIELDS) L(KnownTree, KNOWN_TREE_FIELDS) L(Boosting, BOOSTING_FIELDS) L(BoostedTree, BOOSTED_TREE_FIELDS) L(Disclosed, DISCLOSED_FIELDS)

#endif
