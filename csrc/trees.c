#include "trees.h"
#include "dpf_cpu.h"

#include <string.h>

/* out = the answers of a node of the last level. */
DPF_BODY void ask(const uint8_t *column, uint8_t threshold, size_t rows, uint8_t *DPF_RESTRICT out) {
    for (size_t i = 0; i < rows; i++) out[i] = column[i] > threshold;
}

/* out = the place of the leaf below a node, given those below its children; `bit` is 1 for the answer yes. */
DPF_BODY void choose(const uint8_t *column, uint8_t threshold, uint8_t bit, const uint8_t *no, const uint8_t *yes,
                     size_t rows, uint8_t *DPF_RESTRICT out) {
    for (size_t i = 0; i < rows; i++) {
        const uint8_t asked = (uint8_t)-(column[i] > threshold); /* all bits or none: a vector has no branches */
        out[i] = (uint8_t)(((yes[i] | bit) & asked) | (no[i] & ~asked));
    }
}

DPF_BODY void leaves(const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t trees,
                     size_t depth, size_t n, size_t stride, uint8_t *DPF_RESTRICT scratch,
                     uint8_t *DPF_RESTRICT leaf) {
    const size_t nodes = ((size_t)1 << depth) - 1, last = nodes / 2;
    for (size_t start = 0, rows; start < n; start += rows) {
        rows = n - start < DPF_TREES_BLOCK ? n - start : DPF_TREES_BLOCK;
        for (size_t t = 0; t < trees; t++) {
            const uint32_t *ask_of = asked + t * nodes;
            const uint8_t *above = threshold + t * nodes;
            uint8_t *place = leaf + t * stride + start, bit = 1;
            for (size_t q = nodes, end = last; q-- > 0;) {
                const uint8_t *read = column[ask_of[q]] + start;
                uint8_t *out = q ? scratch + q * DPF_TREES_BLOCK : place;
                if (q >= last) {
                    ask(read, above[q], rows, out);
                    continue;
                }
                if (q < end) { /* a level higher: levels begin at (end - 1) / 2 */
                    bit = (uint8_t)(bit << 1);
                    end = (end - 1) / 2;
                }
                const uint8_t *no = scratch + (2 * q + 1) * DPF_TREES_BLOCK;
                choose(read, above[q], bit, no, no + DPF_TREES_BLOCK, rows, out);
            }
        }
    }
}

DPF_LEVELS(void, dpf_trees_leaves, leaves,
           (const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t trees, size_t depth,
            size_t n, size_t stride, uint8_t *DPF_RESTRICT scratch, uint8_t *DPF_RESTRICT leaf),
           (column, asked, threshold, trees, depth, n, stride, scratch, leaf))

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
