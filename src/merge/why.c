// SPDX-License-Identifier: GPL-2.0-only
#include "merge/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hash.h"
#include "core/segments.h"
#include "merge/tcp_history.h"

/* The shortest bin: 1.05 ms. */
#define TIME_SHIFT 20
/* So many commands of an operation later it is computed again which of them are slow. */
#define SLOW_EVERY 8192u
#define SLOW_PERCENT 98.0
/* The latest commands are only roughly in order: so many that ended before do not end a search. */
#define OUT_OF_ORDER 8u
/* A search for other hosts' commands ends after so many. */
#define SEARCH_MAX 1024u
/* Large commands are more work than small ones: 64 KiB are as one command. */
#define WORK_SHIFT 16

/*
 * From @begin to @end, in parts of the clock's time: small, as there are many, and compared by
 * their difference only. Half of them are 9 minutes.
 */
#define SPAN_SHIFT 8
struct span {
	uint32_t begin;
	uint32_t end;
};

static inline struct span span_of(const struct nt_record *r)
{
	return (struct span){(uint32_t)(record_begin_ns(r) >> SPAN_SHIFT),
			     (uint32_t)(record_end_ns(r) >> SPAN_SHIFT)};
}

static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* The latest commands of a controller: a ring; @at: how many have been put there. */
struct why_latest {
	unsigned int at;
	struct span span[WHY_LATEST];
};

/*
 * @array: 1 + index of the first queue of the same subsystem
 * @latest: of its controller, whose first queue owns it; NULL: there are too many controllers
 */
struct why_queue {
	bool met;
	bool owns;
	unsigned int array;
	struct why_latest *latest;
};

/*
 * @nqn: of its hosts; @host_of: [slot] 1 + its number; @work: [host] done since @first_ns. With one
 * host nothing else is filled.
 */
struct why_target {
	unsigned int nr_hosts;
	char nqn[WHY_HOSTS][NT_NQN_LEN];
	uint8_t host_of[WHY_SLOTS];
	uint64_t work[WHY_HOSTS];
	uint64_t first_ns;
	uint64_t last_ns;
	struct done {
		uint64_t begin;
		uint64_t end;
		uint32_t host;
		uint32_t work;
	} latest[WHY_TARGET_LATEST];
	unsigned int at;
};

const char *why_key_name(enum why_key key)
{
#define KEY_NAME(id, name) [WHY_##id] = name,
	static const char *const names[] = {WHY_KEYS(KEY_NAME)};

	return names[key];
}

struct why *why_new(unsigned int sample)
{
	struct why *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sample = sample;
	w->turn = sample;
	w->follow = w->follow_turn = w->target_turn = sample > 1 ? WHY_FOLLOW : 1;
	w->shift = TIME_SHIFT;
	memset(w->into, STAGE_UNKNOWN, sizeof(w->into));
	w->bin = calloc(WHY_BINS, sizeof(*w->bin));
	if (w->bin)
		return w;
	free(w);
	return NULL;
}

static void bin_free(struct why_bin *b)
{
	for (unsigned int op = 0; op < WHY_OPS; op++)
		for (unsigned int i = 0; i < WHY_CHUNKS; i++)
			free(b->chunk[op][i]);
}

void why_free(struct why *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; i < WHY_BINS; i++)
		bin_free(&w->bin[i]);
	for (unsigned int i = 0; i < w->nr_cells; i++)
		free(w->cell[i]);
	for (unsigned int i = 0; i < w->nr_queues; i++)
		if (w->queue[i].owns)
			free(w->queue[i].latest);
	for (unsigned int i = 0; i < w->nr_targets; i++)
		free(w->target[i]);
	free(w->target);
	free(w->queue);
	free(w->cell);
	free(w->bin);
	free(w);
}

void why_sum_add(struct why_sum *into, const struct why_sum *from)
{
	uint64_t *a = (uint64_t *)into;
	const uint64_t *b = (const uint64_t *)from;

	_Static_assert(sizeof(*into) % sizeof(*a) == 0, "all members are of 8 bytes");
	for (size_t i = 0; i < sizeof(*into) / sizeof(*a); i++)
		a[i] += b[i];
}

