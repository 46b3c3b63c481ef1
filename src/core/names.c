// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"

#include <stddef.h>
#include <string.h>

#include "core/array.h"

#define NAME_SECOND(id, name, ...) name,

static const char *name_get(const char *const *names, size_t nr, unsigned int i)
{
	return i < nr ? names[i] : "unknown";
}

const char *source_name(enum nt_source source)
{
#define SOURCE_NAME(id, name) [NT_##id] = name,
	static const char *const names[] = {NT_SOURCE_NAMES(SOURCE_NAME)};

	return source < NT_SOURCES ? names[source] : "none";
}

const char *transport_name(unsigned int transport)
{
	static const char *const names[] = {NT_TRANSPORTS(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), transport);
}

unsigned int transport_named(const char *name, size_t len)
{
	unsigned int i = 0;

	while (i < NT_TRANSPORTS_NR &&
	       (strlen(transport_name(i)) != len || strncmp(transport_name(i), name, len) != 0))
		i++;
	return i;
}

const char *side_name(enum nt_side side)
{
	static const char *const names[] = {[NT_HOST] = "host", [NT_TARGET] = "target"};

	return name_get(names, ARRAY_SIZE(names), side);
}

const char *op_name(enum nt_op op)
{
	static const char *const names[] = {NT_OPS(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), op);
}

enum nt_op op_named(const char *name)
{
	unsigned int op = 0;

	while (op < NT_OPS_NR && strcmp(name, op_name(op)) != 0)
		op++;
	return op;
}

const char *shape_name(enum nt_shape shape)
{
	static const char *const names[] = {NT_SHAPES(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), shape);
}

const char *stage_name(enum nt_side side, unsigned int stage)
{
	static const char *const host[] = {NT_HOST_STAGES(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_STAGES(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), stage)
			       : name_get(target, ARRAY_SIZE(target), stage);
}

unsigned int stages_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_STAGES_NR
			       : (unsigned int)NT_TARGET_STAGES_NR;
}

const char *point_name(enum nt_side side, unsigned int point)
{
	static const char *const host[] = {NT_HOST_POINTS(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_POINTS(NAME_SECOND) NT_DISK_POINTS(
		NAME_SECOND) NT_FILE_POINTS(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), point)
			       : name_get(target, ARRAY_SIZE(target), point);
}

unsigned int points_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_POINTS_NR
			       : (unsigned int)NT_TARGET_POINTS_NR;
}

unsigned int record_points_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_POINTS_NR : (unsigned int)NT_DISK_POINTS_END;
}

const char *driver_name(enum nt_side side)
{
	return side == NT_HOST ? "nvme_tcp" : "nvmet_tcp";
}

const char *module_traced(enum nt_side side, unsigned int transports)
{
	return side == NT_HOST && transports && !(transports & NT_OF_TCP) ? "nvme_core"
									  : driver_name(side);
}

const char *driver_load(enum nt_side side)
{
	return side == NT_HOST ? "modprobe nvme-tcp" : "modprobe nvmet-tcp";
}

const char *module_load(enum nt_side side, unsigned int transports)
{
	return side == NT_HOST && transports && !(transports & NT_OF_TCP) ? "modprobe nvme"
									  : driver_load(side);
}

/* libnvme 1.3 of Debian 12 has numbers of opcodes, but no names. */
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

/*
 * Ordered by status code type (bits 10:8) and status code (bits 7:0): NVMe Base 2.2, figures 102 to
 * 107.
 *
 * libnvme 1.3 of Debian 12 is not used: it knows statuses, but no opcodes or fields. Its
 * nvme_status_to_string() returns sentences. Some begin with the name and a colon, others have no
 * name, so they cannot serve to select or count. libnvme also takes libdbus and libssl at run time.
 * tests/unit/core/test_libnvme.c compares these names with libnvme.
 */
