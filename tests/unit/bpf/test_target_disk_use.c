// SPDX-License-Identifier: GPL-2.0-only
/* Who uses the disks behind a target (--disks). */
#include "bpf/target.h"

#define COMMANDS 1
#include "bpf/target_machine.h"

#include <stdio.h>

enum { NVMET_BIO_DONE = 0x1000, OTHERS_END_IO = 0x2000, PASSTHRU_DONE = 0x3000 };

/* A disk, and a request to it with one bio: of a host, or of a cgroup. */
static struct {
	struct gendisk___use disk[4];
	struct request_queue___use queue[4];
	struct nvmet_req req[2]; /* of two hosts */
	struct nvmet_sq sq[2];
	struct nvmet_ctrl ctrl[2];
	struct kernfs_node___origin node;
	struct cgroup___origin cgroup;
	struct blkcg___origin blkcg;
	struct blkcg_gq___origin blkg;
	/* The kernel's has all of these; here each program looks at one of them. */
	union {
		struct bio___plain of_host;
		struct bio___origin of_cgroup;
	} bio;
} use;

/* The kernel skips the next run of disk_use_end. */
static bool skipped;

static int setup(void **state)
{
	skipped = false;
	target_make();
	memset(&use, 0, sizeof(use));
	for (unsigned int i = 0; i < 3; i++)
		disk_map[i].nr = 0;
	for (int i = 0; i < 4; i++) {
		use.disk[i] = (struct gendisk___use){.diskseq = 10 + i};
		snprintf(use.disk[i].disk_name, sizeof(use.disk[i].disk_name), "disk%d", i);
		use.queue[i].disk = &use.disk[i];
	}
	for (int i = 0; i < 2; i++) {
		use.req[i].sq = &use.sq[i];
		use.sq[i].ctrl = &use.ctrl[i];
		snprintf(use.ctrl[i].hostnqn, sizeof(use.ctrl[i].hostnqn), "nqn.host%d", i);
	}
	nt_knobs.bio_done = NVMET_BIO_DONE;
	nt_control.began_ns = 1;
	return 0;
}

static int teardown(void **state)
{
	nt_knobs.bio_done = nt_knobs.passthru_done = 0;
	return 0;
}

/* Who makes the next request. */
static void host_does(int host)
{
	use.bio.of_host = (struct bio___plain){.bi_end_io = (void *)NVMET_BIO_DONE,
					       .bi_private = &use.req[host]};
}

/* The kernel's bio has a cgroup besides; here that is where bi_next would be. */
static void cgroup_does(__u64 id)
{
	use.bio.of_host = (struct bio___plain){.bi_end_io = (void *)OTHERS_END_IO};
	use.bio.of_cgroup.bi_blkg = &use.blkg;
	use.blkg.blkcg = &use.blkcg;
	use.blkcg.css.cgroup = &use.cgroup;
	use.cgroup.kn = &use.node;
	use.node.id = id;
}

static struct request___use request(int disk, __u32 bytes)
{
	return (struct request___use){
		.q = &use.queue[disk], .bio = &use.bio.of_host, .__data_len = bytes};
}

static void issue(struct request___use *rq, __u64 t)
{
	kernel.now = t - 100;
	disk_use_issue(NULL, rq);
}

static void end(struct request___use *rq, __u32 bytes, __u64 t)
{
	kernel.now = t - 100;
	if (skipped)
		skipped = false;
	else
		disk_use_end(NULL, rq, 0, bytes);
	disk_use_end_nested(NULL, rq, 0, bytes);
}

static void does(int disk, __u32 bytes, __u64 ns)
{
	struct request___use rq = request(disk, bytes);

	issue(&rq, 1000);
	end(&rq, bytes, 1000 + ns);
}

/* @host: NULL: a cgroup's, or of nobody. Return: all zeroes for one that is not there */
static struct nt_disk_use used(int disk, const char *host, __u64 cgroup)
{
	struct nt_disk_user key = {.disk = 10 + disk, .cgroup = host ? NT_DISK_OF_HOST : cgroup};
	const struct nt_disk_use *u;

	snprintf(key.host, sizeof(key.host), "%s", host ?: "");
	u = bpf_map_lookup_elem(&disk_uses, &key);
	return u ? *u : (struct nt_disk_use){0};
}

#define assert_used(of, n, b, t)                     \
	do {                                         \
		struct nt_disk_use used_ = of;       \
                                                     \
		assert_int_equal(used_.requests, n); \
		assert_int_equal(used_.bytes, b);    \
		assert_int_equal(used_.ns, t);       \
	} while (0)

