/*
 * machine.h - what the proofs of csrc/ assume of the compiler and of the generator; read before every file.
 *
 * The builtins that count and find ones, prefetching, the high word of a product, and words of a generator: each is a
 * declaration with its contract, and none is proved.
 */
#ifndef DPFAST_PROOFS_MACHINE_H
#define DPFAST_PROOFS_MACHINE_H

#include <stdint.h>

/*@ axiomatic Ones {
      logic integer ones(integer x);

      axiom ones_range: \forall integer x; 0 <= x <= UINT64_MAX ==> 0 <= ones(x) <= 64;
      axiom ones_none: \forall uint64_t x; ones(x) == 0 <==> x == 0;
      axiom ones_less: \forall uint64_t x; x != 0 ==> ones(x & (x - 1)) == ones(x) - 1;

      logic integer ones_of{L}(uint64_t *x, integer n) reads x[0 .. n - 1];
      axiom ones_of_none{L}: \forall uint64_t *x, integer n; n <= 0 ==> ones_of(x, n) == 0;
      axiom ones_of_next{L}: \forall uint64_t *x, integer n; n >= 0 ==> ones_of(x, n + 1) == ones_of(x, n) + ones(x[n]);
      axiom ones_of_fewer{L}: \forall uint64_t *x, integer m, n; 0 <= m <= n ==> 0 <= ones_of(x, m) <= ones_of(x, n);
    }
*/

/*@ axiomatic Shifts {
      axiom shift_right: \forall uint64_t x, integer k; 0 <= k < 64 ==> 0 <= (x >> k) <= x;
      axiom shift_right_52: \forall uint64_t x; (x >> 52) == x / 4503599627370496;
      axiom wrapped: \forall integer x; -18446744073709551616 <= x < 0 ==> (uint64_t)x == x + 18446744073709551616;
    }
*/

/*@ assigns \nothing;
    ensures \result == ones(x) && 0 <= \result <= 64; */
int __builtin_popcountll(unsigned long long x);

/*@ requires x != 0;
    assigns \nothing;
    ensures 0 <= \result < 64; */
int __builtin_ctzll(unsigned long long x);

/*@ assigns \nothing; */
void __builtin_prefetch(const void *at, ...);

/*@ assigns \nothing;
    ensures \result * 18446744073709551616 + (uint64_t)(a * b) == a * b; */
uint64_t __umulh(uint64_t a, uint64_t b);

/* Products, for provers that see them better alone: called in ghost code, proved like any function. */
/*@ ghost
    /@ requires a < b;
       assigns \nothing;
       ensures 0 <= a * c <= a * c + c <= b * c; @/
    static void dpf_fits(uint64_t a, uint64_t b, uint64_t c) {
        uint64_t below = 0, k = a + 1;
        /@ loop invariant 0 <= below <= a && 0 <= below * c;
           loop assigns below;
           loop variant a - below; @/
        while (below < a) below++;
        /@ loop invariant a < k <= b && a * c + c <= k * c;
           loop assigns k;
           loop variant b - k; @/
        while (k < b) k++;
    }
*/

/* The last word that the generator gave. */
extern uint64_t dpf_word_drawn;

/* In place of dpf_cpu.h: the scalar level alone. C11 has no `return` with an expression in a function without a result. */
#define DPF_CPU_H
#define DPF_RETURN_void
#define DPF_RETURN_bool return
#define DPF_RETURN_size_t return
#define DPF_RETURN_uint8_t return
#define DPF_RETURN_uint32_t return
#define DPF_RETURN_int64_t return
#define DPF_RETURN_uint64_t return
#define DPF_RETURN_double return
#define DPF_LEVELS(result, name, body, params, args) DPF_LEVEL(result, DPF_RETURN_##result, name, body, params, args)
#define DPF_LEVEL(result, give, name, body, params, args)                                                              \
    result name params { give body args; }

#include "draw.h"

#endif
