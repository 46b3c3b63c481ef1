// SPDX-License-Identifier: GPL-2.0-only
#include "merge/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hash.h"

/* The shortest bin: 65.5 us. */
#define TIME_SHIFT 16

struct timeline *timeline_new(void)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->time.shift = TIME_SHIFT;
	memset(t->into, STAGE_UNKNOWN, sizeof(t->into));
	t->bin = calloc(TIMELINE_BINS, sizeof(*t->bin));
	t->band = calloc(TIMELINE_KINDS, sizeof(*t->band));
	if (t->bin && t->band)
		return t;
	timeline_free(t);
	return NULL;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < t->nr_cells; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t->band);
	free(t->bin);
	free(t);
}

void timeline_bin_merge(struct timeline_bin *into, const struct timeline_bin *from)
{
	hist_merge(&into->h, &from->h);
	for (unsigned int i = 0; i < TIMELINE_KINDS; i++) {
		into->count[i] += from->count[i];
		into->bytes[i] += from->bytes[i];
	}
	into->failed += from->failed;
	for (unsigned int i = 0; i < TIMELINE_LBAS; i++)
		into->lba[i] += from->lba[i];
}

static void bin_merge(void *into, const void *from)
{
	timeline_bin_merge(into, from);
}

static void spark_merge(void *into, const void *from)
{
	struct timeline_spark *a = into;
	const struct timeline_spark *b = from;

	a->count += b->count;
	a->sum += b->sum;
}

static void number_merge(void *into, const void *from)
{
	*(uint64_t *)into += *(const uint64_t *)from;
}

/*
 * The elements of an array are parts of an axis from @base on: makes one of each two that lie in
 * the same part of twice the length. Those behind the last one are zeroed.
 */
static void fold(void *array, size_t nr, size_t size, uint64_t base,
		 void (*merge)(void *into, const void *from))
{
	char *a = array;
	size_t last = 0;

	for (size_t i = 1; i < nr; i++) {
		size_t at = (size_t)((base + i) / 2 - base / 2);

		if (at == last)
			merge(a + at * size, a + i * size);
		else if (at != i)
			memcpy(a + at * size, a + i * size, size);
		last = at;
	}
	if (nr)
		memset(a + (last + 1) * size, 0, (nr - last - 1) * size);
}

/* Moves the elements of an array, behind which there are zeroes, towards its end. */
static void move(void *array, size_t nr, size_t size, size_t by)
{
	if (!by)
		return;
	memmove((char *)array + by * size, array, nr * size);
	memset(array, 0, (by < nr ? by : nr) * size);
}

/* What becomes of an axis: first @folds, then @move parts more before the first one. */
struct change {
	unsigned int folds;
	uint64_t move;
};

/* The axis with a value in it, at most @most parts. Return: what has to change for it. */
static struct change axis_reach(const struct timeline_axis *a, uint64_t value, unsigned int most)
{
	uint64_t at = value >> a->shift, base = a->nr ? a->base : at;
	uint64_t low = at < base ? at : base, last = a->nr ? base + a->nr - 1 : at;
	uint64_t high = at > last ? at : last;
	struct change c = {0};

	for (; high - low >= most; c.folds++) {
		low /= 2;
		high /= 2;
		base /= 2;
	}
	c.move = base - low;
	return c;
}

static void axis_fold(struct timeline_axis *a)
{
	uint64_t last = a->base + a->nr - 1;

	a->nr = (unsigned int)(last / 2 - a->base / 2) + 1;
	a->base /= 2;
	a->shift++;
}

/* After the changes. */
static void axis_set(struct timeline_axis *a, uint64_t value, uint64_t move)
{
	uint64_t at = value >> a->shift;

	if (!a->nr)
		a->base = at;
	a->base -= move;
	a->nr += (unsigned int)move;
	if (at - a->base >= a->nr)
		a->nr = (unsigned int)(at - a->base) + 1;
}

