/* SPDX-License-Identifier: GPL-2.0-only */
/* The statuses with which commands end, and their names. */
#ifndef NTPROF_CORE_STATUSES_H
#define NTPROF_CORE_STATUSES_H

#include <stdbool.h>

#include "core/record.h"

/** status_is_error() - whether @status, of a record, says that its command was not successful */
static inline bool status_is_error(__u16 status)
{
	return status & NT_STATUS_MASK;
}

/**
 * status_name() - what a status is called
 * @op: of the command: fabrics commands have statuses of their own
 * @status: of a record; what tells how to try again (CRD, More, DNR) is ignored
 *
 * Return: the name that the NVMe specifications give it (Base 2.0, 3.3.3.2.1; NVM Command Set 1.0; Zoned Namespace
 * Command Set 1.1; over Fabrics 1.1, 3), in lower case and with underscores; static. "unknown" for one that is in none.
 */
const char *status_name(enum nt_op op, __u16 status);

#endif /* NTPROF_CORE_STATUSES_H */
