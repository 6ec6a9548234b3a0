/*
 * sparse_vector.h - noisy tests of integer counts against one threshold, many rounds at a time.
 *
 * A test of count c passes if c + X >= threshold, with X fresh discrete noise: of two sides (Laplace),
 * P(X = x) proportional to exp(-|x| * rate), or of one (geometric), the same for x >= 0 and none
 * below. It depends on the gap g = threshold - c alone:
 *
 *                 two sides                                     one side
 *   P(pass) = exp(-g * rate) / (1 + exp(-rate))             exp(-g * rate)    g >= 1
 *             1 - exp((g - 1) * rate) / (1 + exp(-rate))    1                 g <= 0.
 *
 * Skip-sampling. While the count stays, tests pass independently with one probability p, so the
 * number N of tests that fail first is geometric, P(N >= n) = (1 - p)^n. It is drawn once, from one
 * uniform U: N = floor(ln U / ln(1 - p)). A change of the count forgets what is left of N and the
 * next test draws afresh. So runs of any length, tests one by one included, use the same words and
 * give the same outcomes, and cost O(changes of the count).
 *
 * Guarded inversion: the N of a 64-bit word is decided here only where no rounding below could
 * change it; the caller decides the others in multiprecision. No probability is moved by rounding.
 */
#ifndef DPF_SPARSE_VECTOR_H
#define DPF_SPARSE_VECTOR_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

/* N is drawn up to here; the geometric law has no memory, so a wait that is longer goes on with another. */
#define DPF_SPARSE_VECTOR_HORIZON ((uint64_t)1 << 32)

/* Zero but for threshold, rate and one_sided before the first test. */
typedef struct {
    int64_t threshold;
    double rate;      /* nearest to the true one, in [2^-52, 2^52] */
    bool one_sided;   /* the noise */
    int64_t count;    /* the count of the last test; the next two fields are about it */
    uint64_t failing; /* so many tests more will fail ... */
    bool passing;     /* ... and then one will pass; else the next wait is still to be drawn */
} dpf_sparse_vector;

/*
 * *wait = min(N, DPF_SPARSE_VECTOR_HORIZON) at this gap for every U in [word, word + 1) / 2^64. False
 * if doubles cannot tell, given exp, expm1, log and log1p to within 4 units in the last place;
 * guard >= 1 widens what counts as "cannot tell" (1 is right, tests use more).
 *
 * Requires |gap| <= 2^62, and gap >= 1 if one-sided. Chance of false: about 2^-50 * (g * rate + 16) * (N + 1).
 */
/*@ requires \valid(wait);
    assigns *wait; */
bool dpf_sparse_vector_wait(uint64_t word, double rate, int64_t gap, bool one_sided, double guard, uint64_t *wait);

/* What the next wait is, once the caller has drawn it. */
/*@ requires \valid(tests);
    assigns tests->failing, tests->passing;
    ensures tests->failing == wait && (tests->passing <==> wait < DPF_SPARSE_VECTOR_HORIZON); */
void dpf_sparse_vector_resume(dpf_sparse_vector *tests, uint64_t wait);

typedef enum {
    DPF_SPARSE_VECTOR_FAILED,   /* all tests did */
    DPF_SPARSE_VECTOR_PASSED,   /* test *made of run *at did (from 0) */
    DPF_SPARSE_VECTOR_UNDECIDED /* resume with the wait that starts with *word, and call again */
} dpf_sparse_vector_outcome;

/*
 * Makes length[i] tests of count[i], for runs i in order, until one passes.
 *
 *   count, length  runs   read; |threshold - count| <= 2^62, length >= 0
 *   at, made              in: where to begin, 0 and 0 or where the last call left off; out: where it ended
 */
/*@ requires \valid(tests) && \valid(at) && \valid(made) && \valid(word) && *at <= runs;
    requires \valid_read(count + (0 .. runs - 1)) && \valid_read(length + (0 .. runs - 1));
    requires \separated(tests, at, made, word, count + (0 .. runs - 1), length + (0 .. runs - 1), &dpf_word_drawn);
    requires \forall integer i; 0 <= i < runs ==> length[i] >= 0 &&
        -4611686018427387904 <= tests->threshold - count[i] <= 4611686018427387904;
    requires *at < runs ==> 0 <= *made <= length[*at];
    assigns dpf_word_drawn, tests->count, tests->failing, tests->passing, *at, *made, *word;
    ensures \old(*at) <= *at <= runs;
    ensures *at < runs ==> 0 <= *made <= length[*at];
    ensures \result == DPF_SPARSE_VECTOR_FAILED <==> *at == runs;
    ensures \result == DPF_SPARSE_VECTOR_PASSED ==> *made < length[*at]; */
dpf_sparse_vector_outcome dpf_sparse_vector_run(bitgen_t *rng, double guard, dpf_sparse_vector *tests,
                                                const int64_t *count, const int64_t *length, size_t runs, size_t *at,
                                                int64_t *made, uint64_t *word);

#endif
