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

/**
 * paths_print_json() - print one line
 *
 * Return: 0, -EIO or -ENOMEM.
 */
int paths_print_json(const struct paths *paths, const struct paths_run *run, FILE *f);

/**
 * paths_print_csv() - print a header, and a line for each path
 *
 * Return: 0 or -ENOMEM.
 */
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

#endif /* NTPROF_VIEW_PATHS_H */
