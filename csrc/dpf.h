/*
 * dpf.h - what every kernel shares.
 *
 * Kernels are plain C11: no Python.h, no allocation, no globals but the
 * instruction-set level and the process's number. The caller owns every buffer and has already checked
 * every argument.
 */
#ifndef DPF_H
#define DPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "dpfast needs a 64-bit processor"
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define DPF_RESTRICT __restrict
#define DPF_BODY static __forceinline
#define DPF_BUILTINS 0
#else
#define DPF_RESTRICT __restrict__
#define DPF_BODY static inline __attribute__((always_inline))
#define DPF_BUILTINS 1 /* those of GCC and clang; clang for MSVC's ABI has them, and no __GNUC__ */
#endif

/* A word of packed bits holds 64 entries, the first in its lowest bit. */
#define DPF_WORDS(bits) (((bits) + 63) / 64)

DPF_BODY uint64_t dpf_popcount(uint64_t x) {
#if DPF_BUILTINS
    return (uint64_t)__builtin_popcountll(x);
#else
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56;
#endif
}

/* Position of the lowest bit that is set; x != 0. */
DPF_BODY unsigned dpf_lowest_bit(uint64_t x) {
#if DPF_BUILTINS
    return (unsigned)__builtin_ctzll(x);
#else
    unsigned long at;
    _BitScanForward64(&at, x);
    return (unsigned)at;
#endif
}

/* Ask for what will be read soon. */
DPF_BODY void dpf_prefetch(const void *at) {
#if DPF_BUILTINS
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* The 128-bit product a * b: its high word returned, its low word stored. */
/*@ requires \valid(low);
    assigns *low;
    ensures \result * 18446744073709551616 + *low == a * b;
    ensures b >= 1 ==> \result < b; */
DPF_BODY uint64_t dpf_multiply(uint64_t a, uint64_t b, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    *low = a * b;
    return __umulh(a, b);
#endif
}

#endif
