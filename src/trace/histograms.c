// SPDX-License-Identifier: GPL-2.0-only
#include "trace/histograms.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "trace/connections.h"
#include "trace/private.h"

/* A histogram goes back when nothing was counted in it for this many intervals. */
#define IDLE_INTERVALS 10

int histograms_init(struct tracer *t)
{
	uint32_t shared = t->object.knobs->shared_mask + 1;

	t->hist_seen = calloc(NT_HISTS_BANKS, sizeof(*t->hist_seen));
	t->stages_seen = calloc(NT_STAGES_BANKS, sizeof(*t->stages_seen));
	t->shared_seen = calloc(shared, sizeof(*t->shared_seen));
	return t->hist_seen && t->stages_seen && t->shared_seen ? 0 : -ENOMEM;
}

void histograms_free(struct tracer *t)
{
	for (unsigned int i = 0; t->hist_seen && i < NT_HISTS_BANKS; i++)
		free(t->hist_seen[i]);
	for (unsigned int i = 0; t->stages_seen && i < NT_STAGES_BANKS; i++)
		free(t->stages_seen[i]);
	free(t->hist_seen);
	free(t->stages_seen);
	free(t->shared_seen);
}

/*
 * The last values of item @nr, of @size bytes. Memory for a bank is allocated when the first of its
 * items is asked for.
 * Return: NULL when memory ran out
 */
static void *seen_of(void **banks, const struct pool *p, uint32_t nr, size_t size)
{
	void **bank = &banks[nr / p->per_bank];

	if (!*bank)
		*bank = calloc(p->per_bank, size);
	return *bank ? (char *)*bank + nr % p->per_bank * size : NULL;
}

/*
 * The counts of a histogram, and the last ones.
 * @shift: 2^@shift buckets of struct hist are one of its @nr buckets
 */
struct counts {
	const struct nt_hist_head *head;
	const uint32_t *now;
	struct seen *last;
	uint32_t *seen;
	unsigned int nr;
	unsigned int shift;
	uint64_t bytes;
};

static struct counts counts_of(const struct nt_hist *h, struct hist_seen *seen)
{
	return (struct counts){.head = &h->head,
			       .now = h->buckets,
			       .last = &seen->last,
			       .seen = seen->buckets,
			       .nr = NT_BUCKETS,
			       .bytes = h->bytes};
}

static struct counts counts_of_stage(const struct nt_stage_hists *h, struct stages_seen *seen,
				     unsigned int stage)
{
	return (struct counts){.head = &h->h[stage].head,
			       .now = h->h[stage].buckets,
			       .last = &seen->of[stage].last,
			       .seen = seen->of[stage].buckets,
			       .nr = NT_STAGE_BUCKETS,
			       .shift = NT_STAGE_SHIFT};
}

/* The shortest duration of bucket @b. */
static uint64_t lowest(const struct counts *c, unsigned int b)
{
	return nt_bucket_low(b << c->shift);
}

/*
 * The bucket of struct hist for bucket @b. Of several, the one whose middle is nearest to all
 * durations that may be meant: within 1/14 of them.
 */
static unsigned int bucket_of(const struct counts *c, unsigned int b)
{
	unsigned int first = b << c->shift;

	return c->shift && first < NT_OVERFLOW_BUCKET ? first + (1u << c->shift) / 2 - 1 : first;
}

/*
 * The longest duration since the last read. A program that was running then may have noted its
 * duration for the interval before @epoch. One that is running now may note it for the interval
 * after @epoch.
 * @own: filled; the longest duration of interval @epoch
 */
static uint64_t longest(const struct nt_hist_head *h, uint32_t epoch, const struct seen *seen,
			uint64_t *own)
{
	uint64_t max = 0;

	*own = 0;
	for (int i = 0; i < 2; i++) {
		uint32_t of = __atomic_load_n(&h->max_epoch[i], __ATOMIC_ACQUIRE);
		uint64_t ns = h->max[i];
		bool late = of + 1 == epoch && seen->max_epoch == of && ns > seen->max;

		if (of == epoch && ns > *own)
			*own = ns;
		if ((of - epoch <= 1 || late) && ns > max)
			max = ns;
	}
	return max;
}

/*
 * Adds the new durations of one histogram to @nr others.
 * @epoch: the interval that has just ended; the next one may have begun on the histogram's CPU
 * Return: how many durations are new
 */
