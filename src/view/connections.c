// SPDX-License-Identifier: GPL-2.0-only
#include "view/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "merge/merge.h"
#include "view/lines.h"

/* @arg: enum nt_side */
static void get_machine(const void *row, const struct column *c, struct value *v)
{
	const struct merged_row *r = row;
	unsigned int stream =
		c->arg == NT_HOST ? r->connection->host_stream : r->connection->target_stream;
	const struct machine *m = machines_get(r->machines, stream);

	value_text(v, m->known ? m->name : "?");
}

static void get_host(const void *row, const struct column *c, struct value *v)
{
	const struct merged_row *r = row;

	snprintf(v->buf, sizeof(v->buf), "nvme%u", r->connection->host_instance);
	value_text(v, v->buf);
}

static void get_mean(const void *row, const struct column *c, struct value *v)
{
	const struct merged_row *r = row;

	value_real(v, (double)r->t->latency_ns / (double)r->t->commands);
}

static void get_stage_mean(const void *row, const struct column *c, struct value *v)
{
	const struct merged_row *r = row;
	bool joined = r->t->how.into[c->arg] != c->arg;
	uint64_t n = joined ? 0 : r->t->split;

	value_real(v, n ? (double)r->t->sum[c->arg] / (double)n : 0);
	v->none = !n;
}

static void get_unsplit(const void *row, const struct column *c, struct value *v)
{
	const struct merged_row *r = row;

	value_natural(v, r->t->commands - r->t->split);
}

/* Ten columns need short headings. */
#define TITLE_MS_BLK_SUBMISSION "blk_sub"
#define TITLE_MS_NVME_TCP_SUBMISSION "tcp_sub"
#define TITLE_MS_NSTACK_SUBMISSION "nstk_sub"
#define TITLE_MS_NVMET_TCP_SUBMISSION "nvmt_sub"
#define TITLE_MS_TARGET_SUBSYSTEM "subsys"
#define TITLE_MS_NVMET_TCP_COMPLETION "nvmt_cmp"
#define TITLE_MS_NETWORK_TRANSMISSION "network"
#define TITLE_MS_NSTACK_COMPLETION "nstk_cmp"
#define TITLE_MS_NVME_TCP_COMPLETION "tcp_cmp"
#define TITLE_MS_BLK_COMPLETION "blk_cmp"