static void bin_merge(struct why *w, struct why_bin *into, struct why_bin *from)
{
	into->failed += from->failed;
	for (unsigned int op = 0; op < WHY_OPS; op++) {
		for (unsigned int i = 0; i < WHY_CHUNKS; i++) {
			struct why_sum *sum = from->chunk[op][i];

			if (!into->chunk[op][i]) {
				into->chunk[op][i] = sum;
				continue;
			}
			for (unsigned int k = 0; sum && k < WHY_CHUNK; k++)
				why_sum_add(&into->chunk[op][i][k], &sum[k]);
			w->nr_chunks -= sum != NULL;
			free(sum);
		}
	}
	memset(from, 0, sizeof(*from));
}

/* Makes each bin twice as long. */
static void fold(struct why *w)
{
	uint64_t base = w->base / 2;

	for (unsigned int i = 0; i < w->nr_bins; i++) {
		unsigned int at = (unsigned int)((w->base + i) / 2 - base);

		if (at != i)
			bin_merge(w, &w->bin[at], &w->bin[i]);
	}
	if (w->nr_bins)
		w->nr_bins = (unsigned int)((w->base + w->nr_bins - 1) / 2 - base) + 1;
	w->base = base;
	w->shift++;
}

static __attribute__((noinline)) void reach(struct why *w, uint64_t ns)
{
	uint64_t at = ns >> w->shift, move;

	if (!w->nr_bins)
		w->base = at;
	while ((at < w->base ? w->base - at + w->nr_bins : at - w->base + 1) > WHY_BINS) {
		fold(w);
		at = ns >> w->shift;
	}
	if (at < w->base) {
		move = w->base - at;
		memmove(w->bin + move, w->bin, w->nr_bins * sizeof(*w->bin));
		memset(w->bin, 0, (move < w->nr_bins ? move : w->nr_bins) * sizeof(*w->bin));
		/* Those between the first one and the others were never used. */
		w->base = at;
		w->nr_bins += (unsigned int)move;
	}
	if (at - w->base >= w->nr_bins)
		w->nr_bins = (unsigned int)(at - w->base) + 1;
}

static inline struct why_bin *bin_at(struct why *w, uint64_t ns)
{
	if ((ns >> w->shift) - w->base >= w->nr_bins)
		reach(w, ns);
	return &w->bin[(ns >> w->shift) - w->base];
}

/* Return: NULL when memory ran out. */
static __attribute__((noinline)) struct why_sum *chunk_make(struct why *w, uint64_t ns,
							    enum why_op op, unsigned int chunk)
{
	struct why_sum **at;

	while (w->nr_chunks >= WHY_CHUNKS_MAX && w->nr_bins > 1)
		fold(w);
	at = &bin_at(w, ns)->chunk[op][chunk];
	if (!*at) {
		*at = calloc(WHY_CHUNK, sizeof(**at));
		w->nr_chunks += *at != NULL;
	}
	return *at;
}

int why_add_failed(struct why *w, uint64_t begin_ns)
{
	bin_at(w, begin_ns)->failed++;
	return 0;
}

uint64_t why_failed(const struct why *w)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < w->nr_bins; i++)
		n += w->bin[i].failed;
	return n;
}

/* Queues, and the commands in flight. */

static bool same_ctrl(const struct merge_connection *a, const struct merge_connection *b)
{
	return a->host_stream == b->host_stream && a->target_stream == b->target_stream &&
	       a->host_instance == b->host_instance && a->cntlid == b->cntlid;
}

