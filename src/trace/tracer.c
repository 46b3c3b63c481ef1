// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"
#include "trace/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/control.h"
#include "host.skel.h"
#include "core/segments.h"
#include "core/time.h"
#include "trace/probes.h"
#include "core/sample.h"
#include "target.skel.h"
#include "trace/private.h"

/* Atomic compare-and-exchange in BPF came with 5.12, and everything else we use before that. */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 12

/* Since 6.1 requests of a queue that one CPU has for itself end on that CPU, in its worker. */
#define LOCAL_MAJOR 6
#define LOCAL_MINOR 1

/* Controllers of one host; more when it has more already. */
#define HOST_CONTROLLERS 64
/* Connections to one target, admin queues included. */
#define TARGET_QUEUES 1024
/* How long it takes until most connections have been seen. */
#define SETTLE_NS 2000000000ULL
/* 8 MiB, some 60,000 records: a second's worth at a rate that a terminal or file can follow. */
#define RING_BYTES (8u << 20)

static int log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

/* The running kernel's version; false if it tells none. */
static bool kernel_version(unsigned int *major, unsigned int *minor)
{
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", major, minor) == 2;
}

static bool older_than(unsigned int major, unsigned int minor, unsigned int than_major,
		       unsigned int than_minor)
{
	return major < than_major || (major == than_major && minor < than_minor);
}

enum tracer_status tracer_check(char *detail, size_t size)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	detail[0] = '\0';
	if (geteuid() != 0)
		return TRACER_NOT_ROOT;
	if (!uname(&u))
		snprintf(detail, size, "%s", u.release);
	if (kernel_version(&major, &minor) && older_than(major, minor, KERNEL_MAJOR, KERNEL_MINOR))
		return TRACER_OLD_KERNEL;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return TRACER_NO_BTF;
	return TRACER_OK;
}

void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size)
{
	const char *module = driver_name(side);
	const char *file = side == NT_HOST ? "nvme-tcp" : "nvmet-tcp";

	switch (status) {
	case TRACER_NOT_ROOT:
		snprintf(buf, size, "tracing needs root: run it with sudo");
		break;
	case TRACER_OLD_KERNEL:
		snprintf(buf, size, "kernel %s is too old: tracing needs Linux %d.%d or later",
			 detail, KERNEL_MAJOR, KERNEL_MINOR);
		break;
	case TRACER_NO_BTF:
		snprintf(buf, size,
			 "/sys/kernel/btf/vmlinux not found: kernel %s has no type information. "
			 "Run a "
			 "kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions' kernels are",
			 detail);
		break;
	case TRACER_NO_MODULE:
		snprintf(buf, size, "module %s is not loaded", module);
		break;
	case TRACER_NO_MODULE_BTF:
		snprintf(buf, size,
			 "/sys/kernel/btf/%s not found: the running %s module was built without "
			 "type "
			 "information. See kernel_patches/README.md on how to build it with BTF",
			 module, file);
		break;
	case TRACER_NOT_PATCHED:
		snprintf(buf, size,
			 "%s. Run without --source tracepoints, or see kernel_patches/README.md on "
			 "how to build and load a patched %s",
			 detail, file);
		break;
	case TRACER_NO_PROBES:
		snprintf(buf, size,
			 "this kernel offers no probes for the stock %s: %s. See "
			 "kernel_patches/README.md on how to build and load a patched one",
			 file, detail);
		break;
	case TRACER_TIMESTAMPS:
		snprintf(buf, size, "cannot ask for packet timestamps: %s", detail);
		break;
	case TRACER_LOAD:
		snprintf(buf, size,
			 "the kernel refused the BPF programs: %s. Run again with -v for its "
			 "reasons",
			 detail);
		break;
	case TRACER_ATTACH:
		snprintf(buf, size, "cannot attach to %s. Run again with -v for the reason",
			 detail);
		break;
	case TRACER_MEMORY:
		snprintf(buf, size, "out of memory");
		break;
	case TRACER_OK:
		snprintf(buf, size, "no error");
		break;
	}
}

