#include "classes.h"
#include "bits.h"
#include "dpf_cpu.h"

#include <string.h>

DPF_BODY void count(const uint64_t *columns, const uint64_t *members, size_t points, size_t words,
                    uint32_t *DPF_RESTRICT out) {
    /*@ loop invariant 0 <= x <= points;
        loop invariant \forall integer y; 0 <= y < x ==> out[y] <= 64 * words;
        loop assigns x, out[0 .. points - 1];
        loop variant points - x; */
    for (size_t x = 0; x < points; x++) {
        uint64_t ones = 0;
        /*@ ghost dpf_fits(x, points, words); */
        /*@ loop invariant 0 <= w <= words && ones <= 64 * w;
            loop assigns w, ones;
            loop variant words - w; */
        for (size_t w = 0; w < words; w++) ones += dpf_popcount(columns[x * words + w] & members[w]);
        out[x] = (uint32_t)ones;
    }
}

DPF_LEVELS(void, dpf_classes_counts, count,
           (const uint64_t *columns, const uint64_t *members, size_t points, size_t words, uint32_t *DPF_RESTRICT out),
           (columns, members, points, words, out))

typedef struct {
    const uint64_t *columns;
    size_t points, words, slots;
    uint64_t *sets, *memo, *nodes;
    uint32_t *counts;
} search;

/* A slot: 2^32 * (first k known not to be reached, or 0) + (1 + largest k known to be), then the subclass. */
static uint64_t *slot_of(const search *s, const uint64_t *members) {
    uint64_t hash = 0;
    for (size_t w = 0; w < s->words; w++) {
        hash = (hash ^ members[w]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return s->memo + (hash & (s->slots - 1)) * (s->words + 1);
}

static void learn(const search *s, const uint64_t *members, unsigned k, bool reached) {
    uint64_t *slot = slot_of(s, members);
    if (slot[0] == 0 || memcmp(slot + 1, members, s->words * sizeof *members) != 0) {
        slot[0] = 0;
        memcpy(slot + 1, members, s->words * sizeof *members);
    }
    const uint64_t above = slot[0] >> 32, known = slot[0] & 0xffffffffu;
    if (reached) slot[0] = above << 32 | (known > k + 1 ? known : k + 1);
    else slot[0] = (uint64_t)(above && above < k ? above : k) << 32 | known;
}

static int at_least(const search *s, const uint64_t *members, uint64_t size, unsigned k) {
    if (size >> k == 0) return DPF_CLASSES_NO;
    if (k < 2) return DPF_CLASSES_YES;

    const uint64_t *slot = slot_of(s, members);
    if (slot[0] && memcmp(slot + 1, members, s->words * sizeof *members) == 0) {
        if ((slot[0] & 0xffffffffu) > k) return DPF_CLASSES_YES;
        if (slot[0] >> 32 && slot[0] >> 32 <= k) return DPF_CLASSES_NO;
    }
    if (*s->nodes == 0) return DPF_CLASSES_GAVE_UP;
    --*s->nodes;

    uint64_t *child = s->sets + (k - 1) * s->words;
    uint32_t *ones = s->counts + (k - 1) * s->points;
    dpf_classes_counts(s->columns, members, s->points, s->words, ones);
    for (;;) {
        size_t best = 0;
        uint64_t most = 0;
        for (size_t x = 0; x < s->points; x++) {
            const uint64_t one = ones[x], smaller = one < size - one ? one : size - one;
            if (smaller > most) most = smaller, best = x;
        }
        if (most >> (k - 1) == 0) break;
        const bool first = 2 * (uint64_t)ones[best] < size; /* the label of the smaller side */
        int found = DPF_CLASSES_YES;
        for (int side = 0; side < 2 && found == DPF_CLASSES_YES; side++) {
            const uint64_t *column = s->columns + best * s->words;
            const uint64_t left = first != (side == 1) ? dpf_bits_and(members, column, s->words, child)
                                                       : dpf_bits_andnot(members, column, s->words, child);
            found = at_least(s, child, left, k - 1);
        }
        if (found == DPF_CLASSES_GAVE_UP) return found;
        if (found == DPF_CLASSES_YES) {
            learn(s, members, k, true);
            return found;
        }
        ones[best] = 0; /* tried */
    }
    learn(s, members, k, false);
    return DPF_CLASSES_NO;
}

int dpf_classes_at_least(const uint64_t *columns, const uint64_t *members, size_t points, size_t words, unsigned k,
                         uint64_t *DPF_RESTRICT sets, uint32_t *DPF_RESTRICT counts, uint64_t *DPF_RESTRICT memo,
                         size_t slots, uint64_t *DPF_RESTRICT nodes) {
    const search s = {columns, points, words, slots, sets, memo, nodes, counts};
    return at_least(&s, members, dpf_bits_popcount(members, words), k);
}
