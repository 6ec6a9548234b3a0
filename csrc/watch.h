/*
 * watch.h - a bit generator that compares the process at every word, and is keyed anew in a forked one.
 *
 * One load and one comparison a word before the generator's own call, which is the last thing done: the two calls cost
 * one more jump than one. The caller holds the generator's lock.
 */
#ifndef DPF_WATCH_H
#define DPF_WATCH_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

typedef struct dpf_watch {
    const volatile uint64_t *place;    /* dpf_process_place() */
    uint64_t process;                  /* the process in which the key was drawn */
    bitgen_t cipher;                   /* what is watched */
    void *owner;                       /* for `rekey` */
    void (*rekey)(struct dpf_watch *); /* keys the cipher anew, and sets `process` */
} dpf_watch;

/* Have `bits`, whose functions stand in w->cipher, draw through the watch. */
void dpf_watch_put(dpf_watch *w, bitgen_t *bits);

#endif
