// SPDX-License-Identifier: GPL-2.0-only
#include "trace/load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/segments.h"
#include "shared/selection.h"
#include "trace/connections.h"
#include "trace/kernel.h"
#include "trace/missed.h"
#include "trace/path_events.h"
#include "trace/private.h"
#include "trace/probes.h"

/* Room for this many controllers of a host, and for as many more as its highest nvmeN. */
#define HOST_CONTROLLERS 64
/*
 * CPUs may come online while tracing: room for this many times those that are online, if so many
 * are possible.
 */
#define HOST_CPUS_TIMES 4
/* Connections to one target for each CPU, admin queues included; the least and the most of all. */
#define TARGET_QUEUES_OF_CPU 512
#define TARGET_QUEUES_LEAST 1024
#define TARGET_QUEUES_MOST 16384
_Static_assert(TARGET_QUEUES_MOST <= NT_SLOTS_MAX, "each has a slot");
/* The most histograms that CPUs share where no other is left. */
#define SHARED_HISTS_MOST 64
/* Operations of which a CPU shares stages: two of these may be admin and Fabrics commands. */
#define STAGES_SHARED_OF_CPU 4
/*
 * Queues have stages of their own for this many operations on each CPU: reads and writes of eight
 * controllers. The least of a machine are those of a few CPUs to many controllers; 6.4 MiB.
 */
#define STAGES_OWN_OF_CPU 16
#define STAGES_OWN_LEAST 1024
/* 8 MiB, some 60,000 records: a second's worth at a rate that a terminal or file can follow. */
#define RING_BYTES (8u << 20)
/*
 * Of the verifier's log: the most that every kernel takes. Memory that is not written to costs
 * nothing.
 */
#define LOG_BYTES ((16u << 20) - 1)

static uint32_t power_of_two(uint32_t least)
{
	uint32_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

static unsigned int online_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}

/*
 * Queue ids of a controller of the host: up to one read, write and poll queue for each CPU that is
 * online when it is connected (nvmf_nr_io_queues() and its like), and the admin queue.
 */
static uint32_t qid_stride(const struct tracer *t, uint32_t most_now)
{
	unsigned int cpus = HOST_CPUS_TIMES * online_cpus();

	if (cpus > t->cpus)
		cpus = t->cpus;
	return power_of_two(3 * cpus + 1 > most_now ? 3 * cpus + 1 : most_now);
}

/*
 * Queues whose workers are known, of 2 KiB each; those that come after them have no waits. Number 0
 * is none.
 */
#define WORKERS_MOST 4096

static uint32_t workers_of(uint32_t slots)
{
	return 1 + (slots < WORKERS_MOST ? slots : WORKERS_MOST);
}

static uint32_t target_queues(uint32_t now)
{
	uint32_t n = TARGET_QUEUES_OF_CPU * online_cpus();

	if (n < TARGET_QUEUES_LEAST)
		n = TARGET_QUEUES_LEAST;
	if (n < 2 * now)
		n = 2 * now;
	return n < TARGET_QUEUES_MOST ? power_of_two(n) : TARGET_QUEUES_MOST;
}

/* Only --disks needs them. */
static const char *const disk_maps[] = {"disks", "disk_requests", "disk_uses"};

