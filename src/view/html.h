/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as one HTML file with pictures, which needs no network. Its figures are those of the
 * other outputs, from the same columns.
 *
 * All text from outside the program is escaped. In case that one did not, the file's
 * policy lets no script run but those with its nonce, and nothing be loaded.
 */
#ifndef NTPROF_VIEW_HTML_H
#define NTPROF_VIEW_HTML_H

#include <stdio.h>

#include "merge/timeline.h"
#include "view/comparison.h"
#include "view/json_report.h"

/* The slowest commands that the file shows, unless the user wants another number. */
#define HTML_SLOWEST 5u
/* Recordings without a match that have pictures: each takes some 10 MiB while it is read. */
#define HTML_ALONE_MAX 4u

/* How a file begins: one that begins so may be replaced by a newer report. */
#define HTML_BEGINS "<!DOCTYPE html>\n<!-- ntprof-bpf report -->\n"

/**
 * html_report() - write the file
 * @r: has why; its groups are not in the file
 * @merged: the merged commands of @r
 *
 * Return: 0 or -ENOMEM; whether all could be written is known to @f.
 */
int html_report(FILE *f, const struct json_report *r, const struct timeline *merged);

/**
 * html_comparison() - write two recordings beside each other: the answer, the stages of each as
 * bars of one scale, and all figures
 *
 * Return: 0 or -ENOMEM; whether all could be written is known to @f.
 */
int html_comparison(FILE *f, const struct comparison *v);

#endif /* NTPROF_VIEW_HTML_H */