static const struct status {
	__u16 status;
	const char *name;
} statuses[] = {
	/* Generic command status */
	{0x000, "success"},
	{0x001, "invalid_command_opcode"},
	{0x002, "invalid_field_in_command"},
	{0x003, "command_id_conflict"},
	{0x004, "data_transfer_error"},
	{0x005, "commands_aborted_due_to_power_loss_notification"},
	{0x006, "internal_error"},
	{0x007, "command_abort_requested"},
	{0x008, "command_aborted_due_to_sq_deletion"},
	{0x009, "command_aborted_due_to_failed_fused_command"},
	{0x00a, "command_aborted_due_to_missing_fused_command"},
	{0x00b, "invalid_namespace_or_format"},
	{0x00c, "command_sequence_error"},
	{0x00d, "invalid_sgl_segment_descriptor"},
	{0x00e, "invalid_number_of_sgl_descriptors"},
	{0x00f, "data_sgl_length_invalid"},
	{0x010, "metadata_sgl_length_invalid"},
	{0x011, "sgl_descriptor_type_invalid"},
	{0x012, "invalid_use_of_controller_memory_buffer"},
	{0x013, "prp_offset_invalid"},
	{0x014, "atomic_write_unit_exceeded"},
	{0x015, "operation_denied"},
	{0x016, "sgl_offset_invalid"},
	{0x018, "host_identifier_inconsistent_format"},
	{0x019, "keep_alive_timer_expired"},
	{0x01a, "keep_alive_timeout_invalid"},
	{0x01b, "command_aborted_due_to_preempt_and_abort"},
	{0x01c, "sanitize_failed"},
	{0x01d, "sanitize_in_progress"},
	{0x01e, "sgl_data_block_granularity_invalid"},
	{0x01f, "command_not_supported_for_queue_in_cmb"},
	{0x020, "namespace_is_write_protected"},
	{0x021, "command_interrupted"},
	{0x022, "transient_transport_error"},
	{0x023, "command_prohibited_by_command_and_feature_lockdown"},
	{0x024, "admin_command_media_not_ready"},
	{0x025, "invalid_key_tag"},
	{0x026, "host_dispersed_namespace_support_not_enabled"},
	{0x027, "host_identifier_not_initialized"},
	{0x028, "incorrect_key"},
	{0x029, "fdp_disabled"},
	{0x02a, "invalid_placement_handle_list"},
	{0x080, "lba_out_of_range"},
	{0x081, "capacity_exceeded"},
	{0x082, "namespace_not_ready"},
	{0x083, "reservation_conflict"},
	{0x084, "format_in_progress"},
	{0x085, "invalid_value_size"},
	{0x086, "invalid_key_size"},
	{0x087, "kv_key_does_not_exist"},
	{0x088, "unrecovered_error"},
	{0x089, "key_exists"},

	/* Command specific status */
	{0x100, "completion_queue_invalid"},
	{0x101, "invalid_queue_identifier"},
	{0x102, "invalid_queue_size"},
	{0x103, "abort_command_limit_exceeded"},
	{0x104, "abort_command_is_missing"},
	{0x105, "asynchronous_event_request_limit_exceeded"},
	{0x106, "invalid_firmware_slot"},
	{0x107, "invalid_firmware_image"},
	{0x108, "invalid_interrupt_vector"},
	{0x109, "invalid_log_page"},
	{0x10a, "invalid_format"},
	{0x10b, "firmware_activation_requires_conventional_reset"},
	{0x10c, "invalid_queue_deletion"},
	{0x10d, "feature_identifier_not_saveable"},
	{0x10e, "feature_not_changeable"},
	{0x10f, "feature_not_namespace_specific"},
	{0x110, "firmware_activation_requires_nvm_subsystem_reset"},
	{0x111, "firmware_activation_requires_controller_level_reset"},
	{0x112, "firmware_activation_requires_maximum_time_violation"},
	{0x113, "firmware_activation_prohibited"},
	{0x114, "overlapping_range"},
	{0x115, "namespace_insufficient_capacity"},
	{0x116, "namespace_identifier_unavailable"},
	{0x118, "namespace_already_attached"},
	{0x119, "namespace_is_private"},
	{0x11a, "namespace_not_attached"},
	{0x11b, "thin_provisioning_not_supported"},
	{0x11c, "controller_list_invalid"},
	{0x11d, "device_self_test_in_progress"},
	{0x11e, "boot_partition_write_prohibited"},
	{0x11f, "invalid_controller_identifier"},
	{0x120, "invalid_secondary_controller_state"},
	{0x121, "invalid_number_of_controller_resources"},
	{0x122, "invalid_resource_identifier"},
	{0x123, "sanitize_prohibited_while_persistent_memory_region_is_enabled"},
	{0x124, "ana_group_identifier_invalid"},
	{0x125, "ana_attach_failed"},
	{0x126, "insufficient_capacity"},
	{0x127, "namespace_attachment_limit_exceeded"},
	{0x128, "prohibition_of_command_execution_not_supported"},
	{0x129, "io_command_set_not_supported"},
	{0x12a, "io_command_set_not_enabled"},
	{0x12b, "io_command_set_combination_rejected"},
	{0x12c, "invalid_io_command_set"},
	{0x12d, "identifier_unavailable"},
	{0x12e, "namespace_is_dispersed"},
	{0x12f, "invalid_discovery_information"},
	{0x130, "zoning_data_structure_locked"},
	{0x131, "zoning_data_structure_not_found"},
	{0x132, "insufficient_discovery_resources"},
	{0x133, "requested_function_disabled"},
	{0x134, "zonegroup_originator_invalid"},
	{0x135, "invalid_host"},
	{0x136, "invalid_nvm_subsystem"},
	{0x137, "invalid_controller_data_queue"},
	{0x138, "not_enough_resources"},
	{0x139, "controller_suspended"},
	{0x13a, "controller_not_suspended"},
	{0x13b, "controller_data_queue_full"},
	{0x180, "conflicting_attributes"},
	{0x181, "invalid_protection_information"},
	{0x182, "attempted_write_to_read_only_range"},
	{0x183, "command_size_limit_exceeded"},
	{0x184, "invalid_command_id"},
	{0x185, "incompatible_namespace_or_format"},
	{0x186, "fast_copy_not_possible"},
	{0x187, "overlapping_io_range"},
	{0x188, "namespace_not_reachable"},
	{0x189, "insufficient_resources"},
	{0x1b6, "invalid_zone_operation_request"},
	{0x1b7, "zrwa_resources_unavailable"},
	{0x1b8, "zoned_boundary_error"},
	{0x1b9, "zone_is_full"},
	{0x1ba, "zone_is_read_only"},
	{0x1bb, "zone_is_offline"},
	{0x1bc, "zone_invalid_write"},
	{0x1bd, "too_many_active_zones"},
	{0x1be, "too_many_open_zones"},
	{0x1bf, "invalid_zone_state_transition"},

	/* Media and data integrity errors */
	{0x280, "write_fault"},
	{0x281, "unrecovered_read_error"},
	{0x282, "end_to_end_guard_check_error"},
	{0x283, "end_to_end_application_tag_check_error"},
	{0x284, "end_to_end_reference_tag_check_error"},
	{0x285, "compare_failure"},
	{0x286, "access_denied"},
	{0x287, "deallocated_or_unwritten_logical_block"},
	{0x288, "end_to_end_storage_tag_check_error"},

	/* Path related status */
	{0x300, "internal_path_error"},
	{0x301, "asymmetric_access_persistent_loss"},
	{0x302, "asymmetric_access_inaccessible"},
	{0x303, "asymmetric_access_transition"},
	{0x360, "controller_pathing_error"},
	{0x370, "host_pathing_error"},
	{0x371, "command_aborted_by_host"},
};

/*
 * Command specific status codes of Fabrics commands. Other commands have other names for the same
 * codes.
 */
static const struct status fabrics_statuses[] = {
	{0x180, "connect_incompatible_format"},
	{0x181, "connect_controller_busy"},
	{0x182, "connect_invalid_parameters"},
	{0x183, "connect_restart_discovery"},
	{0x184, "connect_invalid_host"},
	{0x185, "invalid_queue_type"},
	{0x190, "discover_restart"},
	{0x191, "authentication_required"},
};

static const char *find(const struct status *s, size_t nr, __u16 status)
{
	for (size_t i = 0; i < nr; i++)
		if (s[i].status == status)
			return s[i].name;
	return NULL;
}

const char *status_name(enum nt_op op, __u16 status)
{
	const char *name = NULL;

	status &= NT_STATUS_MASK;
	if (op == NT_OP_FABRICS)
		name = find(fabrics_statuses, ARRAY_SIZE(fabrics_statuses), status);
	if (!name)
		name = find(statuses, ARRAY_SIZE(statuses), status);
	return name ?: "unknown";
}