static void time_fold(struct timeline *t)
{
	fold(t->bin, t->time.nr, sizeof(*t->bin), t->time.base, bin_merge);
	for (unsigned int i = 0; i < t->nr_cells; i++)
		fold(t->cell[i]->spark, TIMELINE_SPARKS, sizeof(t->cell[i]->spark[0]),
		     t->time.base >> TIMELINE_SPARK_SHIFT, spark_merge);
	axis_fold(&t->time);
}

/* Makes room for a time, so that it is in one of the bins. */
static __attribute__((noinline)) void time_reach(struct timeline *t, uint64_t ns)
{
	struct change c = axis_reach(&t->time, ns, TIMELINE_BINS);
	uint64_t base;

	while (t->time.nr && c.folds--)
		time_fold(t);
	base = t->time.base >> TIMELINE_SPARK_SHIFT;
	move(t->bin, t->time.nr, sizeof(*t->bin), c.move);
	axis_set(&t->time, ns, c.move);
	base -= t->time.base >> TIMELINE_SPARK_SHIFT;
	for (unsigned int i = 0; c.move && i < t->nr_cells; i++)
		move(t->cell[i]->spark, TIMELINE_SPARKS - base, sizeof(t->cell[i]->spark[0]), base);
}

static __attribute__((noinline)) void lba_reach(struct timeline *t, uint64_t lba)
{
	struct change c = axis_reach(&t->lba, lba, TIMELINE_LBAS);

	for (unsigned int i = 0; t->lba.nr && i < c.folds; i++) {
		for (unsigned int k = 0; k < t->time.nr; k++)
			fold(t->bin[k].lba, t->lba.nr, sizeof(t->bin[k].lba[0]), t->lba.base,
			     number_merge);
		axis_fold(&t->lba);
	}
	for (unsigned int k = 0; k < t->time.nr; k++)
		move(t->bin[k].lba, t->lba.nr, sizeof(t->bin[k].lba[0]), c.move);
	axis_set(&t->lba, lba, c.move);
}

static inline struct timeline_bin *bin_at(struct timeline *t, uint64_t ns)
{
	if ((ns >> t->time.shift) - t->time.base >= t->time.nr)
		time_reach(t, ns);
	return &t->bin[(ns >> t->time.shift) - t->time.base];
}

/* Return: a new cell, or NULL, see errno. */
static __attribute__((noinline)) struct timeline_cell *
cell_make(struct timeline *t, struct timeline_cell **at, const void *owner, uint64_t what)
{
	errno = ENOSPC;
	if (t->nr_cells == TIMELINE_CELLS)
		return NULL;
	errno = ENOMEM;
	*at = ARRAY_MAKE(t->cell, t->nr_cells, t->nr_cells, sizeof(**at));
	if (*at) {
		(*at)->owner = owner;
		(*at)->what = what;
	}
	return *at;
}

static inline struct timeline_cell *cell_get(struct timeline *t, const void *owner, uint64_t what)
{
	size_t at = hash_pair((uintptr_t)owner, what) % ARRAY_SIZE(t->table);

	for (; t->table[at]; at = (at + 1) % ARRAY_SIZE(t->table))
		if (t->table[at]->owner == owner && t->table[at]->what == what)
			return t->table[at];
	return cell_make(t, &t->table[at], owner, what);
}

static void disk_name(struct timeline_cell *cell, const struct timeline_command *c)
{
	const struct device_name *d = c->places ? places_device_of(c->places, c->r) : NULL;

	if (d)
		snprintf(cell->disk, sizeof(cell->disk), "%.*s", TIMELINE_DISK_LEN - 1, d->name);
}

