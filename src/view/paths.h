/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the paths through the kernel on which commands came to nvme-tcp: their kinds, and their
 * stacks.
 */
#ifndef NTPROF_VIEW_PATHS_H
#define NTPROF_VIEW_PATHS_H

#include <stdint.h>
#include <stdio.h>

#include "core/paths.h"
#include "view/columns.h"

/**
 * struct paths_run - how the paths were counted
 * @kernel: release of the kernel
 * @elapsed_ns: for how long
 * @sample: about one command in @sample was counted; 0 and 1: every command
 */
struct paths_run {
	const char *kernel;
	uint64_t elapsed_ns;
	uint32_t sample;
};

/**
 * paths_print() - print a table of kinds, then stacks of the @shown paths with the most commands,
 * then losses
 */
void paths_print(const struct paths *paths, const struct paths_run *run, uint64_t shown, FILE *f);

/** paths_print_json() - print one line; Return: 0, -EIO or -ENOMEM */
int paths_print_json(const struct paths *paths, const struct paths_run *run, FILE *f);

/** paths_print_csv() - print a header, and a line for each path; Return: 0 or -ENOMEM */
int paths_print_csv(const struct paths *paths, FILE *f);

/**
 * paths_print_folded() - print for flame graphs: a line for each path,
 * "KIND;OUTERMOST;...;INNERMOST COMMANDS"
 *
 * Return: 0 or -ENOMEM.
 */
int paths_print_folded(const struct paths *paths, FILE *f);

/** paths_print_losses() - print a line "NAME COUNT  # MEANING" for each loss that is not 0 */
void paths_print_losses(const struct paths *paths, FILE *f);

/* Columns of paths through the kernel, and of commands that are missing there. */

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

/** struct path_loss_row - how many commands are not in the paths, and why */
struct path_loss_row {
	enum path_loss loss;
	uint64_t total;
};

enum path_loss_column { PATH_LOSS_LOSS, PATH_LOSS_TOTAL, PATH_LOSS_MEANING };

extern const struct columns path_loss_columns;

#endif /* NTPROF_VIEW_PATHS_H */
