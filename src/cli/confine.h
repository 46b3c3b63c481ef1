/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this process gives up when tracing has begun: capabilities, new privileges, and the system calls that it has no use
 * for. docs/security.md says what each verb keeps, and why.
 */
#ifndef NTPROF_CLI_CONFINE_H
#define NTPROF_CLI_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * confine() - for all threads, for good
 * @keep: capabilities that the verb needs besides CAP_BPF, with which room for more connections is made;
 *	  RIGHTS_ALL: nothing is given up
 * @verbose: tell on standard error what is held
 *
 * Where the kernel refuses a part of it, that is told, and it goes on: nothing is less safe than it was.
 */
void confine(uint64_t keep, bool verbose);

#endif /* NTPROF_CLI_CONFINE_H */