int load_open(struct tracer *t)
{
	struct connections_now now;
	struct nt_knobs *knobs;
	uint32_t shared;
	int err = object_open(&t->object, t->o.side);

	if (err)
		return err;
	knobs = t->object.knobs;
	t->cpus = libbpf_num_possible_cpus();
	connections_now(t->o.side, t->o.transports, &now);
	t->expected = now.pieces;
	shared = power_of_two(online_cpus());
	if (shared > SHARED_HISTS_MOST)
		shared = SHARED_HISTS_MOST;
	if (t->o.side == NT_HOST) {
		knobs->qid_stride = qid_stride(t, now.most_queues);
		t->nr_slots =
			nt_host_slots(HOST_CONTROLLERS + now.highest_instance, knobs->qid_stride);
	} else {
		t->nr_slots = target_queues(now.queues);
		/* Anybody can connect to the port, and send nothing. */
		if (t->expected > target_queues(0))
			t->expected = target_queues(0);
		knobs->slots = t->nr_slots;
	}
	knobs->select = t->o.select;
	knobs->slower_ns = t->o.only.slower_ns;
	knobs->failed = t->o.only.failed;
	knobs->events = t->o.events;
	knobs->tells_lost = t->o.tells_lost;
	knobs->origins = (__u8)t->o.origins;
	knobs->only = t->o.only.by;
	knobs->selects = nt_selects_by(&t->o.only.by);
	knobs->sample_below = nt_sample_threshold(t->o.sample);
	knobs->tracks = knobs->selects || knobs->sample_below;
	/* Without histograms there is nothing to count them in. */
	knobs->count_all = knobs->sample_below && !t->o.no_histograms;
	knobs->shared_mask = shared - 1;
	knobs->no_histograms = t->o.no_histograms;
	knobs->stages_kept = STAGES_SHARED_OF_CPU * online_cpus();
	if (knobs->stages_kept > NT_FREE_MAX / 2)
		knobs->stages_kept = NT_FREE_MAX / 2;
	/* All of them: programs take none. */
	if (!tracer_counts_stages(t))
		knobs->stages_kept = UINT32_MAX;
	knobs->ends = t->o.ends;
	knobs->stages = t->o.stages;
	knobs->fine = t->o.fine;
	bpf_map__set_autocreate(object_map(&t->object, "outs"), t->o.fine);
	knobs->workers = t->o.fine;
	bpf_map__set_autocreate(object_map(&t->object, "workers"), t->o.fine);
	bpf_map__set_autocreate(object_map(&t->object, "taken"), t->o.fine);
	if (t->o.fine)
		object_size_map(&t->object, "workers", workers_of(t->nr_slots));
	knobs->notes_cqe = knobs->events || knobs->fine;
	if (t->o.side == NT_HOST && t->o.fine)
		knobs->origins |= NT_ORIGIN_POINTS;
	if (t->o.side == NT_HOST) {
		bpf_map__set_autocreate(object_map(&t->object, "inserted"),
					t->o.origins & NT_ORIGIN_TASK);
		bpf_map__set_autocreate(object_map(&t->object, "path_events"), t->o.on_path_event);
		bpf_map__set_autocreate(object_map(&t->object, "path_groups"), t->o.on_path_event);
	}
	for (size_t i = 0; t->o.side == NT_TARGET && i < ARRAY_SIZE(disk_maps); i++)
		bpf_map__set_autocreate(object_map(&t->object, disk_maps[i]), t->o.disks);
	knobs->transports = (__u8)t->o.transports;
	knobs->wake_bytes = RING_BYTES / 4;
	object_size_map(&t->object, "queues", t->nr_slots);
	object_size_map(&t->object, "kernel_queues", t->nr_slots);
	object_size_map(&t->object, "hists_shared", shared);
	object_size_map(&t->object, "names", t->nr_slots);
	object_size_map(&t->object, "controllers", t->nr_slots / (knobs->qid_stride ?: 1));
	/* Some sockets close only when another connection has their slot. */
	object_size_map(&t->object, "sockets", 2 * t->nr_slots);
	if (t->o.select != NT_SELECT_NONE)
		object_size_map(&t->object, "records", RING_BYTES);
	return 0;
}

/*
 * Finer points are noted in the storage of a socket, by programs that see a PDU go there. Where
 * such a program is fentry of a module's function, the verifier of Linux 6.12 looks the function up
 * among those of vmlinux, does not find it, and reads through the NULL pointer: the kernel panics
 * (bpf_sk_storage_tracing_allowed() in net/core/bpf_sk_storage.c). Other versions are not known one
 * by one, so none is tried. Programs of tracepoints are not looked up.
 */
static bool verifier_survives_fine(const struct tracer *t)
{
	static const char *const senders[] = {
		"stock_send_cmd",      "stock_send_data",     "stock_send_r2t",
		"stock_send_data_pdu", "stock_send_response",
	};
	const struct attach_ids *ids = &t->object.attach_ids;

	for (unsigned int i = 0; i < ids->nr; i++)
		for (size_t k = 0; ids->at[i].module && k < ARRAY_SIZE(senders); k++)
			if (!strcmp(bpf_program__name(ids->at[i].program), senders[k]))
				return false;
	return true;
}

/*
 * Programs that see requests of a target's disks. Return: NULL, or why there are none
 */
static const char *bios_choose(struct tracer *t, struct probes *p, const char *issue,
			       const char *end)
{
	struct nt_knobs *knobs = t->object.knobs;

	/* Each of these reads all symbols of the kernel. */
	if (!knobs->bio_done) {
		knobs->bio_done = kernel_address("nvmet_bio_done");
		knobs->bio_chained = kernel_address("bio_chain_endio");
		knobs->passthru_done = kernel_address("nvmet_passthru_req_done");
	}
	if (!knobs->bio_done)
		return "the kernel does not show the address of nvmet_bio_done(), for which it "
		       "takes CAP_SYSLOG";
	if (!probes_add(p, &t->object, end) || !probes_add(p, &t->object, issue))
		return "the kernel lets no program see block_rq_issue and block_rq_complete";
	return NULL;
}

