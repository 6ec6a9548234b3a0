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
#define DPF_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define DPF_TARGET_AVX512                                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,avx2,"                   \
                          "bmi,bmi2,lzcnt,popcnt" DPF_WIDE)))
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
