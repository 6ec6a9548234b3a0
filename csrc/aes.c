#include "aes.h"
#include "dpf_cpu.h"

/* What is enciphered: the counters. */
static void count(dpf_aes *aes) {
    const uint64_t low = aes->counter[0], high = aes->counter[1];
    for (uint64_t b = 0; b < DPF_AES_BLOCKS; b++) {
        aes->words[2 * b] = low + b;
        aes->words[2 * b + 1] = high + (low + b < b);
    }
    aes->counter[0] = low + DPF_AES_BLOCKS;
    aes->counter[1] = high + (low + DPF_AES_BLOCKS < DPF_AES_BLOCKS);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

enum { LANES = 4 }; /* vectors whose rounds are in progress together */

/* Encipher `words` in place. `load_key(r)` puts round key r into each block of a vector. */
#define ENCIPHER(name, sets, vector, load, store, load_key, exclusive, round, last)                                    \
    __attribute__((target(sets))) static void name(dpf_aes *aes) {                                                     \
        enum { WORDS = sizeof(vector) / sizeof(uint64_t) };                                                            \
        const uint64_t *const key = aes->schedule;                                                                     \
        for (size_t w = 0; w < DPF_AES_WORDS; w += LANES * WORDS) {                                                    \
            uint64_t *const words = aes->words + w;                                                                    \
            vector k = load_key(0), x[LANES];                                                                          \
            for (size_t l = 0; l < LANES; l++) x[l] = exclusive(load((vector *)(words + l * WORDS)), k);               \
            for (size_t r = 1; r < 10; r++) {                                                                          \
                k = load_key(r);                                                                                       \
                for (size_t l = 0; l < LANES; l++) x[l] = round(x[l], k);                                              \
            }                                                                                                          \
            k = load_key(10);                                                                                          \
            for (size_t l = 0; l < LANES; l++) store((vector *)(words + l * WORDS), last(x[l], k));                    \
        }                                                                                                              \
    }

#define KEY_ONE(r) _mm_loadu_si128((const __m128i *)(key + 2 * (r)))
#define KEY_TWO(r) _mm256_broadcastsi128_si256(KEY_ONE(r))
#define KEY_FOUR(r) _mm512_broadcast_i32x4(KEY_ONE(r))
ENCIPHER(one, "aes", __m128i, _mm_loadu_si128, _mm_storeu_si128, KEY_ONE, _mm_xor_si128, _mm_aesenc_si128,
         _mm_aesenclast_si128)
ENCIPHER(two, "aes,vaes,avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, KEY_TWO, _mm256_xor_si256,
         _mm256_aesenc_epi128, _mm256_aesenclast_epi128)
ENCIPHER(four, "aes,vaes,avx2,avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512, KEY_FOUR, _mm512_xor_si512,
         _mm512_aesenc_epi128, _mm512_aesenclast_epi128)

int dpf_aes_way(int level, uint32_t sets) {
    if (!(sets >> DPF_SET_aes & 1)) return DPF_AES_NONE;
    if (level < DPF_AVX2 || !(sets >> DPF_SET_vaes & 1)) return DPF_AES_ONE;
    return level < DPF_AVX512 ? DPF_AES_TWO : DPF_AES_FOUR;
}

void dpf_aes_fill(dpf_aes *aes) {
    count(aes);
    if (aes->way == DPF_AES_FOUR) four(aes);
    else if (aes->way == DPF_AES_TWO) two(aes);
    else one(aes);
}
#else
int dpf_aes_way(int level, uint32_t sets) {
    (void)level, (void)sets;
    return DPF_AES_NONE;
}

void dpf_aes_fill(dpf_aes *aes) { count(aes); }
#endif

DPF_BODY void compare(dpf_aes *aes) {
    if (*aes->watch.place != aes->watch.process) aes->watch.rekey(&aes->watch);
}

DPF_BODY uint64_t word_of(dpf_aes *aes) {
    compare(aes);
    if (aes->at == DPF_AES_WORDS) {
        dpf_aes_fill(aes);
        aes->at = 0;
    }
    return aes->words[aes->at++];
}

static uint64_t next_uint64(void *state) { return word_of(state); }

static uint32_t next_uint32(void *state) {
    dpf_aes *aes = state;
    compare(aes);
    aes->halved = !aes->halved;
    if (!aes->halved) return aes->half;
    const uint64_t word = word_of(aes);
    aes->half = (uint32_t)(word >> 32);
    return (uint32_t)word;
}

static double next_double(void *state) { return (double)(word_of(state) >> 11) * 0x1p-53; }

void dpf_aes_put(dpf_aes *aes, bitgen_t *bits) {
    bits->state = aes;
    bits->next_uint64 = next_uint64, bits->next_uint32 = next_uint32;
    bits->next_double = next_double, bits->next_raw = next_uint64;
}
