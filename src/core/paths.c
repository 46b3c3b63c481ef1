// SPDX-License-Identifier: GPL-2.0-only
#include "core/paths.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

#define PATH_NAME(id, name, meaning) name,
#define PATH_MEANING(id, name, meaning) meaning,

const char *path_kind_name(enum path_kind kind)
{
	static const char *const names[] = {PATH_KINDS(PATH_NAME)};

	return kind < PATH_KINDS_NR ? names[kind] : "unknown";
}

const char *path_kind_meaning(enum path_kind kind)
{
	static const char *const meanings[] = {PATH_KINDS(PATH_MEANING)};

	return kind < PATH_KINDS_NR ? meanings[kind] : "unknown";
}

const char *path_loss_name(enum path_loss loss)
{
	static const char *const names[] = {PATH_LOSSES(PATH_NAME)};

	return loss < PATH_LOSSES_NR ? names[loss] : "unknown";
}

const char *path_loss_meaning(enum path_loss loss)
{
	static const char *const meanings[] = {PATH_LOSSES(PATH_MEANING)};

	return loss < PATH_LOSSES_NR ? meanings[loss] : "unknown";
}

/*
 * The functions that determine the kind of a path (block/blk-mq.c, block/blk-mq-sched.c,
 * block/blk-core.c, drivers/nvme/host/multipath.c; names of Linux 5.15 to 7.3). Commands pass the
 * functions of a scheduler without a scheduler, too: then requests come out of the software queues.
 */
static const struct {
	const char *function;
	enum path_kind kind;
} marks[] = {
	{"blk_mq_requeue_work", PATH_REQUEUE},
	{"nvme_requeue_work", PATH_REQUEUE},
	{"blk_mq_run_work_fn", PATH_WORKQUEUE},
	{"blk_mq_sched_dispatch_requests", PATH_SCHEDULER},
	{"__blk_mq_sched_dispatch_requests", PATH_SCHEDULER},
	{"blk_mq_do_dispatch_sched", PATH_SCHEDULER},
	{"__blk_mq_do_dispatch_sched", PATH_SCHEDULER},
	{"blk_mq_flush_plug_list", PATH_PLUG_FLUSH},
	{"__blk_flush_plug", PATH_PLUG_FLUSH},
	{"blk_flush_plug_list", PATH_PLUG_FLUSH},
	{"blk_finish_plug", PATH_PLUG_FLUSH},
	{"blk_mq_try_issue_directly", PATH_DIRECT_ISSUE},
	{"__blk_mq_try_issue_directly", PATH_DIRECT_ISSUE},
	{"__blk_mq_issue_directly", PATH_DIRECT_ISSUE},
	{"blk_mq_submit_bio", PATH_DIRECT_ISSUE},
};

/* Compilers add ".constprop.0" and the like to the name of a function that they have cloned. */
static bool is_called(const char *name, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(name, function, len) && (!name[len] || name[len] == '.');
}

/* Stacks are taken at the entry of a function of nvme-tcp, or in one that other drivers call. */
static bool is_innermost(const char *name)
{
	return is_called(name, "nvme_tcp_queue_rq") || is_called(name, "nvme_setup_cmd");
}

static uint32_t marks_of(const char *name)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (is_called(name, marks[i].function))
			kinds |= 1u << marks[i].kind;
	return kinds;
}

static enum path_kind kind_of(const struct path *p, uint32_t flags)
{
	uint32_t kinds = 1u << PATH_OTHER;

	for (unsigned int i = 0; i < p->nr; i++)
		kinds |= marks_of(p->names[i]);
	if (flags & NT_STACK_POLLED)
		kinds |= 1u << PATH_POLLED;
	if (flags & NT_STACK_PASSTHROUGH)
		kinds |= 1u << PATH_PASSTHROUGH;
	if (kinds & 1u << PATH_SCHEDULER && !(flags & NT_STACK_SCHEDULED)) {
		kinds &= ~(1u << PATH_SCHEDULER);
		kinds |= 1u << PATH_SOFTWARE_QUEUE;
	}
	return (enum path_kind)__builtin_ctz(kinds);
}

static void name_frames(struct path *p, const struct nt_stack *stack, path_name_fn *name,
			const void *context)
{
	for (unsigned int i = 0; i < NT_STACK_DEPTH && stack->frames[i]; i++) {
		const char *found = name(context, stack->frames[i]);

		if (found && is_innermost(found))
			p->nr = 0;
		p->names[p->nr++] = found ? found : "unknown";
	}
}

