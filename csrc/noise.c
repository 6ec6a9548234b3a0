#include "noise.h"
#include "draw.h"

#define ONE ((uint64_t)1 << 56) /* of exponents */

/*
 * 2^-part for part in [0, ONE], in units of 2^-63 and within a relative 2^-57: a table for sixteenths (rounded
 * down), eight terms of exp(-b) = 1 - b (1 - b/2 (1 - b/3 ...)) for the rest, b < ln(2) / 16.
 */
/*@ requires part <= ONE;
    assigns \nothing; */
static uint64_t power(uint64_t part) {
    static const uint64_t sixteenth[] = {0x8000000000000000, 0x7a92be8a92436616, 0x75606373ee921c97, 0x70666f76154a7088,
                                         0x6ba27e656b4eb57a, 0x6712460a8fc24071, 0x62b39508aa836d6e, 0x5e8451cfac061b5f,
                                         0x5a827999fcef3242, 0x56ac1f752150a563, 0x52ff6b54d8a89c75, 0x4f7a993048d088d6,
                                         0x4c1bf828c6dc54b7, 0x48e1e9b9d588e19b, 0x45cae0f1f545eb73, 0x42d561b3e6243d8a,
                                         0x4000000000000000};
    const uint64_t ln2 = 0xb17217f7d1cf79ab;
    uint64_t low, series = UINT64_MAX;
    const uint64_t b = dpf_multiply((part & (ONE / 16 - 1)) << 8, ln2, &low);
    /*@ loop invariant 0 <= k <= 8;
        loop assigns k, series, low;
        loop variant k; */
    for (uint64_t k = 8; k; k--) series = UINT64_MAX - dpf_multiply(b, series, &low) / k;
    return dpf_multiply(sixteenth[part >> 52], series, &low);
}

/* Below the true v(x) by at most 7 / ONE, or by anything once that exceeds 2^8 - 1. */
/*@ requires \valid_read(law) && 0 <= law->shift < 64;
    assigns \nothing; */
static uint64_t exponent(const dpf_noise_law *law, uint64_t x) {
    uint64_t low, high = dpf_multiply(x, law->rate, &low);
    if (high >> law->shift) return UINT64_MAX;
    const uint64_t y = law->shift ? high << (64 - law->shift) | low >> law->shift : low;
    return law->squared ? dpf_multiply(y, y, &low) : y;
}

/*@ requires \valid_read(law) && 1 <= law->cells <= 63;
    assigns \nothing; */
static uint64_t magnitude(const dpf_noise_law *law, uint64_t z) {
    return (z + ((uint64_t)1 << (law->cells - 1))) >> law->cells;
}

/* 2^-v(x) width / 2^area in units of 2^-64, within a relative 2^-52 and one unit. */
/*@ requires \valid_read(law) && dpf_noise_asks(*law);
    assigns \nothing; */
static uint64_t chance(const dpf_noise_law *law, uint64_t width, uint64_t x) {
    const uint64_t v = exponent(law, x);
    const unsigned down = (unsigned)(v / ONE) + (unsigned)law->area - 1;
    uint64_t low, high = dpf_multiply(power(v % ONE), width, &low);
    if (down >= 128) return 0;
    return down >= 64 ? high >> (down - 64) : high << (64 - down) | low >> down;
}

/* The largest width with width 2^-v(start) <= 2^area, nearly; at most `most`. */
/*@ requires \valid_read(law) && dpf_noise_asks(*law);
    assigns \nothing;
    ensures \result <= most; */
static uint64_t widest(const dpf_noise_law *law, uint64_t start, uint64_t most) {
    const uint64_t v = exponent(law, magnitude(law, start));
    const uint64_t rest = power(ONE - v % ONE), wide = rest - (rest >> 48); /* 2^v = wide 2^up */
    const int up = (int)(v / ONE) + 1 + law->area - 63;
    if (up > 1) return most;
    const uint64_t width = up == 1 ? wide << 1 : wide >> -up;
    return width < most ? width : most;
}