static int queue_meet(struct why *w, const struct merge_connection *c)
{
	struct why_queue *q;

	if (ARRAY_REACH(w->queue, w->nr_queues, c->index))
		return -ENOMEM;
	q = &w->queue[c->index];
	q->met = true;
	q->array = c->index + 1;
	for (unsigned int i = 0; i < w->nr_cells; i++) {
		const struct why_cell *cell = w->cell[i];

		if (cell->key != WHY_QUEUE || strcmp(cell->c->subsysnqn, c->subsysnqn) != 0)
			continue;
		q->array = w->queue[cell->c->index].array;
		if (!same_ctrl(cell->c, c))
			continue;
		q->latest = w->queue[cell->c->index].latest;
		return 0;
	}
	if (w->followed == WHY_FOLLOWED)
		return 0;
	q->latest = calloc(1, sizeof(*q->latest));
	q->owns = true;
	w->followed++;
	return q->latest ? 0 : -ENOMEM;
}

/*
 * Commands in the ring that did not begin after this one and have ended since it began. Ends are
 * roughly in order.
 */
static unsigned int count_ahead(const struct why_latest *l, const struct span *s)
{
	unsigned int nr = l->at < WHY_LATEST ? l->at : WHY_LATEST, ahead = 0, before = 0;

	for (unsigned int i = 1; i <= nr && before < OUT_OF_ORDER; i++) {
		const struct span *other = &l->span[(l->at - i) % WHY_LATEST];

		before = is_before(s->begin, other->end) ? 0 : before + 1;
		ahead += !is_before(s->begin, other->begin) && is_before(s->begin, other->end) &&
			 !is_before(s->end, other->end);
	}
	return ahead;
}

/* Return: where a controller is kept; WHY_CTRLS: there is no room. */
static unsigned int ctrl_at(struct why *w, unsigned int stream, uint32_t instance)
{
	unsigned int i = 0;

	while (i < w->nr_ctrls && (w->ctrl[i].stream != stream || w->ctrl[i].instance != instance))
		i++;
	if (i == w->nr_ctrls && i < WHY_CTRLS) {
		w->nr_ctrls++;
		w->ctrl[i].stream = stream;
		w->ctrl[i].instance = instance;
	}
	return i;
}

static int ctrl_note(struct why *w, unsigned int stream, const struct queue_info *q)
{
	unsigned int i = q->qid ? ctrl_at(w, stream, q->instance) : WHY_CTRLS;

	if (i == WHY_CTRLS)
		return 0;
	w->ctrl[i].nqn = hash_text(0, q->subsysnqn);
	w->ctrl[i].was_live = true;
	/* Those without a command are announced by their number alone, and may be fewer now. */
	if (q->queues > q->qid)
		w->ctrl[i].queues = q->queues - 1;
	else if (q->qid > w->ctrl[i].queues)
		w->ctrl[i].queues = q->qid;
	return 0;
}

/* Return: since when no controller of an array is live; 0: one is, or there is none. */
static uint64_t down_since(const struct why *w, unsigned int stream, uint64_t nqn)
{
	uint64_t since = 0;

	for (unsigned int i = 0; i < w->nr_ctrls; i++) {
		if (w->ctrl[i].stream != stream || w->ctrl[i].nqn != nqn || !w->ctrl[i].was_live)
			continue;
		if (!w->ctrl[i].down_since)
			return 0;
		if (w->ctrl[i].down_since > since)
			since = w->ctrl[i].down_since;
	}
	return since;
}

/* A controller that is deleted is none of its array any more. */
uint64_t why_path(struct why *w, unsigned int stream, const struct nt_path_event *e)
{
	unsigned int i = e->kind == NT_PATH_STATE ? ctrl_at(w, stream, e->instance) : WHY_CTRLS;
	uint64_t since = 0;

	if (i == WHY_CTRLS)
		return 0;
	w->ctrl[i].nqn = hash_text(0, e->subsysnqn);
	switch (e->state) {
	case NT_PATH_LIVE:
		since = down_since(w, stream, w->ctrl[i].nqn);
		w->ctrl[i].was_live = true;
		w->ctrl[i].down_since = 0;
		break;
	case NT_PATH_RESETTING:
	case NT_PATH_CONNECTING:
		if (!w->ctrl[i].down_since)
			w->ctrl[i].down_since = e->ns;
		break;
	default:
		w->ctrl[i].was_live = false;
	}
	return since;
}

