/*
 * process.h - a number for the process, which a forked child does not share with its parent.
 *
 * A child finds a page of memory zeroed that its parent had written the number into (MADV_WIPEONFORK, Linux 4.14), whoever
 * forked it and by whatever call. Where there is no such page, a handler of pthread_atfork does the same for every fork
 * that goes through the C library. Windows does not fork. One load a look, no system call.
 */
#ifndef DPF_PROCESS_H
#define DPF_PROCESS_H

#include "dpf.h"

/* Make ready, once and before the first number is asked for: false if the system refuses the handler. */
bool dpf_process_prepare(void);

/* Above 0, and above every number that was told in a process from which this one was forked. */
uint64_t dpf_process_number(void);

/* Where the number stands from the first time it was told; 0 stands there in a child that has not asked for its own. */
const volatile uint64_t *dpf_process_place(void);

#endif
