/* SPDX-License-Identifier: GPL-2.0-only */
/* The TCP connections of a recording in an HTML report: over time, and a row of each. */
#ifndef NTPROF_VIEW_HTML_TCP_H
#define NTPROF_VIEW_HTML_TCP_H

#include <stdio.h>

#include "core/tcp.h"
#include "merge/tcp_history.h"
#include "view/html_charts.h"

/**
 * struct html_tcp_of - connections of a recording
 * @add_ns: is added to its times, to get those of a picture
 * @rows: those of tcp_history_rows()
 */
struct html_tcp_of {
	const struct tcp_history *h;
	unsigned int stream;
	uint64_t add_ns;
	const struct tcp_rows *rows;
};

/**
 * html_tcp() - write them; @id: begins the names of elements
 * @t: t->tcp is filled
 *
 * Return: 0 or -ENOMEM.
 */
int html_tcp(FILE *f, struct html_figure *t, const struct html_tcp_of *of, const char *id);

#endif /* NTPROF_VIEW_HTML_TCP_H */
