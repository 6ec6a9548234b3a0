#include "dpf_cpu.h"

#define SET(name, leaf, word, bit) #name,
static const char *const names[DPF_SETS] = {DPF_AVX2_SETS(SET) DPF_AVX512_SETS(SET) DPF_AES_SETS(SET)};
#undef SET

#define SET(name, leaf, word, bit) | UINT32_C(1) << DPF_SET_##name
static const uint32_t avx2_sets = 0 DPF_AVX2_SETS(SET), avx512_alone = 0 DPF_AVX512_SETS(SET);
#undef SET

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

enum { EBX = 1, ECX = 2, AVX_STATE = 0x6, AVX512_STATE = 0xe6 };

/* Asked of the processor: __builtin_cpu_supports knows no lzcnt everywhere, and compiled by zig it says no to all. */
static uint32_t has(unsigned leaf, int word, unsigned bit) {
    unsigned told[4];
    return __get_cpuid_count(leaf, 0, told, told + 1, told + 2, told + 3) && (told[word] >> bit & 1);
}

/* Whether the system keeps these registers (XCR0). */
static bool keeps(unsigned state) {
    unsigned low, high;
    if (!has(1, ECX, 27)) return false; /* osxsave */
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & state) == state;
}

uint32_t dpf_cpu_sets(void) {
#define SET(name, leaf, word, bit) | has(leaf, word, bit) << DPF_SET_##name
    const uint32_t sets = 0 DPF_AVX2_SETS(SET) DPF_AVX512_SETS(SET) DPF_AES_SETS(SET);
#undef SET
    return !keeps(AVX_STATE) ? sets & UINT32_C(1) << DPF_SET_aes : !keeps(AVX512_STATE) ? sets & ~avx512_alone : sets;
}
#else
uint32_t dpf_cpu_sets(void) { return 0; }
#endif

static const int scalar = DPF_SCALAR;
static const int *shared_level = &scalar;

const char *dpf_cpu_set_name(size_t i) { return i < DPF_SETS ? names[i] : NULL; }

int dpf_cpu_best_of(uint32_t sets) {
    return (~sets & avx2_sets) ? DPF_SCALAR : (~sets & avx512_alone) ? DPF_AVX2 : DPF_AVX512;
}

int dpf_cpu_best(void) { return dpf_cpu_best_of(dpf_cpu_sets()); }

int dpf_cpu_level(void) { return *shared_level; }

void dpf_cpu_share(const int *level) { shared_level = level; }