bool dpf_noise_prepare(dpf_noise_law *law) {
    const uint64_t end = ((uint64_t)1 << 63) - ((uint64_t)1 << (law->cells - 1));
    uint64_t z = 0;
    /*@ loop invariant z <= end && law->strips <= DPF_NOISE_STRIPS;
        loop assigns z, law->strips, law->strip[0 .. DPF_NOISE_STRIPS - 1];
        loop variant DPF_NOISE_STRIPS - law->strips; */
    for (law->strips = 0; z < end && law->strips < DPF_NOISE_STRIPS; law->strips++) {
        dpf_noise_strip *s = &law->strip[law->strips];
        s->start = z;
        s->width = widest(law, z, end - z);
        z += s->width;
        const uint64_t least = chance(law, s->width, magnitude(law, z - 1));
        const uint64_t sure = least - (least >> 48) - (least > 0);
        const int spill = 9; /* the bits to come add less than 2 strips width <= 2^9 width to H */
        s->sure = s->width <= sure >> spill ? sure - (s->width << spill) : 0;
    }
    return z == end;
}

/* Splits n u = integer + fraction, for a real u of 128 bits, the higher word first: leaves the fraction. */
/*@ requires \valid(u + (0 .. 1));
    assigns u[0 .. 1];
    ensures n >= 1 ==> \result < n; */
static uint64_t peel(uint64_t u[2], uint64_t n) {
    uint64_t middle, whole = dpf_multiply(u[0], n, &middle);
    const uint64_t carry = dpf_multiply(u[1], n, &u[1]);
    u[0] = middle + carry;
    return whole + (u[0] < middle);
}

/*@ assigns \nothing; */
static int64_t with_sign(uint64_t x, uint64_t negative) { return (int64_t)((x ^ (0 - negative)) + negative); }

typedef enum { REJECTED, KEPT, OPEN } verdict;

/*
 * An attempt by 128 bits. Those to come add to H less than 2^9 units of 2^-64, and `chance` is wrong by less than
 * 2^12 + 1, together well below the guard. If they can carry U over a boundary of any kind, H is next to 1.
 */
/*@ requires \valid_read(law) && dpf_noise_asks(*law) && 1 <= law->strips <= DPF_NOISE_STRIPS;
    requires \valid_read(words + (0 .. 1)) && \valid(out) && \separated(law, out, words + (0 .. 1));
    assigns *out; */
static verdict settle(const dpf_noise_law *law, uint64_t guard, const uint64_t words[2], int64_t *out) {
    uint64_t u[2] = {words[0], words[1]};
    const dpf_noise_strip *s = &law->strip[peel(u, law->strips)];
    const uint64_t negative = peel(u, 2), x = magnitude(law, s->start + peel(u, s->width));
    const uint64_t level = chance(law, s->width, x), h = u[0];
    *out = with_sign(x, negative);
    if (level > guard && h < level - guard) return KEPT;
    return h > level && h - level > guard && h < UINT64_MAX - guard ? REJECTED : OPEN;
}

size_t dpf_noise_draw(bitgen_t *rng, const dpf_noise_law *law, uint64_t guard, size_t size, int64_t *DPF_RESTRICT out,
                      uint64_t words[2]) {
    /*@ loop invariant 0 <= i <= size;
        loop assigns i, dpf_word_drawn, out[0 .. size - 1], words[0 .. 1]; */
    for (size_t i = 0; i < size;) {
        const uint64_t word = dpf_draw_word(rng);
        uint64_t u, h;
        const dpf_noise_strip *s = &law->strip[dpf_multiply(word, law->strips, &u)];
        const uint64_t offset = dpf_multiply(u << 1, s->width, &h);
        out[i] = with_sign(magnitude(law, s->start + offset), u >> 63);
        if (h < s->sure) {
            i++;
            continue;
        }
        words[0] = word, words[1] = dpf_draw_word(rng);
        const verdict v = settle(law, guard, words, &out[i]);
        if (v == OPEN) return i;
        i += v == KEPT;
    }
    return size;
}
