/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections as text: where the time of their commands goes, and how their records were matched.
 */
#ifndef NTPROF_VIEW_CONNECTIONS_H
#define NTPROF_VIEW_CONNECTIONS_H

#include <stdio.h>

#include "merge/merge.h"
#include "merge/totals.h"
#include "view/columns.h"

typedef bool totals_row_fn(const void *context, const struct totals_row *t);

/**
 * connections_print_stages() - print a table with a row for each connection and operation: its
 * commands, mean latency, the number of unsplit commands, and the mean of each stage of the others
 * @takes: which of them, with @context; NULL: all
 * @width: the last stages that do not fit are left out; or WRAP_NEVER
 *
 * Return: 0 or -ENOMEM.
 */
int connections_print_stages(const struct totals *m, totals_row_fn *takes, const void *context,
			     FILE *f, unsigned int width);

/**
 * connections_in_order() - all connections, by their names
 *
 * Return: an array that ends with NULL, to be released with free(); NULL if there is no memory.
 */
const struct merge_connection **connections_in_order(const struct merge *m);

/**
 * connections_print() - print one line about the records of each connection, in the order of their
 * names:
 *   connection NQN cntlid C queue Q: matched M, host only H, target only T, ambiguous A, clock
 *   offset NS ns +- NS ns, drift PPM ppm; host NAME, target NAME
 *
 * Return: 0 or -ENOMEM.
 */
int connections_print(const struct merge *m, const struct machines *machines, FILE *f);

/**
 * connections_print_controllers() - print a table with a row for each pair of machines and
 * controller: how many queues it has, and how the records of all of them were matched
 * @width: columns of the terminal
 *
 * Columns in which all are 0 are left out. Prints nothing if there is no connection.
 *
 * Return: 0 or -ENOMEM.
 */
int connections_print_controllers(const struct merge *m, const struct machines *machines, FILE *f,
				  unsigned int width);

/**
 * connections_print_strays() - print lines about records that belong to no connection, and about
 * records that were given up to make room, if there are any
 */
void connections_print_strays(const struct merge *m, FILE *f);

/*
 * The columns of merged connections (where the time of their commands goes), of connections (how
 * their records were matched), and of the totals of all of them.
 */

/* A connection and operation that has commands. */
struct merged_row {
	const struct totals_row *t;
	const struct merge_connection *connection;
	const struct machines *machines; /* NULL: no information about them */
};

/*
 * MERGED_MEANS and MERGED_SUMS are the first of ten columns each. Their figures are of the commands
 * that have all stages that their machines can show. Joined stages have one value, in the column of
 * the first of them.
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

/* Rows are struct merged_row. */
extern const struct columns merged_columns;

/**
 * columns_merged_rows() - the connections and operations that had commands, in the order of their
 * names
 * @m: their totals
 * @nr: filled with the number of rows
 *
 * Return: rows, to be freed by the caller; NULL if memory ran out.
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
	CONNECTION_CLOCK_OFFSET, /* target - host: the middle of its bounds; no value if unknown */
	CONNECTION_CLOCK_OFFSET_ERROR,
	CONNECTION_DRIFT,
	CONNECTION_CLOCK_JUMPS,
};

/* Rows are struct merge_connection. */
extern const struct columns connection_columns;

/**
 * columns_connection_any() - whether a connection has counts to show; its counts may have moved to
 * another connection
 */
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
	PAIR_HOST, /* no value if that side is not known */
	PAIR_TARGET,
};

/* Rows are struct pair_row. */
extern const struct columns pair_columns;

enum merging_column {
	MERGING_COMMANDS,
	MERGING_SOME_UNSPLIT, /* no value if it is 0 */
	MERGING_SOME_JOINED,  /* no value if it is 0 */
	MERGING_JOINED,
	MERGING_JOINED_SHARE, /* of the network stage; no value if no command is joined */
	MERGING_JOINED_NETWORK,
	MERGING_FILE_READS, /* of files with buffered I/O; no value if there are none */
	MERGING_PAGE_CACHE, /* those of them that the page cache answered; the same */
	MERGING_PAGE_CACHE_SHARE,
	MERGING_UNSPLIT,
	MERGING_CANCELLED,
	MERGING_NEGATIVE_STAGES,
	MERGING_WORST_NEGATIVE,
};

/* For struct totals, as a single row. */
extern const struct columns merging_columns;

/** merging_has_file_reads() - whether reads of files with buffered I/O are among them */
bool merging_has_file_reads(const struct totals *m);

enum stray_column {
	STRAY_RECORDS, /* of queues that no stream announced; no value if it is 0 */
	/* more connections or slots than the merge can hold; no value if it is 0 */
	STRAY_PAST_LIMITS,
	STRAY_IN_CROWD,	   /* of too many queues with one name; no value if it is 0 */
	STRAY_CROWDED_OUT, /* given up because too many records waited; no value if it is 0 */
};

/* For struct merge_strays, as a single row. */
extern const struct columns stray_columns;

#endif /* NTPROF_VIEW_CONNECTIONS_H */
