/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles the programs of bpf/ for this machine. Include it before everything else; PROGRAMS names
 * the file of the programs. They run on kernel structures that a test makes up, and this file
 * stands in for the kernel's helpers.
 */
#ifndef NTPROF_TESTS_BPF_KERNEL_H
#define NTPROF_TESTS_BPF_KERNEL_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunknown-attributes"
#pragma clang diagnostic ignored "-Wignored-attributes"
/* The verifier wants these loops unrolled. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wattributes"
#endif

#include "vmlinux.h"

#include "shared/control.h"
#include "shared/record.h"
#include "shared/selection.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The loader sets the constants of the programs; here a test sets them. */
#define const
#include "control.bpf.h"
#undef const

/* This replaces addresses.bpf.h, in which low_half() uses a BPF instruction. */
#define NTPROF_ADDRESSES_BPF_H
static __always_inline __u64 plain_argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

static __always_inline __u64 plain_number(__u64 address)
{
	return address;
}

static __always_inline __u32 low_half(__u64 address)
{
	return (__u32)address;
}

static __always_inline __u32 hashed(__u64 address, __u32 bits)
{
	return ((__u32)address >> 6) * NT_SPREAD >> (32 - bits);
}

/*
 * Called before each atomic operation on @at: a test does there what another CPU does at that
 * moment.
 */
static void (*on_atomic)(const volatile void *at);

static inline void atomic_begins(const volatile void *at)
{
	if (on_atomic)
		on_atomic(at);
}

#define __sync_fetch_and_add(at, n) (atomic_begins(at), __sync_fetch_and_add(at, n))

#include PROGRAMS

#pragma GCC diagnostic pop

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "in_range.h"

#define SLOTS 32
#define RECORDS_MAX 512
#define BEGUN_MAX 16
/* The items of the pools. Number 0 is included, though it is never given to a queue. */
#define PIECES ((1 << NT_CMDS_BITS) + SLOTS)
#define HISTS (2 * SLOTS * NT_OPS_NR)
#define STAGES 256
#define JOINS 16
#define IDENTITIES_MAX 8
#define ERRORS_MAX 4 /* entries of the map of errors; see NT_ERRORS */

static struct {
	__u64 now;
	__u32 cpu;		/* the CPU that programs run on */
	__u64 tai;		/* CLOCK_TAI - CLOCK_MONOTONIC */
	void (*on_clock)(void); /* called before each read of a clock */
	struct nt_queue queues[SLOTS];
	/* What user space cannot write. */
	struct nt_kernel_queue kernel_queues[SLOTS];
	struct nt_learned learned;
	struct nt_names names[SLOTS];
	struct nt_controller controllers[SLOTS];
	/* The first bank is not here: it is a variable of the programs. */
	struct nt_cmd cmds[PIECES * NT_CHUNK_CMDS];
	struct nt_hist hists[HISTS];
	struct nt_stage_hists stages[STAGES];
	struct nt_hist shared;
	__u32 shared_nr; /* which of those was looked up last; all are the one above */
	struct nt_joins joins[JOINS];
	unsigned int calls;
	struct {
		__u64 sk;
		struct nt_served serves;
	} sockets[SLOTS];
	struct {
		struct nt_error error;
		__u64 count;
	} errors[ERRORS_MAX];
	unsigned int nr_errors;
	/* What sockets have for their notes of PDUs. */
	struct {
		void *sk;
		struct nt_outs outs;
	} storage[4];
	struct nt_record records[RECORDS_MAX];
	unsigned int nr_records;
	struct nt_originated originated; /* the last one that was submitted */
	struct nt_ended ended;		 /* the same; its record is one of @records as well */
	void *task;			 /* the current one */
	__u32 thread;			 /* its id */
	struct nt_worker workers[SLOTS];
	struct nt_taken taken[NT_TAKEN_MAX];
	struct nt_begun begun[BEGUN_MAX];
	unsigned int nr_begun;
	struct nt_identity identities[IDENTITIES_MAX]; /* identities that were sent to user space */
	unsigned int nr_identities;
	__u64 lost;	    /* sum of the struct nt_lost that were sent */
	__u64 lost_ns;	    /* when the last one was */
	bool ring_is_full;  /* the ring buffer has no room */
	__u64 unread;	    /* bytes in it that user space has not read */
	unsigned int wakes; /* how often user space was woken to read it */
} kernel;

