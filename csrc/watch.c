#include "watch.h"

DPF_BODY bitgen_t *here(void *state) {
    dpf_watch *w = state;
    if (*w->place != w->process) w->rekey(w);
    return &w->cipher;
}

static uint64_t next_uint64(void *state) {
    bitgen_t *cipher = here(state);
    return cipher->next_uint64(cipher->state);
}

static uint32_t next_uint32(void *state) {
    bitgen_t *cipher = here(state);
    return cipher->next_uint32(cipher->state);
}

static double next_double(void *state) {
    bitgen_t *cipher = here(state);
    return cipher->next_double(cipher->state);
}

static uint64_t next_raw(void *state) {
    bitgen_t *cipher = here(state);
    return cipher->next_raw(cipher->state);
}

void dpf_watch_put(dpf_watch *w, bitgen_t *bits) {
    bits->state = w;
    bits->next_uint64 = next_uint64, bits->next_uint32 = next_uint32;
    bits->next_double = next_double, bits->next_raw = next_raw;
}