/* Decides where the points come from, and which programs are loaded. */
static enum tracer_status choose_programs(struct tracer *t, char *detail, size_t size)
{
	uint32_t wanted = segments_points(t->o.side) | probe_vital_points(t->o.side);
	enum tracer_status status = TRACER_OK;
	const struct probe_way *first = NULL;
	struct probes *p;
	uint32_t given;

	p = probes_new(t->o.side, t->obj);
	if (!p) {
		snprintf(detail, size, "%s", strerror(errno));
		return errno == ENOMEM ? TRACER_MEMORY : TRACER_LOAD;
	}
	if (!probes_module_loaded(p)) {
		status = TRACER_NO_MODULE;
		goto out;
	}
	if (!probes_module_btf(p)) {
		status = TRACER_NO_MODULE_BTF;
		goto out;
	}
	t->source = t->o.source < NT_SOURCES ? t->o.source : probes_source(p);
	given = probes_points(p, t->source);
	if (t->o.select != NT_SELECT_NONE)
		wanted = ~0u;
	t->missing = segments_points(t->o.side) & ~given;
	if ((probe_vital_points(t->o.side) & ~given) ||
	    (t->source == NT_TRACEPOINTS && t->missing)) {
		for (size_t i = 0; !first && i < probe_ways_nr; i++)
			if (probe_ways[i].side == t->o.side && probe_ways[i].source == t->source &&
			    (probe_ways[i].points & ~given) &&
			    !probes_works(p, &probe_ways[i], detail, size))
				first = &probe_ways[i];
		status = t->source == NT_TRACEPOINTS ? TRACER_NOT_PATCHED : TRACER_NO_PROBES;
		goto out;
	}
	probes_select(p, t->source, wanted);
	stages_join(t->o.side, t->missing, t->into);
	if (t->host) {
		t->host->rodata->nt_knobs.missing = t->missing;
		memcpy((void *)t->host->rodata->nt_knobs.into, t->into, sizeof(t->into));
	} else {
		t->target->rodata->nt_knobs.missing = t->missing;
		memcpy((void *)t->target->rodata->nt_knobs.into, t->into, sizeof(t->into));
	}
out:
	probes_free(p);
	return status;
}

int tracer_look(enum nt_side side, void (*fn)(void *context, const struct probes *p), void *context)
{
	struct nt_target *target = NULL;
	struct nt_host *host = NULL;
	struct probes *p = NULL;
	int err = 0;

	libbpf_set_print(NULL);
	if (side == NT_HOST)
		host = nt_host__open();
	else
		target = nt_target__open();
	if (host || target)
		p = probes_new(side, host ? host->obj : target->obj);
	if (p)
		fn(context, p);
	else
		err = errno ? -errno : -ENOMEM;
	probes_free(p);
	nt_host__destroy(host);
	nt_target__destroy(target);
	return err;
}

static unsigned int highest_instance(void)
{
	unsigned int highest = 0, n;
	struct dirent *e;
	DIR *d;

	d = opendir("/sys/class/nvme");
	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (sscanf(e->d_name, "nvme%u", &n) == 1 && n > highest)
			highest = n;
	closedir(d);
	return highest;
}

/* Queues of a host controller: up to one read, write and poll queue per CPU, and the admin queue. */
static uint32_t qid_stride(unsigned int cpus)
{
	uint32_t stride = 1;

	while (stride < 3 * cpus + 1)
		stride *= 2;
	return stride;
}

