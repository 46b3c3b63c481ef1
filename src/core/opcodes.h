/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of opcodes. */
#ifndef NTPROF_CORE_OPCODES_H
#define NTPROF_CORE_OPCODES_H

#include "core/record.h"

/**
 * opcode_fabrics_type() - the type of a Fabrics command; it is in the first byte of the field that
 * is the NSID of other commands
 */
static inline __u8 opcode_fabrics_type(const struct nt_record *r)
{
	return r->nsid & 0xff;
}

/**
 * opcode_name() - name of a command
 * @op: operation of the command: admin and Fabrics commands have names of their own
 * @opcode: its opcode
 * @type: type of a Fabrics command
 *
 * Return: the name in the NVMe specifications (Base 2.0, figures 138 and 519; NVM Command Set 1.0;
 * Zoned Namespace Command Set 1.1), in lower case and with underscores; static string.
 * "vendor_specific" or "reserved" for other opcodes.
 */
const char *opcode_name(enum nt_op op, __u8 opcode, __u8 type);

#endif /* NTPROF_CORE_OPCODES_H */
