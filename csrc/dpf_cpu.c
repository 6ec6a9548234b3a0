#include "dpf_cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Not known to every __builtin_cpu_supports; without it the instruction is another, and wrong. */
static bool has_lzcnt(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 5 & 1);
}
#endif

static const int scalar = DPF_SCALAR;
static const int *shared_level = &scalar;

/* A level counts only if every flag in its target string is there. */
int dpf_cpu_best(void) {
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS __builtin_cpu_supports
    if (!HAS("avx2") || !HAS("bmi") || !HAS("bmi2") || !HAS("popcnt") || !has_lzcnt()) return DPF_SCALAR;
    return HAS("avx512f") && HAS("avx512bw") && HAS("avx512vl") && HAS("avx512dq") && HAS("avx512vbmi") &&
                   HAS("avx512vpopcntdq") && HAS("gfni")
               ? DPF_AVX512
               : DPF_AVX2;
#else
    return DPF_SCALAR;
#endif
}

int dpf_cpu_level(void) { return *shared_level; }

void dpf_cpu_share(const int *level) { shared_level = level; }
