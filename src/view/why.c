// SPDX-License-Identifier: GPL-2.0-only
#include "view/why.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/names.h"
#include "core/select.h"
#include "core/text.h"
#include "view/lines.h"

#define LINE_LEN 4096
/* Room for an NQN and a machine's name, each byte escaped. */
#define NAME_LEN 1024
#define VALUE_LEN (2 * NAME_LEN)
/* Stages that are named; smaller ones are together. */
#define STAGES_MAX 4u
#define STAGE_SHARE_MIN 0.05
/* A place with less is said not to be it. */
#define NOT_MAX 0.1
/* With fewer of the host's commands matched the others may be the slow ones. */
#define MATCHED_MIN 0.9
/* A time is worth a sentence from this part of the slow commands on. */
#define TIME_TAIL_MIN 0.6
#define TIME_SHARE_MAX 0.5
/* More files make the command too long to be read. */
#define NAMED_FILES_MAX 4u

/* As --op has them. */
static const char *const op_words[WHY_OPS] = {[WHY_READ] = "read",
					      [WHY_WRITE] = "write",
					      [WHY_OTHER] = "flush,discard,write_zeroes,other"};
static const char *const op_names[WHY_OPS] = {
	[WHY_READ] = "read", [WHY_WRITE] = "write", [WHY_OTHER] = "other"};
/* The key of --by that shows most. */
static const char *const by_words[WHY_KEYS_NR + 1] = {
	[WHY_ARRAY] = "nqn",  [WHY_CTRL] = "ctrl",	 [WHY_HOST] = "host",
	[WHY_TARGET] = "nqn", [WHY_DEVICE] = "nqn,nsid", [WHY_QUEUE] = "ctrl,queue",
	[WHY_CPU] = "cpu",    [WHY_SIZE] = "size",	 [WHY_KEYS_NR] = "ctrl,queue",
};

/* A text that grows, and is cut where it is full. */
struct text {
	char s[LINE_LEN];
	size_t used;
};

static __attribute__((format(printf, 2, 3))) void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->s + t->used, sizeof(t->s) - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= sizeof(t->s))
		t->used = sizeof(t->s) - 1;
}

static void say_time(struct text *t, double ns)
{
	char buf[16];

	say(t, "%s", duration_format(buf, sizeof(buf), ns));
}

static void end_line(struct text *t, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};

	wrap_words(&w, t->s);
	fputs("\n", f);
	t->used = 0;
	t->s[0] = '\0';
}

static double percent(double part, double all)
{
	double p = all > 0 ? part / all * 100 : 0;

	/* Of no use to a reader: the slow ones took less time there. */
	return p < 0 ? 0 : p;
}

static const char *stage_words(const struct why_view *v, unsigned int stage, char *buf, size_t size)
{
	enum nt_side side = v->host ? NT_HOST : NT_TARGET;
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		if (i != stage && !(v->why->joined[stage] & 1u << i))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
					 v->host && v->target ? merged_stage_name(i)
							      : stage_name(side, i));
		if (used >= size)
			break;
	}
	return buf;
}

static unsigned int stages_of(const struct why_view *v)
{
	return v->host && v->target ? NT_MERGED_STAGES_NR
				    : stages_nr(v->host ? NT_HOST : NT_TARGET);
}

static void put_name(char *buf, size_t size, const char *name)
{
	if (name && name[0])
		text_copy(buf, size, name, TEXT_HEX);
	else
		snprintf(buf, size, "?");
}

