/*
 * trees_wide.h - leaves for trees.c by AVX-512, and answers by AVX2: a comparison of bytes is a mask of rows.
 */
#ifndef DPF_TREES_WIDE_H
#define DPF_TREES_WIDE_H

#include "trees.h"
#include "dpf_cpu.h"

#include <immintrin.h>

#define WIDE DPF_TARGET_AVX512 static inline

enum { MOST_HALVED = 1 << (DPF_TREES_DEPTH - 2) }; /* pairs of the last level but one */

WIDE __m512i choose_wide(__m512i asked, __m512i no, __m512i yes) {
    return _mm512_ternarylogic_epi64(asked, yes, no, 0xca);
}

/* Word w of the answer = the rows from 64 w on whose byte is above the threshold. */
WIDE void answer_wide(const uint8_t *byte, uint8_t threshold, uint64_t *answer) {
    const __m512i limit = _mm512_set1_epi8((char)threshold);
    for (size_t w = 0; w < DPF_TREES_WORDS; w++)
        answer[w] = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(byte + 64 * w), limit);
}

/* The same by AVX2: half a word is the rows that are not at most the threshold. */
DPF_TARGET_AVX2 static inline void answer_halves(const uint8_t *byte, uint8_t threshold, uint64_t *answer) {
    const __m256i limit = _mm256_set1_epi8((char)threshold);
    for (size_t w = 0; w < DPF_TREES_WORDS; w++) {
        const __m256i low = _mm256_loadu_si256((const __m256i *)(byte + 64 * w));
        const __m256i high = _mm256_loadu_si256((const __m256i *)(byte + 64 * w + 32));
        const uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(low, limit), limit));
        const uint32_t last = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(high, limit), limit));
        answer[w] = ~((uint64_t)last << 32 | first);
    }
}

/* The leaves of a tree for a block of rows, from the answers to all questions. */
WIDE void leaves_wide(const uint64_t *answer, const uint32_t *node, size_t depth, uint8_t *byte) {
    __m512i plane[DPF_TREES_DEPTH], held[MOST_HALVED];
    uint64_t bits[DPF_TREES_DEPTH][DPF_TREES_WORDS];
    plane[0] = _mm512_loadu_si512(answer + (size_t)node[0] * DPF_TREES_WORDS);
    for (size_t level = 1; level < depth; level++) {
        const uint32_t *of = node + ((size_t)1 << level) - 1;
        size_t left = (size_t)1 << (level - 1), at = level - 1;
        for (size_t k = 0; k < left; k++)
            held[k] = choose_wide(plane[at], _mm512_loadu_si512(answer + (size_t)of[2 * k] * DPF_TREES_WORDS),
                                  _mm512_loadu_si512(answer + (size_t)of[2 * k + 1] * DPF_TREES_WORDS));
        while (left > 1) {
            left /= 2, at--;
            for (size_t k = 0; k < left; k++) held[k] = choose_wide(plane[at], held[2 * k], held[2 * k + 1]);
        }
        plane[level] = held[0];
    }
    for (size_t level = 0; level < depth; level++) _mm512_storeu_si512(bits[level], plane[level]);
    for (size_t w = 0; w < DPF_TREES_WORDS; w++) {
        __m512i leaf = _mm512_setzero_si512();
        for (size_t level = 0; level < depth; level++) /* twice the leaf, and one more where the bit is 1 */
            leaf = _mm512_mask_sub_epi8(_mm512_add_epi8(leaf, leaf), bits[level][w], _mm512_add_epi8(leaf, leaf),
                                        _mm512_set1_epi8(-1));
        _mm512_storeu_si512(byte + 64 * w, leaf);
    }
}

#endif
