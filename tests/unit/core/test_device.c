// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks in a made-up sysfs: multipath heads, disks of one controller, and devices that are no
 * NVMe/TCP disks.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/device.h"
#include "core/array.h"
#include "core/select.h"
#include "tree.h"

static char root[] = "/tmp/ntprof-sysfs-XXXXXX";

static void make_dir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void make_link(const char *name, const char *to)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(target, sizeof(target), "%s/%s", root, to);
	assert_int_equal(symlink(target, path), 0);
}

static void make_disk(const char *name, const char *owner, const char *nsid)
{
	char path[128];

	snprintf(path, sizeof(path), "class/block/%s", name);
	make_dir(path);
	snprintf(path, sizeof(path), "class/block/%s/device", name);
	make_link(path, owner);
	snprintf(path, sizeof(path), "class/block/%s/nsid", name);
	if (nsid)
		make_file(path, nsid);
}

static void make_controller(const char *name, const char *nqn, const char *transport)
{
	char path[128];

	make_dir(name);
	snprintf(path, sizeof(path), "%s/subsysnqn", name);
	make_file(path, nqn);
	snprintf(path, sizeof(path), "%s/transport", name);
	make_file(path, transport);
}

/* nvme0 and nvme1 are paths of one subsystem. nvme7 and nvme8 have disks of their own. */
static int make_sysfs(void **state)
{
	if (!mkdtemp(root))
		return -1;
	make_dir("class");
	make_dir("class/block");
	make_dir("nvme-subsys3");
	make_file("nvme-subsys3/subsysnqn", "nqn.head");
	make_controller("nvme-subsys3/nvme0", "nqn.head", "rdma");
	make_controller("nvme-subsys3/nvme1", "nqn.head", "tcp");
	make_dir("nvme-subsys4");
	make_file("nvme-subsys4/subsysnqn", "nqn.pci");
	make_controller("nvme-subsys4/nvme2", "nqn.pci", "pcie");
	make_controller("nvme7", "nqn.own", "tcp");
	make_controller("nvme8", "nqn.own", "pcie");
	make_dir("sda_device");
	make_disk("nvme3n1", "nvme-subsys3", "5");
	make_disk("nvme3c1n1", "nvme-subsys3/nvme1", "5");
	make_disk("nvme4n1", "nvme-subsys4", "1");
	make_disk("nvme7n2", "nvme7", "4294967294");
	make_disk("nvme8n1", "nvme8", "1");
	make_disk("sda", "sda_device", NULL);
	make_disk("nvme7n2p1", "nvme7", "1");
	make_file("class/block/nvme7n2p1/partition", "1");
	make_dir("class/nvme");
	make_dir("class/nvme/nvme1");
	make_dir("class/nvme/nvme1/nvme3c1n1");
	make_file("class/nvme/nvme1/nvme3c1n1/nsid", "5");
	make_dir("class/nvme/nvme1/nvme3c1n1/queue");
	make_file("class/nvme/nvme1/nvme3c1n1/queue/logical_block_size", "4096");
	make_dir("class/nvme/nvme1/hwmon0");
	make_file("class/nvme/nvme1/hwmon0/nsid", "6");
	make_dir("class/nvme/nvme7");
	make_dir("class/nvme/nvme7/nvme7n2");
	make_file("class/nvme/nvme7/nvme7n2/nsid", "4294967294");
	make_dir("nvmet");
	make_dir("nvmet/subsystems");
	make_dir("nvmet/subsystems/nqn.a");
	make_dir("nvmet/subsystems/nqn.a/namespaces");
	make_dir("nvmet/subsystems/nqn.a/namespaces/3");
	make_file("nvmet/subsystems/nqn.a/namespaces/3/device_path", "/dev/sda");
	make_dir("nvmet/subsystems/nqn.a/passthru");
	make_file("nvmet/subsystems/nqn.a/passthru/device_path", "");
	make_dir("nvmet/subsystems/nqn.p");
	make_dir("nvmet/subsystems/nqn.p/passthru");
	make_file("nvmet/subsystems/nqn.p/passthru/device_path", "/dev/nvme2");
	return 0;
}

static int remove_sysfs(void **state)
{
	return tree_remove(root);
}

