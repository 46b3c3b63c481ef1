// SPDX-License-Identifier: GPL-2.0-only
#include "merge/blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"

/* The shortest block: 67 ms. */
#define SHIFT_MIN 26u
/* The first number of pieces that are allocated. */
#define PIECES_FIRST 1024u

/*
 * Added to all times, so that those of a recording whose clock is behind that of the axis are not
 * below 0.
 */
#define AXIS (1ULL << 62)

/* A command that waits. @begin is the key of the heap. */
struct blocks_wait {
	uint64_t begin;
	uint64_t end;
	unsigned int stream[NT_SIDES];
	uint32_t bytes;
	uint8_t op;
	bool split;
	int64_t ns[BLOCKS_DURATIONS];
};

static unsigned int size_class(uint32_t bytes)
{
	return !bytes ? 0 : bytes == 1 ? 1 : 33 - (unsigned int)__builtin_clz(bytes - 1);
}

unsigned int blocks_depth(uint64_t nr)
{
	long depth = nr ? lround(4 * log2((double)nr)) + 1 : 0;

	return depth < (long)BLOCKS_DEPTHS ? (unsigned int)depth : BLOCKS_DEPTHS - 1;
}

double blocks_seconds(const struct blocks *b)
{
	uint64_t ns = b->last_ns > b->first_ns ? b->last_ns - b->first_ns : 0;

	return (double)(b->measured_ns && b->measured_ns < ns ? b->measured_ns : ns) / 1e9;
}

/* Pieces: number 0 is none, and its buckets are all 0. */

static uint32_t *bucket_of(struct blocks *b, const struct blocks_hist *h, unsigned int bucket)
{
	return &b->piece[h->piece[bucket / NT_SUB_BUCKETS]][bucket % NT_SUB_BUCKETS];
}

static void piece_free(struct blocks *b, uint32_t piece)
{
	if (!piece)
		return;
	b->piece[piece][0] = b->free_piece;
	b->free_piece = piece;
	b->nr_free++;
}

/* There is a piece that is free. */
static uint32_t piece_take(struct blocks *b)
{
	uint32_t piece = b->free_piece;

	b->free_piece = b->piece[piece][0];
	b->nr_free--;
	memset(b->piece[piece], 0, sizeof(b->piece[piece]));
	return piece;
}

