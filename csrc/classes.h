/*
 * classes.h - finite hypothesis classes as bit sets: their Littlestone dimension.
 *
 * A class of n hypotheses on `points` points is kept point by point: column x is a run of
 * words = DPF_WORDS(n) words, bit h of it what hypothesis h says at x. A subclass is one such run, bit h
 * saying whether h is in it. Bits past n are zero in columns and subclasses. Restriction to label 1 at x
 * is dpf_bits_and of the two runs, to label 0 dpf_bits_andnot (bits.h).
 */
#ifndef DPF_CLASSES_H
#define DPF_CLASSES_H

#include "dpf.h"

/*
 * out[x] = the number of members that say 1 at x.
 *
 *   columns  points * words   read
 *   members  words            read
 *   out      points           written
 *
 * Cost: one read of the columns.
 */
/*@ requires words < 67108864 && points * words <= 144115188075855872;
    requires \valid_read(columns + (0 .. points * words - 1)) && \valid_read(members + (0 .. words - 1));
    requires \valid(out + (0 .. points - 1));
    requires \separated(out + (0 .. points - 1), columns + (0 .. points * words - 1), members + (0 .. words - 1));
    assigns out[0 .. points - 1];
    ensures \forall integer x; 0 <= x < points ==> out[x] <= 64 * words; */
void dpf_classes_counts(const uint64_t *columns, const uint64_t *members, size_t points, size_t words,
                        uint32_t *DPF_RESTRICT out);

enum { DPF_CLASSES_NO = 0, DPF_CLASSES_YES = 1, DPF_CLASSES_GAVE_UP = 2 };

/*
 * Whether the Littlestone dimension of a subclass is at least k.
 *
 *   columns  points * words          read; no two members may agree at all points
 *   members  words                   read
 *   sets     k * words               scratch
 *   counts   k * points              scratch
 *   memo     slots * (words + 1)     kept from call to call for one `columns`; starts zeroed
 *   nodes    1                       in: subclasses that may be searched; out: how many were not
 *
 * A class has dimension k or more if some point splits it into two of dimension k - 1 or more
 * [Littlestone 1988]. A class of dimension k has 2^k members, so a split is tried only if its smaller side
 * has 2^(k - 1), the most even first and its smaller side first. The memo keeps the bounds known for the
 * subclass last seen in each slot, with the whole subclass for a key: a slot taken by another forgets, it
 * never errs. A search that gives up has left what it learned in the memo.
 *
 * Requires k < 63 and slots a power of two. Cost: `points` times `words` words read for each subclass
 * searched; up to the number of its restrictions by k - 2 points in the worst case.
 */
int dpf_classes_at_least(const uint64_t *columns, const uint64_t *members, size_t points, size_t words, unsigned k,
                         uint64_t *DPF_RESTRICT sets, uint32_t *DPF_RESTRICT counts, uint64_t *DPF_RESTRICT memo,
                         size_t slots, uint64_t *DPF_RESTRICT nodes);

#endif