void why_outage(struct why *w, unsigned int stream, const struct nt_path_event *e, double ns)
{
	unsigned int i = ctrl_at(w, stream, e->instance);

	if (i == WHY_CTRLS)
		return;
	w->ctrl[i].down_ns += ns;
	w->ctrl[i].down_ns2 += ns * ns;
}

/* Other hosts at the same target. */

int why_queue(struct why *w, unsigned int stream, enum nt_side side, const struct queue_info *q)
{
	struct why_target *t;
	unsigned int host = 0;

	if (side == NT_HOST)
		return ctrl_note(w, stream, q);
	if (ARRAY_REACH(w->target, w->nr_targets, stream))
		return -ENOMEM;
	t = w->target[stream];
	if (!t)
		t = w->target[stream] = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	if (q->slot >= WHY_SLOTS)
		return 0;
	t->host_of[q->slot] = 0;
	if (!q->hostnqn[0])
		return 0;
	/* Past the limit all hosts are the last one. */
	while (host < t->nr_hosts && host < WHY_HOSTS - 1 && strcmp(t->nqn[host], q->hostnqn) != 0)
		host++;
	if (host == t->nr_hosts)
		memcpy(t->nqn[t->nr_hosts++], q->hostnqn, sizeof(q->hostnqn));
	t->host_of[q->slot] = (uint8_t)(host + 1);
	w->several_hosts |= t->nr_hosts > 1;
	return 0;
}

static struct why_target *target_of(const struct why *w, unsigned int stream)
{
	struct why_target *t = stream < w->nr_targets ? w->target[stream] : NULL;

	return t && t->nr_hosts > 1 ? t : NULL;
}

void why_target(struct why *w, unsigned int stream, const struct nt_record *r)
{
	struct why_target *t = target_of(w, stream);
	uint64_t begin = r->points[NT_T_EXEC], end = r->points[NT_T_DONE];
	unsigned int host = t && r->slot < WHY_SLOTS ? t->host_of[r->slot] : 0;
	uint32_t work = 1 + (r->length >> WORK_SHIFT);

	if (!host || !begin || end < begin)
		return;
	if (--w->target_turn)
		return;
	w->target_turn = w->follow;
	if (!t->first_ns)
		t->first_ns = begin;
	if (end > t->last_ns)
		t->last_ns = end;
	t->work[host - 1] += work;
	t->latest[t->at++ % WHY_TARGET_LATEST] =
		(struct done){.begin = begin, .end = end, .host = host, .work = work};
}

/* Adds what the target did for other hosts while it did this command. */
static void count_meanwhile(const struct why *w, const struct why_command *c, struct why_sum *sum,
			    uint64_t stands_for)
{
	const struct nt_record *r = c->target;
	const struct why_target *t = r ? target_of(w, c->c->target_stream) : NULL;
	unsigned int host = t && r->slot < WHY_SLOTS ? t->host_of[r->slot] : 0, before = 0, nr;
	uint64_t begin, end, meanwhile = 0, work = 0;
	double usual;

	if (!host)
		return;
	begin = r->points[NT_T_EXEC];
	end = r->points[NT_T_DONE];
	nr = t->at < WHY_TARGET_LATEST ? t->at : WHY_TARGET_LATEST;
	if (!begin || end <= begin || t->last_ns <= t->first_ns)
		return;
	for (unsigned int i = 1, searched = 0; i <= nr && before < OUT_OF_ORDER; i++) {
		const struct done *d = &t->latest[(t->at - i) % WHY_TARGET_LATEST];

		/* The stream may be read further than commands are matched. */
		if (d->end > end)
			continue;
		/* It is not known what was before. */
		if (++searched == SEARCH_MAX || i == WHY_TARGET_LATEST)
			return;
		before = d->end <= begin ? before + 1 : 0;
		if (d->host != host && d->end > begin)
			meanwhile += d->work;
	}
	for (unsigned int i = 0; i < t->nr_hosts; i++)
		work += i + 1 == host ? 0 : t->work[i];
	/* At most all that was recorded, also of a command that took longer than the recording. */
	usual = (double)(end - begin) / (double)(t->last_ns - t->first_ns);
	usual = (usual < 1 ? usual : 1) * (double)work;
	sum->meanwhile += meanwhile * stands_for;
	sum->usual += (uint64_t)(usual * (1 << WHY_USUAL_SHIFT)) * stands_for;
}

