/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of opcodes. */
#ifndef NTPROF_CORE_OPCODES_H
#define NTPROF_CORE_OPCODES_H

#include "core/record.h"

/** opcode_fabrics_type() - the type of a fabrics command: it is where others have the first byte of the NSID */
static inline __u8 opcode_fabrics_type(const struct nt_record *r)
{
	return r->nsid & 0xff;
}

/**
 * opcode_name() - what a command is called
 * @op: of the command: admin and fabrics commands have names of their own
 * @opcode: its opcode; @type: of a fabrics command
 *
 * Return: the name that the NVMe specifications give it (Base 2.0, figures 138 and 519; NVM Command Set 1.0; Zoned
 * Namespace Command Set 1.1), in lower case and with underscores; static. "vendor_specific" or "reserved" for the rest.
 */
const char *opcode_name(enum nt_op op, __u8 opcode, __u8 type);

#endif /* NTPROF_CORE_OPCODES_H */
