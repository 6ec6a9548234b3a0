/*
 * multiplicative_weights.h - multiplicative weights of d experts, and exact draws from them.
 *
 * The state is the experts' cumulative losses on a grid, integers, so P(j) is proportional to
 * exp(-exponent * total[j]) for an exponent a grid unit ([DR11] Dwork, Roth, The Algorithmic Foundations
 * of Differential Privacy, section 11.2: w <- w exp(-eta l)). One pass over a row of losses updates the
 * totals and leaves all that a draw needs.
 *
 * A draw is a rejection: to exp(-y), y = exponent * gap and gap = total + offset >= 0, belongs an integer
 *
 *     bound > 2^DPF_WEIGHTS_SCALE * exp(-y),
 *
 * at most 6.2 % and 1 more (bounds.h). Sums of bounds are integers, hence
 * exact at every instruction-set level. A draw picks a rank below their sum, finds whose bound it falls
 * into, by blocks and then inside one, and keeps that expert with probability 2^SCALE exp(-y) / bound.
 * That coin is decided in floating point where no rounding could change it; the caller decides the others
 * in multiprecision. So no expert's probability is moved by rounding and none underflows to impossible.
 *
 * The offset is free: it keeps the least gap small, so that few are rejected. In a pass over dense rows
 * it is fitted to the totals as they may be after the row; sparse rows refit it as bounds shrink.
 *
 * Mirrored experts: d further ones, of totals -total[j], number d + j, not stored. Their gaps are
 * offset - total[j], those of the others offset + total[j].
 */
#ifndef DPF_MULTIPLICATIVE_WEIGHTS_H
#define DPF_MULTIPLICATIVE_WEIGHTS_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

enum { DPF_WEIGHTS_SCALE = 30, DPF_WEIGHTS_BLOCK = 1024 /* blocks are multiples of it */ };

/* Bits of a grid for floats: rounding adds and subtracts a power of two that has room for these. */
enum { DPF_LOSSES_BITS_FLOAT = 22, DPF_LOSSES_BITS_DOUBLE = 30 };

typedef enum {
    DPF_LOSSES_FLOAT,
    DPF_LOSSES_DOUBLE,
    DPF_LOSSES_GRID,
    DPF_LOSSES_PACKED,
    DPF_LOSSES_CSR
} dpf_losses_kind;

/*
 * Rows of losses. Row i holds, in grid units and times sign[i],
 *
 *   FLOAT, DOUBLE  x * unit rounded to the nearest integer, ties to even; low <= x * unit <= high
 *   GRID           int32, from low to high
 *   PACKED         low for a bit 0, high for a bit 1
 *   CSR            int32 data[p] at indices[p], indptr[i] <= p < indptr[i + 1], rising strictly; else 0
 *
 * unit is a power of two, low and high are less than 2^31 in size, and below 2^22 (2^30) for FLOAT (DOUBLE).
 */
typedef struct {
    dpf_losses_kind kind;
    const void *values;
    size_t stride; /* of a row, in its elements or words */
    const int64_t *indptr;
    const int32_t *indices;
    const int8_t *sign; /* NULL: all are +1 */
    int32_t low, high;
    double unit;
} dpf_losses;

typedef struct {
    int32_t *narrow; /* totals, d of them: one of the two, the other NULL */
    int64_t *wide;
    size_t d, block;
    bool mirrored;
    double exponent; /* the nearest to the true one; at least 0 */
    float rate;      /* exponent / ln 2 * 2^23, at most 2^100 */
    uint64_t *sums;  /* of bounds, by blocks: ceil(d / block); d < 2^32 */
    uint64_t sum, peak;
    int64_t offset, low, high; /* low <= total <= high for all: the extremes, unless stale */
    bool stale;
    int64_t drawn, paid; /* the expert drawn for the next row, or -1; what the drawn ones lost so far */
} dpf_weights;

/*
 * DONE; REFUSED: a loss lies outside [low, high], and the state is as it was; ROOM: narrow totals might overflow, and
 * nothing was done; UNDECIDED: a coin is left to the caller.
 */
typedef enum { DPF_WEIGHTS_DONE, DPF_WEIGHTS_REFUSED, DPF_WEIGHTS_ROOM, DPF_WEIGHTS_UNDECIDED } dpf_weights_status;

/* A coin: keep `expert` with probability 2^SCALE exp(-exponent * gap) / bound; `word` starts its uniform. */
typedef struct {
    int64_t expert;
    uint64_t gap, bound, word;
} dpf_weights_coin;

/* The bound of a gap: above 2^SCALE exp(-exponent * gap), and at most 1.07 times that and 1. */
uint32_t dpf_weights_bound(const dpf_weights *weights, uint64_t gap);

/* Sums from the totals alone, with the exact extremes and the least offset. Two passes at most. */
void dpf_weights_settle(dpf_weights *weights);

/* Draws an expert into weights->drawn. `guard` widens the error bounds, for tests; 1 is right. */
dpf_weights_status dpf_weights_draw(bitgen_t *rng, dpf_weights *weights, double guard, dpf_weights_coin *coin);

/*
 * Adds one row. Cost: one read of the row, one read and write of the totals; for a sparse row its entries,
 * and now and then a pass. An expert that was drawn pays and is forgotten.
 */
dpf_weights_status dpf_weights_add(dpf_weights *weights, const dpf_losses *losses, size_t row);

/*
 * A draw and then an addition, for each row from *row up to `stop`; expert[i] is the one drawn for row i.
 * Stops where either does not finish, in *row; goes on from there, without a draw if one is drawn.
 */
dpf_weights_status dpf_weights_play(bitgen_t *rng, dpf_weights *weights, const dpf_losses *losses, double guard,
                                    size_t *row, size_t stop, int64_t *expert, dpf_weights_coin *coin);

#endif
