/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this process gives up in two stages: capabilities, new privileges, and the system calls that it has no use for. The
 * first one comes before anything from outside is read, the second one when tracing has begun. docs/security.md says what each
 * verb keeps, and why.
 */
#ifndef NTPROF_CLI_CONFINE_H
#define NTPROF_CLI_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * confine_loading() - for all threads, for good: what is left is what waiting for a module and loading programs takes
 * @keep: capabilities that the verb needs in the end, see confine()
 * @ends_processes: it has to signal processes that it has started
 *
 * Sockets are open by then: none can be connected or bound any more. Where the kernel refuses a part of it, that is told, and
 * it goes on: nothing is less safe than it was.
 */
void confine_loading(uint64_t keep, bool ends_processes);

/**
 * confine() - after that: what is left is what tracing takes
 * @keep: capabilities that the verb needs besides CAP_BPF, with which room for more connections is made;
 *	  RIGHTS_ALL: nothing is given up
 * @ends_processes: as before
 * @verbose: tell on standard error what is held
 */
void confine(uint64_t keep, bool ends_processes, bool verbose);

#endif /* NTPROF_CLI_CONFINE_H */
