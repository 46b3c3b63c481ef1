// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_paths.h"

static void get_kind(const void *row, const struct column *c, struct value *v)
{
	const struct path_row *p = row;

	value_text(v, path_kind_name(p->kind));
}

static void get_commands(const void *row, const struct column *c, struct value *v)
{
	const struct path_row *p = row;

	value_natural(v, p->figures->commands);
}

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

static void get_names(const void *row, const struct column *c, struct value *v)
{
	const struct path_row *p = row;

	value_text(v, p->names);
}

/* The common columns: all of path_kind_columns, and the first part of path_columns. */
#define KIND_COLUMNS                                                                             \
	[PATH_COLUMN_KIND] = {"kind", "kind", .unit = UNIT_NAME, .get = get_kind},               \
	[PATH_COLUMN_COMMANDS] = {"commands", "commands", .unit = UNIT_COUNT,                    \
				  .get = get_commands},                                          \
	[PATH_COLUMN_SHARE] = {"share", "share", .unit = UNIT_SHARE, .get = get_share},          \
	[PATH_COLUMN_ENDED] = {"ended", "ended", .unit = UNIT_COUNT, .get = columns_hist_count}, \
	[PATH_COLUMN_BEFORE] = {"before_driver", "before", .unit = UNIT_NANOSECONDS,             \
				.get = get_before},                                              \
	[PATH_COLUMN_MEAN] = COLUMN_MEAN, [PATH_COLUMN_P50] = COLUMN_P50,                        \
	[PATH_COLUMN_P99] = COLUMN_P99, [PATH_COLUMN_MAX] = COLUMN_MAX

static const struct column kind[] = {KIND_COLUMNS};
static const struct column path[] = {
	KIND_COLUMNS,
	[PATH_COLUMN_FUNCTIONS] = {"functions", "functions", .unit = UNIT_NAME, .get = get_names},
};

const struct columns path_kind_columns = COLUMNS("path_kinds", kind);
const struct columns path_columns = COLUMNS("paths", path);

struct path_row columns_path_kind(const struct paths *paths, enum path_kind kind)
{
	return (struct path_row){
		.hist = {.h = &paths->kinds[kind].latency},
		.kind = kind,
		.figures = &paths->kinds[kind],
		.all = paths->commands,
	};
}

struct path_row columns_path(const struct paths *paths, const struct path *path, const char *names)
{
	return (struct path_row){
		.hist = {.h = &path->figures.latency},
		.kind = path->kind,
		.figures = &path->figures,
		.all = paths->commands,
		.names = names,
	};
}

static void get_loss(const void *row, const struct column *c, struct value *v)
{
	const struct path_loss_row *r = row;

	value_text(v, path_loss_name(r->loss));
}

static void get_meaning(const void *row, const struct column *c, struct value *v)
{
	const struct path_loss_row *r = row;

	value_text(v, path_loss_meaning(r->loss));
}

static const struct column loss[] = {
	[PATH_LOSS_LOSS] = {"loss", "loss", .unit = UNIT_NAME, .get = get_loss},
	[PATH_LOSS_TOTAL] = {"total", "total", .unit = UNIT_COUNT,
			     COLUMN_FIELD(struct path_loss_row, total)},
	[PATH_LOSS_MEANING] = {"meaning", "meaning", .unit = UNIT_NAME, .get = get_meaning},
};

const struct columns path_loss_columns = COLUMNS("path_losses", loss);
