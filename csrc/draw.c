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

/*
 * exp(-x) for x = num / den <= 1: the first k with a failed Bernoulli(x / k) is
 * odd with probability 1 - x + x^2/2! - ... The coin Bernoulli(x / k) is two
 * independent ones, x and 1 / k, so that no product can overflow.
 */
/*@ assigns dpf_word_drawn; */
static bool bernoulli_exp_unit(bitgen_t *rng, uint64_t num, uint64_t den) {
    uint64_t k = 1;
    /*@ loop assigns k, dpf_word_drawn; */
    while (dpf_draw_below(rng, den) < num && dpf_draw_below(rng, k) == 0) k++;
    return k & 1;
}

bool dpf_draw_bernoulli_exp(bitgen_t *rng, uint64_t num, uint64_t den) {
    /*@ loop assigns num, dpf_word_drawn;
        loop variant num; */
    for (; num > den; num -= den)
        if (!bernoulli_exp_unit(rng, 1, 1)) return false;
    return bernoulli_exp_unit(rng, num, den);
}
