/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of merged connections (where the time of their commands goes), of connections (what became
 * of their records), and of what all of them add up to.
 */
#ifndef NTPROF_VIEW_COLUMNS_CONNECTIONS_H
#define NTPROF_VIEW_COLUMNS_CONNECTIONS_H

#include "merge/totals.h"
#include "view/columns.h"

/* A connection and operation that has commands. */
struct merged_row {
	const struct totals_row *t;
	const struct machines *machines; /* NULL: nothing is known of them */
};

/*
 * MERGED_MEANS and MERGED_SUMS are the first of ten, over the commands that have all stages that their machines
 * can tell; what is joined is told once, with the first of those that are one.
 */
enum merged_column {
	MERGED_HOST_MACHINE,
	MERGED_TARGET_MACHINE,
	MERGED_HOST,
	MERGED_SUBSYSTEM,
	MERGED_CNTLID,
	MERGED_QUEUE,
	MERGED_OP,
	MERGED_COMMANDS,
	MERGED_MEAN,
	MERGED_UNSPLIT,
	MERGED_UNSPLIT_SUM,
	MERGED_MEANS,
	MERGED_SUMS = MERGED_MEANS + NT_MERGED_STAGES_NR,
	MERGED_COLUMNS_NR = MERGED_SUMS + NT_MERGED_STAGES_NR,
};

/* Of struct merged_row. */
extern const struct columns merged_columns;

/**
 * columns_merged_rows() - the connections and operations that had commands, in the order of their names
 * @m: what they added up to
 * @nr: filled with how many there are
 *
 * Return: to be freed; NULL when memory ran out.
 */
struct merged_row *columns_merged_rows(const struct totals *m, unsigned int *nr);

enum connection_column {
	CONNECTION_SUBSYSTEM,
	CONNECTION_CNTLID,
	CONNECTION_QUEUE,
	CONNECTION_MATCHED,
	CONNECTION_HOST_ONLY,
	CONNECTION_TARGET_ONLY,
	CONNECTION_AMBIGUOUS,
	CONNECTION_CLOCK_OFFSET, /* target - host: the middle of its bounds; none where unknown */
	CONNECTION_CLOCK_OFFSET_ERROR,
	CONNECTION_DRIFT,
	CONNECTION_CLOCK_JUMPS,
};

/* Of struct merge_connection. */
extern const struct columns connection_columns;

/** columns_connection_any() - whether there is anything to tell: its counts may have gone to another one */
static inline bool columns_connection_any(const struct merge_connection *c)
{
	return c->matched || c->host_only || c->target_only || c->ambiguous;
}

/* The machines of a connection's streams. */
struct pair_row {
	const struct machine *host;
	const struct machine *target;
};

enum pair_column {
	PAIR_HOST, /* none where that side is not known */
	PAIR_TARGET,
};

/* Of struct pair_row. */
extern const struct columns pair_columns;

enum merging_column {
	MERGING_COMMANDS,
	MERGING_SOME_UNSPLIT, /* none where there are none */
	MERGING_SOME_JOINED,  /* none where there are none */
	MERGING_JOINED,
	MERGING_JOINED_SHARE, /* of the network stage; none where no command is joined */
	MERGING_JOINED_NETWORK,
	MERGING_UNSPLIT,
	MERGING_CANCELLED,
	MERGING_NEGATIVE_STAGES,
	MERGING_WORST_NEGATIVE,
};

/* Of struct totals, a single row. */
extern const struct columns merging_columns;

enum stray_column {
	STRAY_RECORDS,	   /* of queues that no stream told of; none where there are none */
	STRAY_PAST_LIMITS, /* of more connections or slots than are known; none where there are none */
	STRAY_IN_CROWD,	   /* of too many queues of one name; none where there are none */
	STRAY_CROWDED_OUT, /* given up because too many waited; none where there are none */
};

/* Of struct merge, a single row. */
extern const struct columns stray_columns;

#endif /* NTPROF_VIEW_COLUMNS_CONNECTIONS_H */
