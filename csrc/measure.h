/*
 * measure.h - dense measures on rows, in integers: what Bregman projection is to integer scores.
 *
 * Row i has a score s_i; its weight is table[clamp(s_i - threshold)] units, where the table falls from the cap, table[0],
 * to its last entry, 0: rows whose score is at most the threshold are capped. Raising the threshold raises every weight.
 * Between threshold t and t + 1 lie the measures in which rows before `split` have the weights of t + 1, the row
 * at `split` `part` units more than its weight of t, and later rows the weights of t. So measures are ordered, each
 * weight rises along the order, and there is one for every total of units up to n * cap: exactly the mass wanted, whatever the scores.
 * Two measures of one mass therefore differ, rows of equal scores aside, in one direction.
 */
#ifndef DPF_MEASURE_H
#define DPF_MEASURE_H

#include "dpf.h"

/* low and high become the extremes of n >= 1 scores. */
/*@ requires n >= 1 && \valid_read(score + (0 .. n - 1)) && \valid(low) && \valid(high);
    requires \separated(low, high, score + (0 .. n - 1));
    assigns *low, *high;
    ensures \forall integer i; 0 <= i < n ==> *low <= score[i] <= *high;
    ensures \exists integer i; 0 <= i < n && *low == score[i];
    ensures \exists integer i; 0 <= i < n && *high == score[i]; */
void dpf_measure_range(const int32_t *score, size_t n, int32_t *low, int32_t *high);

/* count[h - low] += 1 for the high bits h of each score, without its last `bits`, all of them in [low, low + size). */
/*@ requires \valid_read(score + (0 .. n - 1)) && n <= INT64_MAX && 0 <= bits < 32;
    requires \forall integer i; 0 <= i < n ==> (score[i] >> bits) >= low && \valid(count + ((score[i] >> bits) - low));
    requires \forall integer i, j;
        0 <= i < n && 0 <= j < n ==> \separated(count + ((score[i] >> bits) - low), score + j);
    requires \forall integer i; 0 <= i < n ==> 0 <= count[(score[i] >> bits) - low] <= INT64_MAX - n;
    assigns count[0 .. 4294967295]; */
void dpf_measure_count(const int32_t *score, size_t n, int bits, int32_t low, int64_t *DPF_RESTRICT count);

/*
 * The row at which weights of threshold + 1 have added up to more than `excess` units above those of threshold, n if they do not;
 * *part becomes what is left of `excess` there.
 */
/*@ predicate dpf_measure_falls(int32_t *table, integer size) =
        \forall integer a, b; 0 <= a <= b < size ==> 0 <= table[b] <= table[a]; */

/*@ requires \valid_read(score + (0 .. n - 1)) && \valid_read(table + (0 .. size - 1)) && 1 <= size <= INT64_MAX;
    requires \valid(part) && \separated(part, score + (0 .. n - 1), table + (0 .. size - 1));
    requires dpf_measure_falls(table, size) && excess >= 0 && -9007199254740992 <= threshold <= 9007199254740992;
    assigns *part;
    ensures \result <= n && 0 <= *part <= excess; */
size_t dpf_measure_split(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                         int64_t excess, int64_t *part);

/* The units of all rows at a threshold; *more = how many more they are at the next one; size is less than 2^31. */
int64_t dpf_measure_total(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                          int64_t *more);

/* weight[i] = sign[i] * (units of row i), in the measure of `excess` units more than that of the threshold, or of all
 * units of threshold + 1 if that has fewer; sign is +-1, and size less than 2^31. */
void dpf_measure_weights(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, size_t size,
                         int64_t threshold, int64_t excess, int32_t *DPF_RESTRICT weight);

/*
 * A projection in one look-up a row. A row's place in the table is random, and a table that few scores share is larger
 * than the near caches: each look-up waits. So units of less than 2^16 are narrowed to 16 bits, which halves the table,
 * and lie so that one place has them at a threshold and, before it, at the next one. `look` copies both to where the
 * row's weight will stand, and adds them up. If they enclose the mass, `settle` makes the weights of them in order,
 * without the table; else the caller looks again, at another threshold.
 */

/* pairs[0 .. size + 1], for `look`: entry i + 1 is table[i], the ends once more. Returns whether the table falls, if its
 * entries are in [0, 2^16). */
bool dpf_measure_pairs(const int32_t *table, size_t size, uint16_t *DPF_RESTRICT pairs);

/* sum[g] = the sum of group g of 2^bits entries of the table; the last group may have fewer. */
void dpf_measure_groups(const int32_t *table, size_t size, int bits, int64_t *DPF_RESTRICT sum);

/* dpf_measure_total, by the pairs of a table of `size` entries. pair[i] = the units of row i at the threshold in the
 * high 16 bits, at the next one in the low. */
int64_t dpf_measure_look(const int32_t *score, size_t n, const uint16_t *pairs, size_t size, int64_t threshold,
                         int32_t *DPF_RESTRICT pair, int64_t *more);

/* dpf_measure_weights, of the pairs of each row, which it overwrites with the weights. */
void dpf_measure_settle(const int8_t *sign, size_t n, int64_t excess, int32_t *DPF_RESTRICT weight);

/* score[i] += sign[i] * (margin[i] * unit, rounded to the nearest integer), for margins in [-1, 1]. */
void dpf_measure_add(int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit);

#endif
