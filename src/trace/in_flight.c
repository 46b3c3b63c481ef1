// SPDX-License-Identifier: GPL-2.0-only
#include "trace/in_flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/overdue.h"
#include "core/segments.h"
#include "core/time.h"
#include "trace/connections.h"
#include "trace/private.h"

/* Overdue commands are looked for when this part of the threshold has passed, or LOOK_MAX_NS. */
#define LOOKS_PER_THRESHOLD 10
#define LOOK_MAX_NS 1000000000ULL

int in_flight_init(struct tracer *t)
{
	t->looks = calloc(t->nr_slots, sizeof(*t->looks));
	if (!t->looks)
		return -ENOMEM;
	if (!t->o.overdue_ns)
		return 0;
	t->overdue = overdue_new();
	return t->overdue ? 0 : -ENOMEM;
}

void in_flight_free(struct tracer *t)
{
	overdue_free(t->overdue);
	free(t->looks);
}

/* Whether the connection that was generation @gen of the slot of @q has closed. */
static bool has_died(const struct nt_queue *q, uint32_t gen)
{
	uint32_t dead = __atomic_load_n(&q->dead_gen, __ATOMIC_ACQUIRE);

	return dead && (int32_t)(gen - dead) <= 0;
}

static void bury(struct tracer *t, struct nt_cmd *c, void *context);
static void count_tracked(struct tracer *t, struct nt_cmd *c, void *context);

/*
 * Calls @fn for each state in flight of queue @q. The command may have ended by then. One that only
 * waits for its stages has ended: it stays until its place is used again, or its connection closes.
 * Programs still look for it, and it has to be released.
 */
static void each(struct tracer *t, const struct nt_queue *q,
		 void (*fn)(struct tracer *t, struct nt_cmd *c, void *context), void *context)
{
	/* Most slots of a large machine have never been used. */
	for (unsigned int n = 0; q->object && n < NT_CHUNKS_PER_QUEUE; n++) {
		uint32_t chunk = q->chunk[n];
		struct nt_cmd *cmds = chunk ? pool_at(&t->object.pools[NT_POOL_CMDS], chunk) : NULL;

		for (unsigned int i = 0; cmds && i < NT_CHUNK_CMDS; i++) {
			struct nt_cmd *c = &cmds[i];
			uint64_t owner = __atomic_load_n(&c->owner, __ATOMIC_ACQUIRE);

			if (owner && !(owner & NT_RELEASED) &&
			    (!(c->r.flags & NT_F_COUNTED) || fn == bury || fn == count_tracked))
				fn(t, c, context);
		}
	}
}

static uint64_t begin_of(const struct tracer *t, const struct nt_cmd *c)
{
	unsigned int first = t->o.side == NT_HOST ? NT_H_SUBMIT : NT_T_RX;
	unsigned int second = t->o.side == NT_HOST ? NT_H_QUEUE_RQ : NT_T_CMD;

	return __atomic_load_n(&c->r.points[first], __ATOMIC_ACQUIRE)
		       ?: __atomic_load_n(&c->r.points[second], __ATOMIC_ACQUIRE);
}

/*
 * Copies a command in flight. A command that begins in its place has another beginning, so the copy
 * is never a mixture of two.
 * @r: filled
 * @task: filled with who submitted it; NULL: not asked for
 * @measured: filled; false also where only the ends of the command are seen, between two bursts of
 *            all points: other points are of an earlier command then
 * Return: false if the command ended meanwhile
 */
static bool copy(const struct tracer *t, const struct nt_cmd *c, struct nt_record *r,
		 struct nt_task *task, bool *measured)
{
	uint64_t owner = __atomic_load_n(&c->owner, __ATOMIC_ACQUIRE);
	uint64_t begin = begin_of(t, c);

	*r = c->r;
	memset(r->cpu, 0, sizeof(r->cpu));
	r->side = t->o.side;
	/* Programs of TCP set it when a command ends, so it may be that of an earlier one. */
	if (!(owner & NT_CORE_OWNER) && r->shape == NT_SHAPE_CORE)
		r->shape = NT_SHAPE_NO_DATA;
	if (task)
		*task = c->task;
	*measured = !(owner & NT_UNMEASURED) &&
		    (!t->o.stages || (r->cntlid && r->cntlid == t->object.control->burst));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(owner & NT_RELEASED) && record_begin_ns(r) == begin && begin_of(t, c) == begin &&
	       __atomic_load_n(&c->owner, __ATOMIC_RELAXED) == owner;
}

