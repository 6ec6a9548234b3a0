#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "process.h"

#if defined(_WIN32)

bool dpf_process_prepare(void) { return true; }

uint64_t dpf_process_number(void) { return 1; }

#else

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static _Atomic uint64_t kept;             /* what a fork keeps, but for the handler */
static _Atomic uint64_t *counted = &kept; /* 1 where this process has its number, 0 in a new child */
static _Atomic uint64_t number;

static void forget(void) { atomic_store(&kept, 0); }

bool dpf_process_prepare(void) {
#if defined(MADV_WIPEONFORK)
    void *page = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        if (madvise(page, sizeof *counted, MADV_WIPEONFORK) == 0) {
            counted = page;
            return true;
        }
        munmap(page, sizeof *counted);
    }
#endif
    return pthread_atfork(NULL, NULL, forget) == 0;
}

/* Two threads of a new child may both count: its number is above the parent's in any case. */
uint64_t dpf_process_number(void) {
    if (atomic_load_explicit(counted, memory_order_acquire) == 0) {
        atomic_fetch_add(&number, 1);
        atomic_store_explicit(counted, 1, memory_order_release);
    }
    return atomic_load_explicit(&number, memory_order_relaxed);
}

#endif