/* What the points of a target's disk need. */
static void disk_choose(struct tracer *t, struct probes *p)
{
	const char *why = t->missing & (1u << NT_T_EXEC | 1u << NT_T_DONE)
				  ? "it has no point exec or done here"
				  : bios_choose(t, p, PROBE_DISK_ISSUE, PROBE_DISK_DONE);

	t->object.knobs->disk_points = !why;
	if (why)
		fprintf(stderr, "no parts of target_subsystem: %s\n", why);
	else if (!probes_add(p, &t->object, PROBE_FILE_WORK))
		fprintf(stderr, "no parts of target_subsystem for files: the kernel lets no "
				"program see nvmet_file_buffered_io_work()\n");
}

/* What --disks needs. */
static void disk_use_choose(struct tracer *t, struct probes *p)
{
	const char *why = bios_choose(t, p, PROBE_DISK_USE_ISSUE, PROBE_DISK_USE_END);

	t->counts_disks = !why && probes_add(p, &t->object, PROBE_DISK_USE_END_NESTED);
	for (unsigned int i = 0; !why && probe_programs(t->o.side)[i]; i++)
		t->of_ends[i] |= !strncmp(probe_programs(t->o.side)[i], PROBE_DISK_USE,
					  strlen(PROBE_DISK_USE));
	if (why)
		fprintf(stderr, "no figures of who uses disks: %s\n", why);
}

static void fine_choose(struct tracer *t, struct probes *p)
{
	const char *why = NULL;

	if (t->o.side == NT_TARGET)
		disk_choose(t, p);
	if (!probes_add(p, &t->object, PROBE_READY) || !probes_add(p, &t->object, PROBE_WORK) ||
	    !probes_add(p, &t->object, PROBE_WORK_END)) {
		fprintf(stderr, "no waits for workers: the kernel lets no program see the driver's "
				"functions data_ready and io_work\n");
		t->object.knobs->workers = false;
		bpf_map__set_autocreate(object_map(&t->object, "workers"), false);
	}
	if (!verifier_survives_fine(t))
		why = "with stock drivers the verifier of this kernel may crash on them; "
		      "they take drivers with our tracepoints (kernel_patches/README.md)";
	else if (!probes_add(p, &t->object, PROBE_FINE))
		why = "the kernel lets no program see __tcp_transmit_skb()";
	if (!why)
		return;
	fprintf(stderr, "no finer points of send queues: %s\n", why);
	t->object.knobs->no_outs = true;
	bpf_map__set_autocreate(object_map(&t->object, "outs"), false);
}

/* The points of commands of other transports than TCP. */
#define CORE_POINTS (1u << NT_H_SUBMIT | 1u << NT_H_QUEUE_RQ | 1u << NT_H_CQE | 1u << NT_H_COMPLETE)

/*
 * Fills @detail if some of the points @wanted have no program. Return: whether all have one
 */
static bool has_points(struct probes *p, enum nt_side side, enum nt_source source, uint32_t wanted,
		       char *detail, size_t size)
{
	uint32_t lacking = wanted & ~probes_points(p, source);

	for (size_t i = 0; lacking && i < probe_ways_nr; i++)
		if (probe_ways[i].side == side && probe_ways[i].source == source &&
		    probe_ways[i].points & lacking &&
		    !probes_works(p, &probe_ways[i], detail, size))
			break;
	return !lacking;
}

enum tracer_status load_choose(struct tracer *t, char *detail, size_t size)
{
	const uint32_t ends = t->o.ends ? segments_ends(t->o.side) : 0;
	const bool all = !t->o.ends || t->o.stages;
	const bool tcp = t->o.side == NT_TARGET || t->o.transports & NT_OF_TCP;
	const bool core = t->o.side == NT_HOST && t->o.transports & NT_NOT_OF_TCP;
	unsigned int sources;
	uint32_t bounds = all ? segments_points(t->o.side) : ends;
	uint32_t vital = ends | (all ? probe_vital_points(t->o.side) : 0);
	uint32_t wanted = bounds;
	enum tracer_status status = TRACER_OK;
	struct probes *p;
	uint32_t given;