/* "nvme1 of web1", "CPU 3 of web1": the value of a key. */
static const char *value_words(const struct why_view *v, const struct tail_key *k,
			       char buf[VALUE_LEN])
{
	const size_t size = VALUE_LEN;
	const struct merge_connection *c = k->cell->c;
	unsigned int stream = k->key == WHY_TARGET || !v->host ? c->target_stream : c->host_stream;
	char machine[NAME_LEN / 4], nqn[NAME_LEN], host[NAME_LEN];

	put_name(machine, sizeof(machine), machines_get(v->machines, stream)->name);
	put_name(nqn, sizeof(nqn), c->subsysnqn);
	put_name(host, sizeof(host), c->hostnqn);
	switch (k->key) {
	case WHY_ARRAY:
		snprintf(buf, size, "%s", nqn);
		break;
	case WHY_CTRL:
		if (v->host)
			snprintf(buf, size, "nvme%u of %s", c->host_instance, machine);
		else
			snprintf(buf, size, "controller %u of %s", c->cntlid, nqn);
		break;
	case WHY_HOST:
		snprintf(buf, size, "host %s", v->host ? machine : host);
		break;
	case WHY_TARGET:
		snprintf(buf, size, "target %s", machine);
		break;
	case WHY_DEVICE:
		snprintf(buf, size, "namespace %" PRIu64 " of %s", k->cell->what, nqn);
		break;
	case WHY_QUEUE:
		if (v->host)
			snprintf(buf, size, "queue %u of nvme%u of %s", c->qid, c->host_instance,
				 machine);
		else
			snprintf(buf, size, "queue %u of controller %u of %s", c->qid, c->cntlid,
				 nqn);
		break;
	case WHY_CPU:
		snprintf(buf, size, "CPU %" PRIu64 " of %s", k->cell->what, machine);
		break;
	case WHY_SIZE:
	default:
		if (k->cell->what >= 1024)
			snprintf(buf, size, "commands of up to %" PRIu64 " KiB",
				 k->cell->what >> 10);
		else
			snprintf(buf, size, "commands of up to %" PRIu64 " bytes", k->cell->what);
	}
	return buf;
}

static const char *key_words(const struct tail_key *k)
{
	static const char *const words[WHY_KEYS_NR] = {
		[WHY_ARRAY] = "one array", [WHY_CTRL] = "one controller",
		[WHY_HOST] = "one host",   [WHY_TARGET] = "one target",
		[WHY_DEVICE] = "one disk", [WHY_QUEUE] = "one queue",
		[WHY_CPU] = "one CPU",	   [WHY_SIZE] = "the size",
	};

	return words[k->key];
}

/*
 * "one array is slower: nqn.2024-01.io.x:slow, where reads typically take 16.0ms in
 * target_subsystem, and 1.10ms at the other 2"
 */
static void say_apart(struct text *s, const struct why_view *v, enum why_op op,
		      const struct apart *a)
{
	const struct tail_key k = {.key = a->key, .cell = a->cell};
	char name[VALUE_LEN], stage[NAME_LEN];

	say(s, "%s is slower: %s, where %ss typically take ", key_words(&k),
	    value_words(v, &k, name), op_names[op]);
	say_time(s, (double)a->typical_ns);
	if (a->stage < NT_MERGED_STAGES_NR)
		say(s, " in %s", stage_words(v, a->stage, stage, sizeof(stage)));
	say(s, ", and ");
	say_time(s, (double)a->others_ns);
	say(s, a->others == 1 ? " at the other one" : " at the other %u", a->others);
}

/* "one array: nqn.2024-01.io.x:slow has p99 24.0ms, the other 7 2.10ms" */
static void say_key(struct text *s, const struct why_view *v, const struct tail *t, bool brief)
{
	const struct tail_key *k = &t->key;
	char name[VALUE_LEN];

	say(s, "%s: %s, p99 ", key_words(k), value_words(v, k, name));
	say_time(s, (double)k->p99_ns);
	say(s, k->others == 1 ? ", the other one " : ", the other %u ", k->others);
	say_time(s, (double)k->others_p99_ns);
	if (!brief)
		say(s, "; it has %.0f %% of that time, and %.0f %% of the commands",
		    k->of_tail * 100, k->share * 100);
}

static void say_r2t(struct text *s, const struct why_view *v, const struct tail *t)
{
	/* It may be more: then others wait for longer elsewhere. */
	say(s, "the wait for an R2T: %.0f %% of that time", fmin(t->figure[CAUSE_R2T], 1) * 100);
	if (v->why->inline_most)
		say(s,
		    ". The largest write without one has %u bytes: see param_inline_data_size of the "
		    "target's port",
		    v->why->inline_most);
}

