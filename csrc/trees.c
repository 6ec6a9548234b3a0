#include "trees.h"
#include "bits_swap.h"
#include "dpf_cpu.h"

#include <string.h>

#if defined(DPF_TARGET_AVX512)
#include "trees_wide.h"
#endif

enum { BLOCK = 64 * LINE, FEW = 16 }; /* rows that are answered together; rows that are not worth a block */

/* Bit i of out[w] = the byte 64 w + i is above the threshold. */
DPF_BODY void answer_all(const uint8_t *byte, uint8_t threshold, uint64_t *DPF_RESTRICT out) {
    uint8_t above[BLOCK], bits[BLOCK / 8];
    for (size_t i = 0; i < BLOCK; i++) above[i] = byte[i] > threshold;
    for (size_t g = 0; g < BLOCK / 8; g++) {
        uint64_t eight;
        memcpy(&eight, above + 8 * g, 8);
        if (FIRST_BYTE) {
            eight |= eight << 9, eight |= eight << 18, eight |= eight << 36, eight >>= 56;
        } else {
            eight |= eight >> 7, eight |= eight >> 14, eight |= eight >> 28;
        }
        bits[g ^ FIRST_BYTE] = (uint8_t)eight;
    }
    memcpy(out, bits, sizeof bits);
}

/* out = the bits of `yes` where `asked` is 1, of `no` elsewhere. out may be no. */
DPF_BODY void choose(const uint64_t *asked, const uint64_t *no, const uint64_t *yes, uint64_t *out) {
    uint64_t chosen[LINE];
    for (size_t w = 0; w < LINE; w++) chosen[w] = no[w] ^ (asked[w] & (no[w] ^ yes[w]));
    for (size_t w = 0; w < LINE; w++) out[w] = chosen[w];
}

/* byte[64 w + i] = the number whose bit b is bit i of plane[7 - b][w]: blocks of 8 x 8 bits are transposed. */
DPF_BODY void join_planes(uint64_t (*plane)[LINE], uint8_t *DPF_RESTRICT byte) {
    for (size_t k = 0; k < 4; k++)
        for (size_t w = 0; w < LINE; w++) swap(&plane[k + 4][w], &plane[k][w], 32, 0x00000000ffffffffu);
    for (size_t k = 0; k < 8; k += k % 4 ? 3 : 1)
        for (size_t w = 0; w < LINE; w++) swap(&plane[k + 2][w], &plane[k][w], 16, 0x0000ffff0000ffffu);
    for (size_t k = 0; k < 8; k += 2)
        for (size_t w = 0; w < LINE; w++) swap(&plane[k + 1][w], &plane[k][w], 8, 0x00ff00ff00ff00ffu);
    for (size_t g = 0; g < 8; g++) { /* now byte b of a word is of bit b, for rows 8 (7 - g) to 8 (7 - g) + 7 */
        uint64_t eight[LINE];
        for (size_t w = 0; w < LINE; w++) {
            uint64_t x = plane[7 - g][w], t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
            x ^= t ^ t << 7;
            t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
            x ^= t ^ t << 14;
            t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
            eight[w] = x ^ t ^ t << 28;
        }
        for (size_t w = 0; w < LINE; w++)
            for (size_t k = 0; k < 8; k++) byte[64 * w + 8 * g + k] = (uint8_t)(eight[w] >> 8 * k);
    }
}

/* The leaves of a tree for a block of rows, from the answers to all questions. */
DPF_BODY void leaves_of(const uint64_t *answer, const uint32_t *node, size_t depth, uint8_t *DPF_RESTRICT byte) {
    uint64_t plane[8][LINE], held[1 << (DPF_TREES_DEPTH - 2)][LINE];
    for (size_t b = 0; b < 8 - depth; b++)
        for (size_t w = 0; w < LINE; w++) plane[b][w] = 0;
    for (size_t w = 0; w < LINE; w++) plane[8 - depth][w] = answer[node[0] * LINE + w];
    for (size_t level = 1; level < depth; level++) {
        const uint32_t *of = node + ((size_t)1 << level) - 1;
        size_t left = (size_t)1 << (level - 1);
        const uint64_t(*last)[LINE] = (const uint64_t(*)[LINE])plane + 8 - depth + level - 1;
        for (size_t k = 0; k < left; k++) {
            const uint64_t *no = answer + (size_t)of[2 * k] * LINE, *yes = answer + (size_t)of[2 * k + 1] * LINE;
            choose(*last, no, yes, held[k]);
        }
        while (left > 1) {
            left /= 2, last--;
            for (size_t k = 0; k < left; k++) choose(*last, held[2 * k], held[2 * k + 1], held[k]);
        }
        for (size_t w = 0; w < LINE; w++) plane[8 - depth + level][w] = held[0][w];
    }
    join_planes(plane, byte);
}

