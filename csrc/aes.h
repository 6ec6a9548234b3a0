/*
 * aes.h - a bit generator: AES-128 in counter mode, with the words of randomgen's AESCounter in the same order.
 *
 * A word costs one call, where a watched AESCounter takes two: a comparison of the process (watch.h), one with the end of
 * the words at hand, a load. These 32 words are enciphered at once, by instructions for one, two or four blocks of 16
 * bytes. A round of AES takes three or four cycles, and one or two rounds may begin in each, so the rounds of four
 * registers are in progress together: ten rounds of 16 blocks in some 40 cycles, of which the next words hide a part.
 * More words at once, or more registers, are slower: less of the cipher is hidden behind the calls.
 *
 * The words are the same at every instruction-set level. There is no cipher here for processors without instructions for
 * AES: one in software would tell its key through the cache, and dpfast.random uses ChaCha20 there.
 */
#ifndef DPF_AES_H
#define DPF_AES_H

#include "watch.h"

enum { DPF_AES_NONE = 0, DPF_AES_ONE = 1, DPF_AES_TWO = 2, DPF_AES_FOUR = 4 }; /* blocks of one instruction */
enum { DPF_AES_BLOCKS = 16, DPF_AES_WORDS = 2 * DPF_AES_BLOCKS, DPF_AES_SCHEDULE = 22 };

typedef struct {
    dpf_watch watch;                     /* first, so that `rekey` finds the rest; its cipher is not used */
    uint64_t schedule[DPF_AES_SCHEDULE]; /* eleven round keys, the low word of each first */
    uint64_t counter[2];                 /* of the next block to encipher, low word first */
    uint64_t words[DPF_AES_WORDS];       /* of the blocks enciphered last */
    uint32_t at;                         /* the next word to hand out; DPF_AES_WORDS if none is left */
    uint32_t half;                       /* the high half of a word whose low half was handed out, */
    uint32_t halved;                     /* if there is one */
    int way;                             /* blocks of one instruction */
} dpf_aes;

/* The most blocks of one instruction at an instruction-set level, on a processor with the sets `sets` (dpf_cpu.h):
 * DPF_AES_NONE if it has no instructions for AES. */
int dpf_aes_way(int level, uint32_t sets);

/* Encipher the next DPF_AES_BLOCKS blocks into `words`, and move the counter past them. Requires a way of this
 * processor. */
void dpf_aes_fill(dpf_aes *aes);

/* Have `bits` draw the words of `aes`. */
void dpf_aes_put(dpf_aes *aes, bitgen_t *bits);

#endif