static void say_place(struct text *s, const struct tail *t)
{
	say(s, "%s: %.0f %% of that time", cause_place_words(t->lead),
	    percent(t->place_gap[t->lead], t->gap_ns));
	if (t->lead == PLACE_NETWORK && !isnan(t->to_target))
		say(s, ", and %.0f %% of it on the way to the %s",
		    100 * (t->to_target < 0.5 ? 1 - t->to_target : t->to_target),
		    t->to_target < 0.5 ? "host" : "target");
}

static void say_limit(struct text *s, const struct tail *t, const char *what)
{
	say(s,
	    "%s. %.0f %% of that time is of commands in whose seconds it limited their connection",
	    what, percent(t->figure[t->cause], 1));
}

static double ahead(const struct why_sum *s)
{
	return s->followed ? (double)s->ahead / (double)s->followed : 0;
}

static void say_unseen(struct text *s, const struct tail *t)
{
	char nqn[NAME_LEN];

	put_name(nqn, sizeof(nqn), t->down->subsysnqn);
	say(s, "resets: for ");
	say_time(s, t->down_seconds * 1e9);
	say(s,
	    " no path to %s was live. About %.*f %% of the commands waited for that, and are in no "
	    "latency here",
	    t->downs > 1 ? "some arrays" : nqn, t->waited < 0.1 * (double)t->commands,
	    percent(t->waited, t->waited + (double)t->commands));
}

/* What the rule says, behind "it is". */
static void say_cause(struct text *s, const struct why_view *v, const struct tail *t, bool brief)
{
	switch (t->cause) {
	case CAUSE_RESET:
		if (t->unseen) {
			say_unseen(s, t);
			break;
		}
		say(s,
		    "resets: %.0f %% of that time is of commands that began while the host gave "
		    "commands up or sent them again",
		    t->figure[CAUSE_RESET] * 100);
		break;
	case CAUSE_R2T:
		say_r2t(s, v, t);
		break;
	case CAUSE_NEIGHBOUR:
		say(s,
		    "another host at the same target: while the slow commands were there the target "
		    "did %.1f times as much for other hosts as near the median",
		    t->figure[CAUSE_NEIGHBOUR]);
		break;
	case CAUSE_FEW_QUEUES:
		say(s,
		    "too few queues: one of them has %.0f %% of its controller's commands, and the "
		    "others are idle",
		    t->figure[CAUSE_FEW_QUEUES] * 100);
		break;
	case CAUSE_ARRAY:
	case CAUSE_QUEUE:
	case CAUSE_SIZE:
		say_key(s, v, t, brief);
		break;
	case CAUSE_DEPTH:
		say(s,
		    "the queue's depth alone: slow commands have %.1f others ahead of them, those near "
		    "the median %.1f, and each takes about as long as ever",
		    ahead(&t->slow), ahead(&t->mid));
		break;
	case CAUSE_LOSS:
		say(s,
		    "loss: %.0f %% of that time is of commands that waited for segments which TCP sent "
		    "again",
		    percent(t->figure[CAUSE_LOSS], 1));
		break;
	case CAUSE_WINDOW:
		say_limit(s, t, "the receive window of the other machine: its reader is slow");
		break;
	case CAUSE_BUFFER:
		say_limit(s, t, "the send buffer: see net.ipv4.tcp_wmem of the sender");
		break;
	case CAUSE_CWND:
		say_limit(s, t, "the congestion window: more was to be sent than it lets out");
		break;
	default:
		say_place(s, t);
		if (t->cause == CAUSE_BLOCK && t->key.key != WHY_KEYS_NR) {
			say(s, ". Most of it is of ");
			say_key(s, v, t, brief);
		}
	}
}