	p = probes_new(t->o.side, t->object.obj, t->refused);
	if (!p) {
		snprintf(detail, size, "%s", strerror(errno));
		return errno == ENOMEM ? TRACER_MEMORY : TRACER_LOAD;
	}
	if (core && !has_points(p, t->o.side, NT_CORE, all ? CORE_POINTS : ends, detail, size)) {
		status = TRACER_NO_CORE;
		goto out;
	}
	if (tcp && !probes_module_loaded(p)) {
		status = TRACER_NO_MODULE;
		goto out;
	}
	if (tcp && !probes_module_btf(p)) {
		status = TRACER_NO_MODULE_BTF;
		goto out;
	}
	t->source = !tcp ? NT_CORE : t->o.source < NT_SOURCES ? t->o.source : probes_source(p);
	sources = 1u << t->source | (core ? 1u << NT_CORE : 0);
	given = probes_points(p, t->source);
	if (t->o.select != NT_SELECT_NONE && !t->o.ends)
		wanted = ~0u;
	t->missing = segments_points(t->o.side) & ~(given & wanted);
	if (tcp && ((vital & ~given) || (t->source == NT_TRACEPOINTS && bounds & ~given))) {
		has_points(p, t->o.side, t->source, bounds, detail, size);
		status = t->source == NT_TRACEPOINTS ? TRACER_NOT_PATCHED : TRACER_NO_PROBES;
		goto out;
	}
	/* Commands of other transports need no more points than they have. */
	if (!tcp && all)
		t->missing = 0;
	if (core)
		t->missing |= NT_WITH_CORE | (tcp ? 0 : NT_WITHOUT_TCP);
	probes_select(p, &t->object, sources, ends);
	for (unsigned int i = 0; probe_programs(t->o.side)[i]; i++)
		t->of_ends[i] = object_loads(&t->object, probe_programs(t->o.side)[i]);
	probes_select(p, &t->object, sources, wanted);
	if (t->o.fine)
		fine_choose(t, p);
	/* Otherwise events do without it. */
	if (core && t->o.events && !probes_add(p, &t->object, PROBE_SQ) && t->o.verbose)
		fprintf(stderr, "the kernel lets no program see nvme_sq\n");
	if (t->o.disks)
		disk_use_choose(t, p);
	/* Without it, workers are named where they hand over what others have submitted. */
	if (t->o.origins & NT_ORIGIN_TASK && !probes_add(p, &t->object, PROBE_INSERT) &&
	    t->o.verbose)
		fprintf(stderr, "the kernel lets no program see block_rq_insert\n");
	path_events_choose(t, p);
	stages_join(t->o.side, t->missing, t->into);
	t->object.knobs->missing = t->missing & NT_MISSING_POINTS;
	t->object.knobs->joins_unseen = !object_loads(&t->object, "packet_joined") ||
					!object_loads(&t->object, "packet_waits");
	memcpy(t->object.knobs->into, t->into, sizeof(t->into));
out:
	probes_free(p);
	return status;
}

/* After the programs are loaded, because their maps have room for the most of any machine. */
static void limit_stages(struct tracer *t)
{
	struct pool *p = &t->object.pools[NT_POOL_STAGES];
	uint32_t own = STAGES_OWN_OF_CPU * online_cpus(), banks;

	p->kept = tracer_counts_stages(t) ? t->object.knobs->stages_kept : 0;
	if (own < STAGES_OWN_LEAST)
		own = STAGES_OWN_LEAST;
	/* Number 0 is no item. */
	banks = (p->kept + own + p->per_bank) / p->per_bank;
	if (banks < p->max_banks)
		p->max_banks = banks;
}

int load_finish(struct tracer *t)
{
	const struct bpf_program *refused;
	char why[sizeof(t->refused->of[0].why)];
	char *log = malloc(LOG_BYTES);
	int err = log ? object_load(&t->object, log, LOG_BYTES, &refused) : -ENOMEM;

	if (err && log && refused) {
		refusals_of_log(log, err, why, sizeof(why));
		refusals_add(t->refused, bpf_program__name(refused), why);
		if (t->o.verbose)
			fprintf(stderr, "the kernel refuses %s: %s\n%s",
				bpf_program__section_name(refused), why, log);
	}
	free(log);
	if (err)
		return err;
	limit_stages(t);
	t->errors_fd = bpf_map__fd(object_map(&t->object, "errors"));
	return 0;
}

void load_print_memory(const struct tracer *t)
{
	struct bpf_map *m;
	size_t total = 0;

	bpf_object__for_each_map (m, t->object.obj) {
		size_t size = cost_map_bytes(t, m);

		fprintf(stderr, "map %-16s %10zu bytes\n", bpf_map__name(m), size);
		total += size;
	}
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		static const char *const names[NT_POOLS_NR] = {"states", "histograms", "stages",
							       "joins"};
		const struct pool *p = &t->object.pools[i];

		fprintf(stderr, "pool %-15s %10zu bytes, %u of %u taken\n", names[i], pool_bytes(p),
			pool_taken(p), pool_items(p));
		total += pool_bytes(p);
	}
	fprintf(stderr, "locked memory of all maps: %.1f MiB\n", (double)total / (1 << 20));
}