/* Sets the knobs of --sample as the loader does. */
static void knobs_sample(__u32 below, bool count_all)
{
	nt_knobs.sample_below = below;
	nt_knobs.count_all = below && count_all;
	nt_knobs.tracks = below || nt_knobs.selects;
}

/* @s: NULL selects all commands */
static void knobs_select(const struct nt_selection *s)
{
	static const struct nt_selection all;

	memcpy((void *)&nt_knobs.only, s ?: &all, sizeof(nt_knobs.only));
	nt_knobs.selects = nt_selects_by(s ?: &all);
	nt_knobs.tracks = nt_knobs.sample_below || nt_knobs.selects;
}

/*
 * Checks &nt_control.tracked. Where commands are selected, it is set by those that are measured,
 * and only user space resets it.
 * @measured: measured commands in flight
 */
static inline void assert_tracked(unsigned int measured)
{
	if (!nt_knobs.tracks)
		assert_int_equal(nt_control.tracked, 0);
	else if (nt_knobs.sample_below)
		assert_int_equal(nt_control.tracked, measured);
	else if (measured)
		assert_int_equal(nt_control.tracked, NT_TRACKED_SOME);
}

/* Gives the items 1 to @nr - 1 to the pool. */
static void pool_fill(enum nt_pool_id id, __u32 nr)
{
	for (__u32 i = 1; i < nr; i++)
		nt_free[id][nt_pools[id].given++] = (__u16)i;
}

static inline __u32 pool_left(enum nt_pool_id id)
{
	return nt_pools[id].given - nt_pools[id].taken;
}

/* The sum over all CPUs. */
static inline __u64 counted(enum nt_counter which)
{
	__u64 n = 0;

	for (unsigned int cpu = 0; cpu < NT_CPUS; cpu++)
		n += nt_counters[cpu].n[which];
	return n;
}

/* How many queues have hit the limit @past, by the bits of nt_past. */
static inline unsigned int queues_past(enum nt_past_id past)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < NT_PAST_QUEUES / 64; i++)
		n += (unsigned int)__builtin_popcountll(nt_past[past].queues[i]);
	return n;
}

/* What the loader does in two intervals: see in_flight_untrack(). */
static inline void untrack(void)
{
	for (__u32 i = 0; i < PIECES * NT_CHUNK_CMDS; i++)
		if (in_flight(cmd_at(i)))
			return;
	if (!nt_knobs.sample_below)
		nt_control.tracked = NT_TRACKED_NONE;
}

static void kernel_reset(void)
{
	on_atomic = NULL;
	memset(&kernel, 0, sizeof(kernel));
	memset(&nt_control, 0, sizeof(nt_control));
	memset(nt_pools, 0, sizeof(nt_pools));
	memset(nt_counters, 0, sizeof(nt_counters));
	memset(nt_hist_index, 0, sizeof(nt_hist_index));
	memset(nt_stages_of, 0, sizeof(nt_stages_of));
	memset(nt_first_cmds, 0, sizeof(nt_first_cmds));
	memset(nt_first_hists, 0, sizeof(nt_first_hists));
	memset(nt_first_stages, 0, sizeof(nt_first_stages));
	memset(nt_index, 0, sizeof(nt_index));
	memset(nt_slot_index, 0, sizeof(nt_slot_index));
	nt_workers_taken = 0;
	pool_fill(NT_POOL_CMDS, PIECES);
	pool_fill(NT_POOL_HISTS, HISTS);
	pool_fill(NT_POOL_STAGES, STAGES);
	pool_fill(NT_POOL_JOINS, JOINS);
	kernel.now = 1000;
	nt_knobs.shared_mask = 0;
	nt_knobs.stages_kept = 0;
	nt_knobs.slots = SLOTS;
	nt_knobs.qid_stride = 8;
	nt_knobs.select = NT_SELECT_ALL;
	knobs_sample(0, false);
	knobs_select(NULL);
}

/* The record that was submitted last. */
static inline const struct nt_record *last_record(void)
{
	assert_int_not_equal(kernel.nr_records, 0);
	return &kernel.records[kernel.nr_records - 1];
}

static void *entry(void *table, size_t size, __u32 nr, const void *key)
{
	__u32 at = *(const __u32 *)key;

	return at < nr ? (char *)table + size * at : NULL;
}

void *bpf_get_current_task_btf(void)
{
	return kernel.task;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return 1ULL << 32 | kernel.thread;
}