static inline int cell_add(struct timeline *t, const void *owner, uint64_t what,
			   enum timeline_kind kind, unsigned int bucket,
			   const struct timeline_command *c)
{
	struct timeline_cell *cell = cell_get(t, owner, what);
	struct timeline_spark *spark;

	if (!cell && errno == ENOMEM)
		return -ENOMEM;
	if (!cell) {
		t->others += owner != NULL;
		return 0;
	}
	if (!cell->h.count && owner && what & TIMELINE_NAMESPACE)
		disk_name(cell, c);
	cell->kind = kind;
	spark = &cell->spark[(c->begin_ns >> t->time.shift >> TIMELINE_SPARK_SHIFT) -
			     (t->time.base >> TIMELINE_SPARK_SHIFT)];
	hist_count_in(&cell->h, bucket, c->latency_ns);
	cell->h.bytes += c->r->length;
	spark->count++;
	spark->sum += c->latency_ns;
	return 0;
}

static void band_add(struct timeline *t, struct timeline_band *b, const struct timeline_command *c)
{
	b->count++;
	/* Only stages of centuries, which a damaged recording may have, get past the largest sum.
	 */
	for (unsigned int i = 0; i < c->nr; i++)
		b->sum[i] = (int64_t)((uint64_t)b->sum[i] + (uint64_t)c->stage[i]);
	if (!memcmp(t->into, c->into, c->nr))
		return;
	memcpy(t->into, c->into, c->nr);
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->into[i] < c->nr)
			t->joined[c->into[i]] |= 1u << i;
}

static bool is_slow(const struct timeline *t, uint64_t latency)
{
	return t->nr_slow < TIMELINE_SLOWEST || latency > t->slow[TIMELINE_SLOWEST - 1].latency;
}

static __attribute__((noinline)) void keep_slow(struct timeline *t, uint64_t latency,
						const struct nt_record *r)
{
	unsigned int at = t->nr_slow < TIMELINE_SLOWEST ? t->nr_slow++ : TIMELINE_SLOWEST - 1;

	for (; at && t->slow[at - 1].latency < latency; at--)
		t->slow[at] = t->slow[at - 1];
	t->slow[at] = (struct timeline_slow){latency, *r};
}

static bool has_lba(enum nt_op op)
{
	return op == NT_OP_READ || op == NT_OP_WRITE || op == NT_OP_WRITE_ZEROES;
}

int timeline_add(struct timeline *t, const struct timeline_command *c)
{
	enum nt_op op = c->r->op;
	enum timeline_kind kind = op == NT_OP_READ    ? TIMELINE_READ
				  : op == NT_OP_WRITE ? TIMELINE_WRITE
						      : TIMELINE_OTHER;
	unsigned int bucket = nt_bucket(c->latency_ns);
	struct timeline_bin *bin = bin_at(t, c->begin_ns);
	uint64_t others = t->others;
	int err;

	hist_count_in(&bin->h, bucket, c->latency_ns);
	bin->h.bytes += c->r->length;
	bin->count[kind]++;
	bin->bytes[kind] += c->r->length;
	if (has_lba(op)) {
		if ((c->r->slba >> t->lba.shift) - t->lba.base >= t->lba.nr)
			lba_reach(t, c->r->slba);
		bin->lba[(c->r->slba >> t->lba.shift) - t->lba.base]++;
	}
	if (is_slow(t, c->latency_ns))
		keep_slow(t, c->latency_ns, c->r);
	if (c->nr)
		band_add(t, &t->band[kind][bucket], c);
	err = cell_add(t, c->owner, c->r->length, kind, bucket, c);
	if (!err && c->r->nsid)
		err = cell_add(t, c->owner, TIMELINE_NAMESPACE | c->r->nsid, kind, bucket, c);
	/* It is one command, whatever finds no room. */
	if (t->others > others)
		t->others = others + 1;
	if (!err && c->cpu != ORIGIN_NO_CPU)
		err = cell_add(t, NULL, (uint64_t)c->stream << 16 | c->cpu, kind, bucket, c);
	return err;
}

void timeline_add_failed(struct timeline *t, uint64_t begin_ns)
{
	bin_at(t, begin_ns)->failed++;
}