static void say_shares(struct text *s, const struct why_view *v, const struct tail *t)
{
	char name[STAGE_NAME_LEN];
	uint32_t done = 0;
	double rest = t->gap_ns;
	unsigned int named = 0;

	while (named < STAGES_MAX) {
		unsigned int most = NT_MERGED_STAGES_NR;

		for (unsigned int i = 0; i < stages_of(v); i++)
			if (!(done & 1u << i) &&
			    (most == NT_MERGED_STAGES_NR || t->stage_gap[i] > t->stage_gap[most]))
				most = i;
		if (most == NT_MERGED_STAGES_NR || t->stage_gap[most] < STAGE_SHARE_MIN * t->gap_ns)
			break;
		done |= 1u << most;
		rest -= t->stage_gap[most];
		say(s, "%s%.0f %% %s", named ? ", " : "", percent(t->stage_gap[most], t->gap_ns),
		    stage_words(v, most, name, sizeof(name)));
		named++;
	}
	if (rest >= t->gap_ns * 0.005 || !named)
		say(s, "%s%.0f %% other", named ? ", " : "", percent(rest, t->gap_ns));
}

static bool has_time(const struct tail *t)
{
	return t->hot_tail >= TIME_TAIL_MIN && t->hot_share <= TIME_SHARE_MAX;
}

static void say_seconds(struct text *s, double part, double all)
{
	if (all >= 10)
		say(s, "%.0f of %.0f seconds", part, all);
	else
		say(s, "%.2g of %.2g seconds", part, all);
}

#define NS_PER_S 1000000000
#define DAY_S 86400

/* When the times of has_time() are; @day: with the date. Return: whether it is known. */
static bool hot_times(const struct why_view *v, const struct tail *t, bool day,
		      char from[LOCAL_TIME_LEN], char to[LOCAL_TIME_LEN])
{
	int64_t begin = instant_wall(&v->clock, t->hot_from_ns);
	int64_t end = instant_wall(&v->clock, t->hot_to_ns + NS_PER_S - 1);

	if (!t->hot_to_ns || begin <= 0 || end <= begin)
		return false;
	for (unsigned int i = 0; i < 2; i++) {
		char *text = i ? to : from;
		char *blank = strchr(local_time_format(text, i ? end : begin), ' ');

		*strchr(text, '.') = '\0';
		if (!day)
			memmove(text, blank + 1, strlen(blank + 1) + 1);
	}
	return true;
}

/* Whether the times of has_time() are one: half of what lies between the first and the last. */
static bool is_one_time(const struct tail *t)
{
	return t->hot_seconds * 2e9 >= (double)(t->hot_to_ns - t->hot_from_ns);
}

/* "from 14:03:05 to 14:03:10", or "in 4 of 60 seconds between 14:03:05 and 14:03:59" */
static void say_when(struct text *s, const struct why_view *v, const struct tail *t)
{
	char from[LOCAL_TIME_LEN], to[LOCAL_TIME_LEN];
	bool known = hot_times(v, t, t->seconds >= DAY_S, from, to);

	if (known && is_one_time(t)) {
		say(s, "from %s to %s", from, to);
		return;
	}
	say(s, "in ");
	say_seconds(s, t->hot_seconds, t->seconds);
	if (known)
		say(s, " between %s and %s", from, to);
}

static bool not_place(const struct why_view *v, const struct tail *t, enum cause_place place)
{
	bool both = v->host && v->target, there = false;

	for (unsigned int i = 0; i < stages_of(v); i++)
		there |= tail_place(t, v->why, i) == place;
	return there && (both || place != PLACE_UNKNOWN) &&
	       t->place_gap[place] < NOT_MAX * t->gap_ns;
}

/* What speaks against other causes, and what is not known. */
static void print_against(const struct why_view *v, const struct tail *t, FILE *f,
			  unsigned int width)
{
	struct text s = {.used = 0};

	for (unsigned int i = 0; i < PLACES_NR; i++)
		if (not_place(v, t, (enum cause_place)i))
			say(&s, "%s%s (%.0f %%)", s.used ? ", " : "Not ",
			    cause_place_words((enum cause_place)i),
			    percent(t->place_gap[i], t->gap_ns));
	if (s.used)
		say(&s, ".");
	if (t->key.key == WHY_KEYS_NR)
		say(&s, "%sNo one queue, device or host has most of them.", s.used ? " " : "");
	for (unsigned int i = 0, nr = 0; i < CAUSES_NR; i++)
		if (isnan(t->figure[i]))
			say(&s, "%s%s",
			    nr++     ? ", "
			    : s.used ? " Not known: "
				     : "Not known: ",
			    cause_name((enum cause)i));
	if (s.used)
		end_line(&s, f, width);
}