/* Cells. */

bool why_same_value(enum why_key key, const struct why_cell *a, const struct why_cell *b)
{
	const struct merge_connection *x = a->c, *y = b->c;

	switch (key) {
	case WHY_ARRAY:
		return !strcmp(x->subsysnqn, y->subsysnqn);
	case WHY_CTRL:
		return x->host_stream == y->host_stream && x->host_instance == y->host_instance &&
		       x->cntlid == y->cntlid && !strcmp(x->subsysnqn, y->subsysnqn);
	case WHY_HOST:
		return x->host_stream == y->host_stream && !strcmp(x->hostnqn, y->hostnqn);
	case WHY_TARGET:
		return x->target_stream == y->target_stream;
	default:
		return a == b;
	}
}

enum why_key why_cells_of(enum why_key key)
{
	return key == WHY_DEVICE || key == WHY_CPU || key == WHY_SIZE ? key : WHY_QUEUE;
}

/* Return: a new cell, or NULL, see errno. */
static __attribute__((noinline)) struct why_cell *cell_make(struct why *w, struct why_cell **at,
							    enum why_key key, enum why_op op,
							    const struct merge_connection *c,
							    uint64_t what)
{
	errno = ENOSPC;
	if (w->nr_cells == WHY_CELLS)
		return NULL;
	errno = ENOMEM;
	*at = ARRAY_MAKE(w->cell, w->nr_cells, w->nr_cells, sizeof(**at));
	if (*at) {
		(*at)->key = key;
		(*at)->op = op;
		(*at)->c = c;
		(*at)->what = what;
	}
	return *at;
}

/* @array: queues of one array are the same. */
static bool same_place(const struct why *w, const struct why_cell *cell, enum why_key key,
		       const struct merge_connection *c)
{
	if (key == WHY_SIZE)
		return true;
	if (key == WHY_CPU)
		return cell->c->host_stream == c->host_stream;
	if (key == WHY_DEVICE)
		return w->queue[cell->c->index].array == w->queue[c->index].array;
	return cell->c == c;
}

static inline struct why_cell *cell_get(struct why *w, enum why_key key, enum why_op op,
					const struct merge_connection *c, uint64_t what)
{
	uint64_t place = key == WHY_SIZE     ? 0
			 : key == WHY_CPU    ? c->host_stream
			 : key == WHY_DEVICE ? w->queue[c->index].array
					     : c->index;
	size_t at = hash_pair(what, place << 32 | (uint64_t)(key * WHY_OPS + op)) %
		    ARRAY_SIZE(w->table);

	for (; w->table[at]; at = (at + 1) % ARRAY_SIZE(w->table)) {
		struct why_cell *cell = w->table[at];

		if (cell->key == key && cell->op == op && cell->what == what &&
		    same_place(w, cell, key, c))
			return cell;
	}
	return cell_make(w, &w->table[at], key, op, c, what);
}

static inline void hist_count_for(struct hist *h, unsigned int bucket, uint64_t ns, uint64_t nr)
{
	h->buckets[bucket] += nr;
	h->count += nr;
	h->sum += (unsigned __int128)ns * nr;
	if (h->max < ns)
		h->max = ns;
}

static uint64_t size_class(uint32_t length)
{
	uint64_t class = 512;

	while (class < length)
		class *= 2;
	return length ? class : 0;
}

