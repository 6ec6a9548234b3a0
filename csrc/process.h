/*
 * process.h - a number for the process, which a forked child does not share with its parent.
 *
 * A child finds a page of memory zeroed that its parent had filled (MADV_WIPEONFORK, Linux 4.14), whoever forked it and
 * by whatever call. Where there is no such page, a handler of pthread_atfork does the same for every fork that goes
 * through the C library. Windows does not fork. Two loads a call, no system call.
 */
#ifndef DPF_PROCESS_H
#define DPF_PROCESS_H

#include "dpf.h"

/* Make ready, once and before the first number is asked for: false if the system refuses the handler. */
bool dpf_process_prepare(void);

/* Above 0, and above every number that was told in a process from which this one was forked. */
uint64_t dpf_process_number(void);

#endif