/* Whether the command can have all that selected commands, harmlessly. */
static bool tells_selected(const struct why_view *v)
{
	return v->selected && select_told(v->selected) && text_is_printable(v->selected);
}

/* A command begins: what was read, and what of it was selected, where a shell takes it as it is. */
static void print_report(const struct why_view *v, const char *title, FILE *f)
{
	bool plain = v->nr_files <= NAMED_FILES_MAX;

	for (unsigned int i = 0; i < v->nr_files; i++)
		plain &= text_is_plain(v->files[i]);
	/* It is one line however wide the terminal is, because it is for pasting. */
	fprintf(f, "%s: ntprof-bpf report", title);
	for (unsigned int i = 0; plain && i < v->nr_files; i++)
		fprintf(f, " %s", v->files[i]);
	if (!plain)
		fprintf(f, " FILE...");
	if (tells_selected(v))
		fprintf(f, " %s", v->selected);
}

static void print_command(const struct why_view *v, const struct tail *t, FILE *f)
{
	const char *and = v->selected && !tells_selected(v) ? ", and what you selected by" : "";
	/* Several times are any of them, so there is no use in one within another. */
	bool timed = v->selected && strstr(v->selected, "--time ");
	char from[LOCAL_TIME_LEN], to[LOCAL_TIME_LEN];

	timed = !timed && v->one_clock && t->seconds < DAY_S && has_time(t) && is_one_time(t) &&
		hot_times(v, t, false, from, to);
	print_report(v, "Look further", f);
	if (t->unseen) {
		fprintf(f, " --every 1s%s\n", and);
		return;
	}
	fprintf(f, " --op %s --where 'latency>=%" PRIu64 "ns'", op_words[t->op], t->from_ns);
	if (timed)
		fprintf(f, " --time %s-%s", from, to);
	fprintf(f, " --by %s%s\n", by_words[t->key.key], and);
	if (timed) {
		print_report(v, "Without that time", f);
		fprintf(f, " --op %s --time ..%s,%s.. --why%s\n", op_words[t->op], from, to, and);
	}
}

static void print_evidence(const struct why_view *v, const struct tail *t, FILE *f,
			   unsigned int width)
{
	const uint64_t failed = why_failed(v->why);
	struct text s = {.used = 0};
	double low, high;

	say(&s, "Evidence: %" PRIu64 " of %" PRIu64 " commands took ", t->slow.count, t->commands);
	say_time(&s, (double)t->from_ns);
	say(&s, " or more, in ");
	say_seconds(&s, t->slow_seconds, t->seconds);
	low = percent(t->low, 1);
	high = percent(t->high < 1 ? t->high : 1, 1);
	if (t->gap_ns > 0 && t->slow.count >= CAUSE_SLOW_MIN)
		say(&s, "; %s has %.*f to %.*f %% with 95 %% confidence",
		    cause_place_words(t->lead), high - low < 1, low, high - low < 1, high);
	if (v->matched < MATCHED_MIN)
		say(&s, "; %.0f %% of the host's commands were not matched, and may be others",
		    (1 - v->matched) * 100);
	if (v->why->others)
		say(&s, "; %" PRIu64 " commands are of queues past the first %u", v->why->others,
		    WHY_CELLS);
	end_line(&s, f, width);
	if (failed) {
		say(&s,
		    "Besides, the host gave up %" PRIu64
		    " command%s: a controller was reset, or a path failed%s",
		    failed, failed == 1 ? "" : "s",
		    t->unseen ? "" : ". What waited for a path is in no latency here");
		end_line(&s, f, width);
	}
}