static uint64_t hist_take(const struct counts *c, uint32_t epoch, struct hist *const *into,
			  unsigned int nr)
{
	/* Programs count before they add to the sum, so the counts are read after it (acquire). */
	uint64_t sum = __atomic_load_n(&c->head->sum, __ATOMIC_ACQUIRE);
	uint64_t count = 0, max, own;
	unsigned int highest = 0;
	struct seen *last = c->last;

	for (unsigned int b = 0; b < c->nr; b++) {
		uint32_t now = c->now[b], more = now - c->seen[b];

		if (!more)
			continue;
		c->seen[b] = now;
		for (unsigned int i = 0; i < nr; i++)
			into[i]->buckets[bucket_of(c, b)] += more;
		count += more;
		highest = b;
	}
	/* Programs note the maximum before they count, so it is read after the counts. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	max = longest(c->head, epoch, last, &own);
	if (count && own < lowest(c, highest + 1)) {
		last->max = own;
		last->max_epoch = epoch;
	}
	/*
	 * A command that ended during this read may have been noted in the maximum, and not counted
	 * yet.
	 */
	if (max < lowest(c, highest) || (highest < c->nr - 1 && max >= lowest(c, highest + 1)))
		max = lowest(c, highest + 1) - 1;
	for (unsigned int i = 0; i < nr; i++)
		hist_account(into[i], count, sum - last->sum, c->bytes - last->bytes,
			     count ? max : 0);
	last->sum = sum;
	last->bytes = c->bytes;
	return count;
}

/*
 * Whether something may have been counted since the last time. A histogram notes the interval in
 * which it was last used. A program that is about to count may have noted an earlier one.
 * @seen: when it was looked at the last time
 */
static bool hist_touched(const struct nt_hist_head *h, uint32_t epoch, struct seen *seen)
{
	bool recently = seen->epoch + 1 == epoch;

	seen->epoch = epoch;
	if (!recently)
		return true;
	for (int i = 0; i < 2; i++)
		if (h->max_epoch[i] - (epoch - 1) <= 2)
			return true;
	return false;
}

/*
 * Whether there is something new. A program adds the bytes of a command last, and a read in between
 * has left them for this one.
 */
static bool others_grown(const struct nt_hist *h, const struct seen *seen)
{
	return h->others != seen->others.commands || h->other_bytes != seen->others.bytes;
}

static bool durations_grown(const struct nt_hist *h, const struct seen *seen)
{
	return h->sum != seen->sum || h->bytes != seen->bytes;
}

/* Adds the commands outside the sample that have ended. */
static void others_take(struct stats_row *row, const struct nt_hist *h, struct seen *seen)
{
	struct workload now = {.commands = h->others, .bytes = h->other_bytes};

	row->others_interval.commands += now.commands - seen->others.commands;
	row->others_interval.bytes += now.bytes - seen->others.bytes;
	row->others_total.commands += now.commands - seen->others.commands;
	row->others_total.bytes += now.bytes - seen->others.bytes;
	seen->others = now;
}

/* @n: where it is not NULL, how many durations there were */
static int take_row(struct stats_row *row, const struct nt_hist *h, uint32_t epoch, bool grown,
		    struct hist_seen *seen, uint64_t *n)
{
	const struct counts c = counts_of(h, seen);
	uint64_t durations = 0;

	if (!row)
		return -ENOMEM;
	others_take(row, h, &seen->last);
	if (grown)
		durations = hist_take(&c, epoch, (struct hist *[]){&row->interval, &row->total}, 2);
	if (n)
		*n = durations;
	return 0;
}

/* Counts the intervals without use. Return: whether there were enough of them to give it back */
static bool is_idle(struct seen *seen, bool grown)
{
	seen->idle = grown ? 0 : seen->idle + 1;
	return seen->idle > IDLE_INTERVALS;
}

static void forget(void **banks, const struct pool *p)
{
	for (uint32_t b = 0; banks && b < p->max_banks; b++) {
		if (p->bank[b])
			continue;
		free(banks[b]);
		banks[b] = NULL;
	}
}

void histograms_forget(struct tracer *t)
{
	forget(t->hist_seen, &t->object.pools[NT_POOL_HISTS]);
	forget(t->stages_seen, &t->object.pools[NT_POOL_STAGES]);
}

/* Return: whether the queue led to the histogram. It does not any more. */
static bool queue_unlink(struct tracer *t, uint32_t nr, uint64_t key)
{
	uint16_t *first = &t->object.queues[NT_HIST_KEY_SLOT(key)].hist[NT_HIST_KEY_OP(key)];

	if (__atomic_load_n(first, __ATOMIC_RELAXED) != nr)
		return false;
	__atomic_store_n(first, 0, __ATOMIC_RELAXED);
	return true;
}

