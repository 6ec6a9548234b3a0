/* The part of numpy's header that csrc/ uses, so that the proofs do not need numpy. */
#ifndef DPFAST_PROOFS_BITGEN_H
#define DPFAST_PROOFS_BITGEN_H

#include <stdint.h>

typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
} bitgen_t;

#endif