static void say_verdict(struct text *s, const struct why_view *v, const struct tail *t)
{
	switch (t->sure) {
	case CAUSE_NAMED:
		say(s, "It is ");
		say_cause(s, v, t, false);
		say(s, ".");
		break;
	case CAUSE_HEALTHY:
		say(s,
		    "No stage stands out: the slow ones take %.1f times the median, and are spread as "
		    "all others are.",
		    t->ratio);
		break;
	case CAUSE_MIXED:
		say(s, "It is no one thing: the most is in %s, %.0f %%.",
		    cause_place_words(t->lead), percent(t->place_gap[t->lead], t->gap_ns));
		break;
	case CAUSE_THIN:
	default:
		say(s, "It is not known why: ");
		if (t->slow.count < CAUSE_SLOW_MIN)
			say(s,
			    "of slow commands there are only %" PRIu64
			    ", and this takes %u. Record longer, "
			    "or look at them with --slowest.",
			    t->slow.count, CAUSE_SLOW_MIN);
		else if (t->place_gap[PLACE_UNKNOWN] > t->gap_ns * 0.3)
			say(s, "too many of them could not be split into stages.");
		else
			say(s, "%s may have %.0f to %.0f %%.", cause_place_words(t->lead),
			    t->low * 100, t->high * 100);
	}
}

static void print_tail(const struct why_view *v, const struct tail *t, FILE *f, unsigned int width)
{
	struct text s = {.used = 0};
	struct apart apart;

	say(&s, "%s: p99 ", op_names[t->op]);
	say_time(&s, (double)t->p99_ns);
	say(&s, ", p50 ");
	say_time(&s, (double)t->p50_ns);
	if (t->gap_ns > 0) {
		say(&s, ". Commands from p%u on take ", t->percent);
		say_time(&s, t->gap_ns);
		say(&s, " more than those near the median: ");
		say_shares(&s, v, t);
	}
	end_line(&s, f, width);
	if (apart_of(v->why, t->op, &apart)) {
		say_apart(&s, v, t->op, &apart);
		s.s[0] = 'O';
		say(&s, ".");
		end_line(&s, f, width);
	}
	say_verdict(&s, v, t);
	end_line(&s, f, width);
	if (!t->unseen && (t->sure == CAUSE_NAMED || t->sure == CAUSE_MIXED)) {
		if (t->sure == CAUSE_NAMED && t->cause < CAUSE_BLOCK && t->gap_ns > 0) {
			say(&s, "The longest part is in ");
			say_place(&s, t);
			say(&s, ".");
			end_line(&s, f, width);
		}
		if (has_time(t)) {
			say(&s, "When: %.0f %% of that time, and %.0f %% of the commands, are ",
			    t->hot_tail * 100, t->hot_share * 100);
			say_when(&s, v, t);
			if (v->clock.monotonic_ns)
				say(&s, ", by the %s's clock", side_name(v->clock_of));
			say(&s, ".");
			end_line(&s, f, width);
		}
		print_against(v, t, f, width);
	}
	print_evidence(v, t, f, width);
	if (t->sure != CAUSE_HEALTHY && v->nr_files)
		print_command(v, t, f);
}

void why_print(const struct why_view *v, FILE *f, unsigned int width)
{
	bool any = false;

	for (unsigned int op = 0; op < WHY_OPS; op++) {
		struct tail t;

		if (!tail_of(v->why, (enum why_op)op, v->host, v->target, &t))
			continue;
		if (any)
			fputs("\n", f);
		any = true;
		print_tail(v, &t, f, width);
	}
	if (!any)
		fputs("no I/O command ended well, so there are no slow ones\n", f);
}

/* Prints what is slower all the time, of the operation that loses the most time by it. */
static void print_apart(const struct why_view *v, FILE *f, unsigned int width)
{
	struct text s = {.used = 0};
	struct apart a, most;
	double far = 0;
	enum why_op of = WHY_READ;

	for (unsigned int op = 0; op < WHY_OPS; op++) {
		double ns;

		if (!apart_of(v->why, (enum why_op)op, &a))
			continue;
		ns = (double)(a.typical_ns - a.others_ns) * (double)v->why->latency[op].count;
		if (ns <= far)
			continue;
		far = ns;
		most = a;
		of = (enum why_op)op;
	}
	if (far <= 0)
		return;
	say_apart(&s, v, of, &most);
	end_line(&s, f, width);
}

