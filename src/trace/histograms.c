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
	t->stage_seen = calloc(NT_STAGES_BANKS, sizeof(*t->stage_seen));
	t->shared_seen = calloc(shared, sizeof(*t->shared_seen));
	return t->hist_seen && t->stage_seen && t->shared_seen ? 0 : -ENOMEM;
}

void histograms_free(struct tracer *t)
{
	for (unsigned int i = 0; t->hist_seen && i < NT_HISTS_BANKS; i++)
		free(t->hist_seen[i]);
	for (unsigned int i = 0; t->stage_seen && i < NT_STAGES_BANKS; i++)
		free(t->stage_seen[i]);
	free(t->hist_seen);
	free(t->stage_seen);
	free(t->shared_seen);
}

/*
 * The last values of item @nr, which has @of histograms. Memory for a bank is allocated when the
 * first of its items is asked for.
 * Return: NULL when memory ran out
 */
static struct hist_seen *seen_of(struct hist_seen **banks, const struct pool *p, uint32_t nr,
				 unsigned int of)
{
	struct hist_seen **bank = &banks[nr / p->per_bank];

	if (!*bank)
		*bank = calloc((size_t)p->per_bank * of, sizeof(**bank));
	return *bank ? *bank + (size_t)(nr % p->per_bank) * of : NULL;
}

/*
 * The longest duration since the last read. A program that was running then may have noted its
 * duration for the interval before @epoch. One that is running now may note it for the interval
 * after @epoch.
 * @own: filled; the longest duration of interval @epoch
 */
static uint64_t longest(const struct nt_hist *h, uint32_t epoch, const struct hist_seen *seen,
			uint64_t *own)
{
	uint64_t max = 0;

	*own = 0;
	for (int i = 0; i < 2; i++) {
		uint32_t of = h->max_epoch[i];
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
 * Adds the new durations of one histogram to an interval and a total.
 * @epoch: the interval that has just ended; the next one may have begun on the histogram's CPU
 * Return: how many durations are new
 */
static uint64_t hist_take(const struct nt_hist *h, uint32_t epoch, struct hist_seen *seen,
			  struct hist *interval, struct hist *total)
{
	uint64_t sum = __atomic_load_n(&h->sum, __ATOMIC_RELAXED), bytes = h->bytes;
	uint64_t count = 0, max, own;
	unsigned int highest = 0;

	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		uint32_t now = h->buckets[b], more = now - seen->buckets[b];

		if (!more)
			continue;
		seen->buckets[b] = now;
		interval->buckets[b] += more;
		total->buckets[b] += more;
		count += more;
		highest = b;
	}
	/* Programs note the maximum before they count, so it is read after the counts. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	max = longest(h, epoch, seen, &own);
	if (count && own < nt_bucket_low(highest + 1)) {
		seen->max = own;
		seen->max_epoch = epoch;
	}
	/*
	 * A command that ended during this read may have been noted in the maximum, and not counted
	 * yet.
	 */
	if (max < nt_bucket_low(highest) ||
	    (highest < NT_OVERFLOW_BUCKET && max >= nt_bucket_low(highest + 1)))
		max = nt_bucket_low(highest + 1) - 1;
	hist_account(interval, count, sum - seen->sum, bytes - seen->bytes, count ? max : 0);
	hist_account(total, count, sum - seen->sum, bytes - seen->bytes, count ? max : 0);
	seen->sum = sum;
	seen->bytes = bytes;
	return count;
}

/*
 * Whether something may have been counted since the last time. A histogram notes the interval in
 * which it was last used. A program that is about to count may have noted an earlier one.
 * @seen: when it was looked at the last time
 */
static bool hist_touched(const struct nt_hist *h, uint32_t epoch, struct hist_seen *seen)
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

static bool others_grown(const struct nt_hist *h, const struct hist_seen *seen)
{
	return h->others != seen->others.commands;
}

/* Adds the commands outside the sample that have ended. */
static void others_take(struct stats_row *row, const struct nt_hist *h, struct hist_seen *seen)
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
	uint64_t durations = 0;

	if (!row)
		return -ENOMEM;
	others_take(row, h, seen);
	if (grown)
		durations = hist_take(h, epoch, seen, &row->interval, &row->total);
	if (n)
		*n = durations;
	return 0;
}

/* Counts the intervals without use. Return: whether there were enough of them to give it back */
static bool is_idle(struct hist_seen *seen, bool grown)
{
	seen->idle = grown ? 0 : seen->idle + 1;
	return seen->idle > IDLE_INTERVALS;
}

static void forget(struct hist_seen **banks, const struct pool *p)
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
	forget(t->stage_seen, &t->object.pools[NT_POOL_STAGES]);
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
		return stats_others(s);
	return connections_row(s, id, slot, NT_HIST_KEY_OP(key));
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
static bool goes_back(const struct tracer *t, uint64_t key, struct hist_seen *seen, bool grown)
{
	return is_idle(seen, grown) ||
	       connections_gone(t, NT_HIST_KEY_SLOT(key), NT_HIST_KEY_WHO(key));
}

/* @nr: a histogram that is taken, or that was unlinked before the last pool_wait() */
static int collect_hist(struct tracer *t, struct stats *s, uint32_t nr, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_HISTS];
	const struct nt_hist *h = pool_at(p, nr);
	uint64_t key = __atomic_load_n(&h->key, __ATOMIC_ACQUIRE);
	struct hist_seen *seen = seen_of(t->hist_seen, p, nr, 1);
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
	grown = (hist_touched(h, epoch, seen) || unlinked) && h->sum != seen->sum;
	others = others_grown(h, seen);
	if (grown || others) {
		row = row_of(t, s, key, &known, &waits);
		if (waits)
			return 0;
		err = take_row(row, h, epoch, grown, seen, &n);
		if (err)
			return err;
		if (known && row->shared)
			count_no_row(s, n);
	}
	if (!unlinked) {
		if (goes_back(t, key, seen, grown || others))
			hist_unlink(t, nr, key);
	} else if (!queue_unlink(t, nr, key)) {
		/*
		 * Otherwise a program has made the queue lead there again, and may count in it
		 * until the next wait.
		 */
		*seen = (struct hist_seen){0};
		pool_give_back(p, nr);
	}
	return 0;
}

