#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "process.h"

#if defined(_WIN32)

static const uint64_t number = 1;

bool dpf_process_prepare(void) { return true; }

uint64_t dpf_process_number(void) { return number; }

const volatile uint64_t *dpf_process_place(void) { return &number; }

#else

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static _Atomic uint64_t kept;           /* what a fork keeps, but for the handler */
static _Atomic uint64_t *place = &kept; /* of this process's number, 0 in a new child */
static _Atomic uint64_t last;           /* of all numbers that were given */

static void forget(void) { atomic_store(&kept, 0); }

bool dpf_process_prepare(void) {
#if defined(MADV_WIPEONFORK)
    void *page = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        if (madvise(page, sizeof *place, MADV_WIPEONFORK) == 0) {
            place = page;
            return true;
        }
        munmap(page, sizeof *place);
    }
#endif
    return pthread_atfork(NULL, NULL, forget) == 0;
}

/* Of two threads of a new child that both draw a number, the first one's stands. */
uint64_t dpf_process_number(void) {
    uint64_t number = atomic_load(place);
    if (number == 0) {
        const uint64_t drawn = atomic_fetch_add(&last, 1) + 1;
        if (atomic_compare_exchange_strong(place, &number, drawn)) number = drawn;
    }
    return number;
}

const volatile uint64_t *dpf_process_place(void) { return (const volatile uint64_t *)place; }

#endif
