// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of statuses and opcodes, compared with libnvme's. Others wrote these from the same
 * specifications.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <libnvme.h>

#include "core/array.h"
#include "core/names.h"

/* All possible status code types and codes. */
#define STATUSES 0x800
/* libnvme knows at least this many; with fewer, the test asks it in a wrong way. */
#define KNOWN_MIN 110

/* The newest libnvme whose texts were compared. Differences of a later one need a human reader. */
#define READ_MAJOR 1
#define READ_MINOR 16

/*
 * Texts that differ and mean the same: libnvme describes the status without its name, or has
 * another word for it. The texts are those of 1.3, 1.13 and 1.16.2.
 */
static const struct other {
	uint16_t status;
	bool fabrics;
	const char *name;
	const char *text;
} others[] = {
	{0x000, false, "success", "Successful Completion: The command completed without error"},
	{0x129, false, "io_command_set_not_supported", "The I/O command set is not supported"},
	{0x12a, false, "io_command_set_not_enabled", "The I/O command set is not enabled"},
	{0x12b, false, "io_command_set_combination_rejected",
	 "The I/O command set combination is rejected"},
	{0x12c, false, "invalid_io_command_set", "The I/O command set is invalid"},
	{0x12f, false, "invalid_discovery_information",
	 "Discovery Info Entry not applicable to selected entity"},
	{0x130, false, "zoning_data_structure_locked",
	 "The requested Zoning data structure is locked on the CDC"},
	{0x131, false, "zoning_data_structure_not_found",
	 "The requested Zoning data structure does not exist on the CDC"},
	{0x132, false, "insufficient_discovery_resources",
	 "Discovery Info entries exceed Discovery Controller's capacity"},
	{0x133, false, "requested_function_disabled", "Fabric Zoning is not enabled on the CDC"},
	{0x134, false, "zonegroup_originator_invalid",
	 "The NQN contained in the ZoneGroup Originator field does not match the Host NQN used by the DDC to connect to the CDC"},
	{0x180, true, "connect_incompatible_format",
	 "Incompatible Format: The NVM subsystem does not support the record format specified by the host"},
	{0x181, true, "connect_controller_busy",
	 "Controller Busy: The controller is already associated with a host"},
	/*
	 * Statuses of later specifications and of the Key Value Command Set, in libnvme since 1.13
	 * at the latest.
	 */
	{0x025, false, "invalid_key_tag",
	 "The command was aborted due to an invalid KEYTAG field value"},
	{0x026, false, "host_dispersed_namespace_support_not_enabled",
	 "The command is prohibited while the Host Disperesed Namespace Support (HDISNS) field is not set to 1h in the Host Behavior Support feature"},
	{0x028, false, "incorrect_key",
	 "The command was aborted due to the key associated with the KEYTAG field being incorrect"},
	{0x085, false, "invalid_value_size", "The value size is not valid"},
	{0x086, false, "invalid_key_size", "The KV key size is not valid"},
	{0x087, false, "kv_key_does_not_exist",
	 "The Store If Key Exists (SIKE) bit is set to '1' in the Store Option field and the KV key does not exists"},
	{0x088, false, "unrecovered_error",
	 "There was an unrecovered error when reading from the medium"},
	{0x089, false, "key_exists",
	 "The Store If No Key Exists (SINKE) bit is set to '1' in the Store Option field and the KV key exists"},
	{0x187, false, "overlapping_io_range", "Overlapping I/O Range"},
};

static bool means_the_same(uint16_t status, bool fabrics, const char *name, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const struct other *o = &others[i];

		if (o->status == status && (fabrics || !o->fabrics) && !strcmp(o->name, name) &&
		    !strcmp(o->text, text))
			return true;
	}
	return false;
}

static bool newer_than_read(const char *version)
{
	int major = 0, minor = 0;

	assert_int_equal(sscanf(version, "%d.%d", &major, &minor), 2);
	return major > READ_MAJOR || (major == READ_MAJOR && minor > READ_MINOR);
}

/* The text before the colon, spelled as our names are. */
static void name_of(const char *text, char *name, size_t size)
{
	size_t nr = 0;

	for (; *text && *text != ':' && nr < size - 1; text++) {
		if (isalnum((unsigned char)*text))
			name[nr++] = (char)tolower((unsigned char)*text);
		else if (nr && name[nr - 1] != '_')
			name[nr++] = '_';
	}
	while (nr && name[nr - 1] == '_')
		nr--;
	name[nr] = '\0';
}

/*
 * Names each status that differs; those of all commands are named once. Return: how many differ and
 * are not listed as equivalent
 */
static unsigned int compare(bool fabrics, const char *version)
{
	const enum nt_op op = fabrics ? NT_OP_FABRICS : NT_OP_READ;
	unsigned int known = 0, wrong = 0;

	for (uint16_t status = 0; status < STATUSES; status++) {
		const char *text = nvme_status_to_string(status, fabrics);
		const char *ours = status_name(op, status);
		char theirs[256];
		bool same;

		if (!strcmp(text, "unrecognized") || !strcmp(text, "Unknown status") ||
		    !strcmp(text, "Vendor Specific Status"))
			continue;
		known++;
		name_of(text, theirs, sizeof(theirs));
		if (!strcmp(ours, theirs))
			continue;
		same = means_the_same(status, fabrics, ours, text);
		if (!same || !fabrics || strcmp(text, nvme_status_to_string(status, false)) != 0)
			print_message("# status 0x%03x is %s%s here, and in libnvme %s: %s\n",
				      status, ours, same ? "" : " (not known to mean the same)",
				      version, text);
		wrong += !same;
	}
	assert_true(known >= KNOWN_MIN);
	return wrong;
}

