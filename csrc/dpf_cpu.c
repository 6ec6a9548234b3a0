#include "dpf_cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

enum { ECX = 2, EBX = 1, AVX2_STATE = 0x6, AVX512_STATE = 0xe6 };

/* Asked of the processor: __builtin_cpu_supports knows no lzcnt everywhere, and compiled by zig it says no to all. */
static bool has(unsigned leaf, int word, unsigned bits) {
    unsigned told[4];
    return __get_cpuid_count(leaf, 0, told, told + 1, told + 2, told + 3) && (told[word] & bits) == bits;
}

/* Whether the system keeps these registers (XCR0). */
static bool keeps(unsigned state) {
    unsigned low, high;
    if (!has(1, ECX, 1u << 27)) return false; /* osxsave */
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & state) == state;
}
#endif

static const int scalar = DPF_SCALAR;
static const int *shared_level = &scalar;

/* A level counts only if every flag in its target string is there. */
int dpf_cpu_best(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    const bool avx2 = keeps(AVX2_STATE) && has(1, ECX, 1u << 23 | 1u << 28) &&        /* popcnt, avx */
                      has(7, EBX, 1u << 3 | 1u << 5 | 1u << 8) &&                      /* bmi, avx2, bmi2 */
                      has(0x80000001, ECX, 1u << 5);                                   /* lzcnt */
    const bool avx512 = keeps(AVX512_STATE) && has(7, EBX, 3u << 16 | 3u << 30) &&     /* f, dq, bw, vl */
                        has(7, ECX, 1u << 1 | 1u << 14);                               /* vbmi, vpopcntdq */
    return !avx2 ? DPF_SCALAR : avx512 ? DPF_AVX512 : DPF_AVX2;
#else
    return DPF_SCALAR;
#endif
}

int dpf_cpu_level(void) { return *shared_level; }

void dpf_cpu_share(const int *level) { shared_level = level; }