DPF_BODY void leaves(const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t questions,
                     const uint32_t *node, size_t trees, size_t depth, size_t n, size_t stride,
                     uint64_t *DPF_RESTRICT answer, uint8_t *DPF_RESTRICT leaf) {
    const size_t nodes = ((size_t)1 << depth) - 1;
    size_t start = 0;
#if defined(DPF_TARGET_AVX512)
    const int level = dpf_cpu_level();
#endif
    for (size_t rows; n - start >= FEW; start += rows) {
        uint8_t byte[BLOCK] = {0};
        rows = n - start < BLOCK ? n - start : BLOCK;
        for (size_t q = 0; q < questions; q++) {
            const uint8_t *read = column[asked[q]] + start;
            if (rows < BLOCK) read = memcpy(byte, read, rows);
#if defined(DPF_TARGET_AVX512)
            if (level == DPF_AVX512) answer_wide(read, threshold[q], answer + q * LINE);
            else if (level == DPF_AVX2) answer_halves(read, threshold[q], answer + q * LINE);
            else
#endif
                answer_all(read, threshold[q], answer + q * LINE);
        }
        for (size_t t = 0; t < trees; t++) {
            uint8_t *to = rows < BLOCK ? byte : leaf + t * stride + start;
#if defined(DPF_TARGET_AVX512)
            if (level == DPF_AVX512) leaves_wide(answer, node + t * nodes, depth, to);
            else
#endif
                leaves_of(answer, node + t * nodes, depth, to);
            if (rows < BLOCK) memcpy(leaf + t * stride + start, byte, rows);
        }
    }
    for (size_t t = 0; t < trees; t++) /* a few rows go down one after another */
        for (size_t i = start; i < n; i++) {
            size_t q = 0;
            while (q < nodes) {
                const uint32_t of = node[t * nodes + q];
                q = 2 * q + 1 + (column[asked[of]][i] > threshold[of]);
            }
            leaf[t * stride + i] = (uint8_t)(q - nodes);
        }
}

DPF_LEVELS(void, dpf_trees_leaves, leaves,
           (const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t questions,
            const uint32_t *node, size_t trees, size_t depth, size_t n, size_t stride, uint64_t *DPF_RESTRICT answer,
            uint8_t *DPF_RESTRICT leaf),
           (column, asked, threshold, questions, node, trees, depth, n, stride, answer, leaf))

enum { BYTES = 256 };

/* Returns the byte of rank (size_t)(m * quantile) of m > 0 bytes that are counted, one less if it is the last of several. */
static uint8_t at_quantile(const uint32_t *count, double quantile) {
    size_t m = 0, first = BYTES, last = 0, v = 0, below = 0;
    for (size_t b = 0; b < BYTES; b++) {
        if (!count[b]) continue;
        m += count[b];
        first = first < b ? first : b;
        last = b;
    }
    const size_t rank = (size_t)((double)m * quantile);
    for (v = first; v < last && below + count[v] <= rank; v++) below += count[v];
    return (uint8_t)(v == last && v > first ? v - 1 : v);
}

void dpf_trees_thresholds(const uint8_t *const *column, const uint32_t *asked, const double *quantile, size_t trees,
                          size_t depth, size_t n, uint32_t *DPF_RESTRICT count, uint8_t *DPF_RESTRICT place,
                          uint8_t *DPF_RESTRICT threshold, uint32_t *DPF_RESTRICT held) {
    const size_t nodes = ((size_t)1 << depth) - 1;
    for (size_t t = 0; t < trees; t++) {
        memset(place, 0, n);
        for (size_t level = 0; level < depth; level++) {
            const size_t many = (size_t)1 << level, at = t * nodes + many - 1;
            memset(count, 0, many * BYTES * sizeof *count);
            for (size_t i = 0; i < n; i++) count[place[i] * BYTES + column[asked[at + place[i]]][i]]++;
            for (size_t q = 0; q < many; q++) {
                uint32_t *of_node = count + q * BYTES, reached = 0;
                for (size_t b = 0; b < BYTES; b++) reached |= of_node[b];
                if (!reached)
                    for (size_t i = 0; i < n; i++) of_node[column[asked[at + q]][i]]++;
                threshold[at + q] = at_quantile(of_node, quantile[at + q]);
            }
            for (size_t i = 0; i < n; i++) {
                const size_t q = at + place[i];
                place[i] = (uint8_t)(2 * place[i] + (column[asked[q]][i] > threshold[q]));
            }
        }
        uint32_t *of_tree = held + (t << depth);
        memset(of_tree, 0, ((size_t)1 << depth) * sizeof *of_tree);
        for (size_t i = 0; i < n; i++) of_tree[place[i]]++;
    }
}