static int compare_names(const struct path *a, const struct path *b)
{
	for (unsigned int i = 0; i < a->nr && i < b->nr; i++) {
		int order = strcmp(a->names[i], b->names[i]);

		if (order)
			return order;
	}
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

static struct path *path_like(struct paths *paths, const struct path *p)
{
	struct path *more;

	for (size_t i = 0; i < paths->nr; i++)
		if (!compare_names(&paths->path[i], p))
			return &paths->path[i];
	more = ARRAY_INSERT(paths->path, paths->nr, paths->nr);
	if (more)
		*more = *p;
	return more;
}

static void figures_add(struct path_figures *to, const struct path_figures *from)
{
	to->commands += from->commands;
	hist_merge(&to->latency, &from->latency);
	to->waited += from->waited;
	to->waited_ns += from->waited_ns;
}

int paths_add(struct paths *paths, const struct nt_stack *stack, uint32_t flags, path_name_fn *name,
	      const void *context, const struct path_figures *figures)
{
	struct path *p, new = {.nr = 0};

	name_frames(&new, stack, name, context);
	new.kind = kind_of(&new, flags);
	p = path_like(paths, &new);
	if (!p)
		return -ENOMEM;
	figures_add(&p->figures, figures);
	figures_add(&paths->kinds[p->kind], figures);
	paths->commands += figures->commands;
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	if (x->figures.commands != y->figures.commands)
		return x->figures.commands > y->figures.commands ? -1 : 1;
	return compare_names(x, y);
}

void paths_sort(struct paths *paths)
{
	if (paths->nr)
		qsort(paths->path, paths->nr, sizeof(*paths->path), most_first);
}

void paths_free(struct paths *paths)
{
	free(paths->path);
	*paths = (struct paths){0};
}

/*
 * The longest name that the kernel keeps (KSYM_NAME_LEN in include/linux/kallsyms.h, since Linux
 * 6.1).
 */
#define NAME_MAX_LEN 512

struct symbol {
	uint64_t address;
	char *name;
};

struct symbols {
	struct symbol *symbol;
	size_t nr;
	bool hidden; /* there are functions, but at least one has the address 0 */
};

/* Return: 0 or -ENOMEM. */
static int add(struct symbols *s, uint64_t address, const char *name)
{
	struct symbol *symbol = ARRAY_INSERT(s->symbol, s->nr, s->nr);

	if (!symbol)
		return -ENOMEM;
	*symbol = (struct symbol){.address = address, .name = strdup(name)};
	return symbol->name ? 0 : -ENOMEM;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Reads functions. @first: stop after the first function that has an address. Return: 0 or a
 * negative errno.
 */
static int read_some(struct symbols *s, FILE *f, bool first)
{
	char name[NAME_MAX_LEN + 1], type, *line = NULL;
	uint64_t address;
	size_t size = 0;
	int err = 0;

	while (!err && !(first && s->nr) && getline(&line, &size, f) >= 0) {
		if (sscanf(line, "%" SCNx64 " %c %512s", &address, &type, name) != 3)
			continue;
		if (tolower(type) != 't' && tolower(type) != 'w')
			continue;
		s->hidden |= !address;
		if (address)
			err = add(s, address, name);
	}
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	return err;
}

/* symbols_read(), or only its first function if @first. */
static struct symbols *read_file(const char *path, bool first)
{
	struct symbols *s = calloc(1, sizeof(*s));
	FILE *f = fopen(path, "re");
	int err = -ENOMEM;

	if (s && f)
		err = read_some(s, f, first);
	else if (s)
		err = -errno;
	if (f)
		fclose(f);
	if (!err && !s->nr)
		err = s->hidden ? -EPERM : -ENODATA;
	if (err) {
		symbols_free(s);
		errno = -err;
		return NULL;
	}
	qsort(s->symbol, s->nr, sizeof(*s->symbol), by_address);
	return s;
}

struct symbols *symbols_read(const char *path)
{
	return read_file(path, false);
}

int symbols_check(const char *path)
{
	struct symbols *s = read_file(path, true);
	int err = s ? 0 : -errno;

	symbols_free(s);
	return err;
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t after = BISECT(i, 0, s->nr, s->symbol[i].address <= address);

	return after ? s->symbol[after - 1].name : NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		free(s->symbol[i].name);
	free(s->symbol);
	free(s);
}
