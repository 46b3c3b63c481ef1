// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names that a recording has for disks, paths, CPUs and cgroups, as groups and selections use
 * them.
 */
#include "merge/testing.h"

#include "core/array.h"
#include "core/hash.h"
#include "merge/places.h"

static struct queue_info queue_of(uint32_t slot, const char *nqn, const char *address)
{
	struct queue_info q = {.slot = slot, .gen = 1, .instance = slot};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", nqn);
	snprintf(q.address, sizeof(q.address), "%s", address);
	return q;
}

static struct device_name device_of(const char *nqn, uint32_t instance, uint32_t nsid,
				    const char *name)
{
	struct device_name d = {.instance = instance, .nsid = nsid};

	snprintf(d.subsysnqn, sizeof(d.subsysnqn), "%s", nqn);
	snprintf(d.name, sizeof(d.name), "%s", name);
	return d;
}

static struct nt_record record_of(uint32_t slot, uint32_t nsid, unsigned int origin)
{
	return (struct nt_record){.op = NT_OP_READ,
				  .slot = slot,
				  .gen = 1,
				  .nsid = nsid,
				  .flags = origin << NT_F_ORIGIN_SHIFT};
}

static void name(const struct places *p, const struct nt_record *r, struct group_name *n)
{
	static const struct group_by by = {
		.nr = 6,
		.key = {GROUP_DEVICE, GROUP_PATH, GROUP_CGROUP, GROUP_CPU, GROUP_PID, GROUP_COMM}};

	memset(n, 0, sizeof(*n));
	places_name(p, &by, r, n);
}

static void a_path_is_from_where_to_where(void **state)
{
	static const struct {
		const char *address, *path;
	} of[] = {
		{"traddr=10.0.0.1,trsvcid=4420", "10.0.0.1:4420"},
		{"traddr=10.0.0.1,trsvcid=4420,src_addr=10.0.0.2", "10.0.0.2>10.0.0.1:4420"},
		{"traddr=10.0.0.1,trsvcid=4420,host_traddr=10.0.0.3", "10.0.0.3>10.0.0.1:4420"},
		{"traddr=fd00::1,trsvcid=4421", "[fd00::1]:4421"},
		{"fc-address", "fc-address"},
		{"traddr=,trsvcid=1", "traddr=,trsvcid=1"},
		{"", ""},
	};
	struct places *p = places_new();
	struct group_name n;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		const struct queue_info q = queue_of((uint32_t)i, "nqn.a", of[i].address);
		const struct nt_record r = record_of((uint32_t)i, 1, 0);

		assert_int_equal(places_queue(p, &q), 0);
		name(p, &r, &n);
		assert_string_equal(n.path, of[i].path);
	}
	places_free(p);
}

/*
 * Two subsystems may have namespaces with one id. A namespace may have two controllers, which name
 * it differently.
 */
static void a_device_is_of_its_subsystem_and_controller(void **state)
{
	const struct queue_info q[] = {queue_of(0, "nqn.a", ""), queue_of(1, "nqn.a", ""),
				       queue_of(2, "nqn.b", "")};
	const struct device_name d[] = {device_of("nqn.a", 0, 1, "nvme0n1"),
					device_of("nqn.a", 1, 1, "nvme1n1"),
					device_of("nqn.b", DEVICE_ANY_INSTANCE, 1, "/dev/sda")};
	struct places *p = places_new();
	struct device_name asked;
	struct group_name n;

	for (unsigned int i = 0; i < 3; i++) {
		const struct nt_record r = record_of(i, 1, 0), other = record_of(i, 2, 0);

		assert_false(places_ask(p, &r, &asked));
		assert_int_equal(places_queue(p, &q[i]), 0);
		assert_true(places_ask(p, &r, &asked));
		assert_string_equal(asked.subsysnqn, d[i].subsysnqn);
		assert_int_equal(places_device(p, &d[i]), 0);
		assert_false(places_ask(p, &r, &asked));
		assert_true(places_ask(p, &other, &asked));
		name(p, &other, &n);
		assert_string_equal(n.device, "");
	}
	for (unsigned int i = 0; i < 3; i++) {
		struct nt_record r = record_of(i, 1, 0);

		name(p, &r, &n);
		assert_string_equal(n.device, d[i].name);
		r.op = NT_OP_ADMIN;
		name(p, &r, &n);
		assert_string_equal(n.device, "");
	}
	places_free(p);
}

