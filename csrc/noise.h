/*
 * noise.h - exact integer noise. [CKS20] Canonne, Kamath, Steinke, The Discrete
 * Gaussian for Differential Privacy, NeurIPS 2020.
 */
#ifndef DPF_NOISE_H
#define DPF_NOISE_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

/*
 * out[i] with P(x) proportional to exp(-|x| * den / num), for `size` independent draws: discrete
 * Laplace of scale num / den, [CKS20] Algorithm 2. No floating point.
 *
 * Requires 1 <= num <= 2^52 and 1 <= den <= 2^52. A draw beyond +-2^62 is returned as that, which is
 * post-processing (and has probability below e^-1000). Expected words of randomness: about 10.
 */
void dpf_noise_laplace(bitgen_t *rng, uint64_t num, uint64_t den, size_t size,
                       int64_t *DPF_RESTRICT out);

#endif