#define STAGE_MEAN(id, name)                                                    \
	[MERGED_MEANS + NT_##id] = {name, TITLE_##id, .unit = UNIT_NANOSECONDS, \
				    .get = get_stage_mean, .arg = NT_##id},
#define STAGE_SUM(id, name)                                                                  \
	[MERGED_SUMS + NT_##id] = {name "_sum", TITLE_##id " sum", .unit = UNIT_NANOSECONDS, \
				   OF_TOTALS(sum[NT_##id])},
#define OF_TOTALS(member) COLUMN_AT(struct merged_row, t, member)
#define OF_CONNECTION(member) COLUMN_AT(struct merged_row, connection, member)

static const struct column merged[] = {
	[MERGED_HOST_MACHINE] = {"host_machine", "from", .unit = UNIT_TEXT, .get = get_machine,
				 .arg = NT_HOST},
	[MERGED_TARGET_MACHINE] = {"target_machine", "to", .unit = UNIT_TEXT, .get = get_machine,
				   .arg = NT_TARGET},
	[MERGED_HOST] = COLUMN("host", NAME, .get = get_host),
	[MERGED_SUBSYSTEM] = COLUMN("subsystem", TEXT, OF_CONNECTION(subsysnqn)),
	[MERGED_CNTLID] = COLUMN("cntlid", NUMBER, OF_CONNECTION(cntlid)),
	[MERGED_QUEUE] = COLUMN("queue", NUMBER, OF_CONNECTION(qid)),
	[MERGED_OP] = COLUMN("op", NAME, OF_TOTALS(op), .words = WORD_OP),
	[MERGED_COMMANDS] = COLUMN("commands", COUNT, .brief = "cmds", OF_TOTALS(commands)),
	[MERGED_MEAN] = COLUMN("mean", NANOSECONDS, .get = get_mean),
	[MERGED_UNSPLIT] = COLUMN("unsplit", COUNT, .get = get_unsplit),
	[MERGED_UNSPLIT_SUM] = {"unsplit_sum", "unsplit sum", .unit = UNIT_NANOSECONDS,
				OF_TOTALS(unsplit_ns)},
	NT_MERGED_STAGES(STAGE_MEAN) NT_MERGED_STAGES(STAGE_SUM)};

const struct columns merged_columns = COLUMNS("merged_queues", merged);

static int by_name(const void *a, const void *b)
{
	const struct merged_row *x = a, *y = b;
	int order = merge_connection_order(x->connection, y->connection);

	return order ? order : (int)x->t->op - (int)y->t->op;
}

struct merged_row *columns_merged_rows(const struct totals *m, unsigned int *nr)
{
	struct merged_row *rows = calloc(m->nr_rows + 1, sizeof(*rows));

	*nr = 0;
	if (!rows)
		return NULL;
	for (unsigned int i = 0; i < m->nr_rows; i++) {
		const struct totals_row *t = m->row[i];

		if (t && t->commands)
			rows[(*nr)++] = (struct merged_row){t, t->connection, m->machines};
	}
	qsort(rows, *nr, sizeof(*rows), by_name);
	return rows;
}

static void get_name(const void *row, const struct column *c, struct value *v)
{
	const struct merge_connection *m = row;

	value_text(v, m->subsysnqn[0] ? m->subsysnqn : "?");
}

static uint64_t offset_error(const struct merge_connection *m)
{
	return ((uint64_t)m->offset_high - (uint64_t)m->offset_low) / 2;
}

static bool no_offset(const void *row)
{
	const struct merge_connection *m = row;

	return m->offset_low > m->offset_high;
}

static void get_offset(const void *row, const struct column *c, struct value *v)
{
	const struct merge_connection *m = row;

	value_integer(v, (int64_t)((uint64_t)m->offset_low + offset_error(m)));
	v->none = no_offset(m);
}

static void get_offset_error(const void *row, const struct column *c, struct value *v)
{
	const struct merge_connection *m = row;

	value_natural(v, offset_error(m));
	v->none = no_offset(m);
}

#define FIELD(field) COLUMN_FIELD(struct merge_connection, field)

static const struct column connection[] = {
	[CONNECTION_SUBSYSTEM] = COLUMN("subsystem", TEXT, .get = get_name),
	[CONNECTION_CNTLID] = COLUMN("cntlid", NUMBER, FIELD(cntlid)),
	[CONNECTION_QUEUE] = COLUMN("queue", NUMBER, FIELD(qid)),
	[CONNECTION_MATCHED] = COLUMN("matched", COUNT, FIELD(matched)),
	[CONNECTION_HOST_ONLY] = {"host_only", "host only", .unit = UNIT_COUNT, FIELD(host_only)},
	[CONNECTION_TARGET_ONLY] = {"target_only", "target only", .unit = UNIT_COUNT,
				    FIELD(target_only)},
	[CONNECTION_AMBIGUOUS] = COLUMN("ambiguous", COUNT, FIELD(ambiguous)),
	[CONNECTION_CLOCK_OFFSET] = {"clock_offset", "clock offset", .unit = UNIT_NANOSECONDS,
				     .get = get_offset},
	[CONNECTION_CLOCK_OFFSET_ERROR] = {"clock_offset_error", "clock offset +-",
					   .unit = UNIT_NANOSECONDS, .get = get_offset_error},
	[CONNECTION_DRIFT] = COLUMN("drift", PPM, FIELD(drift_ppm), .none = no_offset),
	[CONNECTION_CLOCK_JUMPS] = {"clock_jumps", "clock jumps", .unit = UNIT_COUNT, FIELD(jumps),
				    .least = 1},
};

const struct columns connection_columns = COLUMNS("connections", connection);

static bool no_host(const void *row)
{
	return !((const struct pair_row *)row)->host->known;
}

static bool no_target(const void *row)
{
	return !((const struct pair_row *)row)->target->known;
}

static const struct column pair[] = {
	[PAIR_HOST] = COLUMN("host", TEXT, COLUMN_AT(struct pair_row, host, name), .none = no_host),
	[PAIR_TARGET] =
		COLUMN("target", TEXT, COLUMN_AT(struct pair_row, target, name), .none = no_target),
};

const struct columns pair_columns = COLUMNS("machines", pair);

static void get_joined_share(const void *row, const struct column *c, struct value *v)
{
	const struct totals *m = row;

	value_real(v, m->network_ns > 0 ? (double)m->joined_network_ns / (double)m->network_ns : 0);
	v->none = !m->joined;
}

/* How many reads have a part of target_subsystem. */
static uint64_t reads_with(const struct totals *m, enum stage_part part)
{
	for (unsigned int i = 0; i < m->nr_stages[NT_OP_READ]; i++)
		if (m->stage[NT_OP_READ][i]->stages == TOTALS_PART_BIT(part))
			return m->stage[NT_OP_READ][i]->time.count;
	return 0;
}

bool merging_has_file_reads(const struct totals *m)
{
	return reads_with(m, NT_SP_TARGET_PAGE_CACHE) || reads_with(m, NT_SP_TARGET_FILE_IO);
}

static void get_page_cache(const void *row, const struct column *c, struct value *v)
{
	uint64_t cached = reads_with(row, NT_SP_TARGET_PAGE_CACHE);
	uint64_t all = cached + reads_with(row, NT_SP_TARGET_FILE_IO);

	if (c->arg == MERGING_PAGE_CACHE_SHARE)
		value_real(v, all ? (double)cached / (double)all : 0);
	else
		value_natural(v, c->arg == MERGING_PAGE_CACHE ? cached : all);
	v->none = !all;
}

#define SUM(member) COLUMN_FIELD(struct totals, member)

static const struct column merging[] = {
	[MERGING_COMMANDS] = COLUMN("commands", COUNT, SUM(commands)),
	[MERGING_SOME_UNSPLIT] = {"some_unsplit", "some unsplit", .unit = UNIT_COUNT, SUM(unsplit),
				  .least = 1},
	[MERGING_SOME_JOINED] = {"some_joined", "some joined", .unit = UNIT_COUNT, SUM(joined),
				 .least = 1},
	[MERGING_JOINED] = {"arrival_joined", "arrival joined", .unit = UNIT_COUNT, SUM(joined)},
	[MERGING_JOINED_SHARE] = {"joined_share", "joined share", .unit = UNIT_SHARE,
				  .get = get_joined_share},
	[MERGING_JOINED_NETWORK] = {"joined_network", "joined network", .unit = UNIT_NANOSECONDS,
				    SUM(joined_network_ns)},
	[MERGING_FILE_READS] = {"file_reads", "file reads", .unit = UNIT_COUNT,
				.get = get_page_cache, .arg = MERGING_FILE_READS},
	[MERGING_PAGE_CACHE] = {"page_cache", "page cache", .unit = UNIT_COUNT,
				.get = get_page_cache, .arg = MERGING_PAGE_CACHE},
	[MERGING_PAGE_CACHE_SHARE] = {"page_cache_share", "page cache share", .unit = UNIT_SHARE,
				      .get = get_page_cache, .arg = MERGING_PAGE_CACHE_SHARE},
	[MERGING_UNSPLIT] = COLUMN("unsplit", COUNT, SUM(unsplit)),
	[MERGING_CANCELLED] = COLUMN("cancelled", COUNT, SUM(cancelled)),
	[MERGING_NEGATIVE_STAGES] = {"negative_stages", "negative stages", .unit = UNIT_COUNT,
				     SUM(negative)},
	[MERGING_WORST_NEGATIVE] = COLUMN("worst", NANOSECONDS, SUM(most_negative)),
};

const struct columns merging_columns = COLUMNS("merging", merging);

#define STRAY(member) COLUMN_FIELD(struct merge_strays, member), .least = 1

static const struct column stray[] = {
	[STRAY_RECORDS] = COLUMN("records", COUNT, STRAY(records)),
	[STRAY_PAST_LIMITS] = {"past_limits", "past limits", .unit = UNIT_COUNT,
			       STRAY(past_limits)},
	[STRAY_IN_CROWD] = {"in_crowd", "in a crowd", .unit = UNIT_COUNT, STRAY(in_crowd)},
	[STRAY_CROWDED_OUT] = {"crowded_out", "crowded out", .unit = UNIT_COUNT,
			       STRAY(crowded_out)},
};

const struct columns stray_columns = COLUMNS("strays", stray);

/* Width of names such as "nvme123" and "write_zeroes". */
#define HOST_WIDTH 8
#define OP_WIDTH 12
#define DURATION_WIDTH 8

int connections_print_stages(const struct totals *m, totals_row_fn *takes, const void *context,
			     FILE *f, unsigned int width)
{
	static const struct {
		enum merged_column column;
		const char *before;
		int width;
	} who[] = {
		{MERGED_CNTLID, " ", 6},
		{MERGED_QUEUE, " ", 5},
		{MERGED_OP, "  ", OP_WIDTH},
		{MERGED_COMMANDS, " ", 9},
		{MERGED_MEAN, " ", DURATION_WIDTH},
		{MERGED_UNSPLIT, " ", 8},
	};
	/* With one host and one target, the line above the table has their names. */
	bool several = m->machines && m->machines->nr > 2;
	struct table t = {.columns = &merged_columns};
	struct merged_row *rows;
	unsigned int all, nr = 0;

	if (several) {
		table_add(&t, MERGED_HOST_MACHINE, NULL, 0);
		table_add(&t, MERGED_TARGET_MACHINE, NULL, 0);
	}
	table_add(&t, MERGED_HOST, NULL, HOST_WIDTH);
	for (unsigned int i = 0; i < ARRAY_SIZE(who); i++)
		table_add(&t, who[i].column, who[i].before, who[i].width);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		table_add(&t, MERGED_MEANS + i, " ", DURATION_WIDTH);
	rows = columns_merged_rows(m, &all);
	if (!rows)
		return -ENOMEM;
	for (unsigned int r = 0; r < all; r++)
		if (!takes || takes(context, rows[r].t))
			rows[nr++] = rows[r];
	for (unsigned int r = 0; r < nr; r++)
		table_measure(&t, &rows[r]);
	while (table_lay_out(&t, TABLE_WIDE) > width && t.nr > 1)
		t.nr--;
	if (nr)
		table_titles(&t, f);
	for (unsigned int r = 0; r < nr; r++)
		table_row(&t, &rows[r], f);
	free(rows);
	return 0;
}

static void connection_print(const struct merge_connection *c, const struct machines *m, FILE *f)
{
	static const struct phrase machines[] = {
		PHRASE("; host ", PAIR_HOST),
		PHRASE(", target ", PAIR_TARGET),
	};
	static const struct phrase target[] = {PHRASE("; target ", PAIR_TARGET)};
	const struct pair_row pair = {
		machines_get(m, c->host_stream),
		machines_get(m, c->target_stream),
	};
	static const struct phrase line[] = {
		PHRASE("connection ", CONNECTION_SUBSYSTEM),
		PHRASE(" cntlid ", CONNECTION_CNTLID),
		PHRASE(" queue ", CONNECTION_QUEUE),
		PHRASE(": matched ", CONNECTION_MATCHED),
		PHRASE(", host only ", CONNECTION_HOST_ONLY),
		PHRASE(", target only ", CONNECTION_TARGET_ONLY),
		PHRASE(", ambiguous ", CONNECTION_AMBIGUOUS),
		PHRASE(", monotonic clock offset ", CONNECTION_CLOCK_OFFSET, .after = " ns"),
		PHRASE(" +- ", CONNECTION_CLOCK_OFFSET_ERROR, .after = " ns"),
		PHRASE(", drift ", CONNECTION_DRIFT, .after = " ppm", .digits = 1),
		PHRASE(", clock jumps ", CONNECTION_CLOCK_JUMPS),
	};

	if (!columns_connection_any(c))
		return;
	LINE_PRINT(f, &connection_columns, line, c);
	if (pair.host->known)
		LINE_PRINT(f, &pair_columns, machines, &pair);
	else
		LINE_PRINT(f, &pair_columns, target, &pair);
	fputs("\n", f);
}

static int connections_by_name(const void *a, const void *b)
{
	const struct merge_connection *const *x = a, *const *y = b;

	return merge_connection_order(*x, *y);
}

const struct merge_connection **connections_in_order(const struct merge *m)
{
	unsigned int nr = merge_connections(m);
	const struct merge_connection **c = calloc(nr + 1, sizeof(*c));

	for (unsigned int i = 0; c && i < nr; i++)
		c[i] = merge_connection(m, i);
	if (c)
		qsort(c, nr, sizeof(*c), connections_by_name);
	return c;
}

int connections_print(const struct merge *m, const struct machines *machines, FILE *f)
{
	const struct merge_connection **c = connections_in_order(m);

	if (!c)
		return -ENOMEM;
	for (unsigned int i = 0; c[i]; i++)
		connection_print(c[i], machines, f);
	free(c);
	return 0;
}

/*
 * The queues of a controller, added up: @c has its names and the sums, and @queues is how many they
 * are.
 */
struct controller_row {
	struct pair_row pair;
	struct merge_connection c;
	unsigned int queues;
};

static void get_pair(const void *row, const struct column *c, struct value *v)
{
	const struct controller_row *r = row;

	columns_get(&pair_columns, c->arg, &r->pair, v);
}

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	const struct controller_row *r = row;
	bool host = r->c.host_stream != MERGE_NO_STREAM;

	snprintf(v->buf, sizeof(v->buf), host ? "nvme%u" : "cntlid %u",
		 host ? r->c.host_instance : r->c.cntlid);
	value_text(v, v->buf);
}

enum {
	CONTROLLER_HOST,
	CONTROLLER_TARGET,
	CONTROLLER_CONTROLLER,
	CONTROLLER_SUBSYSTEM,
	CONTROLLER_QUEUES,
	CONTROLLER_MATCHED,
	CONTROLLER_HOST_ONLY,
	CONTROLLER_TARGET_ONLY,
	CONTROLLER_AMBIGUOUS,
	CONTROLLERS_COLUMNS_NR,
};

#define OF_CONTROLLER(member) COLUMN_FIELD(struct controller_row, c.member)

static const struct column controller[] = {
	[CONTROLLER_HOST] = COLUMN("host", TEXT, .get = get_pair, .arg = PAIR_HOST),
	[CONTROLLER_TARGET] = COLUMN("target", TEXT, .get = get_pair, .arg = PAIR_TARGET),
	[CONTROLLER_CONTROLLER] = COLUMN("controller", NAME, .get = get_controller),
	[CONTROLLER_SUBSYSTEM] = COLUMN("subsystem", TEXT, OF_CONTROLLER(subsysnqn)),
	[CONTROLLER_QUEUES] = COLUMN("queues", COUNT, COLUMN_FIELD(struct controller_row, queues)),
	[CONTROLLER_MATCHED] = {"matched", "merged", .unit = UNIT_COUNT, OF_CONTROLLER(matched)},
	[CONTROLLER_HOST_ONLY] = {"host_only", "host only", .unit = UNIT_COUNT,
				  OF_CONTROLLER(host_only)},
	[CONTROLLER_TARGET_ONLY] = {"target_only", "target only", .unit = UNIT_COUNT,
				    OF_CONTROLLER(target_only)},
	[CONTROLLER_AMBIGUOUS] = COLUMN("ambiguous", COUNT, OF_CONTROLLER(ambiguous)),
};

static const struct columns controller_columns = COLUMNS("controllers", controller);

static int controllers_by_name(const void *a, const void *b)
{
	const struct controller_row *x = a, *y = b;
	int order = strcmp(x->c.subsysnqn, y->c.subsysnqn);

#define ORDER(member) order = order ?: x->c.member < y->c.member ? -1 : x->c.member > y->c.member
	ORDER(host_stream);
	ORDER(target_stream);
	ORDER(host_instance);
	/* A controller of a host gets another id with each connect. */
	if (x->c.host_stream == MERGE_NO_STREAM)
		ORDER(cntlid);
#undef ORDER
	return order;
}

/* Adds up the queues of each controller. Return: number of controllers. */
static unsigned int controllers_fold(struct controller_row *row, unsigned int nr)
{
	unsigned int to = 0;

	qsort(row, nr, sizeof(*row), controllers_by_name);
	for (unsigned int i = 0; i < nr; i++) {
		struct controller_row *into = &row[to ? to - 1 : 0];

		if (!to || controllers_by_name(into, &row[i])) {
			row[to++] = row[i];
			continue;
		}
		into->queues += row[i].queues;
		into->c.matched += row[i].c.matched;
		into->c.host_only += row[i].c.host_only;
		into->c.target_only += row[i].c.target_only;
		into->c.ambiguous += row[i].c.ambiguous;
	}
	return to;
}

int connections_print_controllers(const struct merge *m, const struct machines *machines, FILE *f,
				  unsigned int width)
{
	unsigned int connections = merge_connections(m), nr = 0, layout = TABLE_WIDE;
	struct controller_row *row = calloc(connections + 1, sizeof(*row)), all = {.queues = 0};
	const uint64_t *const some[CONTROLLERS_COLUMNS_NR] = {
		[CONTROLLER_HOST_ONLY] = &all.c.host_only,
		[CONTROLLER_TARGET_ONLY] = &all.c.target_only,
		[CONTROLLER_AMBIGUOUS] = &all.c.ambiguous,
	};
	struct table t = {.columns = &controller_columns};

	if (!row)
		return -ENOMEM;
	for (unsigned int i = 0; i < connections; i++) {
		const struct merge_connection *c = merge_connection(m, i);

		if (!columns_connection_any(c))
			continue;
		row[nr++] = (struct controller_row){
			.pair = {machines_get(machines, c->host_stream),
				 machines_get(machines, c->target_stream)},
			.c = *c,
			.queues = 1,
		};
		all.c.host_only += c->host_only;
		all.c.target_only += c->target_only;
		all.c.ambiguous += c->ambiguous;
	}
	nr = controllers_fold(row, nr);
	/* A column in which all are 0 is left out. */
	for (unsigned int i = 0; i < controller_columns.nr; i++)
		if (!some[i] || *some[i])
			table_add(&t, i, NULL, 0);
	for (unsigned int i = 0; i < nr; i++)
		table_measure(&t, &row[i]);
	while (table_lay_out(&t, layout) > width && layout < TABLE_CLOSE)
		layout++;
	if (nr)
		table_titles(&t, f);
	for (unsigned int i = 0; i < nr; i++)
		table_row(&t, &row[i], f);
	free(row);
	return 0;
}

void connections_print_strays(const struct merge *m, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("records of queues that no stream announced: ", STRAY_RECORDS,
		       .after = "\n"),
		PHRASE("records of queues past the limits of connections or slots: ",
		       STRAY_PAST_LIMITS, .after = "\n"),
		PHRASE("records unmatched, as too many queues share an NQN: ", STRAY_IN_CROWD,
		       .after = "\n"),
		PHRASE("records given up because too many waited: ", STRAY_CROWDED_OUT,
		       .after = "\n"),
	};

	LINE_PRINT(f, &stray_columns, line, merge_strays(m));
}
