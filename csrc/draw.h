/*
 * draw.h - exact elementary draws from a stream of uniform 64-bit words.
 *
 * Integers only: no draw here rounds. The caller holds the generator's lock.
 * Running time depends on the outcome and is part of no privacy claim.
 */
#ifndef DPF_DRAW_H
#define DPF_DRAW_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

/*@ assigns dpf_word_drawn;
    ensures \result == dpf_word_drawn; */
DPF_BODY uint64_t dpf_draw_word(bitgen_t *rng) { return rng->next_uint64(rng->state); }

/* Uniform on {0, ..., n - 1}; n >= 1. [Lemire 2019], multiplication with rejection. */
/*@ assigns dpf_word_drawn;
    ensures n >= 1 ==> \result < n;
    ensures n >= 1 ==> dpf_word_drawn * n - \result * 18446744073709551616 < 18446744073709551616;
    ensures n >= 1 ==> dpf_word_drawn * n - \result * 18446744073709551616 >= (18446744073709551616 - n) % n; */
uint64_t dpf_draw_below(bitgen_t *rng, uint64_t n);

/* out[i] uniform on {0, ..., n[i] - 1}, independently; every n[i] >= 1. */
/*@ requires \valid_read(n + (0 .. size - 1)) && \valid(out + (0 .. size - 1));
    requires \forall integer i; 0 <= i < size ==> n[i] >= 1;
    requires \separated(n + (0 .. size - 1), out + (0 .. size - 1), &dpf_word_drawn);
    assigns dpf_word_drawn, out[0 .. size - 1];
    ensures \forall integer i; 0 <= i < size ==> out[i] < n[i]; */
void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out);

#endif
