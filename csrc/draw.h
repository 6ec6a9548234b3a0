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

DPF_BODY uint64_t dpf_draw_word(bitgen_t *rng) { return rng->next_uint64(rng->state); }

/* Uniform on {0, ..., n - 1}; n >= 1. [Lemire 2019], multiplication with rejection. */
uint64_t dpf_draw_below(bitgen_t *rng, uint64_t n);

/* out[i] uniform on {0, ..., n[i] - 1}, independently; every n[i] >= 1. */
void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out);

/*
 * True with probability exactly exp(-num / den); den >= 1.
 *
 * Expected words: at most about 3, whatever num. [CKS20] Canonne, Kamath,
 * Steinke, The Discrete Gaussian for Differential Privacy, Algorithm 1.
 */
bool dpf_draw_bernoulli_exp(bitgen_t *rng, uint64_t num, uint64_t den);

#endif
