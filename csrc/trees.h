/*
 * trees.h - complete binary trees over columns of bytes: their leaves, and thresholds at quantiles, of all trees at once.
 *
 * A tree of depth D has 2^D - 1 nodes in breadth-first order: the children of node q are 2 q + 1 and 2 q + 2. Node q
 * asks whether the byte of its column is above its threshold, and goes to the second child if so. The leaf of a row is a
 * number below 2^D: its highest bit is the answer of the root, and its lowest that of the last level.
 */
#ifndef DPF_TREES_H
#define DPF_TREES_H

#include "dpf.h"

enum { DPF_TREES_DEPTH = 8, DPF_TREES_WORDS = 8 };

/*
 * leaf[t * stride + i] = the leaf of row i in tree t.
 *
 *   column     columns of n bytes               read
 *   asked      questions                        the column that each question reads
 *   threshold  questions
 *   node       trees * (2^depth - 1)            the question of each node
 *   answer     questions * DPF_TREES_WORDS      scratch
 *   leaf       trees runs of n, `stride` apart  written, may not overlap the inputs
 *
 * Requires 1 <= depth <= DPF_TREES_DEPTH and stride >= n. Nodes of several trees that ask the same share a question. All
 * questions are answered for 512 rows at a time, a bit for each, and trees choose among answers, 64 rows in a word. Cost
 * for each row: a comparison for each question, and for each node one bit that is chosen among two.
 */
void dpf_trees_leaves(const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t questions,
                      const uint32_t *node, size_t trees, size_t depth, size_t n, size_t stride,
                      uint64_t *DPF_RESTRICT answer, uint8_t *DPF_RESTRICT leaf);

/*
 * threshold[t * nodes + q] = the byte of rank (size_t)(m * quantile[t * nodes + q]) among those of the m rows that reach
 * node q of tree t, in its column, or among those of all rows if none does. If no row is above it, and not all are equal,
 * it is one less. held[t * 2^depth + l] = the number of rows in leaf l.
 *
 *   column     columns of n bytes       read
 *   asked      trees * nodes            read, the column that each node reads; nodes = 2^depth - 1
 *   quantile   trees * nodes            read, at least 0 and below 1
 *   count      256 << (depth - 1)       scratch
 *   place      n                        scratch
 *   threshold  trees * nodes            written
 *   held       trees * 2^depth          written, may not overlap the inputs
 *
 * Requires 1 <= depth <= DPF_TREES_DEPTH and 1 <= n < 2^32. Cost: for each tree and level, two passes over the rows and
 * one over 256 counts of each node.
 */
void dpf_trees_thresholds(const uint8_t *const *column, const uint32_t *asked, const double *quantile, size_t trees,
                          size_t depth, size_t n, uint32_t *DPF_RESTRICT count, uint8_t *DPF_RESTRICT place,
                          uint8_t *DPF_RESTRICT threshold, uint32_t *DPF_RESTRICT held);

#endif