/* Acts as a map of type BPF_MAP_TYPE_HASH. */
static __u64 *error_find(const void *key)
{
	for (unsigned int i = 0; i < kernel.nr_errors; i++)
		if (!memcmp(&kernel.errors[i].error, key, sizeof(kernel.errors[i].error)))
			return &kernel.errors[i].count;
	return NULL;
}

static long error_update(const void *key, const void *value)
{
	if (error_find(key) || kernel.nr_errors == ERRORS_MAX)
		return -1;
	memcpy(&kernel.errors[kernel.nr_errors].error, key, sizeof(kernel.errors[0].error));
	kernel.errors[kernel.nr_errors++].count = *(const __u64 *)value;
	return 0;
}

/*
 * An inner map of a map of maps; lookup() knows it by its address. Each pool has as many banks as
 * its items need.
 */
static struct bank {
	char *table;
	size_t size;
	__u32 nr;
} banks[NT_POOLS_NR][SLOTS * NT_OPS_NR];

static void *bank_of(enum nt_pool_id id, void *table, size_t size, __u32 nr, __u32 bits,
		     const void *key)
{
	__u32 at = *(const __u32 *)key;

	if (at > (nr - 1) >> bits)
		return NULL;
	banks[id][at] =
		(struct bank){(char *)table + ((size_t)at << bits) * size, size, nr - (at << bits)};
	return &banks[id][at];
}

/*
 * Looks into the maps that both sides have. @found: set to false, and NULL is returned, if @map is
 * not one of these
 */
static void *lookup(const void *map, const void *key, bool *found)
{
	*found = true;
	if (map == &queues)
		return entry(kernel.queues, sizeof(kernel.queues[0]), SLOTS, key);
	if (map == &kernel_queues)
		return entry(kernel.kernel_queues, sizeof(kernel.kernel_queues[0]), SLOTS, key);
	if (map == &taken)
		return entry(kernel.taken, sizeof(kernel.taken[0]), NT_TAKEN_MAX, key);
	if (map == &workers)
		return entry(kernel.workers, sizeof(kernel.workers[0]), SLOTS, key);
	if (map == &learned)
		return &kernel.learned;
	if (map == &errors)
		return error_find(key);
	if (map == &hists_shared) {
		kernel.shared_nr = *(const __u32 *)key;
		return &kernel.shared;
	}
	if (map == &cmd_banks)
		return bank_of(NT_POOL_CMDS, kernel.cmds, sizeof(kernel.cmds[0]),
			       PIECES * NT_CHUNK_CMDS, NT_BANK_CMDS_BITS, key);
	if (map == &hist_banks)
		return bank_of(NT_POOL_HISTS, kernel.hists, sizeof(kernel.hists[0]), HISTS,
			       NT_HISTS_BITS, key);
	if (map == &stage_banks)
		return bank_of(NT_POOL_STAGES, kernel.stages, sizeof(kernel.stages[0]), STAGES,
			       NT_STAGES_BITS, key);
	if (map == &join_banks)
		return bank_of(NT_POOL_JOINS, kernel.joins, sizeof(kernel.joins[0]), JOINS,
			       NT_JOINS_BITS, key);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		const struct bank *b = map;

		if (b >= banks[i] && b < banks[i] + SLOTS * NT_OPS_NR)
			return entry(b->table, b->size, b->nr, key);
	}
	*found = false;
	return NULL;
}

/* How many commands of an operation ended with @status. */
static inline __u64 errors_of(enum nt_op op, __u16 status)
{
	__u64 n = 0;

	for (unsigned int i = 0; i < kernel.nr_errors; i++)
		if (kernel.errors[i].error.op == op && kernel.errors[i].error.status == status)
			n += kernel.errors[i].count;
	return n;
}

/* The stage histograms of a queue with @key; item 0, which has counted nothing, if it has none. */
static inline struct nt_stage_hists *stages_with(__u64 key)
{
	for (unsigned int nr = 1; nr < STAGES; nr++)
		if (stages_at(nr)->h[0].key == key)
			return stages_at(nr);
	return stages_at(0);
}

/* How many commands the latency histograms have counted. */
static inline __u64 latencies(void)
{
	__u64 n = 0;

	for (unsigned int h = 0; h < HISTS; h++)
		for (unsigned int b = 0; b < NT_BUCKETS; b++)
			n += hist_at(h)->buckets[b];
	return n;
}

__u32 bpf_get_smp_processor_id(void)
{
	return kernel.cpu;
}

/*
 * Checks that nothing was lost. These commands have no points between begin and end, so
 * NT_CNT_POINT_MISSING has each command of the latency histograms.
 */
