// SPDX-License-Identifier: GPL-2.0-only
#include "trace/stacks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/names.h"
#include "shared/selection.h"
#include "trace/kernel.h"
#include "trace/missed.h"
#include "trace/tracer.h"

#include "stacks.skel.h"

struct stacks {
	struct nt_stacks *bpf;
	unsigned int cpus;	       /* possible ones */
	struct nt_stack_count *percpu; /* of each of them */
};

/* libbpf's messages go to standard error, except for its many debug messages. */
/* Return: TRACER_OK, or why stacks cannot be counted on this machine. */
static enum tracer_status check(unsigned int transports, char *detail, size_t size)
{
	enum tracer_status status = tracer_check(detail, size);
	char path[64];

	if (status || !(transports & NT_OF_TCP))
		return status;
	if (!kernel_has_module(driver_name(NT_HOST)))
		return TRACER_NO_MODULE;
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", driver_name(NT_HOST));
	return access(path, R_OK) && !kernel_has_builtin(driver_name(NT_HOST))
		       ? TRACER_NO_MODULE_BTF
		       : TRACER_OK;
}

static enum tracer_status failed(enum tracer_status status, int err, char *detail, size_t size)
{
	if (err == -ENOMEM)
		return TRACER_MEMORY;
	snprintf(detail, size, status == TRACER_ATTACH ? "where commands begin: %s" : "%s",
		 strerror(-err));
	return status;
}

enum tracer_status stacks_open(struct stacks **out, uint32_t sample, unsigned int transports,
			       unsigned int verbose, char *detail, size_t size)
{
	enum tracer_status status = check(transports, detail, size);
	struct stacks *s;
	int err;

	if (status)
		return status;
	tracer_log(verbose);
	s = calloc(1, sizeof(*s));
	if (!s)
		return TRACER_MEMORY;
	s->cpus = (unsigned int)libbpf_num_possible_cpus();
	s->percpu = calloc(s->cpus, sizeof(*s->percpu));
	s->bpf = s->percpu ? nt_stacks__open() : NULL;
	if (!s->bpf) {
		status = failed(TRACER_LOAD, s->percpu && errno ? -errno : -ENOMEM, detail, size);
		goto out;
	}
	s->bpf->rodata->stacks_below = nt_sample_threshold(sample);
	s->bpf->rodata->stacks_transports = transports & NT_NOT_OF_TCP;
	bpf_program__set_autoload(s->bpf->progs.stack_begin, transports & NT_OF_TCP);
	bpf_program__set_autoload(s->bpf->progs.stack_begin_core, transports & NT_NOT_OF_TCP);
	err = nt_stacks__load(s->bpf);
	if (err) {
		status = failed(TRACER_LOAD, err, detail, size);
		goto out;
	}
	/* Ends first, so that the end of each command that is seen to begin is seen. */
	s->bpf->links.stack_end = bpf_program__attach(s->bpf->progs.stack_end);
	err = s->bpf->links.stack_end ? 0 : -errno;
	if (!err && transports & NT_OF_TCP) {
		s->bpf->links.stack_begin = bpf_program__attach(s->bpf->progs.stack_begin);
		err = s->bpf->links.stack_begin ? 0 : -errno;
	}
	if (!err && transports & NT_NOT_OF_TCP) {
		s->bpf->links.stack_begin_core =
			bpf_program__attach(s->bpf->progs.stack_begin_core);
		err = s->bpf->links.stack_begin_core ? 0 : -errno;
	}
	if (err)
		status = failed(TRACER_ATTACH, err, detail, size);
out:
	if (status)
		stacks_close(s);
	else
		*out = s;
	return status;
}

void stacks_detach(struct stacks *s)
{
	bpf_link__destroy(s->bpf->links.stack_begin);
	s->bpf->links.stack_begin = NULL;
	bpf_link__destroy(s->bpf->links.stack_begin_core);
	s->bpf->links.stack_begin_core = NULL;
	bpf_link__destroy(s->bpf->links.stack_end);
	s->bpf->links.stack_end = NULL;
}

/* The sum of what all CPUs have counted for one key. */
static struct path_figures figures_of(const struct stacks *s)
{
	struct path_figures f = {0};

	for (unsigned int cpu = 0; cpu < s->cpus; cpu++) {
		const struct nt_stack_count *c = &s->percpu[cpu];

		f.commands += c->commands;
		f.waited += c->waited;
		f.waited_ns += c->waited_ns;
		for (unsigned int i = 0; i < NT_BUCKETS; i++)
			f.latency.buckets[i] += c->buckets[i];
		hist_account(&f.latency, c->ended, c->latency_ns, 0, c->latency_max_ns);
	}
	return f;
}

/* Return: 0 or a negative errno. */
static int read_one(struct stacks *s, const struct nt_stack_key *key, struct paths *paths,
		    path_name_fn *name, const void *context)
{
	struct path_figures figures;
	struct nt_stack stack;

	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.counts), key, s->percpu) ||
	    bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.stacks), &key->stack, &stack))
		return -errno;
	figures = figures_of(s);
	return paths_add(paths, &stack, key->flags, name, context, &figures);
}

int stacks_read(struct stacks *s, struct paths *paths, path_name_fn *name, const void *context)
{
	struct nt_stack_key key, *before = NULL;
	int err = 0;

	while (!err && !bpf_map_get_next_key(bpf_map__fd(s->bpf->maps.counts), before, &key)) {
		err = read_one(s, &key, paths, name, context);
		before = &key;
	}
	for (unsigned int i = 0; i < NT_STACK_LOSSES; i++)
		paths->lost[i] = s->bpf->bss->stacks_losses[i];
	paths->lost[PATH_LOST_MISSED] = missed_of(bpf_program__fd(s->bpf->progs.stack_begin)) +
					missed_of(bpf_program__fd(s->bpf->progs.stack_begin_core)) +
					missed_of(bpf_program__fd(s->bpf->progs.stack_end));
	paths_sort(paths);
	return err;
}

void stacks_close(struct stacks *s)
{
	if (!s)
		return;
	if (s->bpf)
		nt_stacks__destroy(s->bpf);
	free(s->percpu);
	free(s);
}
