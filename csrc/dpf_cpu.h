/*
 * dpf_cpu.h - one loop, compiled once per instruction-set level.
 *
 * Write the loop once as a DPF_BODY; DPF_LEVELS builds it for each level and
 * defines the public function that picks one at run time. Levels differ in
 * speed only. Off x86-64 and on compilers without target attributes there is
 * one level, the compiler's own.
 */
#ifndef DPF_CPU_H
#define DPF_CPU_H

#include "dpf.h"

enum { DPF_SCALAR = 0, DPF_AVX2 = 1, DPF_AVX512 = 2 };

/*
 * The instruction sets of each level: the compiler's name, then the leaf, the word and the bit by which CPUID tells it.
 * The compilers' targets and what is asked of a processor are both made of these lists, and a level has what the levels
 * below it have.
 */
#define DPF_AVX2_SETS(SET)                                                                                             \
    SET(popcnt, 1, ECX, 23)                                                                                            \
    SET(avx, 1, ECX, 28)                                                                                               \
    SET(fma, 1, ECX, 12)                                                                                               \
    SET(bmi, 7, EBX, 3)                                                                                                \
    SET(avx2, 7, EBX, 5)                                                                                               \
    SET(bmi2, 7, EBX, 8)                                                                                               \
    SET(lzcnt, 0x80000001, ECX, 5)
#define DPF_AVX512_SETS(SET)                                                                                           \
    SET(avx512f, 7, EBX, 16)                                                                                           \
    SET(avx512dq, 7, EBX, 17)                                                                                          \
    SET(avx512bw, 7, EBX, 30)                                                                                          \
    SET(avx512vl, 7, EBX, 31)                                                                                          \
    SET(avx512vbmi, 7, ECX, 1)                                                                                         \
    SET(gfni, 7, ECX, 8)                                                                                               \
    SET(avx512vpopcntdq, 7, ECX, 14)
/* Sets of no level, which one kernel asks for beside its level (aes.h). */
#define DPF_AES_SETS(SET)                                                                                              \
    SET(aes, 1, ECX, 25)                                                                                               \
    SET(vaes, 7, ECX, 9)

#define DPF_PLACE(name, leaf, word, bit) DPF_SET_##name,
enum { DPF_AVX2_SETS(DPF_PLACE) DPF_AVX512_SETS(DPF_PLACE) DPF_AES_SETS(DPF_PLACE) DPF_SETS };

/* The instruction sets of the three lists, in their order: which this machine has, one bit each. Those whose registers
 * the system does not keep count as missing. */
uint32_t dpf_cpu_sets(void);


/* Name of set i, NULL past the last. */
const char *dpf_cpu_set_name(size_t i);

/* The best level of a processor with these sets. */
int dpf_cpu_best_of(uint32_t sets);

/* The best level this machine runs. */
int dpf_cpu_best(void);

/*
 * The level in use. Every extension module links a copy of this file, so that
 * dpfast.kernels.cpu owns the number and each module is told where it lives.
 */
int dpf_cpu_level(void);
void dpf_cpu_share(const int *level);

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__) /* knows no such option here, and would drop the whole attribute */
#define DPF_WIDE
#else
#define DPF_WIDE ",prefer-vector-width=512"
#endif
#define DPF_NAMED(name, leaf, word, bit) "," #name
/* Every target begins with what all x86-64 has. */
#define DPF_TARGET_AVX2 __attribute__((target("sse2" DPF_AVX2_SETS(DPF_NAMED))))
#define DPF_TARGET_AVX512                                                                                              \
    __attribute__((target("sse2" DPF_AVX2_SETS(DPF_NAMED) DPF_AVX512_SETS(DPF_NAMED) DPF_WIDE)))
#define DPF_LEVELS(result, name, body, params, args)                                                                   \
    DPF_LEVELS_OF(result, name, body, params, args) /* lets a name that is a macro expand first */
#define DPF_LEVELS_OF(result, name, body, params, args)                                                                \
    DPF_TARGET_AVX2 static result name##_avx2 params { return body args; }                                             \
    DPF_TARGET_AVX512 static result name##_avx512 params { return body args; }                                         \
    static result name##_scalar params { return body args; }                                                           \
    result name params {                                                                                               \
        const int dpf_isa = dpf_cpu_level();                                                                           \
        if (dpf_isa == DPF_AVX512) return name##_avx512 args;                                                          \
        if (dpf_isa == DPF_AVX2) return name##_avx2 args;                                                              \
        return name##_scalar args;                                                                                     \
    }
#else
#define DPF_LEVELS(result, name, body, params, args)                                                                   \
    result name params { return body args; }
#endif

#endif
