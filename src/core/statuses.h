/* SPDX-License-Identifier: GPL-2.0-only */
/* The status codes of commands, and their names. */
#ifndef NTPROF_CORE_STATUSES_H
#define NTPROF_CORE_STATUSES_H

#include <stdbool.h>

#include "core/record.h"

/** status_is_error() - whether @status, of a record, means that the command failed */
static inline bool status_is_error(__u16 status)
{
	return status & NT_STATUS_MASK;
}

/**
 * status_name() - name of a status
 * @op: operation of the command: Fabrics commands have status codes of their own
 * @status: of a record; the bits about retries (CRD, More, DNR) are ignored
 *
 * Return: the name in the NVMe specifications (Base 2.0, 3.3.3.2.1; NVM Command Set 1.0; Zoned
 * Namespace Command Set 1.1; over Fabrics 1.1, 3), in lower case and with underscores; static
 * string. "unknown" if no specification has the status.
 */
const char *status_name(enum nt_op op, __u16 status);

#endif /* NTPROF_CORE_STATUSES_H */