static void count_one(struct tracer *t, struct nt_cmd *c, void *context)
{
	++*(uint64_t *)context;
}

uint64_t in_flight_count(struct tracer *t)
{
	const uint32_t nr = slots_seen(t);
	uint64_t n = 0;

	for (uint32_t slot = 0; slot < nr; slot++)
		each(t, &t->object.queues[slot], count_one, &n);
	return n;
}

static void count_tracked(struct tracer *t, struct nt_cmd *c, void *context)
{
	++*(uint64_t *)context;
}

void in_flight_untrack(struct tracer *t)
{
	uint32_t *tracked = &t->object.control->tracked;
	uint32_t seen = __atomic_load_n(tracked, __ATOMIC_SEQ_CST), nr = slots_seen(t);
	uint64_t n = 0;

	if (!t->object.knobs->tracks || t->object.knobs->sample_below || seen == NT_TRACKED_NONE)
		return;
	if (seen == NT_TRACKED_SOME) {
		__atomic_store_n(tracked, NT_TRACKED_FADING, __ATOMIC_SEQ_CST);
		return;
	}
	for (uint32_t slot = 0; !n && slot < nr; slot++)
		each(t, &t->object.queues[slot], count_tracked, &n);
	if (!n)
		__atomic_compare_exchange_n(tracked, &seen, NT_TRACKED_NONE, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool in_flight_any(const struct tracer *t)
{
	uint32_t last = t->object.control->epoch - 1, nr = slots_seen(t);

	for (uint32_t slot = 0; slot < nr; slot++) {
		const struct nt_queue *q = &t->object.queues[slot];

		if (q->object && q->qid &&
		    (t->looks[slot].found || (int32_t)(q->begun - last) >= 0))
			return true;
	}
	return false;
}

bool in_flight_knows_device(const struct tracer *t)
{
	return t->o.side == NT_TARGET && !t->object.knobs->count_all && !t->o.stages &&
	       !(t->missing & (1u << NT_T_EXEC | 1u << NT_T_DONE));
}

/*
 * @row: rows of the slot that is being looked at, as far as they are known; @gen has their
 *       connections
 */
struct rows {
	bool found;
	struct stats *s;
	uint64_t now;
	uint32_t slot;
	uint32_t gen[2];
	struct stats_row *row[2][NT_OPS_NR];
	int err;
};

static struct stats_row *row_of(struct tracer *t, struct rows *rows, const struct nt_record *r)
{
	const struct queue_ident *id = connections_identify(t, rows->slot, connections_who(t, r));
	uint32_t bank = r->gen & 1;
	struct stats_row **row = &rows->row[bank][r->op % NT_OPS_NR];

	if (rows->gen[bank] != r->gen)
		memset(rows->row[bank], 0, sizeof(rows->row[bank]));
	rows->gen[bank] = r->gen;
	/*
	 * A connection without a name is about to get one. A host's slot always has the same
	 * controller and queue id. Commands that wait to be sent again belong to an earlier
	 * Connect.
	 */
	if (!id)
		return NULL;
	if (!*row)
		*row = connections_row(t, rows->s, id, rows->slot, r->op % NT_OPS_NR);
	if (!*row)
		rows->err = -ENOMEM;
	return *row;
}

static void wait_in_row(struct tracer *t, struct nt_cmd *c, void *context)
{
	struct rows *rows = context;
	struct stats_row *row;
	struct nt_record r;
	bool measured;

	rows->found = true;
	if (!copy(t, c, &r, NULL, &measured))
		return;
	/* The command has begun after @now was taken. */
	if (record_begin_ns(&r) >= rows->now)
		rows->now = monotonic_ns();
	row = row_of(t, rows, &r);
	if (row)
		stats_wait(row, &r, measured, rows->now);
}

/*
 * Whether a queue may have commands in flight: it had some the last time, or one has begun since. A
 * program that is about to begin one may have noted an earlier interval.
 */
static bool may_have_some(const struct nt_queue *q, const struct slot_look *search)
{
	return search->found || (int32_t)(q->begun - (search->epoch - 2)) >= 0;
}

int in_flight_rows(struct tracer *t, struct stats *s, uint64_t now)
{
	uint32_t epoch = t->object.control->epoch, nr = slots_seen(t);
	int err = 0;

	for (uint32_t slot = 0; !err && slot < nr; slot++) {
		struct rows rows;

		if (!t->object.queues[slot].object ||
		    !may_have_some(&t->object.queues[slot], &t->looks[slot]))
			continue;
		rows = (struct rows){.s = s, .now = now, .slot = slot};
		t->looks[slot].epoch = epoch;
		each(t, &t->object.queues[slot], wait_in_row, &rows);
		t->looks[slot].found = rows.found;
		err = rows.err;
	}
	return err;
}

/* Fills in what programs do when a command ends: see record_identify() in bpf/records.bpf.h. */
static void name(const struct tracer *t, struct nt_record *r)
{
	const struct nt_queue *q = &t->object.queues[r->slot];
	bool identified = r->gen == __atomic_load_n(&q->identified, __ATOMIC_ACQUIRE);

	r->qid = identified || t->o.side == NT_HOST ? q->qid : 0;
	r->cntlid = identified ? q->cntlid : NT_CNTLID_NONE;
	r->flags &= ~NT_F_CONNECT;
}

struct search {
	uint64_t now;
	int err;
};

static void look_at(struct tracer *t, struct nt_cmd *c, void *context)
{
	/* Its cgroup and CPU are read when it ends. */
	struct nt_from from = {.cpu = NT_CPU_NONE};
	struct search *search = context;
	struct nt_record r;
	uint64_t begin;
	bool measured;
	int told;

	if (!copy(t, c, &r, &from.task, &measured) || !measured || r.slot >= t->nr_slots ||
	    has_died(&t->object.queues[r.slot], r.gen))
		return;
	begin = record_begin_ns(&r);
	if (!begin || begin > search->now || search->now - begin < t->o.overdue_ns)
		return;
	told = overdue_tell(t->overdue, &r);
	if (told < 0)
		search->err = told;
	if (told <= 0)
		return;
	name(t, &r);
	r.flags |= NT_F_IN_FLIGHT;
	if (t->o.origins & NT_ORIGIN_TASK)
		r.flags |= (__u32)origins_number(t->origins, &from) << NT_F_ORIGIN_SHIFT;
	t->o.on_record(t->o.context, &r);
}

int in_flight_look(struct tracer *t)
{
	struct search search = {.now = monotonic_ns()};
	uint64_t every = t->o.overdue_ns / LOOKS_PER_THRESHOLD;
	const uint32_t nr = slots_seen(t);

	if (every > LOOK_MAX_NS)
		every = LOOK_MAX_NS;
	if (!t->overdue || search.now - t->overdue_looked_ns < every)
		return 0;
	t->overdue_looked_ns = search.now;
	for (uint32_t slot = 0; !search.err && slot < nr; slot++)
		each(t, &t->object.queues[slot], look_at, &search);
	overdue_looked(t->overdue);
	return search.err;
}

const struct nt_record *in_flight_ended(struct tracer *t, const struct nt_record *r,
					struct nt_record *marked)
{
	if (!t->overdue || !overdue_ended(t->overdue, r))
		return r;
	*marked = *r;
	marked->flags |= NT_F_WAS_OVERDUE;
	return marked;
}

/* Hands over a record that no program has handed over. Its answer and its origin are not known. */
static void hand_over(struct tracer *t, const struct nt_record *r)
{
	struct nt_ended ended = {.from.cpu = NT_CPU_NONE};

	ended.r = *in_flight_ended(t, r, &ended.r);
	t->o.on_record(t->o.context, &ended.r);
}

static bool is_asked_for(const struct tracer *t, const struct nt_record *r)
{
	uint64_t begin = record_begin_ns(r), now = monotonic_ns();

	if (t->o.select == NT_SELECT_SLOWER)
		return begin && begin < now && now - begin >= t->o.only.slower_ns;
	return t->o.select != NT_SELECT_NONE;
}

static void bury(struct tracer *t, struct nt_cmd *c, void *context)
{
	__u64 owner = __atomic_load_n(&c->owner, __ATOMIC_ACQUIRE);
	const struct queue_ident *id;
	const struct nt_queue *q = context;
	struct nt_record r;
	bool measured, whole;

	/* Earlier connections of the slot may have closed since the last time, too. */
	if (!has_died(q, c->r.gen) || (owner & NT_RELEASED))
		return;
	whole = copy(t, c, &r, NULL, &measured);
	/* Not if another command has begun there meanwhile. */
	if (!__atomic_compare_exchange_n(&c->owner, &owner, owner | NT_RELEASED, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	if (t->object.knobs->sample_below && !(owner & NT_UNMEASURED))
		__atomic_fetch_sub(&t->object.control->tracked, 1, __ATOMIC_RELAXED);
	if (r.flags & NT_F_COUNTED)
		return;
	t->died++;
	if (!whole || !measured || r.slot >= t->nr_slots || !is_asked_for(t, &r))
		return;
	/* A program fills this in when a command ends. */
	id = connections_identify(t, r.slot, r.gen);
	r.qid = id ? id->qid : 0;
	r.cntlid = id ? id->cntlid : NT_CNTLID_NONE;
	if (!t->o.ends)
		r.shape = nt_target_shape(&r);
	r.flags |= NT_F_CANCELLED;
	hand_over(t, &r);
}

/*
 * Hands over records of queue @q that wait until their answers leave TCP. Those are left to
 * programs that have just come for them.
 * @all: also those of connections that have not closed
 * Return: how many
 */
static int take_waiting(struct tracer *t, const struct nt_queue *q, bool all)
{
	int taken = 0;

	for (unsigned int n = 0; t->object.knobs->fine && n < NT_CHUNKS_PER_QUEUE; n++) {
		uint32_t chunk = q->chunk[n];
		struct nt_cmd *cmds = chunk ? pool_at(&t->object.pools[NT_POOL_CMDS], chunk) : NULL;

		for (unsigned int i = 0; cmds && i < NT_CHUNK_CMDS; i++) {
			struct nt_cmd *c = &cmds[i];
			uint32_t ended = NT_OUT_ENDED;
			struct nt_record r;

			if (__atomic_load_n(&c->out, __ATOMIC_ACQUIRE) != ended)
				continue;
			/* Before the next command may begin there. */
			r = c->r;
			memset(r.cpu, 0, sizeof(r.cpu));
			if ((!all && !has_died(q, r.gen)) ||
			    !__atomic_compare_exchange_n(&c->out, &ended, NT_OUT_NO_NOTE, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				continue;
			hand_over(t, &r);
			taken++;
		}
	}
	return taken;
}

int in_flight_take_waiting(struct tracer *t)
{
	const uint32_t nr = t->object.knobs->fine ? slots_seen(t) : 0;
	int taken = 0;

	for (uint32_t slot = 0; slot < nr; slot++)
		taken += take_waiting(t, &t->object.queues[slot], true);
	return taken;
}

void in_flight_bury(struct tracer *t)
{
	const uint32_t nr = slots_seen(t);

	for (uint32_t slot = 0; slot < nr; slot++) {
		struct nt_queue *q = &t->object.queues[slot];
		uint32_t dead = __atomic_load_n(&q->dead_gen, __ATOMIC_ACQUIRE);

		/*
		 * Not later: another connection may have its slot by the time that its end is
		 * noticed.
		 */
		if (t->o.side == NT_TARGET && q->object)
			connections_identify(t, slot, q->gen);
		if (!dead || t->swept_gen[slot] == dead)
			continue;
		each(t, q, bury, q);
		take_waiting(t, q, false);
		t->swept_gen[slot] = dead;
	}
}

static void cut_off(struct tracer *t, struct nt_cmd *c, void *context)
{
	__u64 owner = __atomic_load_n(&c->owner, __ATOMIC_ACQUIRE);

	if (owner & NT_RELEASED)
		return;
	__atomic_store_n(&c->owner, owner | NT_RELEASED, __ATOMIC_RELAXED);
	if (t->object.knobs->sample_below && !(owner & NT_UNMEASURED))
		__atomic_fetch_sub(&t->object.control->tracked, 1, __ATOMIC_RELAXED);
	++*(uint64_t *)context;
}

uint64_t in_flight_cut_off(struct tracer *t)
{
	const uint32_t nr = slots_seen(t);
	uint64_t n = 0;

	for (uint32_t slot = 0; slot < nr; slot++)
		each(t, &t->object.queues[slot], cut_off, &n);
	return n;
}