void why_levels_add(struct why_levels *into, const struct why_levels *from)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(into->level); i++)
		into->level[i] += from->level[i];
	into->commands += from->commands;
	into->split += from->split;
	into->seen += from->seen;
}

/* The levels of one command, for @stands_for commands. @bucket: of its latency */
static struct why_levels levels_of(const struct why_command *c, unsigned int bucket,
				   uint64_t stands_for)
{
	struct why_levels l = {.commands = stands_for, .seen = 1};

	l.level[NT_MERGED_STAGES_NR] = bucket * stands_for;
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->stage[i] > 0)
			l.level[i] = nt_bucket((uint64_t)c->stage[i]) * stands_for;
	l.split = c->nr ? stands_for : 0;
	return l;
}

static int cells_add(struct why *w, const struct why_command *c, enum why_op op,
		     unsigned int bucket, uint64_t ns, uint64_t stands_for)
{
	const struct {
		enum why_key key;
		uint64_t what;
		bool known;
	} in[] = {
		{WHY_QUEUE, 0, true},
		{WHY_DEVICE, c->r->nsid, true},
		{WHY_SIZE, size_class(c->r->length), true},
		{WHY_CPU, c->cpu, c->cpu != ORIGIN_NO_CPU},
	};
	const struct why_levels levels = levels_of(c, bucket, stands_for);

	for (unsigned int i = 0; i < ARRAY_SIZE(in); i++) {
		struct why_cell *cell;

		if (!in[i].known)
			continue;
		cell = cell_get(w, in[i].key, op, c->c, in[i].what);
		if (!cell && errno == ENOMEM)
			return -ENOMEM;
		if (cell) {
			hist_count_for(&cell->h, bucket, ns, stands_for);
			why_levels_add(&cell->levels, &levels);
		} else {
			w->others += in[i].key == WHY_QUEUE ? stands_for : 0;
		}
	}
	return 0;
}

static void note_joined(struct why *w, const struct why_command *c)
{
	memcpy(w->into, c->into, c->nr);
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->into[i] < c->nr)
			w->joined[c->into[i]] |= 1u << i;
}

static bool has_part(const struct why_command *c, enum why_part part)
{
	static const unsigned int limits[WHY_PARTS] = {
		[WHY_BY_WINDOW] = TCP_BY_WINDOW,
		[WHY_BY_BUFFER] = TCP_BY_BUFFER,
		[WHY_BY_CWND] = TCP_BY_CWND,
	};

	if (part == WHY_RETRANSMITTED)
		return (c->r->flags & (NT_F_RETRANSMITTED | NT_F_NEEDLESS)) == NT_F_RETRANSMITTED;
	return c->limits & limits[part];
}

/*
 * How long the network took to the target: of a command, and of the data of a write that has been
 * asked for them. What it took in both directions is known without the clocks' offset.
 */
static void add_way(struct why_sum *sum, const struct why_command *c, uint64_t stands_for)
{
	const uint64_t offset = connection_offset(c->c);
	uint64_t ns;

	if (!c->target || c->nr != NT_MERGED_STAGES_NR ||
	    c->into[NT_MS_NETWORK_TRANSMISSION] != NT_MS_NETWORK_TRANSMISSION ||
	    c->c->offset_low > c->c->offset_high || !c->r->points[NT_H_SEND_CMD] ||
	    !c->target->points[NT_T_RX])
		return;
	ns = c->target->points[NT_T_RX] - offset - c->r->points[NT_H_SEND_CMD];
	if (c->r->points[NT_H_SEND_DATA] && c->target->points[NT_T_DATA_RX])
		ns += c->target->points[NT_T_DATA_RX] - offset - c->r->points[NT_H_SEND_DATA];
	sum->two_way.count += stands_for;
	sum->two_way.to_target = (int64_t)((uint64_t)sum->two_way.to_target + ns * stands_for);
	sum->two_way.bounds +=
		((uint64_t)c->c->offset_high - (uint64_t)c->c->offset_low) * stands_for;
}

