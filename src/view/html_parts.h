/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of an HTML report, from the answer down to what explains it, of merged commands or of
 * those of one recording.
 */
#ifndef NTPROF_VIEW_HTML_PARTS_H
#define NTPROF_VIEW_HTML_PARTS_H

#include <stdio.h>

#include "merge/timeline.h"
#include "view/json_report.h"
#include "view/stages.h"

/**
 * struct html_subject - what a part of the report is about: the merged commands, or those of a
 * recording without a match
 * @merged, @side: one of them
 * @stream: the recording
 * @id: begins the names of elements
 */
struct html_subject {
	const struct json_report *r;
	const struct timeline *t;
	const struct totals *merged;
	const struct stats *side;
	unsigned int stream;
	const char *id;
	struct hist latency[NT_OPS_NR];
	struct stage_rows stages;
};

/** html_machine() - the name of the machine of a recording */
const char *html_machine(const struct html_subject *s, unsigned int stream);

/** html_navigation() - write links to all parts that there are */
void html_navigation(FILE *f, const struct html_subject *s);

/**
 * html_parts() - write all of them; @recordings: writes what follows the answer, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int html_parts(FILE *f, const struct html_subject *s,
	       int (*recordings)(FILE *f, const struct json_report *r));

#endif /* NTPROF_VIEW_HTML_PARTS_H */
