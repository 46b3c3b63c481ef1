/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of paths through the kernel, and of commands that are missing there. */
#ifndef NTPROF_VIEW_COLUMNS_PATHS_H
#define NTPROF_VIEW_COLUMNS_PATHS_H

#include "core/paths.h"
#include "view/columns.h"
#include "view/columns_hist.h"

/**
 * struct path_row - one path, or the sum of all paths of one kind
 * @hist: latency of its commands; no operation
 * @kind: the kind
 * @figures: figures of its commands
 * @all: commands of all paths
 * @names: for one path: its functions, the outermost first, separated by semicolons
 */
struct path_row {
	struct hist_row hist;
	enum path_kind kind;
	const struct path_figures *figures;
	uint64_t all;
	const char *names;
};

enum path_column {
	PATH_COLUMN_KIND,
	PATH_COLUMN_COMMANDS,
	PATH_COLUMN_SHARE,
	PATH_COLUMN_ENDED,
	PATH_COLUMN_BEFORE, /* mean time until the driver got them */
	PATH_COLUMN_MEAN,
	PATH_COLUMN_P50,
	PATH_COLUMN_P99,
	PATH_COLUMN_MAX,
	PATH_COLUMN_FUNCTIONS, /* of path_columns only */
};

/* Rows of both are struct path_row. */
extern const struct columns path_kind_columns;
extern const struct columns path_columns;

/** columns_path_kind() - the row of the sum of all paths of a kind */
struct path_row columns_path_kind(const struct paths *paths, enum path_kind kind);

/** columns_path() - the row of a path; @names as in struct path_row */
struct path_row columns_path(const struct paths *paths, const struct path *path, const char *names);

/** struct path_loss_row - how many commands are not in the paths, and why */
struct path_loss_row {
	enum path_loss loss;
	uint64_t total;
};

enum path_loss_column { PATH_LOSS_LOSS, PATH_LOSS_TOTAL, PATH_LOSS_MEANING };

extern const struct columns path_loss_columns;

#endif /* NTPROF_VIEW_COLUMNS_PATHS_H */
