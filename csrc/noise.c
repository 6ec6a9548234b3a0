#include "noise.h"
#include "draw.h"

/*
 * |x| = floor(X / den) where P(X) is proportional to exp(-X / num): X = u + num * v with u < num kept with
 * probability exp(-u / num) and v geometric. The division goes term by term, so that nothing overflows.
 */
static int64_t magnitude(bitgen_t *rng, uint64_t num, uint64_t den) {
    enum { LARGEST_V = 1024 }; /* num * v < 2^62 */
    uint64_t u;
    do u = dpf_draw_below(rng, num);
    while (!dpf_draw_bernoulli_exp(rng, u, num));

    uint64_t whole = u / den, rest = u % den, v = 0;
    for (; dpf_draw_bernoulli_exp(rng, 1, 1); v++) {
        if (v >= LARGEST_V) continue;
        whole += num / den;
        rest += num % den;
        if (rest >= den) rest -= den, whole++;
    }
    return v < LARGEST_V ? (int64_t)whole : (int64_t)1 << 62;
}

void dpf_noise_laplace(bitgen_t *rng, uint64_t num, uint64_t den, size_t size,
                       int64_t *DPF_RESTRICT out) {
    for (size_t i = 0; i < size; i++) {
        bool negative;
        int64_t x;
        do { /* zero has one sign only */
            negative = dpf_draw_word(rng) >> 63;
            x = magnitude(rng, num, den);
        } while (negative && x == 0);
        out[i] = negative ? -x : x;
    }
}