static int pieces_grow(struct blocks *b)
{
	uint32_t nr = b->nr_pieces ? 2 * b->nr_pieces : PIECES_FIRST;
	uint32_t(*grown)[NT_SUB_BUCKETS] = reallocarray(b->piece, nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	b->piece = grown;
	if (!b->nr_pieces)
		memset(grown[0], 0, sizeof(grown[0]));
	for (uint32_t i = nr; i-- > (b->nr_pieces ?: 1);)
		piece_free(b, i);
	b->nr_pieces = nr;
	return 0;
}

static void add_saturated(uint32_t *into, uint32_t n)
{
	*into = *into + n < n ? UINT32_MAX : *into + n;
}

static void hist_move(struct blocks *b, struct blocks_hist *into, struct blocks_hist *from)
{
	into->count += from->count;
	into->sum += from->sum;
	for (unsigned int i = 0; i < BLOCKS_PIECES; i++) {
		uint32_t *to = b->piece[into->piece[i]], *of = b->piece[from->piece[i]];

		if (!into->piece[i]) {
			into->piece[i] = from->piece[i];
			continue;
		}
		for (unsigned int k = 0; from->piece[i] && k < NT_SUB_BUCKETS; k++)
			add_saturated(&to[k], of[k]);
		piece_free(b, from->piece[i]);
	}
}

/* Blocks. */

static void kind_fold(struct blocks *b, struct blocks_kind *k)
{
	for (unsigned int i = 0; i < b->nr; i++) {
		unsigned int at = (unsigned int)((b->base + i) / 2 - b->base / 2);
		struct blocks_cell *from = k->block[i], **into = &k->block[at];

		if (!from || at == i)
			continue;
		k->block[i] = NULL;
		if (!*into) {
			*into = from;
			continue;
		}
		(*into)->bytes += from->bytes;
		for (unsigned int d = 0; d < BLOCKS_DURATIONS; d++)
			hist_move(b, &(*into)->of[d], &from->of[d]);
		free(from);
	}
}

/* Makes one of each two blocks. */
static void fold(struct blocks *b)
{
	for (unsigned int i = 0; i < b->nr_kinds; i++)
		kind_fold(b, b->kind[i]);
	b->nr = (unsigned int)((b->base + b->nr - 1) / 2 - b->base / 2) + 1;
	b->base /= 2;
	b->shift++;
}

/* Makes room for a time, so that it is in one of the blocks. */
static __attribute__((noinline)) void reach(struct blocks *b, uint64_t ns)
{
	uint64_t at = ns >> b->shift, last, by;

	if (!b->nr) {
		b->base = at;
		b->nr = 1;
		return;
	}
	for (;; at = ns >> b->shift) {
		last = b->base + b->nr - 1;
		if ((at > last ? at : last) - (at < b->base ? at : b->base) < BLOCKS_MAX)
			break;
		fold(b);
	}
	by = at < b->base ? b->base - at : 0;
	for (unsigned int i = 0; by && i < b->nr_kinds; i++) {
		struct blocks_cell **block = b->kind[i]->block;

		memmove(block + by, block, b->nr * sizeof(struct blocks_cell *));
		memset(block, 0, by * sizeof(struct blocks_cell *));
	}
	b->base -= by;
	b->nr += (unsigned int)by;
	if (at - b->base >= b->nr)
		b->nr = (unsigned int)(at - b->base) + 1;
}

/* Return: the number of a kind; NULL when memory ran out. */
static struct blocks_kind *kind_get(struct blocks *b, enum nt_op op, unsigned int size,
				    unsigned int depth)
{
	uint8_t *at = &b->at[op][size][depth];
	struct blocks_kind *k;

	if (*at)
		return b->kind[*at - 1];
	if (b->nr_kinds > BLOCKS_KINDS_MAX) {
		*at = BLOCKS_KINDS_MAX + 1;
		return b->kind[BLOCKS_KINDS_MAX];
	}
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	*k = (struct blocks_kind){.op = op, .size = (uint8_t)size, .depth = (uint8_t)depth};
	if (b->nr_kinds == BLOCKS_KINDS_MAX)
		k->op = NT_OPS_NR;
	k->least = UINT32_MAX;
	b->kind[b->nr_kinds++] = k;
	*at = (uint8_t)b->nr_kinds;
	return k;
}

static int machine_add(struct blocks_kind *k, unsigned int stream, const struct blocks_wait *c)
{
	struct blocks_machine *m;

	if (stream == MERGE_NO_STREAM)
		return 0;
	if (ARRAY_REACH(k->machine, k->nr_machines, stream))
		return -ENOMEM;
	m = &k->machine[stream];
	m->count++;
	for (unsigned int d = 0; d < BLOCKS_DURATIONS; d++)
		m->sum[d] += (double)c->ns[d];
	return 0;
}

static void hist_add(struct blocks *b, struct blocks_hist *h, int64_t ns)
{
	unsigned int bucket = nt_bucket(ns > 0 ? (uint64_t)ns : 0);

	if (!h->piece[bucket / NT_SUB_BUCKETS])
		h->piece[bucket / NT_SUB_BUCKETS] = piece_take(b);
	h->count++;
	h->sum += (double)ns;
	add_saturated(bucket_of(b, h, bucket), 1);
}

/* Makes sure that a command finds all pieces that it may need. */
static int pieces_reserve(struct blocks *b)
{
	while (b->nr_free < BLOCKS_DURATIONS) {
		/* One block has fewer pieces than the limit, of all kinds together. */
		if (b->nr_pieces < BLOCKS_PIECES_MAX || b->nr <= 1) {
			if (pieces_grow(b))
				return -ENOMEM;
		} else {
			fold(b);
		}
	}
	return 0;
}

static int count(struct blocks *b, const struct blocks_wait *c, unsigned int depth)
{
	struct blocks_kind *k = kind_get(b, c->op, size_class(c->bytes), depth);
	struct blocks_cell *cell;

	if (!k)
		return -ENOMEM;
	if (pieces_reserve(b))
		return -ENOMEM;
	if ((c->begin >> b->shift) - b->base >= b->nr)
		reach(b, c->begin);
	cell = k->block[(c->begin >> b->shift) - b->base];
	if (!cell) {
		cell = calloc(1, sizeof(*cell));
		if (!cell)
			return -ENOMEM;
		k->block[(c->begin >> b->shift) - b->base] = cell;
	}
	if (k->op == NT_OPS_NR)
		b->others++;
	if (c->bytes < k->least)
		k->least = c->bytes;
	if (c->bytes > k->most)
		k->most = c->bytes;
	cell->bytes += c->bytes;
	hist_add(b, &cell->of[BLOCKS_LATENCY], c->ns[BLOCKS_LATENCY]);
	for (unsigned int i = 0; c->split && i < NT_MERGED_STAGES_NR; i++)
		if (b->into[i] == i)
			hist_add(b, &cell->of[BLOCKS_STAGE(i)], c->ns[BLOCKS_STAGE(i)]);
	return machine_add(k, c->stream[NT_HOST], c) ?: machine_add(k, c->stream[NT_TARGET], c);
}

/* Counts the waiting command that began first: it is known now what it found in flight. */
static int wait_pop(struct blocks *b)
{
	struct blocks_wait first = b->wait[0], moved = b->wait[--b->nr_wait];

	heap_down(b->wait, b->nr_wait, 0, &moved, sizeof(moved), NULL);
	b->frontier = first.begin;
	while (b->nr_end && b->end[0] <= first.begin) {
		const uint64_t last = b->end[--b->nr_end];

		heap_down(b->end, b->nr_end, 0, &last, sizeof(last), NULL);
	}
	if (!ARRAY_INSERT(b->end, b->nr_end, b->nr_end))
		return -ENOMEM;
	heap_up(b->end, b->nr_end - 1, &first.end, sizeof(first.end), NULL);
	return count(b, &first, blocks_depth(b->nr_end));
}

static int wait_add(struct blocks *b, const struct blocks_wait *c)
{
	int err = 0;

	if (!b->wait)
		b->wait = calloc(BLOCKS_WAIT_MAX, sizeof(*b->wait));
	if (!b->wait)
		return -ENOMEM;
	if (b->nr_wait == BLOCKS_WAIT_MAX)
		err = wait_pop(b);
	if (c->begin < b->frontier) {
		b->late++;
		return err;
	}
	heap_up(b->wait, b->nr_wait++, c, sizeof(*c), NULL);
	return err;
}

/* Stages. */

/* Fills in the stages of a merged command. Return: whether it could be split. */
static bool split_merged(struct blocks *b, struct blocks_wait *c, const uint32_t missing[NT_SIDES],
			 const struct nt_record *host, const struct nt_record *target)
{
	merged_split_renew(&b->merged, missing[NT_HOST], missing[NT_TARGET]);
	return merged_split(&b->merged, host, target, c->ns + BLOCKS_STAGE(0));
}

/*
 * The same for a command of one side. What a target's record begins and ends with depends on the
 * points that it has, so the latency is the sum of its stages.
 */
static bool split_side(struct blocks *b, struct blocks_wait *c, uint32_t missing,
		       const struct nt_record *r)
{
	uint64_t stage[NT_STAGES_MAX], sum = 0;

	if (b->split.side != r->side || b->split.missing != missing || !b->split.shape[0].nr)
		stage_split_init(&b->split, (enum nt_side)r->side, missing);
	if (!stage_split(&b->split, r, stage))
		return false;
	for (unsigned int i = 0; i < stages_nr((enum nt_side)r->side); i++) {
		c->ns[BLOCKS_STAGE(i)] = (int64_t)stage[i];
		sum += stage[i];
	}
	if (r->side == NT_TARGET)
		c->ns[BLOCKS_LATENCY] = (int64_t)sum;
	return true;
}

static bool split(struct blocks *b, struct blocks_wait *c, const struct blocks_where *where,
		  const struct nt_record *host, const struct nt_record *target)
{
	const struct nt_record *record[NT_SIDES] = {[NT_HOST] = host, [NT_TARGET] = target};
	uint32_t missing[NT_SIDES] = {0};
	uint8_t into[NT_MERGED_STAGES_NR];
	bool known;

	for (unsigned int i = 0; i < NT_SIDES; i++)
		if (record[i])
			missing[i] = b->missing[i] | where->missing[i] | record_lacks(record[i]);
	b->lacks[NT_HOST] |= missing[NT_HOST];
	b->lacks[NT_TARGET] |= missing[NT_TARGET];
	memset(into, STAGE_UNKNOWN, sizeof(into));
	if (b->side == NT_SIDES) {
		known = split_merged(b, c, missing, host, target);
		memcpy(into, b->merged.into, sizeof(into));
	} else {
		known = split_side(b, c, missing[b->side], record[b->side]);
		memcpy(into, b->split.into, stages_nr(b->side));
	}
	if (!b->commands)
		memcpy(b->into, into, sizeof(into));
	else if (memcmp(b->into, into, sizeof(into)) != 0)
		b->mixed = true;
	return known;
}

int blocks_add(struct blocks *b, const struct blocks_where *where, const struct nt_record *host,
	       const struct nt_record *target)
{
	const struct nt_record *r = host ?: target;
	struct blocks_wait c = {
		.begin = AXIS + record_begin_ns(r) + (uint64_t)where->to_common,
		.end = AXIS + record_end_ns(r) + (uint64_t)where->to_common,
		.stream = {where->stream[NT_HOST], where->stream[NT_TARGET]},
		.bytes = r->length,
		.op = r->op < NT_OPS_NR ? r->op : NT_OP_OTHER,
	};

	if (!record_begin_ns(r) || !record_end_ns(r) || c.end < c.begin)
		return 0;
	if (!b->commands)
		b->side = host && target ? NT_SIDES : (enum nt_side)r->side;
	c.ns[BLOCKS_LATENCY] = (int64_t)record_latency_ns(r);
	c.split = split(b, &c, where, host, target);
	b->commands++;
	b->unsplit += !c.split;
	if (b->commands == 1 || c.begin < b->first_ns)
		b->first_ns = c.begin;
	if (c.end > b->last_ns)
		b->last_ns = c.end;
	if (!b->shift)
		b->shift = SHIFT_MIN;
	return b->by_depth ? wait_add(b, &c) : count(b, &c, 0);
}

int blocks_finish(struct blocks *b)
{
	int err = 0;

	while (!err && b->nr_wait)
		err = wait_pop(b);
	return err;
}

void blocks_clear(struct blocks *b)
{
	for (unsigned int i = 0; i < b->nr_kinds; i++) {
		for (unsigned int k = 0; k < BLOCKS_MAX; k++)
			free(b->kind[i]->block[k]);
		free(b->kind[i]->machine);
		free(b->kind[i]);
	}
	free(b->piece);
	free(b->wait);
	free(b->end);
	*b = (struct blocks){.nr = 0};
}