static inline void assert_no_losses(void)
{
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++) {
		__u64 n = i == NT_CNT_POINT_MISSING ? latencies() : 0;

		assert_int_equal(counted(i), n);
	}
}

__u64 bpf_ktime_get_ns(void)
{
	if (kernel.on_clock)
		kernel.on_clock();
	return kernel.now += 100;
}

__u64 bpf_ktime_get_tai_ns(void)
{
	return bpf_ktime_get_ns() + kernel.tai;
}

long bpf_probe_read_kernel(void *dst, __u32 size, const void *src)
{
	memcpy(dst, src, size);
	return 0;
}

long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src)
{
	size_t n;

	/*
	 * An address that no test made up has no text: fail as the kernel does where no memory is
	 * mapped.
	 */
	if ((__u64)src < 4096)
		return -14;
	n = strnlen(src, size - 1);

	memcpy(dst, src, n);
	((char *)dst)[n] = '\0';
	return (long)n;
}

long bpf_get_func_arg(void *ctx, __u32 n, __u64 *value)
{
	*value = ((__u64 *)ctx)[n];
	return 0;
}

long bpf_ringbuf_output(void *ringbuf, void *data, __u64 size, __u64 flags)
{
	if (ringbuf == &calls) {
		assert_int_equal(flags, BPF_RB_FORCE_WAKEUP);
		kernel.calls++;
		return 0;
	}
	assert_int_equal(flags, BPF_RB_NO_WAKEUP);
	if (kernel.ring_is_full)
		return -1;
	if (size == sizeof(struct nt_lost)) {
		kernel.lost += ((const struct nt_lost *)data)->nr;
		kernel.lost_ns = ((const struct nt_lost *)data)->ns;
		return 0;
	}
	fail();
	return -1;
}

void *bpf_ringbuf_reserve(void *ringbuf, __u64 size, __u64 flags)
{
	if (ringbuf == &calls) {
		assert_int_equal(size, sizeof(struct nt_identity));
		return kernel.nr_identities < IDENTITIES_MAX
			       ? &kernel.identities[kernel.nr_identities++]
			       : NULL;
	}
	if (kernel.ring_is_full)
		return NULL;
	if (size == sizeof(struct nt_record) || size == NT_RECORD_STATE) {
		assert_uint_in_range(kernel.nr_records, 0, RECORDS_MAX - 1);
		return &kernel.records[kernel.nr_records++];
	}
	if (size == sizeof(struct nt_originated))
		return &kernel.originated;
	if (size == sizeof(struct nt_ended))
		return &kernel.ended;
	assert_int_equal(size, sizeof(struct nt_begun));
	assert_uint_in_range(kernel.nr_begun, 0, BEGUN_MAX - 1);
	return &kernel.begun[kernel.nr_begun++];
}

void bpf_ringbuf_submit(void *data, __u64 flags)
{
	const char *at = data;

	if (at >= (char *)kernel.identities && at < (char *)&kernel.identities[IDENTITIES_MAX]) {
		assert_int_not_equal(flags, BPF_RB_NO_WAKEUP);
		return;
	}
	/* Otherwise the kernel decides, and wakes user space with nearly each record. */
	assert_true(flags == BPF_RB_FORCE_WAKEUP || flags == BPF_RB_NO_WAKEUP);
	kernel.wakes += flags == BPF_RB_FORCE_WAKEUP;
	assert_false(((const struct nt_record *)data)->flags & NT_F_CONNECT);
	if (data == &kernel.ended) {
		assert_uint_in_range(kernel.nr_records, 0, RECORDS_MAX - 1);
		kernel.records[kernel.nr_records++] = kernel.ended.r;
	}
}

void *bpf_sk_storage_get(void *map, void *sk, void *value, __u64 flags)
{
	assert_ptr_equal(map, &outs);
	for (unsigned int i = 0; i < 4; i++) {
		if (!kernel.storage[i].sk && flags & BPF_SK_STORAGE_GET_F_CREATE)
			kernel.storage[i].sk = sk;
		if (kernel.storage[i].sk == sk)
			return &kernel.storage[i].outs;
	}
	return NULL;
}

__u64 bpf_ringbuf_query(void *ringbuf, __u64 flags)
{
	assert_ptr_equal(ringbuf, &records);
	assert_int_equal(flags, BPF_RB_AVAIL_DATA);
	return kernel.unread;
}

#endif /* NTPROF_TESTS_BPF_KERNEL_H */