static void statuses_have_the_names_that_libnvme_has(void **state)
{
	const char *version = nvme_get_version(NVME_VERSION_PROJECT);
	unsigned int wrong;

	wrong = compare(false, version);
	wrong += compare(true, version);
	if (wrong && newer_than_read(version))
		skip();
	assert_int_equal(wrong, 0);
}

static void opcodes_have_its_numbers(void **state)
{
	static const struct {
		enum nt_op op;
		int opcode;
		const char *name;
	} ones[] = {
		{NT_OP_READ, nvme_cmd_flush, "flush"},
		{NT_OP_READ, nvme_cmd_write, "write"},
		{NT_OP_READ, nvme_cmd_read, "read"},
		{NT_OP_READ, nvme_cmd_write_uncor, "write_uncorrectable"},
		{NT_OP_READ, nvme_cmd_compare, "compare"},
		{NT_OP_READ, nvme_cmd_write_zeroes, "write_zeroes"},
		{NT_OP_READ, nvme_cmd_dsm, "dataset_management"},
		{NT_OP_READ, nvme_cmd_verify, "verify"},
		{NT_OP_READ, nvme_cmd_resv_register, "reservation_register"},
		{NT_OP_READ, nvme_cmd_resv_report, "reservation_report"},
		{NT_OP_READ, nvme_cmd_resv_acquire, "reservation_acquire"},
		{NT_OP_READ, nvme_cmd_resv_release, "reservation_release"},
		{NT_OP_READ, nvme_cmd_copy, "copy"},
		{NT_OP_READ, nvme_zns_cmd_mgmt_send, "zone_management_send"},
		{NT_OP_READ, nvme_zns_cmd_mgmt_recv, "zone_management_receive"},
		{NT_OP_READ, nvme_zns_cmd_append, "zone_append"},
		{NT_OP_ADMIN, nvme_admin_delete_sq, "delete_io_submission_queue"},
		{NT_OP_ADMIN, nvme_admin_create_sq, "create_io_submission_queue"},
		{NT_OP_ADMIN, nvme_admin_get_log_page, "get_log_page"},
		{NT_OP_ADMIN, nvme_admin_delete_cq, "delete_io_completion_queue"},
		{NT_OP_ADMIN, nvme_admin_create_cq, "create_io_completion_queue"},
		{NT_OP_ADMIN, nvme_admin_identify, "identify"},
		{NT_OP_ADMIN, nvme_admin_abort_cmd, "abort"},
		{NT_OP_ADMIN, nvme_admin_set_features, "set_features"},
		{NT_OP_ADMIN, nvme_admin_get_features, "get_features"},
		{NT_OP_ADMIN, nvme_admin_async_event, "asynchronous_event_request"},
		{NT_OP_ADMIN, nvme_admin_ns_mgmt, "namespace_management"},
		{NT_OP_ADMIN, nvme_admin_fw_commit, "firmware_commit"},
		{NT_OP_ADMIN, nvme_admin_fw_download, "firmware_image_download"},
		{NT_OP_ADMIN, nvme_admin_dev_self_test, "device_self_test"},
		{NT_OP_ADMIN, nvme_admin_ns_attach, "namespace_attachment"},
		{NT_OP_ADMIN, nvme_admin_keep_alive, "keep_alive"},
		{NT_OP_ADMIN, nvme_admin_directive_send, "directive_send"},
		{NT_OP_ADMIN, nvme_admin_directive_recv, "directive_receive"},
		{NT_OP_ADMIN, nvme_admin_virtual_mgmt, "virtualization_management"},
		{NT_OP_ADMIN, nvme_admin_nvme_mi_send, "nvme_mi_send"},
		{NT_OP_ADMIN, nvme_admin_nvme_mi_recv, "nvme_mi_receive"},
		{NT_OP_ADMIN, nvme_admin_capacity_mgmt, "capacity_management"},
		{NT_OP_ADMIN, nvme_admin_lockdown, "lockdown"},
		{NT_OP_ADMIN, nvme_admin_dbbuf, "doorbell_buffer_config"},
		{NT_OP_ADMIN, nvme_admin_format_nvm, "format_nvm"},
		{NT_OP_ADMIN, nvme_admin_security_send, "security_send"},
		{NT_OP_ADMIN, nvme_admin_security_recv, "security_receive"},
		{NT_OP_ADMIN, nvme_admin_sanitize_nvm, "sanitize"},
		{NT_OP_ADMIN, nvme_admin_get_lba_status, "get_lba_status"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ones); i++)
		assert_string_equal(opcode_name(ones[i].op, (__u8)ones[i].opcode, 0), ones[i].name);
	assert_string_equal(opcode_name(NT_OP_FABRICS, 0x7f, nvme_fabrics_type_property_set),
			    "property_set");
	assert_string_equal(opcode_name(NT_OP_FABRICS, 0x7f, nvme_fabrics_type_connect), "connect");
	assert_string_equal(opcode_name(NT_OP_FABRICS, 0x7f, nvme_fabrics_type_property_get),
			    "property_get");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_have_the_names_that_libnvme_has),
		cmocka_unit_test(opcodes_have_its_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