static int collect_shared(struct tracer *t, struct stats *s, uint32_t epoch)
{
	for (uint32_t i = 0; i <= t->object.knobs->shared_mask; i++) {
		const struct nt_hist *h = &t->object.hists_shared[i];
		struct hist_seen *seen = &t->shared_seen[i];
		bool grown = h->sum != seen->sum;
		int err;

		if (!grown && !others_grown(h, seen))
			continue;
		err = take_row(stats_others(s), h, epoch, grown, seen, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* Lets programs end that have found items of a pool before these were unlinked the last time. */
static void wait_for_unlinked(const struct pool *p)
{
	for (uint32_t nr = 1; nr < pool_items(p); nr++) {
		if (p->items[nr] != POOL_UNUSED)
			continue;
		pool_wait(p);
		return;
	}
}

int histograms_rows(struct tracer *t, struct stats *s, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_HISTS];
	int err = 0;

	wait_for_unlinked(p);
	for (uint32_t nr = 1; !err && nr < pool_items(p); nr++) {
		const struct nt_hist *h = pool_at(p, nr);

		if (p->items[nr] != POOL_FREE && h->key)
			err = collect_hist(t, s, nr, epoch);
	}
	return err ?: collect_shared(t, s, epoch);
}

static void hist_add_zeros(struct hist *h, int64_t zeros)
{
	if (zeros < 0 && h->buckets[0] < (uint64_t)-zeros)
		return;
	hist_account(h, (uint64_t)zeros, 0, 0, 0);
	h->buckets[0] += (uint64_t)zeros;
}

/*
 * A stage that a command's shape does not pass takes no time, and the kernel does not count it. So
 * a zero is added here. A command that ends during the read may be counted in some stages and not
 * yet in others. Then the next call takes back the excess.
 */
static void count_not_passed(struct tracer *t, struct stats *s, uint32_t op)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < stages_nr(t->o.side); i++)
		if (t->stage_counted[op][i] > most)
			most = t->stage_counted[op][i];
	for (unsigned int i = 0; i < stages_nr(t->o.side); i++) {
		uint64_t not_passed = most - t->stage_counted[op][i];
		int64_t zeros = (int64_t)(not_passed - t->stage_zeros[op][i]);

		if (!zeros || !stage_may_be_absent(t->o.side, i) || t->into[i] != i)
			continue;
		hist_add_zeros(&s->stage_interval[op][i], zeros);
		hist_add_zeros(&s->stage_total[op][i], zeros);
		t->stage_zeros[op][i] = not_passed;
	}
}

static void stages_unlink(struct tracer *t, uint32_t nr, uint32_t op)
{
	for (unsigned int cpu = 0; cpu < NT_CPUS && cpu < t->cpus; cpu++)
		if (t->object.stages_of[cpu].at[op] == nr)
			__atomic_store_n(&t->object.stages_of[cpu].at[op], 0, __ATOMIC_RELAXED);
	t->object.pools[NT_POOL_STAGES].items[nr] = POOL_UNUSED;
}

static int collect_stages_of(struct tracer *t, struct stats *s, uint32_t nr, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_STAGES];
	const struct nt_stage_hists *h = pool_at(p, nr);
	struct hist_seen *seen = seen_of(t->stage_seen, p, nr, NT_STAGES_MAX);
	uint32_t op = (uint32_t)(h->h[0].key - 1) % NT_OPS_NR;
	bool unlinked = p->items[nr] == POOL_UNUSED, touched;

	if (!seen)
		return -ENOMEM;
	touched = hist_touched(&h->h[0], epoch, &seen[0]);
	for (unsigned int i = 0; (touched || unlinked) && i < stages_nr(t->o.side); i++)
		t->stage_counted[op][i] +=
			hist_take(&h->h[i], epoch, &seen[i], &s->stage_interval[op][i],
				  &s->stage_total[op][i]);
	if (touched || unlinked)
		t->stages_grown |= 1u << op;
	if (unlinked) {
		for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
			seen[i] = (struct hist_seen){0};
		pool_give_back(p, nr);
	} else if (is_idle(&seen[0], touched)) {
		stages_unlink(t, nr, op);
	}
	return 0;
}

int histograms_stages(struct tracer *t, struct stats *s, uint32_t epoch)
{
	struct pool *p = &t->object.pools[NT_POOL_STAGES];

	wait_for_unlinked(p);
	t->stages_grown = 0;
	for (uint32_t nr = 1; nr < pool_items(p); nr++) {
		const struct nt_stage_hists *h = pool_at(p, nr);
		int err = p->items[nr] != POOL_FREE && h->h[0].key
				  ? collect_stages_of(t, s, nr, epoch)
				  : 0;

		if (err)
			return err;
	}
	for (uint32_t op = 0; op < NT_OPS_NR; op++)
		if (t->stages_grown & 1u << op)
			count_not_passed(t, s, op);
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
	bpf_map_delete_elem(t->errors_fd, &seen->error);
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
	err = errors_add_of(&s->errors, id ? id->controller : "", id ? id->peer : "",
			    id && s->by_other ? id->other : "", id ? id->qid : 0,
			    error->op % NT_OPS_NR, error->status, more);
	if (!err)
		seen->count = now;
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
	return 0;
}