/* Counts a command for @stands_for commands. */
static __attribute__((noinline)) int add(struct why *w, const struct why_command *c, enum why_op op,
					 uint64_t stands_for)
{
	const struct span span = span_of(c->r);
	uint64_t ns = record_latency_ns(c->r);
	unsigned int bucket = nt_bucket(ns), chunk = bucket / WHY_CHUNK;
	const struct why_queue *q = &w->queue[c->c->index];
	struct why_bin *bin = bin_at(w, c->begin_ns);
	struct why_sum *sum = bin->chunk[op][chunk] ?: chunk_make(w, c->begin_ns, op, chunk);
	const __u64 *at = c->r->points;

	if (!sum)
		return -ENOMEM;
	sum += bucket % WHY_CHUNK;
	sum->count += stands_for;
	sum->ns += ns * stands_for;
	/* Unsigned, as in why_sum_add(): times of a broken recording may wrap around. */
	for (unsigned int i = 0; i < c->nr; i++)
		sum->stage[i] =
			(int64_t)((uint64_t)sum->stage[i] + (uint64_t)c->stage[i] * stands_for);
	if (c->nr && memcmp(w->into, c->into, c->nr) != 0)
		note_joined(w, c);
	if (q->latest) {
		sum->ahead += (uint64_t)count_ahead(q->latest, &span) * w->follow * stands_for;
		sum->followed += stands_for;
	}
	count_meanwhile(w, c, sum, stands_for);
	if (c->r->side == NT_HOST && c->r->shape == NT_SHAPE_R2T_WRITE &&
	    at[NT_H_R2T] > at[NT_H_SEND_CMD] && at[NT_H_SEND_CMD]) {
		sum->r2t += stands_for;
		sum->r2t_ns += (at[NT_H_R2T] - at[NT_H_SEND_CMD]) * stands_for;
		sum->r2t_bytes += (uint64_t)c->r->length * stands_for;
	}
	add_way(sum, c, stands_for);
	if (c->r->shape == NT_SHAPE_INLINE_WRITE && c->r->length > w->inline_most)
		w->inline_most = c->r->length;
	for (unsigned int i = 0; i < WHY_PARTS; i++) {
		if (!has_part(c, (enum why_part)i))
			continue;
		sum->part[i].count += stands_for;
		sum->part[i].ns += ns * stands_for;
	}
	if (c->r->flags & NT_F_REQUEUED) {
		sum->resent += stands_for;
		bin_at(w, c->begin_ns)->failed += stands_for;
	}
	hist_count_for(&w->latency[op], bucket, ns, stands_for);
	if (w->sample > 1 && w->latency[op].count >= w->slow_at[op] + SLOW_EVERY) {
		w->slow_at[op] = w->latency[op].count;
		w->slow_ns[op] = nt_bucket_low(
			1 + nt_bucket(hist_percentile(&w->latency[op], SLOW_PERCENT)));
	}
	return cells_add(w, c, op, bucket, ns, stands_for);
}

/* Admin and Fabrics commands have a queue of their own. */
static bool is_io(const struct nt_record *r)
{
	return r->qid && r->op != NT_OP_ADMIN && r->op != NT_OP_FABRICS && record_latency_ns(r);
}

static inline int meet(struct why *w, const struct merge_connection *c)
{
	return c->index < w->nr_queues && w->queue[c->index].met ? 0 : queue_meet(w, c);
}

int why_add(struct why *w, const struct why_command *c, unsigned int stands_for)
{
	if (!is_io(c->r))
		return 0;
	return meet(w, c->c) ?: add(w, c, why_op_of(c->r), stands_for);
}

int why_follow(struct why *w, const struct merge_connection *c, const struct nt_record *r)
{
	struct why_latest *l;

	if (!is_io(r))
		return 0;
	if (meet(w, c))
		return -ENOMEM;
	l = w->queue[c->index].latest;
	if (l)
		l->span[l->at++ % WHY_LATEST] = span_of(r);
	return 0;
}
