/*
 * codes.h - tables of codes: p columns of small integers, one for each of n rows, column by column.
 *
 * A code is a bin, a value or "missing": column j holds codes below size[j], one byte each or, where wide[j], two. Entry
 * offset[j] + v of whatever is kept for every code belongs to code v of column j; offset[p] = sum of sizes.
 *
 * Columns are read in groups (dpf_codes_plan): the codes of a group's columns make one joint code, found by vectors for
 * some rows at a time, and a joint code costs one addition to a table, or one look-up, where its columns would cost one
 * each. Tables of joint codes become those of codes by adding up, or the other way for look-ups; the plan thus decides
 * speed alone. All results are integers, the same for every plan and at every instruction-set level.
 */
#ifndef DPF_CODES_H
#define DPF_CODES_H

#include "dpf.h"

typedef struct {
    const void *const *column; /* p runs of n codes */
    const uint8_t *wide;
    const uint32_t *size; /* 1 to 65536 */
    const uint32_t *offset;
    size_t n, p;
} dpf_codes;

/*
 * Group g has the columns member[first[g]] to member[first[g + 1] - 1]; its joint code is the sum of stride * code, stride
 * 1 for the first and the product of the sizes before it for the others. Its joint codes have the entries cell[g] to
 * cell[g + 1] - 1. A group of several columns has at most DPF_CODES_CELLS joint codes; none
 * has more than DPF_CODES_MEMBERS.
 */
enum { DPF_CODES_CELLS = 4096, DPF_CODES_MEMBERS = 12 };
typedef struct {
    const uint32_t *first, *member, *cell;
    size_t groups;
} dpf_codes_plan;

/* The largest of n codes, 0 of none. */
uint32_t dpf_codes_largest(const void *column, bool wide, size_t n);

/*
 * The size up to which columns of bytes are better counted by planes of bits than by groups, where `chosen` of n rows count;
 * 0 where there is no AVX-512.
 */
size_t dpf_codes_planed(size_t n, size_t chosen, size_t classes);

/*
 * total[(offset[j] + v) * classes + c] += #{rows of code v in column j with label c}.
 *
 *   planed what dpf_codes_planed says, or less: such columns of bytes are in no group of the plan
 *   label  n labels below `classes`, of one byte or, where wide_label, two
 *   mask   DPF_WORDS(n)                                only these rows; NULL for all
 *   joint  cell[groups] * DPF_CODES_COUNTED(classes)   scratch
 *   total  offset[p] * classes
 *
 * Requires n < 2^31 and cells * classes <= 65536 for every group. Cost: one read of the codes, an addition for each row
 * that counts and group. Two classes share the number that is added to, 16 bits each, which is emptied in time.
 */
#define DPF_CODES_COUNTED(classes) ((classes) == 2 ? 3 : (classes))
void dpf_codes_count(const dpf_codes *codes, const dpf_codes_plan *plan, size_t planed, const void *label,
                     bool wide_label, size_t classes, const uint64_t *mask, int32_t *DPF_RESTRICT joint,
                     int64_t *DPF_RESTRICT total);

/*
 * total[(offset[j] + v) * k + l] += sum of weight[i * k + l] over the rows i of code v in column j.
 *
 *   joint  cell[groups] * DPF_CODES_LANES(k)   scratch
 *
 * For sums that 64 bits hold: of 2^31 rows, any. Cost as above; rows of weight 0 cost little, and up to eight sums little
 * more than one. Numbers of 32 bits are added to, and emptied before the largest |weight| could make them overflow: so
 * weights above 2^20, say, cost more.
 */
#define DPF_CODES_LANES(k) ((k) > 4 ? 8 : (k) > 2 ? 4 : (k))
void dpf_codes_sum(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *weight, size_t k,
                   int32_t *DPF_RESTRICT joint, int64_t *DPF_RESTRICT total);

/* The largest |entry| of each column, added up over the columns; the most over the k tables. */
int64_t dpf_codes_reach(const dpf_codes *codes, const int32_t *table, size_t k);

/*
 * margin[i * k + l] = sum over the columns j of table[(offset[j] + v_ij) * k + l].
 *
 *   joint   cell[groups] * DPF_CODES_LANES(k)   scratch
 *   planes  DPF_CODES_PLANES * p * k            scratch
 *
 * Requires that dpf_codes_reach is below 2^31. Cost: one read of the codes,
 * a look-up for each row and group. With AVX-512 and few margins a row, columns of bytes are looked up in registers, 64
 * rows at a time, where no column's entries are 2^24 or more apart.
 */
enum { DPF_CODES_PLANES = 3 * 256, DPF_CODES_PERMUTED = 8 };
void dpf_codes_margins(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                       int32_t *DPF_RESTRICT joint, uint8_t *DPF_RESTRICT planes, int32_t *DPF_RESTRICT margin);

/*
 * Bit i of rows: whether low <= code i <= high; bits past n are zero.
 * Requires low <= high, both at most the largest code that a byte, or two, can hold.
 *
 *   rows  DPF_WORDS(n)   written
 */
void dpf_codes_match(const void *column, bool wide, size_t n, uint32_t low, uint32_t high,
                     uint64_t *DPF_RESTRICT rows);

#endif
