/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pictures of an HTML report, as SVG, each with its figures as a table. Their texts are the
 * program's own.
 */
#ifndef NTPROF_VIEW_HTML_CHARTS_H
#define NTPROF_VIEW_HTML_CHARTS_H

#include <stdio.h>

#include "core/hist.h"
#include "merge/timeline.h"
#include "view/path_events.h"

/** struct html_tcp_bin - TCP connections in a bin, negative if not known */
struct html_tcp_bin {
	double srtt_ns; /* the longest */
	double cwnd;	/* the smallest */
	double again;	/* segments sent again */
};

/**
 * struct html_figure - bins as a picture has them: some of a timeline may be joined
 * @width_ns: length of each; @from_ns: where the first one begins
 * @tcp: [@nr] for html_tcp_over_time(), otherwise NULL
 * @events: marks, with their numbers from 1 on; after_ns is after @from_ns
 */
struct html_figure {
	struct timeline_bin *bin;
	unsigned int nr;
	uint64_t width_ns;
	uint64_t from_ns;
	struct html_tcp_bin *tcp;
	struct path_lines events;
};

/**
 * html_figure() - join bins until they have @commands commands each on average, or there are at
 * most @least of them
 *
 * Return: 0 or -ENOMEM; html_figure_free() is needed.
 */
int html_figure(struct html_figure *f, const struct timeline *t, unsigned int commands,
		unsigned int least);

/** html_figure_free() - release */
void html_figure_free(struct html_figure *f);

/** html_over_time() - latencies, commands and bytes over time; @id: begins the names of elements */
void html_over_time(FILE *f, const struct html_figure *t, const char *id);

/** html_tcp_over_time() - round trip time, congestion window and what was sent again over time;
 * @id: as above
 */
void html_tcp_over_time(FILE *f, const struct html_figure *t, const char *id);

/** html_heat_map() - how many commands took how long, over time */
void html_heat_map(FILE *f, const struct html_figure *t);

/** html_addresses() - how many commands went to which LBAs, over time */
void html_addresses(FILE *f, const struct html_figure *t, const struct timeline_axis *lba);

/** html_in_flight() - latency by the number of commands in flight */
void html_in_flight(FILE *f, const struct html_figure *t);

/** html_distribution() - the latencies of an operation */
void html_distribution(FILE *f, const struct hist *h, const char *op);

/** html_spark() - the mean latency over time, as small as a word */
void html_spark(FILE *f, const struct timeline_spark *spark, unsigned int nr);

#endif /* NTPROF_VIEW_HTML_CHARTS_H */