static void each_host_has_what_it_did(void **state)
{
	host_does(0);
	does(0, 4096, 500);
	does(0, 4096, 700);
	does(1, 512, 50);
	host_does(1);
	does(0, 8192, 300);
	assert_used(used(0, "nqn.host0", 0), 2, 8192, 1200);
	assert_used(used(0, "nqn.host1", 0), 1, 8192, 300);
	assert_used(used(1, "nqn.host0", 0), 1, 512, 50);
	assert_used(used(1, "nqn.host1", 0), 0, 0, 0);
	assert_int_equal(counted(NT_CNT_DISKS_FULL), 0);
}

/* The time of figures begins when all programs are there, and ends before the first one goes. */
static void requests_of_other_times_do_not_count(void **state)
{
	struct request___use rq;

	host_does(0);
	nt_control.began_ns = NT_BEGINNING;
	does(0, 4096, 500);
	rq = request(0, 4096);
	issue(&rq, 1000);
	nt_control.began_ns = 1200;
	end(&rq, 4096, 1500);
	assert_used(used(0, "nqn.host0", 0), 0, 0, 0);
	issue(&rq, 2000);
	end(&rq, 4096, 2100);
	assert_used(used(0, "nqn.host0", 0), 1, 4096, 100);
	issue(&rq, 3000);
	nt_control.began_ns = 0;
	end(&rq, 4096, 3100);
	does(0, 4096, 500);
	assert_used(used(0, "nqn.host0", 0), 1, 4096, 100);
	assert_int_equal(disk_map[1].nr, 0);
}

/* nvmet takes any name. A host without one must not pass for the machine itself. */
static void a_host_without_a_name_is_a_host(void **state)
{
	use.ctrl[0].hostnqn[0] = '\0';
	host_does(0);
	does(0, 4096, 500);
	assert_used(used(0, "", 0), 1, 4096, 500);
	assert_used(used(0, NULL, NT_DISK_NOBODY), 0, 0, 0);
}

static void others_count_where_a_host_has_been(void **state)
{
	struct request___use none = request(0, 0);

	cgroup_does(77);
	does(0, 4096, 100);
	assert_int_equal(disk_map[0].nr + disk_map[1].nr + disk_map[2].nr, 0);
	host_does(0);
	does(0, 4096, 100);
	cgroup_does(77);
	does(0, 4096, 200);
	does(1, 4096, 200);
	/* A flush of the block layer has no bio. */
	none.bio = NULL;
	issue(&none, 1000);
	end(&none, 0, 1700);
	assert_used(used(0, NULL, 77), 1, 4096, 200);
	assert_used(used(1, NULL, 77), 0, 0, 0);
	assert_used(used(0, NULL, NT_DISK_NOBODY), 1, 0, 700);
	assert_int_equal(disk_map[0].nr, 1);
	assert_string_equal(disk_map[0].at[0].value, "disk0");
}

static void others_are_told_apart_by_their_cgroup(void **state)
{
	host_does(0);
	does(0, 4096, 100);
	cgroup_does(77);
	does(0, 512, 10);
	cgroup_does(78);
	does(0, 512, 20);
	assert_used(used(0, NULL, 77), 1, 512, 10);
	assert_used(used(0, NULL, 78), 1, 512, 20);
}

static void a_request_that_ends_in_parts_counts_once(void **state)
{
	struct request___use rq = request(0, 8192);

	host_does(0);
	issue(&rq, 1000);
	end(&rq, 4096, 1500);
	assert_used(used(0, "nqn.host0", 0), 0, 0, 0);
	rq.__data_len = 4096;
	end(&rq, 4096, 1900);
	assert_used(used(0, "nqn.host0", 0), 1, 8192, 900);
	/* It has ended. */
	end(&rq, 4096, 2500);
	assert_used(used(0, "nqn.host0", 0), 1, 8192, 900);
	assert_int_equal(disk_map[1].nr, 0);
}

static void the_first_issue_of_a_request_counts(void **state)
{
	struct request___use rq = request(0, 4096);

	host_does(0);
	rq.start_time_ns = 900;
	issue(&rq, 1000);
	issue(&rq, 5000);
	end(&rq, 4096, 5200);
	assert_used(used(0, "nqn.host0", 0), 1, 4096, 4200);
}

static void an_end_that_interrupts_another_one_counts(void **state)
{
	host_does(0);
	skipped = true;
	does(0, 4096, 100);
	assert_false(skipped);
	assert_used(used(0, "nqn.host0", 0), 1, 4096, 100);
}

static void a_request_whose_end_was_missed_is_no_part_of_the_next_one(void **state)
{
	struct request___use rq = request(0, 4096);

	host_does(0);
	rq.start_time_ns = 900;
	issue(&rq, 1000);
	rq.start_time_ns = 4900;
	issue(&rq, 5000);
	end(&rq, 4096, 5200);
	assert_used(used(0, "nqn.host0", 0), 1, 4096, 200);
}