void why_print_brief(const struct why_view *v, FILE *f, unsigned int width)
{
	struct text s = {.used = 0};
	struct tail most = {.gap_ns = 0}, t;

	print_apart(v, f, width);
	for (unsigned int op = 0; op < WHY_OPS; op++)
		if (tail_of(v->why, (enum why_op)op, v->host, v->target, &t) &&
		    t.sure != CAUSE_THIN && t.unseen >= most.unseen &&
		    (t.unseen > most.unseen ||
		     t.gap_ns * (double)t.slow.count > most.gap_ns * (double)most.slow.count))
			most = t;
	if (most.gap_ns <= 0 && !most.unseen)
		return;
	if (most.unseen) {
		say_unseen(&s, &most);
		say(&s, " (--why says more)");
	} else if (most.sure == CAUSE_HEALTHY) {
		say(&s,
		    "the slowest %u %% of %ss: no stage stands out, they take %.1f times the median",
		    100 - most.percent, op_names[most.op], most.ratio);
	} else {
		say(&s, "the slowest %u %% of %ss take ", 100 - most.percent, op_names[most.op]);
		say_time(&s, most.gap_ns);
		say(&s, " more than the median: ");
		say_shares(&s, v, &most);
		if (most.sure == CAUSE_NAMED) {
			say(&s, "; it is ");
			say_cause(&s, v, &most, true);
		}
		if (has_time(&most)) {
			say(&s, "; %.0f %% of it ", percent(most.hot_tail, 1));
			say_when(&s, v, &most);
		}
		say(&s, v->nr_files ? " (--why says more)" : "");
	}
	end_line(&s, f, width);
}

/* Part of the host's commands that were matched. */
static double matched_share(const struct live_merge *l)
{
	struct live_merge_counts n;

	live_merge_counts(l, &n);
	n.host_only += n.matched + n.ambiguous;
	return n.host_only ? (double)n.matched / (double)n.host_only : 1;
}

void why_print_live(const struct live_merge *l, FILE *f, unsigned int width, bool brief)
{
	const struct why_view v = {
		.why = live_merge_why(l),
		.host = true,
		.target = true,
		.machines = live_merge_machines(l),
		.matched = matched_share(l),
		.clock = instant_now(),
		.clock_of = live_merge_side(l),
	};

	if (v.why)
		(brief ? why_print_brief : why_print)(&v, f, width);
}

/* JSON. */

static struct json_object *stages_json(const struct why_view *v, const struct tail *t)
{
	struct json_object *array = json_array();
	char name[STAGE_NAME_LEN];

	for (unsigned int i = 0; i < stages_of(v); i++) {
		struct json_object *o;

		if (!t->slow.stage[i] && !t->mid.stage[i])
			continue;
		o = json_empty();
		json_put(o, "stage", json_text(stage_words(v, i, name, sizeof(name))));
		json_put(o, "where", json_text(cause_place_words(tail_place(t, v->why, i))));
		json_put(o, "gap_ns", json_real(t->stage_gap[i]));
		json_put(o, "share", t->gap_ns > 0 ? json_real(t->stage_gap[i] / t->gap_ns) : NULL);
		json_put(o, "median_ns", json_real(t->stage_mid[i]));
		json_append(array, o);
	}
	return array;
}

static struct json_object *key_json(const struct why_view *v, const struct tail_key *k)
{
	char name[VALUE_LEN];
	struct json_object *o;

	if (k->key == WHY_KEYS_NR)
		return NULL;
	o = json_empty();
	json_put(o, "by", json_text(why_key_name(k->key)));
	json_put(o, "value", json_text(value_words(v, k, name)));
	json_put(o, "others", json_natural(k->others));
	json_put(o, "share", json_real(k->share));
	json_put(o, "tail_share", json_real(k->of_tail));
	json_put(o, "p99_ns", json_natural(k->p99_ns));
	json_put(o, "others_p99_ns", json_natural(k->others_p99_ns));
	return o;
}

/* @ns: by the clock of struct why; 0: never. Return: RFC 3339, or NULL */
static struct json_object *when_json(const struct why_view *v, uint64_t ns)
{
	int64_t wall = ns ? instant_wall(&v->clock, ns) : 0;
	char text[RFC3339_LEN];

	return wall ? json_text(rfc3339_format(text, wall)) : NULL;
}

static struct json_object *time_json(const struct why_view *v, const struct tail *t)
{
	struct json_object *o = json_empty();

