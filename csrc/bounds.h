/*
 * bounds.h - integers slightly above 2^scale * exp(-y), for exact draws by rejection.
 *
 * The bound is the chord of 2^-f between whole f, rounded up: at most 6.2 % and 1 more than its weight, and at least
 * 1. Sums of bounds are integers, hence exact at every instruction-set level.
 */
#ifndef DPF_BOUNDS_H
#define DPF_BOUNDS_H

#include "dpf.h"

#include <string.h>

/* Steps in a halving of the weight, and what makes up for rounding. */
enum { DPF_BOUND_STEPS = 1 << 23, DPF_BOUND_SLACK = 64 };

/*
 * One less than the bound of y = steps / DPF_BOUND_STEPS * ln 2; 0 <= steps <= 96 * DPF_BOUND_STEPS, 0 <= scale <= 30.
 *
 * A float with the bits of (127 + scale - f) * 2^23 is 2^scale * chord(2^-f). Steps that come of an integer gap, a
 * float rate and their product lose less than 49 of themselves in these three roundings and the truncation here, while
 * f <= 32; SLACK gives back 64. Beyond, the float is below one.
 */
DPF_BODY uint32_t dpf_chord(float steps, int32_t scale) {
    const int32_t bits = (127 + scale) * DPF_BOUND_STEPS + DPF_BOUND_SLACK - (int32_t)steps;
    float chord;
    memcpy(&chord, &bits, sizeof chord);
    return (uint32_t)(int32_t)chord;
}

/*
 * One less than the bound of any gap >= 0 for which y / ln 2 * DPF_BOUND_STEPS = gap * rate.
 *
 * Steps are cut by their bits, which are in the order of floats that are not negative: gcc makes one instruction of the
 * least of integers, and three of that of floats.
 */
DPF_BODY uint32_t dpf_below_bound(float gap, float rate, int32_t scale) {
    const float last = 32.0f * DPF_BOUND_STEPS;
    float steps = gap * rate;
    int32_t bits, most;
    memcpy(&bits, &steps, sizeof bits), memcpy(&most, &last, sizeof most);
    bits = bits < most ? bits : most;
    memcpy(&steps, &bits, sizeof steps);
    return dpf_chord(steps, scale);
}

#endif
