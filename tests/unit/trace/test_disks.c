// SPDX-License-Identifier: GPL-2.0-only
/* Who uses the disks behind a target: what the maps of the programs hold, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/disks.h"
#include "core/stats.h"
#include "shared/control.h"
#include "shared/pools.h"
#include "shared/record.h"
#include "trace/disks.h"
#include "trace/private.h"

#include "target.skel.h"

#define SECOND 1000000000ULL
/* No disk of this machine has that number. */
#define NO_DISK (1ULL << 62)

static struct made {
	struct nt_target *bpf;
	struct tracer t;
	struct stats s;
	struct nt_disk_use *cpus;
} made;

static bool is_of_disks(const struct bpf_map *map)
{
	return !strcmp(bpf_map__name(map), "disks") || !strcmp(bpf_map__name(map), "disk_uses");
}

/* The maps without the programs. */
static int begin(void **state)
{
	struct bpf_program *prog = NULL;
	struct bpf_map *map = NULL;

	made = (struct made){.bpf = nt_target__open()};
	if (!made.bpf)
		return -1;
	libbpf_set_print(NULL);
	while ((prog = bpf_object__next_program(made.bpf->obj, prog)))
		bpf_program__set_autoload(prog, false);
	while ((map = bpf_object__next_map(made.bpf->obj, map)))
		bpf_map__set_autocreate(map, is_of_disks(map) || bpf_map__is_internal(map));
	made.t.object.obj = made.bpf->obj;
	made.t.counts_disks = true;
	made.t.cpus = (unsigned int)libbpf_num_possible_cpus();
	made.cpus = calloc(made.t.cpus, sizeof(*made.cpus));
	*state = nt_target__load(made.bpf) ? NULL : &made; /* not root, or a kernel without BTF */
	return made.cpus ? 0 : -1;
}

static int end(void **state)
{
	disks_close(&made.t);
	disk_rows_free(&made.s.disks);
	free(made.cpus);
	nt_target__destroy(made.bpf);
	return 0;
}

static void used(uint64_t seq, const char *name, uint64_t cgroup, uint64_t requests)
{
	const struct nt_disk_user user = {.disk = seq, .cgroup = cgroup};
	char disk[NT_DISK_NAME_LEN] = "";

	snprintf(disk, sizeof(disk), "%s", name);
	made.cpus[0].requests = requests;
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(made.bpf->maps.disks), &seq, disk, 0), 0);
	assert_int_equal(
		bpf_map_update_elem(bpf_map__fd(made.bpf->maps.disk_uses), &user, made.cpus, 0), 0);
}

static unsigned int keys(const struct bpf_map *map)
{
	struct nt_disk_user key; /* the longer one */
	unsigned int n = 0;

	for (void *last = NULL; !bpf_map_get_next_key(bpf_map__fd(map), last, &key); last = &key)
		n++;
	return n;
}

static void collect(uint64_t now)
{
	assert_int_equal(disks_collect(&made.t, &made.s, now), 0);
}

/* As many as there is room for come, and leave the machine. */
static void disks_that_are_gone_give_back_their_places(void **state)
{
	char name[NT_DISK_NAME_LEN];

	if (!*state)
		skip();
	for (unsigned int round = 1; round <= 2; round++) {
		for (uint64_t i = 0; i < NT_DISKS; i++) {
			snprintf(name, sizeof(name), "no/disk%d", (int)i);
			used(NO_DISK * round + i, name, NT_DISK_OTHERS, 0);
			used(NO_DISK * round + i, name, NT_DISK_NOBODY, 1);
		}
		collect(round * 1000 * SECOND);
		collect((round * 1000 + 59) * SECOND);
		assert_int_equal(keys(made.bpf->maps.disks), NT_DISKS);
		collect((round * 1000 + 61) * SECOND);
		collect((round * 1000 + 62) * SECOND);
		assert_int_equal(keys(made.bpf->maps.disks), 0);
		assert_int_equal(keys(made.bpf->maps.disk_uses), 0);
	}
	/* What they did stays. */
	assert_int_equal(made.s.disks.nr, NT_DISKS);
	assert_int_equal(made.s.disks.row[0].total.requests, 2);
}

/* Finds a disk of this machine. Return: whether there is one */
static bool find_disk(char *name, size_t size, uint64_t *seq)
{
	DIR *dir = opendir("/sys/block");
	bool found = false;

	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		char path[64 + sizeof(e->d_name)], text[24];

		snprintf(path, sizeof(path), "/sys/block/%s", e->d_name);
		snprintf(name, size, "%.31s", e->d_name);
		found = device_attribute(path, "diskseq", text, sizeof(text));
		if (found)
			*seq = strtoull(text, NULL, 10);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void a_disk_that_is_quiet_keeps_its_place(void **state)
{
	char name[NT_DISK_NAME_LEN];
	uint64_t seq = 0;

	if (!*state || !find_disk(name, sizeof(name), &seq))
		skip();
	used(seq, name, NT_DISK_OTHERS, 0);
	used(seq, name, NT_DISK_NOBODY, 1);
	/* That name was another disk's. */
	used(NO_DISK, name, NT_DISK_OTHERS, 0);
	for (uint64_t now = 1; now < 200; now += 50)
		collect(now * SECOND);
	assert_int_equal(keys(made.bpf->maps.disks), 1);
	assert_int_equal(keys(made.bpf->maps.disk_uses), 1);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(made.bpf->maps.disks), &seq, name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(disks_that_are_gone_give_back_their_places, begin,
						end),
		cmocka_unit_test_setup_teardown(a_disk_that_is_quiet_keeps_its_place, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