	json_put(o, "all_seconds", json_real(t->seconds));
	json_put(o, "tail_seconds", json_real(t->slow_seconds));
	json_put(o, "hot_seconds", json_real(t->hot_seconds));
	json_put(o, "hot_from", when_json(v, t->hot_from_ns));
	json_put(o, "hot_to", when_json(v, t->hot_to_ns));
	json_put(o, "hot_tail_share", json_real(t->hot_tail));
	json_put(o, "hot_share", json_real(t->hot_share));
	return o;
}

static struct json_object *apart_json(const struct why_view *v, enum why_op op)
{
	char name[VALUE_LEN];
	struct json_object *o;
	struct tail_key k;
	struct apart a;

	if (!apart_of(v->why, op, &a))
		return NULL;
	k = (struct tail_key){.key = a.key, .cell = a.cell};
	o = json_empty();
	json_put(o, "by", json_text(why_key_name(a.key)));
	json_put(o, "value", json_text(value_words(v, &k, name)));
	json_put(o, "others", json_natural(a.others));
	json_put(o, "stage",
		 a.stage < NT_MERGED_STAGES_NR
			 ? json_text(stage_words(v, a.stage, name, sizeof(name)))
			 : NULL);
	json_put(o, "typical_ns", json_natural(a.typical_ns));
	json_put(o, "others_typical_ns", json_natural(a.others_ns));
	return o;
}

static struct json_object *rules_json(const struct tail *t)
{
	struct json_object *array = json_array();

	for (unsigned int i = 0; i < CAUSES_NR; i++) {
		enum cause cause = (enum cause)i;
		struct json_object *o = json_empty();
		bool known = !isnan(t->figure[i]);

		json_put(o, "rule", json_text(cause_name(cause)));
		json_put(o, "holds", known ? json_flag(t->figure[i] >= cause_least(cause)) : NULL);
		json_put(o, "figure", known ? json_real(t->figure[i]) : NULL);
		json_put(o, "least", json_real(cause_least(cause)));
		json_put(o, "what", json_text(cause_words(cause)));
		json_append(array, o);
	}
	return array;
}

struct json_object *why_json(const struct why_view *v)
{
	struct json_object *array = json_array();

	for (unsigned int op = 0; op < WHY_OPS; op++) {
		struct json_object *o;
		struct text s = {.used = 0};
		struct tail t;

		if (!tail_of(v->why, (enum why_op)op, v->host, v->target, &t))
			continue;
		o = json_empty();
		say_verdict(&s, v, &t);
		json_put(o, "op", json_text(op_names[op]));
		json_put(o, "commands", json_natural(t.commands));
		json_put(o, "p50_ns", json_natural(t.p50_ns));
		json_put(o, "p99_ns", json_natural(t.p99_ns));
		json_put(o, "tail_percentile", json_natural(t.percent));
		json_put(o, "given_up", json_natural(why_failed(v->why)));
		json_put(o, "tail_from_ns", json_natural(t.from_ns));
		json_put(o, "tail_commands", json_natural(t.slow.count));
		json_put(o, "ratio", json_real(t.ratio));
		json_put(o, "gap_ns", json_real(t.gap_ns));
		json_put(o, "unsplit_ns", json_real(t.place_gap[PLACE_UNKNOWN]));
		json_put(o, "to_target", isnan(t.to_target) ? NULL : json_real(t.to_target));
		json_put(o, "stages", stages_json(v, &t));
		json_put(o, "verdict", json_text(cause_sure_name(t.sure)));
		json_put(o, "cause", t.sure == CAUSE_NAMED ? json_text(cause_name(t.cause)) : NULL);
		json_put(o, "text", json_text(s.s));
		json_put(o, "lead", json_text(cause_place_words(t.lead)));
		json_put(o, "lead_low", json_real(t.low));
		json_put(o, "lead_high", json_real(t.high));
		json_put(o, "key", key_json(v, &t.key));
		json_put(o, "apart", apart_json(v, t.op));
		json_put(o, "time", time_json(v, &t));
		json_put(o, "rules", rules_json(&t));
		json_append(array, o);
	}
	return array;
}
