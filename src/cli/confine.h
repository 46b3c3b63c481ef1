/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This process gives up what it does not need: at first new privileges and the memory of other
 * processes, and then capabilities and system calls in two steps. The first step comes before
 * anything from outside is read, the second one when tracing has begun. docs/security.md says what
 * each verb keeps, and why.
 */
#ifndef NTPROF_CLI_CONFINE_H
#define NTPROF_CLI_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * confine_begin() - give up new privileges and the memory, descriptors and root directories of
 * other processes, for the calling thread and those that it makes later
 * @verbose: say so if the kernel has no Landlock
 *
 * Call it before the first thread is made, and after the processes that start programs.
 */
void confine_begin(bool verbose);

/**
 * confine_loading() - first step, for all threads and for good: keeps what waiting for a module and
 * loading programs need
 * @keep: capabilities that the verb needs in the end, see confine()
 * @loads: capabilities that it needs until then, besides those of every verb
 * @ends_processes: the verb sends signals to processes that it has started
 *
 * Sockets have to be open already, as connect() and bind() fail afterwards. If the kernel refuses a
 * part of this, a message says so and the program goes on, because it is as safe as before.
 */
void confine_loading(uint64_t keep, uint64_t loads, bool ends_processes);

/**
 * confine() - second step: keeps what tracing needs
 * @keep: capabilities that the verb needs besides CAP_BPF, which is needed to make room for more
 *        connections; RIGHTS_ALL: give up nothing
 * @ends_processes: as above
 * @verbose: print to standard error what is kept
 */
void confine(uint64_t keep, bool ends_processes, bool verbose);

#endif /* NTPROF_CLI_CONFINE_H */