/* After this no program finds the histogram, except those that have found it already. */
static void hist_unlink(struct tracer *t, uint32_t nr, uint64_t key)
{
	uint32_t hash = nt_hist_hash(key);
	struct nt_hist_bucket *b = &t->object.hist_index[hash >> (32 - NT_HIST_INDEX_BITS)];

	for (unsigned int i = 0; i < NT_HIST_WAYS; i++)
		if ((b->at[i] & NT_HIST_NR_MASK) == nr)
			__atomic_store_n(&b->at[i], NT_HIST_GONE, __ATOMIC_RELAXED);
	queue_unlink(t, nr, key);
	t->object.pools[NT_POOL_HISTS].items[nr] = POOL_UNUSED;
}

/*
 * The row of a histogram.
 * @known: filled; its connection has a name
 * @waits: filled; the connection is about to get a name
 * Return: NULL if @waits, or when memory ran out
 */
static struct stats_row *row_of(struct tracer *t, struct stats *s, uint64_t key, bool *known,
				bool *waits)
{
	const uint32_t slot = NT_HIST_KEY_SLOT(key), who = NT_HIST_KEY_WHO(key);
	const struct queue_ident *id = connections_identify(t, slot, who);

	*known = id;
	*waits = !id && !connections_unknown(t, slot, who);
	if (*waits)
		return NULL;
	if (!id)
		return stats_others(s, NT_OP_OTHER);
	return connections_row(t, s, id, slot, NT_HIST_KEY_OP(key));
}

/* There are too many rows: as where the kernel has no histogram left. */
static void count_no_row(struct stats *s, uint64_t commands)
{
	s->counters_interval[NT_CNT_HIST_FULL] += commands;
	s->counters_total[NT_CNT_HIST_FULL] += commands;
}

/*
 * A histogram of a connection that is gone goes back at once, because the next connection has its
 * own.
 */
static bool goes_back(const struct tracer *t, uint64_t key, struct seen *seen, bool grown)
{
	return is_idle(seen, grown) ||
	       connections_gone(t, NT_HIST_KEY_SLOT(key), NT_HIST_KEY_WHO(key));
}

/* Whether there are stages for a queue that has none of its own. */
static bool stages_left(const struct tracer *t)
{
	const struct nt_pool *ring = t->object.pools[NT_POOL_STAGES].ring;
	uint32_t taken = __atomic_load_n(&ring->taken, __ATOMIC_RELAXED);

	return ring->given - taken > t->object.knobs->stages_kept;
}

/*
 * Commands of a row that share the stages of their CPU are not in the stages of their controller.
 * They try again to get stages of their own in the next interval, if there are any.
 */
