// SPDX-License-Identifier: GPL-2.0-only
/* The transports of a host's controllers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "core/names.h"
#include "core/transport.h"
#include "tree.h"

#define BIT(id) (1u << NT_TRANSPORT_##id)

static void a_list_of_names_is_a_set(void **state)
{
	char buf[TRANSPORTS_TEXT_LEN];

	assert_int_equal(transports_parse("tcp"), BIT(TCP));
	assert_int_equal(transports_parse("loop,pcie,pcie"), BIT(PCIE) | BIT(LOOP));
	assert_int_equal(transports_parse(""), 0);
	assert_int_equal(transports_parse("pcie,"), 0);
	assert_int_equal(transports_parse("pci"), 0);
	assert_int_equal(transports_parse("pcie1"), 0);
	assert_string_equal(transports_text(BIT(PCIE) | BIT(TCP), buf, sizeof(buf)), "tcp,pcie");
	assert_string_equal(transports_text(0, buf, sizeof(buf)), "");
	/* All of them have room. */
	assert_int_equal(
		transports_parse(transports_text(NT_OF_TCP | NT_NOT_OF_TCP, buf, sizeof(buf))),
		NT_OF_TCP | NT_NOT_OF_TCP);
}

static char root[] = "/tmp/test_transport.XXXXXX";

static void controller(const char *name, const char *transport)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/nvme/%s", root, name);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/class/nvme/%s/transport", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", transport);
	fclose(f);
}

static void a_machine_has_those_of_its_controllers(void **state)
{
	char path[64];

	assert_non_null(mkdtemp(root));
	assert_int_equal(transports_there(root), 0);
	snprintf(path, sizeof(path), "%s/class", root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/class/nvme", root);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(transports_there(root), 0);
	assert_int_equal(transports_default(root, false), NT_OF_TCP);
	controller("nvme0", "pcie");
	assert_int_equal(transports_default(root, false), BIT(PCIE));
	assert_int_equal(transports_default(root, true), NT_OF_TCP);
	controller("nvme1", "apple-nvme");
	assert_int_equal(transports_there(root), BIT(PCIE) | BIT(OTHER));
	controller("nvme2", "tcp");
	assert_int_equal(transports_there(root), BIT(PCIE) | BIT(OTHER) | BIT(TCP));
	assert_int_equal(tree_remove(root), 0);
}

/* Programs and sysfs have the driver's name of it. */
static void a_module_has_to_be_loaded_for_each(void **state)
{
	assert_string_equal(module_traced(NT_HOST, 0), "nvme_tcp");
	assert_string_equal(module_traced(NT_HOST, BIT(TCP) | BIT(PCIE)), "nvme_tcp");
	assert_string_equal(module_traced(NT_HOST, BIT(PCIE)), "nvme_core");
	assert_string_equal(module_load(NT_HOST, BIT(PCIE)), "modprobe nvme");
	assert_string_equal(module_traced(NT_TARGET, 0), "nvmet_tcp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_names_is_a_set),
		cmocka_unit_test(a_machine_has_those_of_its_controllers),
		cmocka_unit_test(a_module_has_to_be_loaded_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
