/* What kernels share with reals.c: the exponential function, the same bits on every machine. */
#ifndef DPF_REALS_EXP_H
#define DPF_REALS_EXP_H

#include "dpf.h"

#include <string.h>

DPF_BODY uint64_t dpf_reals_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

DPF_BODY double dpf_reals_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x or 0, without a branch, so that gcc vectorises. */
DPF_BODY double dpf_reals_only_if(bool keep, double x) {
    return dpf_reals_of_bits(dpf_reals_bits_of(x) & (0 - (uint64_t)keep));
}

/*
 * exp(y) within one unit in the last place for y in [-708, 708], garbage outside. It is 2^k exp(r)
 * with |r| <= ln(2) / 2: adding `shift` rounds k into the low bits of t, ln 2 is taken in two parts, and
 * exp(r) is interpolated at Chebyshev's points (relative error 2e-17).
 */
DPF_BODY double dpf_reals_exp_near(double y) {
    const double shift = 0x1.8p52, t = y * 0x1.71547652b82fep+0 + shift, k = t - shift;
    const double r = (y - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40, s = r * r, s2 = s * s;
    const double even = (0x1.0000000000001p-1 + s * 0x1.5555555553d4fp-5) +
                        s2 * ((0x1.6c16c17893833p-10 + s * 0x1.a019b8ef67c6cp-16) + s2 * 0x1.2891a8c1d838dp-22);
    const double odd = (0x1.5555555555556p-3 + s * 0x1.11111111109adp-7) +
                       s2 * ((0x1.a01a01a7c8d47p-13 + s * 0x1.71de0d9c145d0p-19) + s2 * 0x1.af38d53857513p-26);
    return dpf_reals_of_bits(dpf_reals_bits_of(1 + (r + s * (even + r * odd))) + (dpf_reals_bits_of(t) << 52));
}

/* Zero below -708. */
DPF_BODY double dpf_reals_exponential(double y) { return dpf_reals_only_if(y >= -708, dpf_reals_exp_near(y)); }

#endif
