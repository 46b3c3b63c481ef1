// SPDX-License-Identifier: GPL-2.0-only
#include "view/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/csv.h"
#include "view/json.h"
#include "view/lines.h"

static void get_share(const void *row, const struct column *c, struct value *v)
{
	const struct path_row *p = row;

	value_real(v, p->all ? (double)p->figures->commands / (double)p->all : 0);
	v->none = !p->all;
}

static void get_before(const void *row, const struct column *c, struct value *v)
{
	const struct path_figures *f = ((const struct path_row *)row)->figures;

	value_real(v, f->waited ? (double)f->waited_ns / (double)f->waited : 0);
	v->none = !f->waited;
}

#define FIELD(member) COLUMN_FIELD(struct path_row, member)

/* The common columns: all of path_kind_columns, and the first part of path_columns. */
#define KIND_COLUMNS                                                                             \
	[PATH_COLUMN_KIND] = COLUMN("kind", NAME, FIELD(kind), .words = WORD_PATH_KIND),         \
	[PATH_COLUMN_COMMANDS] =                                                                 \
		COLUMN("commands", COUNT, COLUMN_AT(struct path_row, figures, commands)),        \
	[PATH_COLUMN_SHARE] = COLUMN("share", SHARE, .get = get_share),                          \
	[PATH_COLUMN_ENDED] = COLUMN("ended", COUNT, COLUMN_AT(struct path_row, hist.h, count)), \
	[PATH_COLUMN_BEFORE] = {"before_driver", "before", .unit = UNIT_NANOSECONDS,             \
				.get = get_before},                                              \
	[PATH_COLUMN_MEAN] = COLUMN_MEAN, [PATH_COLUMN_P50] = COLUMN_P50,                        \
	[PATH_COLUMN_P99] = COLUMN_P99, [PATH_COLUMN_MAX] = COLUMN_MAX

static const struct column kind[] = {KIND_COLUMNS};
static const struct column path[] = {
	KIND_COLUMNS,
	[PATH_COLUMN_FUNCTIONS] = COLUMN("functions", NAME, FIELD(names)),
};

const struct columns path_kind_columns = COLUMNS("path_kinds", kind);
const struct columns path_columns = COLUMNS("paths", path);

/* The row of the sum of all paths of a kind. */
static struct path_row columns_path_kind(const struct paths *paths, enum path_kind kind)
{
	return (struct path_row){
		.hist = {.h = &paths->kinds[kind].latency},
		.kind = kind,
		.figures = &paths->kinds[kind],
		.all = paths->commands,
	};
}

/* The row of a path; @names as in struct path_row. */
static struct path_row columns_path(const struct paths *paths, const struct path *path,
				    const char *names)
{
	return (struct path_row){
		.hist = {.h = &path->figures.latency},
		.kind = path->kind,
		.figures = &path->figures,
		.all = paths->commands,
		.names = names,
	};
}

#define LOSS(member) COLUMN_FIELD(struct path_loss_row, member)

static const struct column loss[] = {
	[PATH_LOSS_LOSS] = COLUMN("loss", NAME, LOSS(loss), .words = WORD_PATH_LOSS),
	[PATH_LOSS_TOTAL] = COLUMN("total", COUNT, LOSS(total)),
	[PATH_LOSS_MEANING] = COLUMN("meaning", NAME, LOSS(loss), .words = WORD_PATH_LOSS_MEANING),
};

const struct columns path_loss_columns = COLUMNS("path_losses", loss);

#define NS_PER_S 1e9
/* The longest name of a kind is "software_queue". */
#define KIND_WIDTH 14
#define COUNT_WIDTH 10
#define SHARE_WIDTH 8
#define DURATION_WIDTH 7

static void print_head(const struct paths *paths, const struct paths_run *run, FILE *f)
{
	fprintf(f, "ntprof-bpf stacks --host | kernel %s | %.1f s | ", run->kernel,
		(double)run->elapsed_ns / NS_PER_S);
	if (run->sample > 1)
		fprintf(f, "sample of 1 command in %" PRIu32 " | ", run->sample);
	fprintf(f, "%" PRIu64 " command%s\n", paths->commands, paths->commands == 1 ? "" : "s");
}

static void print_kinds(const struct paths *paths, FILE *f)
{
	struct table t = {.columns = &path_kind_columns};

	table_add(&t, PATH_COLUMN_KIND, NULL, KIND_WIDTH);
	table_add(&t, PATH_COLUMN_COMMANDS, NULL, COUNT_WIDTH);
	table_add(&t, PATH_COLUMN_SHARE, NULL, SHARE_WIDTH);
	for (unsigned int i = PATH_COLUMN_BEFORE; i <= PATH_COLUMN_MAX; i++)
		table_add(&t, i, NULL, DURATION_WIDTH);
	table_lay_out(&t, TABLE_CLOSE);
	table_titles(&t, f);
	for (unsigned int k = 0; k < PATH_KINDS_NR; k++) {
		const struct path_row row = columns_path_kind(paths, k);

		if (row.figures->commands)
			table_row(&t, &row, f);
	}
	fputs("before: until the driver got them; latencies are from when the block layer began\n",
	      f);
	for (unsigned int k = 0; k < PATH_KINDS_NR; k++)
		if (paths->kinds[k].commands)
			fprintf(f, "%s: %s\n", path_kind_name(k), path_kind_meaning(k));
}

