/*
 * levels.h - exact draws with probability proportional to exp(-exponent * gap), the gap of a candidate being the
 * distance of its integer score from the best.
 *
 * A draw is a rejection from integer bounds (bounds.h). Scores come in blocks of DPF_LEVELS_BLOCK, and a block has
 * the best of its own scores for reference: one pass finds
 *
 *     share[j] > 2^SHARE * exp(-exponent * (distance of score[j] from its block's best)),  mass = their sum,
 *
 * and then each block gets a bound, of its mass at its distance from the best of all, by 2^-shift:
 *
 *     bound > mass * 2^(SCALE - shift) * exp(-exponent * (distance of the block's best from the best of all)).
 *
 * A draw takes a block with probability bound / total, an entry of it with probability share / mass, and keeps it with
 * probability
 *
 *     exp(-exponent * gap) * 2^(SCALE + SHARE - shift) * mass / (bound * share) < 1.
 *
 * That coin is decided in floating point where no rounding could change it; the caller decides the others in
 * multiprecision. So no candidate's probability is moved by rounding and none underflows to impossible.
 *
 * Shares and bounds are each at most 6.2 % and 1 unit above what they bound, and units are few beside the best: in a
 * block 2 BLOCK of them against 2^SHARE, then 2^24 blocks against 2^28, and 2^53 others against 2^62. So a draw takes
 * fewer than 1.2 trials on average, whatever the scores.
 *
 * Mirrored scores: each candidate j has a negated copy, number n + j, not stored. Others: entries behind the blocks
 * that stand for mass[i] candidates of score best[i], not stored; drawn as (1 + mirrored) n, and so on.
 */
#ifndef DPF_LEVELS_H
#define DPF_LEVELS_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

enum { DPF_LEVELS_BLOCK = 256, DPF_LEVELS_SHARE = 20, DPF_LEVELS_SCALE = 30 };

typedef struct {
    const void *scores; /* n of them, each of `size` bytes: 1, 2, 4 or 8; n < 2^32 */
    size_t n, size;
    bool lowest, mirrored;  /* lowest: the best score is the lowest, not the highest */
    double exponent;        /* the nearest to the true one; at least 0 */
    float rate;             /* exponent / ln 2 * 2^23, at most 2^100 */
    uint64_t cap;           /* shares of gaps beyond it are those of it: exponent * cap >= 23 if any is, */
    unsigned drop;          /* and cap >> drop < 2^31, the least such: what shares see of a gap */
    float share_rate;       /* rate * 2^drop, at most 32 * 2^23 */
    size_t blocks, entries; /* ceil(n / BLOCK); with the others */
    int64_t *best;          /* entries */
    uint64_t *mass, *upto;  /* entries; upto[i] is the sum of the bounds of entries 0..i */
    int64_t peak;           /* the best of `best` */
    int shift;              /* the others' is shift, the blocks' is shift + SHARE, whose masses are in 2^-SHARE */
} dpf_levels;

/*
 * best and mass of the blocks. One read of the scores; a second look at each block while it is near.
 * False if a score has no negated copy of its type and needs one.
 */
bool dpf_levels_scan(dpf_levels *levels);

/* peak; best of the entries must be set. */
void dpf_levels_rank(dpf_levels *levels);

/*
 * upto[i] for first <= i < last, upto[first - 1] being known; returns the last of them. mass, peak and shift must be
 * set. By shift = SCALE, without blocks, this is at most 1 more an entry than 1.07 times the weight there is.
 */
uint64_t dpf_levels_weigh(dpf_levels *levels, size_t first, size_t last);

/* One trial: for draw number `draw`, its entry and a rank below its mass. */
typedef struct {
    uint64_t draw;
    uint32_t entry, rank;
} dpf_levels_trial;

/* The trials of draws that have none accepted yet: `next` of `size` are done, and `left` of these failed. */
typedef struct {
    dpf_levels_trial *trials; /* as many as draws */
    size_t next, size, left;
} dpf_levels_round;

/* A coin: accept with probability exp(-exponent * gap) * mass * 2^(SCALE - shift) / (bound * share). */
typedef struct {
    uint64_t gap, mass, bound, share, word; /* `word` starts its uniform */
} dpf_levels_coin;

/* Starts m draws. */
void dpf_levels_start(dpf_levels_round *round, size_t m);

/*
 * drawn[i] for every draw i of the round. Returns true when all are done; false where a coin is left to the caller,
 * who tells dpf_levels_toss what came of it and calls again. `guard` widens the error bounds, for tests; 1 is right.
 */
bool dpf_levels_draw(bitgen_t *rng, const dpf_levels *levels, double guard, dpf_levels_round *round, int64_t *drawn,
                     dpf_levels_coin *coin);

/* The outcome of the coin that dpf_levels_draw stopped at. */
void dpf_levels_toss(dpf_levels_round *round, bool accepted);

#endif