static void look_for_stages(struct tracer *t, struct nt_hist *h, struct stats_row *row)
{
	int32_t shared = NT_STAGES_SHARED;

	if (NT_HIST_KEY_OP(h->key) >= NT_OP_ADMIN || !tracer_counts_stages(t) ||
	    __atomic_load_n(&h->stages, __ATOMIC_RELAXED) != NT_STAGES_SHARED)
		return;
	row->unstaged_interval = row->unstaged_total = true;
	if (stages_left(t))
		__atomic_compare_exchange_n(&h->stages, &shared, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

/* No program uses the stages of a histogram that no program uses. */
static void stages_go_back(struct tracer *t, const struct nt_hist *h)
{
	if (h->stages > 0)
		t->object.pools[NT_POOL_STAGES].items[h->stages] = POOL_UNUSED;
}

/* @nr: a histogram that is taken, or that was unlinked before the last pool_wait() */
static int collect_hist(struct tracer *t, struct stats *s, uint32_t nr, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_HISTS];
	struct nt_hist *h = pool_at(p, nr);
	uint64_t key = __atomic_load_n(&h->key, __ATOMIC_ACQUIRE);
	struct hist_seen *seen = seen_of(t->hist_seen, p, nr, sizeof(*seen));
	bool unlinked = p->items[nr] == POOL_UNUSED, grown, others, known, waits;
	struct stats_row *row;
	uint64_t n;
	int err;

	if (!seen)
		return -ENOMEM;
	if (NT_HIST_KEY_SLOT(key) >= t->nr_slots)
		return 0;
	/*
	 * Touched may mean the interval before or after this one. The sum, which never grows by 0,
	 * says whether anything was counted.
	 */
	grown = (hist_touched(&h->head, epoch, &seen->last) || unlinked) &&
		durations_grown(h, &seen->last);
	others = others_grown(h, &seen->last);
	if (grown || others) {
		row = row_of(t, s, key, &known, &waits);
		if (waits)
			return 0;
		err = take_row(row, h, epoch, grown, seen, &n);
		if (err)
			return err;
		if (known && row->shared)
			count_no_row(s, n);
		if (n)
			look_for_stages(t, h, row);
	}
	if (!unlinked) {
		if (goes_back(t, key, &seen->last, grown || others))
			hist_unlink(t, nr, key);
	} else if (!queue_unlink(t, nr, key)) {
		/*
		 * Otherwise a program has made the queue lead there again, and may count in it
		 * until the next wait.
		 */
		*seen = (struct hist_seen){0};
		stages_go_back(t, h);
		pool_give_back(p, nr);
	}
	return 0;
}

static int collect_shared(struct tracer *t, struct stats *s, uint32_t epoch)
{
	for (uint32_t i = 0; i <= t->object.knobs->shared_mask; i++) {
		const struct nt_hist *h = &t->object.hists_shared[i];
		struct hist_seen *seen = &t->shared_seen[i];
		bool grown = durations_grown(h, &seen->last);
		int err;

		if (!grown && !others_grown(h, &seen->last))
			continue;
		err = take_row(stats_others(s, NT_OP_OTHER), h, epoch, grown, seen, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* Whether stages belong to one queue, and not to the commands of an operation that share them. */
static bool of_queue(uint64_t key)
{
	return key > NT_OPS_NR;
}

/*
 * Lets programs end that have found items of a pool before these were unlinked the last time. Only
 * a latency histogram leads to stages of a queue, and it has gone.
 */
static void wait_for_unlinked(const struct tracer *t, enum nt_pool_id id)
{
	const struct pool *p = &t->object.pools[id];

	for (uint32_t nr = 1; nr < pool_items(p); nr++) {
		const struct nt_hist_head *h = pool_at(p, nr);

		if (p->items[nr] != POOL_UNUSED || (id == NT_POOL_STAGES && of_queue(h->key)))
			continue;
		pool_wait(p);
		return;
	}
}

int histograms_rows(struct tracer *t, struct stats *s, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_HISTS];
	int err = 0;

	wait_for_unlinked(t, NT_POOL_HISTS);
	for (uint32_t nr = 1; !err && nr < pool_items(p); nr++) {
		const struct nt_hist *h = pool_at(p, nr);

		if (p->items[nr] != POOL_FREE && h->key)
			err = collect_hist(t, s, nr, epoch);
	}
	return err ?: collect_shared(t, s, epoch);
}

static void hist_add_zeros(struct hist *h, int64_t zeros)
{
	hist_account(h, (uint64_t)zeros, 0, 0, 0);
	h->buckets[0] += (uint64_t)zeros;
}

/*
 * A stage that a command's shape does not pass takes no time, and the kernel does not count it. So
 * a zero is added here. A command that ends during the read may be counted in some stages and not
 * yet in others. Then the next call takes back the excess from the total. Intervals that follow
 * have as many zeros less, so that they add up to the total.
 * @of: the controller whose commands these are; NULL: they are not by controller
 */
static void count_not_passed(const struct tracer *t, struct stats *s, uint32_t op,
			     struct stage_counts *c, struct stats_stages *of)
{
	uint64_t most = 0;

	if (!c->grown)
		return;
	c->grown = false;
	for (unsigned int i = 0; i < stages_nr(t->o.side); i++)
		if (c->counted[i] > most)
			most = c->counted[i];
	/* Commands of other transports pass none of these stages. */
	if (t->missing & NT_WITH_CORE && t->o.side == NT_HOST)
		most = c->counted[NT_HS_NVME_TCP_SUBMISSION];
	for (unsigned int i = 0; i < stages_nr(t->o.side); i++) {
		uint64_t not_passed = most - c->counted[i];
		int64_t zeros = (int64_t)(not_passed - c->zeros[i]), new;

		if (!zeros || !stage_may_be_absent(t->o.side, i) || t->into[i] != i)
			continue;
		new = zeros - (int64_t)c->owed[i];
		c->owed[i] = new < 0 ? (uint64_t) - new : 0;
		new = new < 0 ? 0 : new;
		hist_add_zeros(&s->stage_interval[op][i], new);
		hist_add_zeros(&s->stage_total[op][i], zeros);
		if (of) {
			hist_add_zeros(&of->interval[i], new);
			hist_add_zeros(&of->total[i], zeros);
		}
		c->zeros[i] = not_passed;
	}
}

static void stages_unlink(struct tracer *t, uint32_t nr, uint32_t op)
{
	for (unsigned int cpu = 0; cpu < NT_CPUS && cpu < t->cpus; cpu++)
		if (t->object.stages_of[cpu].at[op] == nr)
			__atomic_store_n(&t->object.stages_of[cpu].at[op], 0, __ATOMIC_RELAXED);
	t->object.pools[NT_POOL_STAGES].items[nr] = POOL_UNUSED;
}

/* A command takes some time, but not in each stage. */
static bool stages_grown(const struct tracer *t, const struct nt_stage_hists *h,
			 const struct stages_seen *seen)
{
	for (unsigned int i = 0; i < stages_nr(t->o.side); i++)
		if (h->h[i].sum != seen->of[i].last.sum)
			return true;
	return false;
}

/* @of: the controller whose commands these are; NULL: they are not by controller */
static void take_stages(struct tracer *t, struct stats *s, const struct nt_stage_hists *h,
			uint32_t op, struct stats_stages *of, uint32_t epoch,
			struct stages_seen *seen)
{
	struct stage_counts *counts = of ? &of->counts : &t->stages_shared[op];

	for (unsigned int i = 0; i < stages_nr(t->o.side); i++) {
		const struct counts c = counts_of_stage(h, seen, i);
		struct hist *const into[] = {
			&s->stage_interval[op][i],
			&s->stage_total[op][i],
			of ? &of->interval[i] : NULL,
			of ? &of->total[i] : NULL,
		};

		counts->counted[i] += hist_take(&c, epoch, into, of ? 4 : 2);
	}
	counts->grown = true;
	if (of)
		of->idle = 0;
}

static int collect_stages_of(struct tracer *t, struct stats *s, uint32_t nr, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_STAGES];
	const struct nt_stage_hists *h = pool_at(p, nr);
	struct stages_seen *seen = seen_of(t->stages_seen, p, nr, sizeof(*seen));
	const uint64_t key = __atomic_load_n(&h->h[0].key, __ATOMIC_ACQUIRE);
	uint32_t op = of_queue(key) ? NT_HIST_KEY_OP(key) : (uint32_t)(key - 1) % NT_OPS_NR;
	bool unlinked = p->items[nr] == POOL_UNUSED, touched, known = false, waits;
	struct stats_row *row = NULL;

	if (!seen)
		return -ENOMEM;
	if (key == NT_STAGES_UNUSED) {
		pool_give_back(p, nr);
		return 0;
	}
	if (of_queue(key) && NT_HIST_KEY_SLOT(key) >= t->nr_slots)
		return 0;
	touched = hist_touched(&h->h[0].head, epoch, &seen->of[0].last);
	if ((touched || unlinked) && stages_grown(t, h, seen)) {
		if (of_queue(key))
			row = row_of(t, s, key, &known, &waits);
		if (of_queue(key) && waits)
			return 0;
		take_stages(t, s, h, op, known && row ? stats_stages_make(s, row) : NULL, epoch,
			    seen);
	}
	if (unlinked) {
		*seen = (struct stages_seen){0};
		pool_give_back(p, nr);
	} else if (!of_queue(key) && is_idle(&seen->of[0].last, touched)) {
		stages_unlink(t, nr, op);
	}
	return 0;
}

/* Of a target that has only the ends, the one stage that is known is the latency. */
static void stages_of_rows(struct stats *s)
{
	const unsigned int stage = NT_TS_NVMET_TCP_SUBMISSION;

	for (size_t i = 0; i < s->nr_rows; i++) {
		struct stats_row *row = s->rows[i];
		struct stats_stages *of;

		if (row->shared || !row->interval.count)
			continue;
		hist_merge(&s->stage_interval[row->op][stage], &row->interval);
		hist_merge(&s->stage_total[row->op][stage], &row->interval);
		of = stats_stages_make(s, row);
		if (!of)
			continue;
		hist_merge(&of->interval[stage], &row->interval);
		hist_merge(&of->total[stage], &row->interval);
		of->idle = 0;
	}
}

int histograms_stages(struct tracer *t, struct stats *s, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_STAGES];

	if (!tracer_counts_stages(t)) {
		stages_of_rows(s);
		return 0;
	}
	wait_for_unlinked(t, NT_POOL_STAGES);
	for (uint32_t nr = 1; nr < pool_items(p); nr++) {
		const struct nt_stage_hists *h = pool_at(p, nr);
		int err = p->items[nr] != POOL_FREE && h->h[0].key
				  ? collect_stages_of(t, s, nr, epoch)
				  : 0;

		if (err)
			return err;
	}
	for (uint32_t op = 0; op < NT_OPS_NR; op++)
		count_not_passed(t, s, op, &t->stages_shared[op], NULL);
	for (size_t i = 0; i < s->nr_stages; i++)
		count_not_passed(t, s, s->stages[i]->op, &s->stages[i]->counts, s->stages[i]);
	return 0;
}

/*
 * The last count of an entry of the map, which has NT_ERRORS at most.
 * @over: the connection is gone, and nothing was counted in the last interval
 */
struct error_seen {
	struct nt_error error;
	uint64_t count;
	bool over;
};

int trace_errors_init(struct tracer *t)
{
	t->errors_seen = calloc(NT_ERRORS, sizeof(*t->errors_seen));
	return t->errors_seen ? 0 : -ENOMEM;
}

void trace_errors_free(struct tracer *t)
{
	free(t->errors_seen);
}

/* Return: the last count of @error; NULL if there is no room, which cannot happen */
static struct error_seen *seen_of_error(struct tracer *t, const struct nt_error *error)
{
	struct error_seen *seen;

	for (unsigned int i = 0; i < t->nr_errors; i++)
		if (!memcmp(&t->errors_seen[i].error, error, sizeof(*error)))
			return &t->errors_seen[i];
	if (t->nr_errors == NT_ERRORS)
		return NULL;
	seen = &t->errors_seen[t->nr_errors++];
	*seen = (struct error_seen){.error = *error};
	return seen;
}

static void take_away(struct tracer *t, struct error_seen *seen)
{
	if (!bpf_map_delete_elem(t->errors_fd, &seen->error) && seen->error.op >= NT_OP_ADMIN)
		__atomic_fetch_sub(&t->object.control->errors_connecting, 1, __ATOMIC_RELAXED);
	*seen = t->errors_seen[--t->nr_errors];
}

static int take(struct tracer *t, struct stats *s, const struct nt_error *error)
{
	const struct queue_ident *id;
	struct error_seen *seen;
	uint64_t now, more;
	int err;

	if (error->slot >= t->nr_slots || bpf_map_lookup_elem(t->errors_fd, error, &now))
		return 0;
	seen = seen_of_error(t, error);
	if (!seen)
		return 0;
	more = now - seen->count;
	seen->over = !more && connections_gone(t, error->slot, error->who);
	if (!more)
		return 0;
	id = connections_identify(t, error->slot, error->who);
	if (!id && !connections_unknown(t, error->slot, error->who))
		return 0;
	/* By its rows a connection is known to be there, also if nothing of it ends well. */
	if (id && !connections_row(t, s, id, error->slot, error->op % NT_OPS_NR))
		return -ENOMEM;
	err = errors_add_of(&s->errors, id ? id->controller : "", id ? id->peer : "",
			    id && s->by_other ? id->other : "", id ? id->qid : 0,
			    error->op % NT_OPS_NR, error->status, more);
	if (!err)
		seen->count = now;
	return err;
}

/*
 * Errors for which programs found no room. A host with some hundred queues can take all of it for
 * as long as it is connected. Errors of the others are shown without a host and a queue, and by
 * their operation, which conditions and alerts may ask for.
 */
static int take_past(struct tracer *t, struct stats *s)
{
	int err = 0;

	for (unsigned int op = 0; !err && op < NT_OPS_NR; op++) {
		uint64_t now =
			__atomic_load_n(&t->object.control->errors_past[op], __ATOMIC_RELAXED);

		if (now == t->errors_past[op])
			continue;
		err = errors_add_of(&s->errors, "", "", "", 0, (enum nt_op)op, ERRORS_OTHER,
				    now - t->errors_past[op]);
		if (!err)
			t->errors_past[op] = now;
	}
	return err;
}

int trace_errors_collect(struct tracer *t, struct stats *s)
{
	struct nt_error error, *before = NULL;

	while (!bpf_map_get_next_key(t->errors_fd, before, &error)) {
		int err = take(t, s, &error);

		if (err)
			return err;
		before = &error;
	}
	/* Only now, because the next key cannot be found from one that was deleted. */
	for (unsigned int i = t->nr_errors; i-- > 0;)
		if (t->errors_seen[i].over)
			take_away(t, &t->errors_seen[i]);
	return take_past(t, s);
}
