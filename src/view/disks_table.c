// SPDX-License-Identifier: GPL-2.0-only
#include "view/disks_table.h"

#include "view/lines.h"

static double of(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static void get_value(const void *row, const struct column *c, struct value *v)
{
	const struct disk_line *l = row;
	const double requests = (double)l->use.requests, ns = (double)l->use.ns;

	switch (c->arg) {
	case DISK_IOPS:
		value_real(v, of(requests, l->seconds));
		break;
	case DISK_THROUGHPUT:
		value_real(v, of((double)l->use.bytes, l->seconds));
		break;
	case DISK_IN_DEVICE:
		value_real(v, of(ns, requests));
		break;
	case DISK_IN_FLIGHT:
		value_real(v, of(ns / 1e9, l->seconds));
		break;
	default:
		value_real(v, of(ns, (double)l->all));
	}
}

#define ROW(member) COLUMN_AT(struct disk_line, row, member)
#define FIELD(member) COLUMN_FIELD(struct disk_line, member)
#define VALUE(id) .get = get_value, .arg = (id)

static const struct column disk[] = {
	[DISK_NAME] = COLUMN("disk", TEXT, ROW(disk)),
	[DISK_BY] = COLUMN("by", NAME, ROW(user), .words = WORD_DISK_USER),
	[DISK_WHO] = COLUMN("who", TEXT, ROW(who), .least = 1),
	[DISK_REQUESTS] = COLUMN("requests", COUNT, FIELD(use.requests)),
	[DISK_IOPS] = {"iops", "IOPS", .unit = UNIT_PER_SECOND, VALUE(DISK_IOPS)},
	[DISK_BYTES] = COLUMN("bytes", BYTES, FIELD(use.bytes)),
	[DISK_THROUGHPUT] = {"throughput", "MB/s", .unit = UNIT_BYTES_PER_SECOND,
			     VALUE(DISK_THROUGHPUT)},
	[DISK_IN_DEVICE] = {"in_device", "in device", .unit = UNIT_NANOSECONDS,
			    VALUE(DISK_IN_DEVICE)},
	[DISK_IN_FLIGHT] = {"in_flight", "in flight", .unit = UNIT_COUNT, VALUE(DISK_IN_FLIGHT)},
	[DISK_TIME] = COLUMN("time", NANOSECONDS, FIELD(use.ns)),
	[DISK_SHARE] = COLUMN("share", SHARE, VALUE(DISK_SHARE)),
};

const struct columns disk_columns = COLUMNS("disks", disk);

bool disk_line_make(const struct stats *s, size_t i, bool summary, struct disk_line *l)
{
	const struct disk_row *row = &s->disks.row[i];

	*l = (struct disk_line){
		.row = row,
		.use = summary ? row->total : row->interval,
		.all = summary ? row->of_total : row->of_interval,
		.seconds = summary ? s->elapsed : s->seconds,
	};
	return l->use.requests || l->use.bytes;
}

void disks_print(const struct stats *s, bool summary, FILE *f, unsigned int width)
{
	static const unsigned char shown[] = {
		DISK_NAME, DISK_SHARE,	    DISK_IN_FLIGHT, DISK_IN_DEVICE,
		DISK_IOPS, DISK_THROUGHPUT, DISK_BY,	    DISK_WHO,
	};
	static const unsigned char dispensable[] = {DISK_THROUGHPUT, DISK_IN_FLIGHT};
	struct table table = {
		.columns = &disk_columns,
		.dispensable = dispensable,
		.nr_dispensable = ARRAY_SIZE(dispensable),
	};
	unsigned int layout = TABLE_WIDE;
	struct disk_line line;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		table_add(&table, shown[i], NULL, 0);
	for (size_t i = 0; i < s->disks.nr; i++) {
		if (!disk_line_make(s, i, summary, &line))
			continue;
		table_measure(&table, &line);
		any = true;
	}
	if (!any) {
		fputs("no disk is used: one counts from a host's first command to it on\n", f);
		return;
	}
	while (table_lay_out(&table, layout) > width &&
	       layout < TABLE_BRIEF + ARRAY_SIZE(dispensable))
		layout++;
	table_titles(&table, f);
	for (size_t i = 0; i < s->disks.nr; i++)
		if (disk_line_make(s, i, summary, &line))
			table_row(&table, &line, f);
}
