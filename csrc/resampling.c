#include "resampling.h"
#include "dpf_cpu.h"
#include "draw.h"

#include <math.h>

DPF_BODY bool check(const double *weight, size_t n, double *largest) {
    enum { LANES = 16 };
    double most[LANES] = {0};
    uint64_t wrong = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double w = weight[i + l];
            wrong |= !(w >= 0 && w <= 0x1.fffffffffffffp1023);
            most[l] = w > most[l] ? w : most[l];
        }
    for (; i < n; i++) {
        wrong |= !(weight[i] >= 0 && weight[i] <= 0x1.fffffffffffffp1023);
        most[0] = weight[i] > most[0] ? weight[i] : most[0];
    }
    for (size_t l = 1; l < LANES; l++) most[0] = most[l] > most[0] ? most[l] : most[0];
    *largest = most[0];
    return !wrong;
}
DPF_LEVELS(bool, dpf_resampling_check, check, (const double *weight, size_t n, double *largest), (weight, n, largest))

/* floor(weight * scale) < 2^52: the product is exact, or below the least normal number, and then its floor is 0. */
DPF_BODY uint64_t whole(double weight, double scale) { return (uint64_t)(int64_t)(weight * scale); }

DPF_BODY void sum(const double *weight, size_t n, double scale, uint64_t *DPF_RESTRICT upto) {
    uint64_t total = 0;
    for (size_t b = 0, start = 0; start < n; b++, start += DPF_RESAMPLING_BLOCK) {
        const size_t size = n - start < DPF_RESAMPLING_BLOCK ? n - start : DPF_RESAMPLING_BLOCK;
        uint64_t of_block = size;
        for (size_t i = start; i < start + size; i++) of_block += whole(weight[i], scale);
        upto[b] = total += of_block;
    }
}
DPF_LEVELS(void, dpf_resampling_sum, sum,
           (const double *weight, size_t n, double scale, uint64_t *DPF_RESTRICT upto), (weight, n, scale, upto))

/*
 * True with probability weight * scale - floor(weight * scale), exactly: the binary digits of a uniform number are
 * compared with those of the fraction, 32 at a time, until they differ.
 */
static bool last_unit(bitgen_t *rng, double weight, double scale) {
    int exponent;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(weight, &exponent), 53);
    exponent += ilogb(scale) - 53; /* weight * scale = mantissa * 2^exponent */
    if (exponent >= 0) return false;
    for (int digit = 32;; digit += 32) { /* digits below digit - 32 are equal; these have the places 2^-digit on */
        const int shift = exponent + digit; /* the digits are the lowest 32 of floor(mantissa * 2^shift) */
        const uint64_t moved = shift >= 32 ? 0 : shift >= 0 ? mantissa << shift : shift > -64 ? mantissa >> -shift : 0;
        const uint32_t digits = (uint32_t)moved, drawn = (uint32_t)(dpf_draw_word(rng) >> 32);
        if (drawn != digits) return drawn < digits;
        if (shift >= 0) return false; /* no digits are left: the uniform number is at least the fraction */
    }
}

void dpf_resampling_draw(bitgen_t *rng, const double *weight, size_t n, double scale, const uint64_t *upto, size_t m,
                         int64_t *DPF_RESTRICT drawn) {
    const size_t blocks = (n + DPF_RESAMPLING_BLOCK - 1) / DPF_RESAMPLING_BLOCK;
    for (size_t k = 0; k < m;) {
        uint64_t rank = dpf_draw_below(rng, upto[blocks - 1]);
        const uint64_t *from = upto;
        for (size_t left = blocks; left > 1; left -= left / 2)
            from += left / 2 & (0 - (size_t)(from[left / 2 - 1] <= rank));
        const size_t b = (size_t)(from - upto);
        rank -= b ? upto[b - 1] : 0;
        size_t i = b * DPF_RESAMPLING_BLOCK, last = n - i < DPF_RESAMPLING_BLOCK ? n - 1 : i + DPF_RESAMPLING_BLOCK - 1;
        uint64_t units = whole(weight[i], scale);
        for (; rank > units && i < last; units = whole(weight[++i], scale)) rank -= units + 1;
        if (rank < units || last_unit(rng, weight[i], scale)) drawn[k++] = (int64_t)i;
    }
}
