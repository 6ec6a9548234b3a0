/*
 * noise.h - exact integer noise, discrete Laplace and discrete Gaussian, without floating point.
 *
 * The law: P(x) proportional to 2^-v(|x|) with v(x) = r x (Laplace of scale t, r = log2(e) / t) or
 * v(x) = (r x)^2 (Gaussian, r = sqrt(log2(e) / 2) / sigma).
 *
 * The method: rejection from strips of equal area, a discrete ziggurat [MT00, BCGHWZ13], with a uniform that
 * grows bit by bit only until it decides [KY76, K16]. Each magnitude x has 2^cells cells, z with
 * (z + 2^(cells - 1)) >> cells = x; so 0 has half as many as the others, and takes both signs. Strip s covers
 * `width` cells from `start` on, under the height 2^area / width >= 2^-v(start). A draw peels one uniform real
 * U of [0, 1):
 *
 *     U * strips = s + U',    U' * 2 = sign + U'',    U'' * width = (z - start) + H,
 *
 * and keeps x if H < 2^-v(x) width / 2^area. Mostly the first 64 bits of U decide, by `sure`; if not, 128 bits
 * do, but for fewer than one draw in 2^46, which the caller settles in multiprecision (dpfast/kernels/rejection.py).
 *
 * [MT00] Marsaglia, Tsang, The Ziggurat Method for Generating Random Variables, J. Stat. Software 2000.
 * [BCGHWZ13] Buchmann, Cabarcas, Goepfert, Huelsing, Weiden, Discrete Ziggurat, SAC 2013.
 * [KY76] Knuth, Yao, The complexity of nonuniform random number generation, 1976.
 * [K16] Karney, Sampling Exactly from the Normal Distribution, ACM TOMS 2016.
 */
#ifndef DPF_NOISE_H
#define DPF_NOISE_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

enum { DPF_NOISE_STRIPS = 256 };

typedef struct {
    uint64_t start, width;
    uint64_t sure; /* 64 bits of H below this: kept, whatever the other bits of U are */
} dpf_noise_strip;

typedef struct {
    uint64_t rate; /* r 2^shift in units of 2^-56 (Laplace) or 2^-60 (Gaussian), rounded down; if that */
    int shift;     /* exceeds 64 bits with shift = 0, 2^64 - 1 */
    bool squared;  /* Gaussian */
    int cells, area;
    size_t strips;
    dpf_noise_strip strip[DPF_NOISE_STRIPS];
} dpf_noise_law;

/*@ predicate dpf_noise_asks(dpf_noise_law law) =
        0 <= law.shift < 64 && 1 <= law.cells <= 63 && 2 <= law.area < 62; */

/*
 * Fills strips and strip[] from the other members. False, and to be tried again with a larger area, if more
 * than DPF_NOISE_STRIPS were needed. The strips end where magnitudes reach 2^(63 - cells).
 *
 * Requires 0 <= shift < 64, cells >= 1, 2 <= area < 62. About 30 ns a strip.
 */
/*@ requires \valid(law) && dpf_noise_asks(*law);
    assigns law->strips, law->strip[0 .. DPF_NOISE_STRIPS - 1];
    ensures law->strips <= DPF_NOISE_STRIPS; */
bool dpf_noise_prepare(dpf_noise_law *law);

/*
 * Independent draws into out[0], ..., out[size - 1], up to the first that 128 bits do not settle: returns how
 * many were made. If fewer than `size`, words[0] and words[1] hold the bits of U of the attempt that is open,
 * and the caller continues after settling it.
 *
 * Requires guard >= 2^13; 2^16 is what leaves fewer than one draw in 2^46 open, a larger one leaves more.
 * About 1.1 words of randomness a draw.
 */
/*@ requires \valid_read(law) && dpf_noise_asks(*law) && 1 <= law->strips <= DPF_NOISE_STRIPS;
    requires \valid(out + (0 .. size - 1)) && \valid(words + (0 .. 1));
    requires \separated(law, out + (0 .. size - 1), words + (0 .. 1), &dpf_word_drawn);
    assigns dpf_word_drawn, out[0 .. size - 1], words[0 .. 1];
    ensures \result <= size; */
size_t dpf_noise_draw(bitgen_t *rng, const dpf_noise_law *law, uint64_t guard, size_t size, int64_t *DPF_RESTRICT out,
                      uint64_t words[2]);

#endif