/* Sizes that depend on the machine and on what was asked for. */
#define CONFIGURE(skel, t)                                                                  \
	do {                                                                                \
		(skel)->rodata->nt_knobs.select = (t)->o.select;                            \
		(skel)->rodata->nt_knobs.slower_ns = (t)->o.slower_ns;                      \
		(skel)->rodata->nt_knobs.sample_below = nt_sample_threshold((t)->o.sample); \
		(skel)->rodata->nt_knobs.hists = (t)->nr_hists;                             \
		(skel)->rodata->nt_knobs.no_histograms = (t)->o.no_histograms;              \
		bpf_map__set_max_entries((skel)->maps.queues, (t)->nr_slots);               \
		bpf_map__set_max_entries((skel)->maps.hists, (t)->nr_hists);                \
		(skel)->rodata->nt_knobs.wake_bytes = RING_BYTES / 4;                       \
		if ((t)->o.select != NT_SELECT_NONE)                                        \
			bpf_map__set_max_entries((skel)->maps.records, RING_BYTES);         \
		(t)->obj = (skel)->obj;                                                     \
	} while (0)

static int open_object(struct tracer *t)
{
	unsigned int major, minor;
	uint32_t stride;

	t->cpus = libbpf_num_possible_cpus();
	t->always_nested = !kernel_version(&major, &minor) ||
			   older_than(major, minor, LOCAL_MAJOR, LOCAL_MINOR) ||
			   t->o.side == NT_TARGET;
	/* Read, write and one more for each queue, and the rare operations of all of them. */
	t->nr_hists = t->o.no_histograms ? 1 : 3 * (t->cpus + 4) + 32;
	if (t->o.side == NT_HOST) {
		t->host = nt_host__open();
		if (!t->host)
			return -errno;
		stride = qid_stride(t->cpus);
		t->nr_slots = (HOST_CONTROLLERS + highest_instance()) * stride;
		t->host->rodata->nt_knobs.qid_stride = stride;
		CONFIGURE(t->host, t);
	} else {
		t->target = nt_target__open();
		if (!t->target)
			return -errno;
		t->nr_slots = TARGET_QUEUES;
		t->target->rodata->nt_knobs.slots = t->nr_slots;
		CONFIGURE(t->target, t);
		bpf_map__set_max_entries(t->target->maps.names, t->nr_slots);
		bpf_map__set_max_entries(t->target->maps.sockets, t->nr_slots);
	}
	return 0;
}

static void *map_shared(const struct bpf_map *map)
{
	size_t size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static void unmap_shared(void *at, const struct bpf_map *map)
{
	if (at)
		munmap(at, (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map));
}

#define SHARE(skel, t)                                             \
	do {                                                       \
		(t)->control = &(skel)->bss->nt_control;           \
		(t)->queues = map_shared((skel)->maps.queues);     \
		(t)->cmds = (skel)->bss->nt_cmds;                  \
		(t)->hists_fd = bpf_map__fd((skel)->maps.hists);   \
		(t)->stages_fd = bpf_map__fd((skel)->maps.stages); \
	} while (0)

static int load_object(struct tracer *t)
{
	int err = bpf_object__load_skeleton(t->host ? t->host->skeleton : t->target->skeleton);

	if (err)
		return err;
	if (t->host) {
		SHARE(t->host, t);
	} else {
		SHARE(t->target, t);
		t->names = map_shared(t->target->maps.names);
		if (!t->names)
			return -ENOMEM;
	}
	return t->queues ? 0 : -ENOMEM;
}

static int on_ring(void *context, void *data, size_t size)
{
	struct tracer *t = context;

	if (size >= sizeof(struct nt_record))
		t->o.on_record(t->o.context, data);
	return 0;
}

static void print_memory(const struct tracer *t)
{
	struct bpf_map *m;
	size_t total = 0;

	bpf_object__for_each_map (m, t->obj) {
		size_t size = ((size_t)bpf_map__value_size(m) + 7) / 8 * 8;

		if (bpf_map__type(m) == BPF_MAP_TYPE_PERCPU_ARRAY)
			size *= t->cpus;
		if (bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF)
			size = 1;
		size *= bpf_map__max_entries(m);
		fprintf(stderr, "map %-16s %10zu bytes\n", bpf_map__name(m), size);
		total += size;
	}
	fprintf(stderr, "locked memory of all maps: %.1f MiB\n", (double)total / (1 << 20));
}

/* Where the skeleton keeps the link of a program. */
static struct bpf_link **link_of(struct tracer *t, const char *name)
{
	struct bpf_object_skeleton *s = t->host ? t->host->skeleton : t->target->skeleton;

	for (int i = 0; i < s->prog_cnt; i++)
		if (!strcmp(s->progs[i].name, name))
			return s->progs[i].link;
	return NULL;
}

/* Return: 0 or a negative errno; 0 as well if the program was not chosen. */
static int attach_program(struct tracer *t, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, name);
	struct bpf_link **link = link_of(t, name);

	if (!p || !link || *link || !bpf_program__autoload(p))
		return 0;
	*link = bpf_program__attach(p);
	if (!*link)
		return -errno;
	t->attached++;
	return 0;
}

