/* bits_swap.h - bits that change places within lines of words: what bits.c and bits_count.c share. */
#ifndef DPF_BITS_SWAP_H
#define DPF_BITS_SWAP_H

#include "dpf.h"

/* Byte k of eight, counted from bit 0 of a word, is where k ^ FIRST_BYTE says. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { FIRST_BYTE = 7 };
#else
enum { FIRST_BYTE = 0 };
#endif

enum { LINE = 8 }; /* words of a cache line; as many blocks of 64 x 64 bits are transposed together */

/* Swaps bits that are s apart: the halves off the diagonal of a 2s x 2s block, in two of its rows. */
DPF_BODY void swap(uint64_t *a, uint64_t *b, unsigned s, uint64_t low) {
    const uint64_t differ = (*a >> s ^ *b) & low;
    *a ^= differ << s;
    *b ^= differ;
}

/* Swaps halves of size 4s, 2s and s in eight rows that are `step` apart. */
DPF_BODY void swap_three(uint64_t (*a)[LINE], size_t step, unsigned s, uint64_t low4, uint64_t low2, uint64_t low1) {
    for (size_t l = 0; l < LINE; l++) {
        uint64_t x0 = a[0][l], x1 = a[step][l], x2 = a[2 * step][l], x3 = a[3 * step][l];
        uint64_t x4 = a[4 * step][l], x5 = a[5 * step][l], x6 = a[6 * step][l], x7 = a[7 * step][l];
        swap(&x0, &x4, 4 * s, low4), swap(&x1, &x5, 4 * s, low4);
        swap(&x2, &x6, 4 * s, low4), swap(&x3, &x7, 4 * s, low4);
        swap(&x0, &x2, 2 * s, low2), swap(&x1, &x3, 2 * s, low2);
        swap(&x4, &x6, 2 * s, low2), swap(&x5, &x7, 2 * s, low2);
        swap(&x0, &x1, s, low1), swap(&x2, &x3, s, low1);
        swap(&x4, &x5, s, low1), swap(&x6, &x7, s, low1);
        a[0][l] = x0, a[step][l] = x1, a[2 * step][l] = x2, a[3 * step][l] = x3;
        a[4 * step][l] = x4, a[5 * step][l] = x5, a[6 * step][l] = x6, a[7 * step][l] = x7;
    }
}

#endif
