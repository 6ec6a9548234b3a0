#include "trees.h"
#include "dpf_cpu.h"

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