static void detach_program(struct tracer *t, const char *name)
{
	struct bpf_link **link = link_of(t, name);

	if (!link || !*link)
		return;
	bpf_link__destroy(*link);
	*link = NULL;
	t->attached--;
}

static enum tracer_status attach_all(struct tracer *t, char *detail, size_t size)
{
	const char *const *names = probe_programs(t->o.side);
	int nr = 0, err;

	while (names[nr])
		nr++;
	for (int i = nr - 1; i >= 0; i--) {
		if (probe_begins(names[i]))
			t->control->began_ns = NT_BEGINNING;
		err = attach_program(t, names[i]);
		if (err) {
			snprintf(detail, size, "%s: %s",
				 bpf_program__section_name(
					 bpf_object__find_program_by_name(t->obj, names[i])),
				 strerror(-err));
			return TRACER_ATTACH;
		}
	}
	t->control->data_watched = 1;
	t->control->began_ns = t->attached_ns = monotonic_ns();
	return TRACER_OK;
}

/* Beginnings first, so that no command is seen that lacks what comes before or after. */
static void detach_all(struct tracer *t)
{
	unsigned int attached = t->attached;

	for (const char *const *name = probe_programs(t->o.side); *name; name++)
		detach_program(t, *name);
	t->attached = attached; /* as the last account says */
}

/* Once a request has told what it was to tell, the next ones need not. */
static void detach_learnt(struct tracer *t)
{
	if (t->host && t->control->queue_rq)
		detach_program(t, "stock_learn");
	if (t->target && t->control->data_ready)
		detach_program(t, "stock_try_recv");
}

/*
 * Attaches or detaches all programs of a kind. Return: whether they are all there; where one cannot be
 * attached, that is tried again the next time.
 */
static bool switch_programs(struct tracer *t, bool (*of_kind)(const char *name), bool on)
{
	for (const char *const *name = probe_programs(t->o.side); *name; name++) {
		if (!of_kind(*name))
			continue;
		if (!on)
			detach_program(t, *name);
		else if (attach_program(t, *name))
			return false;
	}
	return on;
}

/*
 * A program for each piece of a read's data costs every read, and is needed where there are connections
 * without SQ flow control. Records of all commands are to be whole from the first such command on.
 */
static void watch_data(struct tracer *t, bool settled)
{
	bool all = t->o.select != NT_SELECT_NONE && t->o.sample <= 1;
	bool needed = all || !settled || __atomic_load_n(&t->control->no_sqflow, __ATOMIC_RELAXED);

	if (needed == (t->control->data_watched != 0))
		return;
	/* Whoever finds it set relies on them. */
	__atomic_store_n(&t->control->data_watched, 0, __ATOMIC_RELAXED);
	if (switch_programs(t, probe_watches_data, needed))
		__atomic_store_n(&t->control->data_watched, 1, __ATOMIC_RELAXED);
}