static void a_disk_is_its_namespace_by_all_paths_or_by_its_controller(void **state)
{
	struct device d;

	assert_null(device_find(root, "/dev/nvme3n1", &d));
	assert_string_equal(d.subsysnqn, "nqn.head");
	assert_int_equal(d.nsid, 5);
	assert_true(d.head);
	assert_null(device_find(root, "nvme3c1n1", &d));
	assert_int_equal(d.nsid, 5);
	assert_false(d.head);
	assert_int_equal(d.instance, 1);
	assert_null(device_find(root, "/dev/nvme7n2", &d));
	assert_string_equal(d.subsysnqn, "nqn.own");
	assert_int_equal(d.nsid, 4294967294);
	assert_false(d.head);
	assert_int_equal(d.instance, 7);
}

/* The subsystem of nvme3n1 has controllers of both. */
static void a_disk_has_the_transports_of_its_controllers(void **state)
{
	const unsigned int tcp = NT_OF_TCP, pcie = 1u << NT_TRANSPORT_PCIE;
	struct device d;

	assert_null(device_find(root, "/dev/nvme8n1", &d));
	assert_int_equal(d.transports, pcie);
	assert_null(device_find(root, "/dev/nvme4n1", &d));
	assert_int_equal(d.transports, pcie);
	assert_null(device_find(root, "/dev/nvme7n2", &d));
	assert_int_equal(d.transports, tcp);
	assert_null(device_find(root, "/dev/nvme3n1", &d));
	assert_int_equal(d.transports, tcp | 1u << NT_TRANSPORT_RDMA);
}

static void what_is_no_disk_of_nvme_is_refused(void **state)
{
	static const struct {
		const char *path, *why;
	} wrong[] = {
		{"/dev/nvme9n1", "no such block device"},
		{"/dev/", "no such block device"},
		{"", "no such block device"},
		{"/dev/nvme7n2p1", "a partition"},
		{"/dev/sda", "not an NVMe namespace"},
	};
	struct device d;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *why = device_find(root, wrong[i].path, &d);

		if (!why || strncmp(why, wrong[i].why, strlen(wrong[i].why)) != 0)
			fail_msg("%s: %s", wrong[i].path, why ?: "taken");
	}
}

static unsigned int transports;

static bool selects(const struct nt_selection *s, uint32_t instance, const char *nqn, uint32_t nsid)
{
	struct queue_info q = {.instance = instance, .cntlid = 1, .qid = 1};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", nqn);
	return selects_queue(s, NT_HOST, &q) && nt_selects_command(s, NT_OP_READ, 2, 4096, nsid, 0);
}

static void a_selection_by_a_disk_has_its_commands_only(void **state)
{
	struct nt_selection s = {.ops = 0};

	assert_null(select_device(&s, root, "/dev/nvme3n1", &transports));
	assert_true(selects(&s, 0, "nqn.head", 5));
	assert_true(selects(&s, 1, "nqn.head", 5));
	assert_false(selects(&s, 0, "nqn.head", 4));
	assert_false(selects(&s, 0, "nqn.own", 5));

	s = (struct nt_selection){.ops = 0};
	assert_null(select_device(&s, root, "/dev/nvme7n2", &transports));
	assert_true(selects(&s, 7, "nqn.own", 4294967294));
	assert_false(selects(&s, 8, "nqn.own", 4294967294));
	assert_false(selects(&s, 7, "nqn.own", 1));
}

static void what_contradicts_a_disk_is_refused(void **state)
{
	struct nt_selection s = {.ops = 0};

	assert_null(select_nsid(&s, "5"));
	assert_non_null(select_device(&s, root, "/dev/nvme3n1", &transports));
	s = (struct nt_selection){.ops = 0};
	assert_null(select_nqn(&s, "nqn.own"));
	assert_non_null(select_device(&s, root, "/dev/nvme3n1", &transports));
	/* A user may ask for one path of a head. */
	s = (struct nt_selection){.ops = 0};
	assert_null(select_ctrl(&s, "nvme1"));
	assert_null(select_device(&s, root, "/dev/nvme3n1", &transports));
	assert_true(selects(&s, 1, "nqn.head", 5));
	assert_false(selects(&s, 0, "nqn.head", 5));
	s = (struct nt_selection){.ops = 0};
	assert_null(select_ctrl(&s, "nvme1"));
	assert_non_null(select_device(&s, root, "/dev/nvme7n2", &transports));
}

