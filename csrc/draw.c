#include "draw.h"

uint64_t dpf_draw_below(bitgen_t *rng, uint64_t n) {
    uint64_t low, high = dpf_multiply(dpf_draw_word(rng), n, &low);
    if (low < n) {
        const uint64_t threshold = (0 - n) % n;
        /*@ assert (uint64_t)(0 - n) == 18446744073709551616 - n; */
        /*@ assert threshold == (18446744073709551616 - n) % n; */
        /*@ loop invariant high * 18446744073709551616 + low == dpf_word_drawn * n && high < n;
            loop assigns high, low, dpf_word_drawn; */
        while (low < threshold) high = dpf_multiply(dpf_draw_word(rng), n, &low);
    }
    return high;
}

void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out) {
    /*@ loop invariant 0 <= i <= size && \forall integer j; 0 <= j < i ==> out[j] < n[j];
        loop assigns i, dpf_word_drawn, out[0 .. size - 1];
        loop variant size - i; */
    for (size_t i = 0; i < size; i++) out[i] = dpf_draw_below(rng, n[i]);
}