/* Where no I/O ends in an interrupt, no program has to stand in for one that was interrupted. */
static void watch_nested(struct tracer *t, bool settled)
{
	bool needed = !settled || t->always_nested ||
		      __atomic_load_n(&t->control->redirected, __ATOMIC_RELAXED);

	if (needed != t->nested_detached)
		return;
	t->nested_detached = !switch_programs(t, probe_stands_in, needed);
}

void tracer_adapt(struct tracer *t)
{
	bool settled = monotonic_ns() - t->attached_ns >= SETTLE_NS;

	detach_learnt(t);
	watch_data(t, settled);
	watch_nested(t, settled);
}

enum tracer_status tracer_open(struct tracer **out, const struct tracer_options *o, char *detail,
			       size_t size)
{
	enum tracer_status status;
	struct tracer *t;
	int err;

	*out = NULL;
	detail[0] = '\0';
	libbpf_set_print(o->verbose ? log_libbpf : NULL);
	t = calloc(1, sizeof(*t));
	if (!t)
		return TRACER_MEMORY;
	t->o = *o;
	t->clock.stamp_fd = t->clock.step_fd = -1;

	err = open_object(t);
	if (err)
		goto load_failed;
	status = choose_programs(t, detail, size);
	if (status)
		goto out;
	err = load_object(t);
	if (err)
		goto load_failed;
	err = collect_init(t);
	if (err)
		goto load_failed;
	err = rx_clock_open(&t->clock);
	if (err) {
		snprintf(detail, size, "%s", strerror(-err));
		status = TRACER_TIMESTAMPS;
		goto out;
	}
	t->control->real_offset = rx_clock_update(&t->clock);
	if (o->select != NT_SELECT_NONE) {
		int fd = bpf_map__fd(t->host ? t->host->maps.records : t->target->maps.records);

		t->ring = ring_buffer__new(fd, on_ring, t, NULL);
		if (!t->ring) {
			status = TRACER_MEMORY;
			goto out;
		}
	}
	status = attach_all(t, detail, size);
	if (status)
		goto out;
	if (o->verbose)
		print_memory(t);
	*out = t;
	return TRACER_OK;

load_failed:
	snprintf(detail, size, "%s", strerror(-err));
	status = err == -ENOMEM ? TRACER_MEMORY : TRACER_LOAD;
out:
	tracer_close(t);
	return status;
}

int tracer_fd(const struct tracer *t)
{
	return t->ring ? ring_buffer__epoll_fd(t->ring) : -1;
}

int tracer_clock_fd(const struct tracer *t)
{
	return t->clock.step_fd;
}

void tracer_clock_update(struct tracer *t)
{
	__atomic_store_n(&t->control->real_offset, rx_clock_update(&t->clock), __ATOMIC_RELAXED);
}

enum nt_source tracer_source(const struct tracer *t)
{
	return t->source;
}

uint32_t tracer_missing(const struct tracer *t)
{
	return t->missing;
}

int tracer_drain(struct tracer *t)
{
	return t->ring ? ring_buffer__consume(t->ring) : 0;
}

void tracer_detach(struct tracer *t)
{
	/* Beginnings are no longer seen from the first program on that goes: ends tell nothing again. */
	if (t->control)
		t->control->began_ns = 0;
	if (t->host || t->target)
		detach_all(t);
}

void tracer_close(struct tracer *t)
{
	if (!t)
		return;
	tracer_detach(t);
	ring_buffer__free(t->ring);
	collect_free(t);
	if (t->host) {
		unmap_shared(t->queues, t->host->maps.queues);
	} else if (t->target) {
		unmap_shared(t->queues, t->target->maps.queues);
		unmap_shared(t->names, t->target->maps.names);
	}
	nt_host__destroy(t->host);
	nt_target__destroy(t->target);
	rx_clock_close(&t->clock);
	free(t);
}
