/* intrin.h - stands for MSVC's. Included before all else, it makes another compiler take what csrc/ holds for MSVC:
 * check.py compiles and runs that. */
#pragma once
#pragma GCC system_header
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned char _BitScanForward64(unsigned long *at, uint64_t x) {
    if (x) *at = (unsigned long)__builtin_ctzll(x);
    return x != 0;
}

static inline uint64_t __umulh(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }

#define __forceinline inline __attribute__((always_inline))
#define _MSC_VER 1940
#undef __clang__
#undef __GNUC__
#undef __SIZEOF_INT128__