/* The name is that of this machine: the head if there are several paths. */
static void a_namespace_has_the_name_of_its_disk(void **state)
{
	struct device_name d = {.instance = 1, .nsid = 5};

	assert_true(device_name_of_host(root, &d));
	assert_string_equal(d.name, "nvme3n1");
	assert_int_equal(d.block_bytes, 4096);
	d = (struct device_name){.instance = 7, .nsid = 4294967294};
	assert_true(device_name_of_host(root, &d));
	assert_string_equal(d.name, "nvme7n2");
	assert_int_equal(d.block_bytes, 0);
	d = (struct device_name){.instance = 1, .nsid = 6};
	assert_false(device_name_of_host(root, &d));
	assert_string_equal(d.name, "");
	d = (struct device_name){.instance = 9, .nsid = 5};
	assert_false(device_name_of_host(root, &d));
	d = (struct device_name){.subsysnqn = "nqn.a", .nsid = 3};
	assert_true(device_name_of_target(root, &d));
	assert_string_equal(d.name, "/dev/sda");
	d = (struct device_name){.subsysnqn = "nqn.a", .nsid = 4};
	assert_false(device_name_of_target(root, &d));
	/* A passthru target has no namespaces of its own. */
	d = (struct device_name){.subsysnqn = "nqn.p", .nsid = 9};
	assert_true(device_name_of_target(root, &d));
	assert_string_equal(d.name, "/dev/nvme2");
	d = (struct device_name){.subsysnqn = "../subsystems/nqn.a", .nsid = 3};
	assert_false(device_name_of_target(root, &d));
}

/* The file behind a namespace may have the name of one of the machine's disks. */
static void a_file_is_no_disk(void **state)
{
	struct device_name d = {.subsysnqn = "nqn.f", .nsid = 1};
	char path[256];
	glob_t disks;

	if (glob("/sys/class/block/*", 0, NULL, &disks))
		skip();
	snprintf(path, sizeof(path), "%s/%s", root, strrchr(disks.gl_pathv[0], '/') + 1);
	globfree(&disks);
	make_file(strrchr(path, '/') + 1, "");
	make_dir("nvmet/subsystems/nqn.f");
	make_dir("nvmet/subsystems/nqn.f/namespaces");
	make_dir("nvmet/subsystems/nqn.f/namespaces/1");
	make_file("nvmet/subsystems/nqn.f/namespaces/1/device_path", path);
	assert_true(device_name_of_target(root, &d));
	assert_string_equal(d.name, path);
	assert_string_equal(d.disk, "");
	assert_int_equal(d.block_bytes, 0);
}

/* A node elsewhere would be of this disk. To look at it could take as long as a file server does.
 */
static void nothing_outside_of_dev_is_looked_at(void **state)
{
	struct device_name d = {.subsysnqn = "nqn.f", .nsid = 1};
	unsigned int major, minor;
	char path[256];
	glob_t disks;
	FILE *f;

	if (geteuid() || glob("/sys/class/block/*/dev", 0, NULL, &disks))
		skip();
	f = fopen(disks.gl_pathv[0], "re");
	assert_int_equal(fscanf(f, "%u:%u", &major, &minor), 2);
	fclose(f);
	globfree(&disks);
	snprintf(path, sizeof(path), "%s/node", root);
	assert_int_equal(mknod(path, S_IFBLK | 0600, makedev(major, minor)), 0);
	make_file("nvmet/subsystems/nqn.f/namespaces/1/device_path", path);
	assert_true(device_name_of_target(root, &d));
	assert_string_equal(d.name, path);
	assert_string_equal(d.disk, "");
	assert_int_equal(d.block_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_is_its_namespace_by_all_paths_or_by_its_controller),
		cmocka_unit_test(a_disk_has_the_transports_of_its_controllers),
		cmocka_unit_test(what_is_no_disk_of_nvme_is_refused),
		cmocka_unit_test(a_selection_by_a_disk_has_its_commands_only),
		cmocka_unit_test(what_contradicts_a_disk_is_refused),
		cmocka_unit_test(a_namespace_has_the_name_of_its_disk),
		cmocka_unit_test(a_file_is_no_disk),
		cmocka_unit_test(nothing_outside_of_dev_is_looked_at),
	};

	return cmocka_run_group_tests_name("device", tests, make_sysfs, remove_sysfs);
}
