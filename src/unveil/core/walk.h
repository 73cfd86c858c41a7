/* Fit a tree again with one record moved: what the files walk.c, candidates.c, gather.c, moved.c and regrow.c share. */
#ifndef UNVEIL_WALK_H
#define UNVEIL_WALK_H

#include "split.h"

/* Most candidates that walk together. */
#define TOGETHER 256

/* The record that moves: it leaves with its old value, comes with its new value and predictors, or both. */
typedef struct {
    int64_t record;
    bool leaves, comes;
    int32_t old, new;
    int32_t *codes;
} Move;

/* A candidate: the world it stands for, its value of the response, whether the record is fitted with it, the price of a
 * split, and its step at the root. */
typedef struct {
    int64_t world, root;
    int32_t new;
    bool comes;
    double least;
} Candidate;

/* A node on the path of the record for one candidate, and what becomes of it.
 *
 * left, right    steps of its children; -1: not on the path
 * is_split       whether it has a best split
 * stays          whether that is the split of the known tree
 * score, total   score of the best split; total of the node (see Parent)
 * unreached      largest score of the splits that only other values of the response would offer (see candidates.c)
 */
typedef struct {
    int64_t node, candidate, left, right, splits, impossible, total;
    bool leaves, comes, is_split, stays, is_regrown;
    double score, unreached, risk, decrease, paid, log;
} Step;

/* A node that is grown anew, and one in waiting; see regrow.c. */
typedef struct Regrown Regrown;
typedef struct Waiting Waiting;

/* Buffers of one thread.
 *
 * records, response   the gathered records of a node and their values
 * growing             the same records in an order of their own, while the node is grown anew
 * varies              (p) whether candidates differ in a predictor
 * top                 (p) most that the splits of a predictor score; see candidates.c
 */
typedef struct {
    const KnownTree *tree;
    const Worlds *worlds;
    Records records, growing;
    Scratch scratch;
    Best best;
    Levels levels;
    int32_t *response, *z_rows, *z_spare, *spare;
    uint8_t *z_goes_right;
    int64_t *recoded, *donors;
    Regrown *regrown;
    int64_t regrown_length;
    Waiting *waiting;
    int64_t waiting_length;
    Move move;
    Candidate *candidates;
    Step *steps;
    int64_t n_steps, steps_length, *able;
    bool *varies;
    double *top, unreached;
} Work;

/* Impossible values and log-likelihood of some released records. */
typedef struct {
    int64_t impossible;
    double log;
} Likelihood;

/* Number of records of a node with the record moved. */
static inline int64_t size_with(const Node *node, bool leaves, bool comes) {
    return node->stop - node->start - leaves + comes;
}

/* Sums of a numeric response with one record more (sign 1) or less (-1). */
static inline void add_record(int64_t held[SUMS], int64_t y, int64_t sign) {
    int64_t upper = y >> LOWER_BITS, lower = y & LOWER;
    held[0] += sign * y;
    held[1] += sign * upper * upper;
    held[2] += sign * upper * lower;
    held[3] += sign * lower * lower;
}

/* The node of a parent that is to be split. */
static inline Parent parent_of(const KnownTree *tree, int64_t start, int64_t stop, int64_t total, int64_t classes) {
    double n = (double)(stop - start);
    return (Parent){
        .start = start, .stop = stop, .total = total, .minbucket = tree->limits.minbucket,
        .counted = counted_classes(classes), .exact = n * n * (double)tree->span <= LARGEST_EXACT,
    };
}

static inline bool may_split(const Limits *limits, int64_t n, int64_t depth, double risk, double least) {
    return n >= limits->minsplit && n >= 2 * limits->minbucket && depth < limits->max_depth && risk > least;
}

/* Decrease of risk by a split with some score. */
static inline double gain_of(double score, const Parent *parent, int64_t classes) {
    double n = (double)(parent->stop - parent->start);
    double base = parent->counted ? (double)parent->total / n : 0.0;
    return (score - base) * (parent->counted ? 1.0 : (classes ? 2.0 / n : 1.0 / n));
}

static inline bool goes_right(const KnownTree *tree, const Node *node, int32_t code) {
    return node->sides < 0 ? code >= node->cut : tree->sides[node->sides + code] & RIGHT;
}

/* Code of a predictor, of the record before it moves. */
static inline int32_t old_code(const Work *work, int64_t feature) {
    return work->tree->codes[feature * work->tree->n + work->move.record];
}

bool new_work(Work *work, const KnownTree *tree, const Worlds *worlds);
void free_work(Work *work);

/* Donors of a node that have a value, with the record moved. */
static inline int64_t donors_with(const int32_t *donors, int64_t value, const Move *move, bool leaves, bool comes) {
    return (int64_t)donors[value] - (leaves && value == move->old) + (comes && value == move->new);
}

Judged judge_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes);
Likelihood leaf_with(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes);
double leaf_mixed(const KnownTree *tree, int64_t at, const Move *move, bool leaves, bool comes);
double beside_mixed(const KnownTree *tree, int64_t at, const Move *move);
int64_t impossible_mixed(const KnownTree *tree, const Move *move, bool leaves, bool comes);
void classes_with(const Work *work, const Step *step);

void gather(Work *work, int64_t at, bool leaves, bool comes);
void sort_gathered(Work *work, Records *records, int64_t narrow);
void put_in(Work *work);
void offer_gathered(Work *work, const Records *records, const Parent *parent, int64_t f);
void offer_counted(Work *work, const Parent *parent, int64_t f, const Step *step);
int64_t cut_between(const KnownTree *tree, int64_t feature, int64_t low, int64_t high);

bool regrow(Work *work, Step *step, double least);
bool regrow_root(Work *work, Step *step);

void become(Work *work, int64_t candidate);
void find_splits(Work *work, const int64_t *able, int64_t size);

#endif