static void what_has_no_data_has_no_bytes(void **state)
{
	static const __u32 ops[] = {REQ_OP_DISCARD, REQ_OP_SECURE_ERASE, REQ_OP_WRITE_ZEROES};

	host_does(0);
	for (int i = 0; i < 3; i++) {
		struct request___use rq = request(0, 65536);

		rq.cmd_flags = ops[i] | 0x800;
		issue(&rq, 1000);
		end(&rq, 65536, 1100);
	}
	assert_used(used(0, "nqn.host0", 0), 3, 0, 300);
}

static void users_without_room_count_together(void **state)
{
	host_does(0);
	does(0, 1, 10);
	host_does(1);
	does(0, 1, 10);
	for (int i = 0; i < 5; i++) {
		cgroup_does(77 + i);
		does(0, 1, 10);
	}
	/* Five have room: these, two hosts, and two cgroups. */
	assert_used(used(0, NULL, NT_DISK_OTHERS), 3, 3, 30);
	assert_used(used(0, NULL, 78), 1, 1, 10);
	/* A disk that comes now has no room for them, nor for its host. */
	host_does(0);
	does(1, 1, 10);
	assert_int_equal(counted(NT_CNT_DISKS_FULL), 1);
}

static void disks_and_requests_without_room_are_counted(void **state)
{
	struct request___use rq[5];

	host_does(0);
	for (int i = 0; i < 4; i++)
		does(i, 1, 10);
	assert_int_equal(disk_map[0].nr, 2);
	assert_int_equal(counted(NT_CNT_DISKS_FULL), 2);
	for (int i = 0; i < 5; i++) {
		rq[i] = request(0, 1);
		issue(&rq[i], 1000);
	}
	assert_int_equal(counted(NT_CNT_DISKS_FULL), 3);
	for (int i = 0; i < 5; i++)
		end(&rq[i], 1, 2000);
	assert_used(used(0, "nqn.host0", 0), 5, 5, 4010);
}

/* A passthru target hands a command on as a request whose bio, if it has one, is not nvmet's. */
static void a_command_that_is_handed_on_is_of_its_host(void **state)
{
	struct request___use rq = request(0, 4096);

	nt_knobs.passthru_done = PASSTHRU_DONE;
	cgroup_does(77);
	rq.end_io = (void *)PASSTHRU_DONE;
	rq.end_io_data = &use.req[1];
	issue(&rq, 1000);
	end(&rq, 4096, 1300);
	assert_used(used(0, "nqn.host1", 0), 1, 4096, 300);
	/* One without data. */
	rq.bio = NULL;
	rq.__data_len = 0;
	issue(&rq, 2000);
	end(&rq, 0, 2700);
	assert_used(used(0, "nqn.host1", 0), 2, 4096, 1000);
	assert_int_equal(disk_map[0].nr, 1);
	/* What others do there. */
	rq = request(0, 512);
	rq.end_io = (void *)OTHERS_END_IO;
	issue(&rq, 3000);
	end(&rq, 512, 3100);
	assert_used(used(0, "nqn.host1", 0), 2, 4096, 1000);
	assert_used(used(0, NULL, 77), 1, 512, 100);
	/* This kernel has no such targets. */
	nt_knobs.passthru_done = 0;
	rq = request(1, 0);
	rq.bio = NULL;
	issue(&rq, 4000);
	assert_int_equal(disk_map[0].nr, 1);
}

static void requests_without_a_disk_are_left_out(void **state)
{
	host_does(0);
	use.queue[0].disk = NULL;
	does(0, 4096, 100);
	assert_int_equal(disk_map[0].nr + disk_map[1].nr + disk_map[2].nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(each_host_has_what_it_did),
		TEST(a_host_without_a_name_is_a_host),
		TEST(requests_of_other_times_do_not_count),
		TEST(others_count_where_a_host_has_been),
		TEST(others_are_told_apart_by_their_cgroup),
		TEST(a_request_that_ends_in_parts_counts_once),
		TEST(the_first_issue_of_a_request_counts),
		TEST(an_end_that_interrupts_another_one_counts),
		TEST(a_request_whose_end_was_missed_is_no_part_of_the_next_one),
		TEST(what_has_no_data_has_no_bytes),
		TEST(users_without_room_count_together),
		TEST(disks_and_requests_without_room_are_counted),
		TEST(a_command_that_is_handed_on_is_of_its_host),
		TEST(requests_without_a_disk_are_left_out),
	};

	return cmocka_run_group_tests_name("who uses a target's disks", tests, NULL, NULL);
}
