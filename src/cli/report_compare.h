/* SPDX-License-Identifier: GPL-2.0-only */
/* report --compare: reads two recordings, each as often as needed, and prints the differences. */
#ifndef NTPROF_CLI_REPORT_COMPARE_H
#define NTPROF_CLI_REPORT_COMPARE_H

#include <argp.h>
#include <stdbool.h>

#include "cli/report_print.h"
#include "view/comparison.h"

/**
 * struct compare_options - options of a comparison
 * @on: --compare was given
 * @nr_after: files behind "--"; 0: there is no "--"
 * @tolerance: a share
 * @html: a file for the comparison, or NULL
 */
struct compare_options {
	bool on;
	bool verbose;
	unsigned int nr_after;
	double tolerance;
	FILE *html;
	enum output_format format;
};

/* Fills struct compare_options. */
extern const struct argp compare_argp;

/** compare_options_end() - refuse numbers of files that are no two recordings; @nr: all files */
void compare_options_end(const struct compare_options *o, const struct argp_state *state,
			 unsigned int nr);

/**
 * struct compare_reader - reads a recording
 * @read: fill a report, which is all zero but for what it is to keep; 0, a negative errno, or 1
 *        after a message
 * @clear: release it
 */
struct compare_reader {
	int (*read)(void *context, struct report *r, char *const *files, unsigned int nr);
	void (*clear)(struct report *r);
	void *context;
};

/**
 * report_compare() - compare and print
 * @files: all @nr of them, those before first
 *
 * Return: the exit status.
 */
int report_compare(const struct compare_options *o, const struct compare_reader *reader,
		   char *const *files, unsigned int nr);

#endif /* NTPROF_CLI_REPORT_COMPARE_H */
