// SPDX-License-Identifier: GPL-2.0-only
/* What statuses and opcodes are called, by what libnvme knows of them: written by others, from the same specifications. */
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
#include "core/opcodes.h"
#include "core/statuses.h"

/* All status code types and codes there can be. */
#define STATUSES 0x800
/* So many it knows at least: else it has been asked wrongly. */
#define KNOWN_MIN 110

/* Those that it describes without the name, or by another word of it. */
static const struct {
	uint16_t status;
	bool fabrics;
	const char *name;
} others[] = {
	{0x000, false, "success"},
	{0x128, false, "prohibition_of_command_execution_not_supported"},
	{0x129, false, "io_command_set_not_supported"},
	{0x12a, false, "io_command_set_not_enabled"},
	{0x12b, false, "io_command_set_combination_rejected"},
	{0x12c, false, "invalid_io_command_set"},
	{0x12f, false, "invalid_discovery_information"},
	{0x130, false, "zoning_data_structure_locked"},
	{0x131, false, "zoning_data_structure_not_found"},
	{0x132, false, "insufficient_discovery_resources"},
	{0x133, false, "requested_function_disabled"},
	{0x134, false, "zonegroup_originator_invalid"},
	{0x180, true, "connect_incompatible_format"},
	{0x181, true, "connect_controller_busy"},
};

static const char *other_name(uint16_t status, bool fabrics)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].status == status && (fabrics || !others[i].fabrics))
			return others[i].name;
	return NULL;
}

/* What is before the colon, as names are written here. */
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

static void compare(bool fabrics)
{
	const enum nt_op op = fabrics ? NT_OP_FABRICS : NT_OP_READ;
	unsigned int known = 0;

	for (uint16_t status = 0; status < STATUSES; status++) {
		const char *text = nvme_status_to_string(status, fabrics);
		const char *ours = status_name(op, status), *other = other_name(status, fabrics);
		char theirs[256];

		if (!strcmp(text, "unrecognized") || !strcmp(text, "Unknown status") ||
		    !strcmp(text, "Vendor Specific Status"))
			continue;
		known++;
		name_of(text, theirs, sizeof(theirs));
		if (strcmp(ours, other ?: theirs) != 0)
			fail_msg("status 0x%x is %s here, and there: %s", status, ours, text);
	}
	assert_true(known >= KNOWN_MIN);
}

static void statuses_have_the_names_that_libnvme_has(void **state)
{
	(void)state;
	compare(false);
	compare(true);
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

	(void)state;
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
