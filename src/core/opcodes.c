// SPDX-License-Identifier: GPL-2.0-only
#include "core/opcodes.h"

#include <stddef.h>

/* libnvme 1.3 of Debian 12 has numbers of opcodes, but no names; see core/statuses.c. */
static const char *const io_names[256] = {
	[0x00] = "flush",
	[0x01] = "write",
	[0x02] = "read",
	[0x04] = "write_uncorrectable",
	[0x05] = "compare",
	[0x08] = "write_zeroes",
	[0x09] = "dataset_management",
	[0x0c] = "verify",
	[0x0d] = "reservation_register",
	[0x0e] = "reservation_report",
	[0x11] = "reservation_acquire",
	[0x15] = "reservation_release",
	[0x18] = "cancel",
	[0x19] = "copy",
	[0x79] = "zone_management_send",
	[0x7a] = "zone_management_receive",
	[0x7d] = "zone_append",
};

static const char *const admin_names[256] = {
	[0x00] = "delete_io_submission_queue",
	[0x01] = "create_io_submission_queue",
	[0x02] = "get_log_page",
	[0x04] = "delete_io_completion_queue",
	[0x05] = "create_io_completion_queue",
	[0x06] = "identify",
	[0x08] = "abort",
	[0x09] = "set_features",
	[0x0a] = "get_features",
	[0x0c] = "asynchronous_event_request",
	[0x0d] = "namespace_management",
	[0x10] = "firmware_commit",
	[0x11] = "firmware_image_download",
	[0x14] = "device_self_test",
	[0x15] = "namespace_attachment",
	[0x18] = "keep_alive",
	[0x19] = "directive_send",
	[0x1a] = "directive_receive",
	[0x1c] = "virtualization_management",
	[0x1d] = "nvme_mi_send",
	[0x1e] = "nvme_mi_receive",
	[0x20] = "capacity_management",
	[0x24] = "lockdown",
	[0x7c] = "doorbell_buffer_config",
	[0x80] = "format_nvm",
	[0x81] = "security_send",
	[0x82] = "security_receive",
	[0x84] = "sanitize",
	[0x86] = "get_lba_status",
};

static const char *const fabrics_names[256] = {
	[0x00] = "property_set",	   [0x01] = "connect",
	[0x04] = "property_get",	   [0x05] = "authentication_send",
	[0x06] = "authentication_receive", [0x08] = "disconnect",
};

const char *opcode_name(enum nt_op op, __u8 opcode, __u8 type)
{
	const char *name;

	if (op == NT_OP_FABRICS)
		return fabrics_names[type] ?: type >= 0xc0 ? "vendor_specific" : "reserved";
	name = op == NT_OP_ADMIN ? admin_names[opcode] : io_names[opcode];
	if (name)
		return name;
	/*
	 * NVMe Base 2.0, 3.1.4: vendor specific opcodes begin at C0h for admin commands and at 80h
	 * for I/O commands.
	 */
	return opcode >= (op == NT_OP_ADMIN ? 0xc0 : 0x80) ? "vendor_specific" : "reserved";
}