static void print_path(const struct paths *paths, const struct path *p, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("\n", PATH_COLUMN_KIND),
		PHRASE(", ", PATH_COLUMN_COMMANDS, .after = " command", .plural = true),
		PHRASE(", ", PATH_COLUMN_SHARE, .style = LINE_CELL),
		PHRASE(", mean ", PATH_COLUMN_MEAN, .style = LINE_CELL, .after = "\n"),
	};
	const struct path_row row = columns_path(paths, p, "");

	LINE_PRINT(f, &path_columns, line, &row);
	for (unsigned int i = 0; i < p->nr; i++)
		fprintf(f, "    %s\n", p->names[i]);
}

static void print_rest(const struct paths *paths, uint64_t shown, FILE *f)
{
	uint64_t commands = 0;

	if (!shown || shown >= paths->nr)
		return;
	for (uint64_t i = shown; i < paths->nr; i++)
		commands += paths->path[i].figures.commands;
	fprintf(f, "\n%" PRIu64 " more path%s, %" PRIu64 " command%s (--paths shows them)\n",
		paths->nr - shown, paths->nr - shown == 1 ? "" : "s", commands,
		commands == 1 ? "" : "s");
}

void paths_print_losses(const struct paths *paths, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(NULL, PATH_LOSS_LOSS),
		PHRASE(" ", PATH_LOSS_TOTAL),
		PHRASE("  # ", PATH_LOSS_MEANING, .after = "\n"),
	};

	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++) {
		const struct path_loss_row row = {.loss = i, .total = paths->lost[i]};

		if (row.total)
			LINE_PRINT(f, &path_loss_columns, line, &row);
	}
}

static bool any_lost(const struct paths *paths)
{
	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++)
		if (paths->lost[i])
			return true;
	return false;
}

void paths_print(const struct paths *paths, const struct paths_run *run, uint64_t shown, FILE *f)
{
	print_head(paths, run, f);
	if (paths->commands)
		print_kinds(paths, f);
	else
		fputs("no command was given to the driver\n", f);
	for (uint64_t i = 0; i < shown && i < paths->nr; i++)
		print_path(paths, &paths->path[i], f);
	print_rest(paths, shown, f);
	fputs(any_lost(paths) ? "\nlosses:\n" : "\nno losses\n", f);
	paths_print_losses(paths, f);
}

/*
 * Joins the names of the functions with semicolons, the outermost first. Return: a string, to be
 * freed by the caller; NULL if memory ran out.
 */
static char *join(const struct path *p)
{
	size_t size = 1;
	char *names, *at;

	for (unsigned int i = 0; i < p->nr; i++)
		size += strlen(p->names[i]) + 1;
	names = at = malloc(size);
	if (!names)
		return NULL;
	*at = '\0';
	for (unsigned int i = p->nr; i > 0; i--) {
		at = stpcpy(at, p->names[i - 1]);
		if (i > 1)
			at = stpcpy(at, ";");
	}
	return names;
}

/* Calls @print with the row of each path. */
static int each_row(const struct paths *paths, FILE *f,
		    void (*print)(FILE *f, const struct path_row *row))
{
	for (size_t i = 0; i < paths->nr; i++) {
		char *names = join(&paths->path[i]);
		struct path_row row;

		if (!names)
			return -ENOMEM;
		row = columns_path(paths, &paths->path[i], names);
		print(f, &row);
		free(names);
	}
	return 0;
}

static void print_csv(FILE *f, const struct path_row *row)
{
	csv_row(f, &path_columns, row);
}

int paths_print_csv(const struct paths *paths, FILE *f)
{
	csv_header(f, &path_columns);
	return each_row(paths, f, print_csv);
}

static void print_folded(FILE *f, const struct path_row *row)
{
	static const struct phrase line[] = {
		PHRASE(NULL, PATH_COLUMN_KIND),
		PHRASE(";", PATH_COLUMN_FUNCTIONS),
		PHRASE(" ", PATH_COLUMN_COMMANDS, .after = "\n"),
	};

	LINE_PRINT(f, &path_columns, line, row);
}

int paths_print_folded(const struct paths *paths, FILE *f)
{
	return each_row(paths, f, print_folded);
}

static struct json_object *json_path(const struct paths *paths, const struct path *p)
{
	const struct path_row row = columns_path(paths, p, "");
	struct json_object *o = json_row(&path_kind_columns, &row), *functions = json_array();

	for (unsigned int i = 0; i < p->nr; i++)
		json_append(functions, json_text(p->names[i]));
	json_put(o, "functions", functions);
	return o;
}

int paths_print_json(const struct paths *paths, const struct paths_run *run, FILE *f)
{
	struct json_object *o = json_new("stacks"), *kinds = json_array(), *list = json_array();
	struct json_object *lost = json_empty();

	for (unsigned int k = 0; k < PATH_KINDS_NR; k++) {
		const struct path_row row = columns_path_kind(paths, k);

		if (row.figures->commands)
			json_append(kinds, json_row(&path_kind_columns, &row));
	}
	for (size_t i = 0; i < paths->nr; i++)
		json_append(list, json_path(paths, &paths->path[i]));
	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++)
		json_put(lost, path_loss_name(i), json_natural(paths->lost[i]));
	json_put_time(o);
	json_put(o, "kernel", json_text(run->kernel));
	json_put(o, "elapsed_seconds", json_real((double)run->elapsed_ns / NS_PER_S));
	json_put(o, "sample", json_natural(run->sample ?: 1));
	json_put(o, "kinds", kinds);
	json_put(o, "paths", list);
	json_put(o, "losses", lost);
	return json_write(f, o);
}