/* Their hashes by FNV-1a are equal: a target could choose a name so that a disk loses its own. */
static void names_with_one_hash_keep_their_devices(void **state)
{
	static const char *const nqn[] = {"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"};
	struct places *p = places_new();
	struct group_name n;

	assert_true(hash_text(0, nqn[0]) == hash_text(0, nqn[1]));
	for (unsigned int i = 0; i < 2; i++) {
		const struct queue_info q = queue_of(i, nqn[i], "");
		const struct device_name d = device_of(nqn[i], DEVICE_ANY_INSTANCE, 1, nqn[i]);

		assert_int_equal(places_queue(p, &q), 0);
		assert_int_equal(places_device(p, &d), 0);
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct nt_record r = record_of(i, 1, 0);

		name(p, &r, &n);
		assert_string_equal(n.device, nqn[i]);
	}
	places_free(p);
}

static void a_selection_by_a_device_is_by_its_name(void **state)
{
	const struct queue_info q[] = {queue_of(0, "nqn.a", ""), queue_of(1, "nqn.b", "")};
	const struct device_name d[] = {device_of("nqn.a", 0, 1, "nvme0n1"),
					device_of("nqn.a", 0, 2, "nvme0n2"),
					device_of("nqn.b", DEVICE_ANY_INSTANCE, 1, "/dev/nvme0n1"),
					device_of("nqn.b", DEVICE_ANY_INSTANCE, 2, "")};
	static const struct {
		const char *device;
		bool takes[4];
	} of[] = {
		{"nvme0n1", {true, false, true, false}},
		{"/dev/nvme0n1", {true, false, true, false}},
		{"/dev/nvme0n2", {false, true, false, false}},
		{"nvme0", {false}},
		{"", {false}},
	};
	struct places *p = places_new();
	char names[64];

	for (size_t i = 0; i < ARRAY_SIZE(q); i++)
		assert_int_equal(places_queue(p, &q[i]), 0);
	assert_false(places_devices(p, NULL, names, sizeof(names)));
	assert_string_equal(names, "");
	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		assert_int_equal(places_device(p, &d[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		const struct select s = {.device = of[i].device};
		const struct select both = {.device = of[i].device, .cgroup = "/"};
		bool any = false;

		for (uint32_t k = 0; k < 4; k++) {
			const struct nt_record r = record_of(k / 2, k % 2 + 1, 0);
			struct merge_connection c = {.host_instance = k / 2};

			any |= of[i].takes[k];
			memcpy(c.subsysnqn, q[k / 2].subsysnqn, sizeof(c.subsysnqn));
			assert_int_equal(places_takes(p, &s, &r), of[i].takes[k]);
			assert_int_equal(places_takes_far(p, &s, &c, &r), of[i].takes[k]);
			assert_false(places_takes(p, &both, &r));
			assert_false(places_takes_far(p, &both, &c, &r));
		}
		assert_int_equal(places_devices(p, of[i].device, names, sizeof(names)), any);
		assert_string_equal(names, "nvme0n1, nvme0n2, /dev/nvme0n1");
	}
	/* Names that do not fit are left out. */
	places_devices(p, NULL, names, 4);
	assert_string_equal(names, "nvm");
	places_free(p);
}

static void what_was_told_first_gives_way(void **state)
{
	struct places *p = places_new();
	struct group_name n;

	for (uint32_t i = 0; i <= PLACES_MAX; i++) {
		const struct queue_info q = queue_of(i, "nqn.a", "traddr=a,trsvcid=1");
		const struct device_name d = device_of("nqn.a", i, 1, "nvme0n1");

		assert_int_equal(places_queue(p, &q), 0);
		assert_int_equal(places_device(p, &d), 0);
	}
	for (uint32_t i = 0; i <= PLACES_MAX; i += PLACES_MAX) {
		const struct nt_record r = record_of(i, 1, 0);

		name(p, &r, &n);
		assert_string_equal(n.device, i ? "nvme0n1" : "");
		assert_string_equal(n.path, i ? "a:1" : "");
	}
	/* One of either. */
	assert_int_equal(places_gave_way(p), 2);
	places_free(p);
}

static void what_is_in_use_stays(void **state)
{
	struct places *p = places_new();
	struct group_name n;

	/* Others come three times as often as there is room. */
	for (uint32_t i = 0; i < 3 * PLACES_MAX; i++) {
		const struct queue_info q = queue_of(i, "nqn.a", "traddr=a,trsvcid=1");
		const struct device_name d = device_of("nqn.a", i, 1, "nvme0n1");
		const struct nt_record r = record_of(0, 1, 0);

		assert_int_equal(places_queue(p, &q), 0);
		assert_int_equal(places_device(p, &d), 0);
		if (i % 1000)
			continue;
		name(p, &r, &n);
		assert_string_equal(n.device, "nvme0n1");
		assert_string_equal(n.path, "a:1");
	}
	places_free(p);
}

/* Then one in use gives way, and its records have no name, and not that of another one. */
static void where_all_are_in_use_one_gives_way_and_is_counted(void **state)
{
	struct places *p = places_new();
	unsigned int without = 0;
	struct group_name n;

	for (unsigned int nr = PLACES_MAX; nr <= PLACES_MAX + 1; nr++) {
		for (uint32_t i = nr - PLACES_MAX ? PLACES_MAX : 0; i < nr; i++) {
			const struct queue_info q = queue_of(i, "nqn.a", "traddr=a,trsvcid=1");
			char device[16];

			snprintf(device, sizeof(device), "nvme%un1", i);
			const struct device_name d = device_of("nqn.a", i, 1, device);

			assert_int_equal(places_queue(p, &q), 0);
			assert_int_equal(places_device(p, &d), 0);
		}
		for (uint32_t i = 0; i < nr; i++) {
			const struct nt_record r = record_of(i, 1, 0);
			char device[16];

			snprintf(device, sizeof(device), "nvme%un1", i);
			name(p, &r, &n);
			without += !n.device[0];
			assert_string_equal(n.device, n.device[0] ? device : "");
			assert_string_equal(n.path, n.device[0] ? "a:1" : "");
		}
		assert_int_equal(without, nr - PLACES_MAX);
		assert_int_equal(places_gave_way(p), 2 * (nr - PLACES_MAX));
	}
	places_free(p);
}

static void an_origin_is_a_cpu_a_cgroup_and_a_process(void **state)
{
	const struct origin one = {
		.number = 1, .cpu = 3, .cgroup = "/a/b", .pid = 77, .comm = "fio"};
	const struct group_by by_cpu = {.nr = 1, .key = {GROUP_CPU}};
	const struct origin last = {
		.number = ORIGIN_OTHERS, .cpu = ORIGIN_NO_CPU, .cgroup = "(others)"};
	const struct nt_record none = record_of(0, 1, 0), of_one = record_of(0, 1, 1),
			       of_last = record_of(0, 1, ORIGIN_OTHERS),
			       untold = record_of(0, 1, 2);
	struct select in_a = {.cgroup = "/a"}, in_ab = {.cgroup = "/a/b"},
		      in_root = {.cgroup = "/"}, in_any = {.cgroup = ""},
		      in_other = {.cgroup = "/a/"};
	struct places *p = places_new();
	struct group_name n;

	snprintf(in_other.cgroup, sizeof(in_other.cgroup), "/a/bb");
	assert_int_equal(places_origin(p, &one), 0);
	assert_int_equal(places_origin(p, &last), 0);
	name(p, &of_one, &n);
	assert_string_equal(n.cgroup, "/a/b");
	assert_int_equal(n.cpu, 3);
	assert_int_equal(n.pid, 77);
	assert_string_equal(n.comm, "fio");
	assert_int_equal(places_origin_of(p, &of_one)->pid, 77);
	assert_null(places_origin_of(p, &none));
	assert_null(places_origin_of(p, &untold));
	/* What is no key stays empty. */
	memset(&n, 0, sizeof(n));
	places_name(p, &by_cpu, &of_one, &n);
	assert_int_equal(n.pid, 0);
	assert_string_equal(n.comm, "");
	name(p, &of_last, &n);
	assert_string_equal(n.cgroup, "(others)");
	assert_int_equal(n.cpu, ORIGIN_NO_CPU);
	name(p, &untold, &n);
	assert_string_equal(n.cgroup, "");
	assert_int_equal(n.cpu, ORIGIN_NO_CPU);
	assert_true(places_takes(p, &in_a, &of_one));
	assert_true(places_takes(p, &in_ab, &of_one));
	assert_true(places_takes(p, &in_root, &of_one));
	assert_true(places_takes(p, &in_any, &none));
	assert_false(places_takes(p, &in_other, &of_one));
	assert_false(places_takes(p, &in_root, &none));
	assert_false(places_takes(p, &in_root, &untold));
	assert_false(places_takes(p, &in_a, &of_last));
	assert_false(places_takes(NULL, &in_root, &of_one));
	assert_true(places_takes(NULL, &in_any, &of_one));
	places_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_from_where_to_where),
		cmocka_unit_test(a_device_is_of_its_subsystem_and_controller),
		cmocka_unit_test(names_with_one_hash_keep_their_devices),
		cmocka_unit_test(a_selection_by_a_device_is_by_its_name),
		cmocka_unit_test(what_was_told_first_gives_way),
		cmocka_unit_test(what_is_in_use_stays),
		cmocka_unit_test(where_all_are_in_use_one_gives_way_and_is_counted),
		cmocka_unit_test(an_origin_is_a_cpu_a_cgroup_and_a_process),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
