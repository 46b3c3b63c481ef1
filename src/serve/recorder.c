// SPDX-License-Identifier: GPL-2.0-only
#include "serve/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/job.h"
#include "core/names.h"
#include "core/output.h"
#include "core/path_events.h"
#include "core/segments.h"
#include "core/time.h"
#include "serve/folder.h"
#include "serve/keep_file.h"
#include "serve/ring.h"
#include "stream/destination.h"
#include "stream/writer.h"

/* The longest single wait for the disk while the recorder finishes. */
#define SETTLE_NS 20000000ULL
#define NS_PER_SECOND 1e9
/* How long the caller waits for a new folder. */
#define CHANGE_NS 500000000ULL
uint64_t recorder_patience_ns = 10000000000;

static const struct timespec moment = {.tv_nsec = 1000000};

/**
 * struct recorder - a flight recorder
 * @begun: @header is known
 * @writing: @file is being written. It was triggered at @set_off_ns because of @why, and goes on
 *           until @until_ns.
 * @closing: no more records go into the file
 * @next: the trigger, if any, that came when @file took no more records: it has a file of its own
 * @next_block: the first block that is in no file
 * @events: what happened to controllers; the first @events_in of all are in files
 * @newest, @newest_ns: as struct keep_counts has them
 * @job: what is asked of the file system
 * @path: of @folder, for messages, as a job may change that one
 * @left: a file that is to be closed, while @leaves is set; without a name it disappears
 * @lost_room: that file was not written for want of room
 * @change, @change_folder: new options and their folder, while @changes is set
 * @warning: about the new folder, or ""
 * @seen: of @folder, when no job used it
 * @triggers: of the present conditions, and of what is no condition
 * @disk: what the disk was asked for at @disk.since_ns, and has not answered since; @disk.told: in
 * a line
 * @counted: how often conditions fired, up to recorder_change(); the last ones that were in use
 *           come first. So a condition that comes again goes on counting.
 */
struct recorder {
	struct ring ring;
	struct folder folder;
	struct when when;
	uint64_t after_ns;
	struct stream_header header;
	bool begun;
	bool writing;
	bool closing;
	struct keep_file file;
	struct {
		char why[WHEN_TEXT_LEN + 64];
		uint64_t ns;
		uint64_t after_ns;
		bool fired;
	} next;
	uint64_t next_block;
	struct path_events events;
	uint64_t events_in;
	uint64_t set_off_ns;
	uint64_t until_ns;
	char why[WHEN_TEXT_LEN + 64];
	char newest[FOLDER_NAME_LEN];
	int64_t newest_ns;
	struct job job;
	char path[PATH_MAX];
	struct destination left;
	bool leaves;
	bool lost_room;
	struct recorder_options change;
	char change_folder[PATH_MAX];
	char warning[FOLDER_WARNING_LEN];
	bool changes;
	struct {
		uint64_t removed;
		uint64_t used;
		unsigned int nr;
	} seen;
	struct {
		uint64_t since_ns;
		uint64_t step;
		job_fn *run;
		bool asked;
		bool told;
	} disk;
	uint64_t triggers[TRIGGERS_MAX];
	struct {
		char text[WHEN_TEXT_LEN];
		uint64_t triggers;
	} counted[WHEN_COUNTED_MAX];
	uint64_t written;
	uint64_t failed;
	recorder_tell_fn *tell;
	void *context;
};

static void say(const struct recorder *r, bool failed, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(const struct recorder *r, bool failed, const char *format, ...)
{
	char line[RECORDER_LINE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	r->tell(r->context, failed, line);
}

/* On an error the folder stays as it was, with its files and its lock. */
static int job_change(void *recorder)
{
	struct recorder *r = recorder;
	const struct recorder_options *o = &r->change;
	struct folder *f = &r->folder, before = *f;
	int err;

	memcpy(f->path, o->folder, strlen(o->folder) + 1);
	f->files = o->files;
	f->bytes = o->disk_bytes;
	f->keep_free = o->keep_free;
	err = folder_open(f);
	if (err) {
		memcpy(f->path, before.path, sizeof(f->path));
		f->files = before.files;
		f->bytes = before.bytes;
		f->keep_free = before.keep_free;
		return err;
	}
	if (!folder_warning(f, r->warning))
		r->warning[0] = '\0';
	return 0;
}

/* Return: where the count of a condition is kept; 0 is there if the condition is not known. */
static uint64_t *count_of(struct recorder *r, const char *text)
{
	__typeof__(r->counted[0]) found = {.triggers = 0};
	unsigned int i = 0;

	while (i < WHEN_COUNTED_MAX - 1 && strcmp(r->counted[i].text, text) != 0)
		i++;
	if (!strcmp(r->counted[i].text, text))
		found = r->counted[i];
	else
		snprintf(found.text, sizeof(found.text), "%s", text);
	memmove(r->counted + 1, r->counted, i * sizeof(found));
	r->counted[0] = found;
	return &r->counted[0].triggers;
}

/*
 * Takes ownership of the conditions. A condition that was there before keeps its count and goes on.
 */
static void set_when(struct recorder *r, struct when *w)
{
	for (unsigned int i = 0; i < r->when.nr; i++)
		*count_of(r, r->when.condition[i].text) = r->triggers[i];
	for (unsigned int i = 0; i < WHEN_CONDITIONS_MAX; i++)
		r->triggers[i] = i < w->nr ? *count_of(r, w->condition[i].text) : 0;
	when_go_on(w, &r->when);
	when_free(&r->when);
	r->when = *w;
	*w = (struct when){.nr = 0};
}

static void see_folder(struct recorder *r)
{
	if (r->job.busy)
		return;
	r->seen.removed = r->folder.removed;
	r->seen.used = r->folder.used;
	r->seen.nr = r->folder.nr;
}

static bool change_runs(const struct recorder *r)
{
	return r->job.busy && r->job.run == job_change;
}

/*
 * While @changes is set: whether another folder waits for the end of a file, which goes on where it
 * began.
 */
static bool waits_for_file(const struct recorder *r)
{
	return r->writing && r->file.w && !change_runs(r) && strcmp(r->change.folder, r->path) != 0;
}

/* Return: 0, -EAGAIN when the change has to wait, or another negative errno */
static int change(struct recorder *r)
{
	int err = waits_for_file(r) ? -EAGAIN : job_do(&r->job, job_change, r);

	if (err == -EAGAIN)
		return err;
	r->changes = false;
	if (err) {
		when_free(&r->change.when);
		return err;
	}
	if (r->warning[0])
		say(r, true, "%s", r->warning);
	memcpy(r->path, r->folder.path, sizeof(r->path));
	r->after_ns = r->change.after_ns;
	ring_resize(&r->ring, r->change.keep_ns, r->change.memory_bytes);
	set_when(r, &r->change.when);
	see_folder(r);
	return 0;
}

/* As recorder_change(); -EAGAIN: the change waits, for the disk if @patience_ns have passed. */
static int change_within(struct recorder *r, struct recorder_options *o, uint64_t patience_ns)
{
	const uint64_t since = monotonic_ns();
	const size_t len = strlen(o->folder);
	const bool busy = change_runs(r);
	int err;

	if (busy || len >= sizeof(r->change_folder)) {
		when_free(&o->when);
		return busy ? -EBUSY : -ENAMETOOLONG;
	}
	if (r->changes)
		when_free(&r->change.when);
	memcpy(r->change_folder, o->folder, len + 1);
	r->change = *o;
	r->change.folder = r->change_folder;
	o->when = (struct when){.nr = 0};
	r->changes = true;
	while ((err = change(r)) == -EAGAIN && change_runs(r) &&
	       monotonic_ns() - since < patience_ns)
		nanosleep(&moment, NULL);
	return err;
}

int recorder_change(struct recorder *r, struct recorder_options *o)
{
	int err = change_within(r, o, CHANGE_NS);

	if (err != -EAGAIN)
		return err;
	if (waits_for_file(r))
		say(r, false,
		    "a file is being written in %s: what is kept and written changes when it ends",
		    r->path);
	else if (change_runs(r))
		say(r, true, "the disk does not answer: options of files change when it does");
	return 0;
}

struct recorder *recorder_new(struct recorder_options *o, enum nt_side side, recorder_tell_fn *tell,
			      void *context)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (r) {
		r->folder.side = side;
		r->tell = tell;
		r->context = context;
		r->file.to.fd = r->folder.fd = r->folder.lock_fd = -1;
		err = ring_init(&r->ring, o->keep_ns, o->memory_bytes)
			      ?: change_within(r, o, UINT64_MAX);
	}
	if (!err)
		return r;
	when_free(&o->when);
	recorder_free(r);
	errno = -err;
	return NULL;
}

void recorder_begin(struct recorder *r, const struct stream_header *header)
{
	r->header = *header;
	r->begun = true;
}

static int job_close(void *recorder)
{
	struct recorder *r = recorder;

	if (r->lost_room)
		folder_lost_room(&r->folder);
	r->lost_room = false;
	if (r->left.fd >= 0)
		destination_close(&r->left);
	return 0;
}

static void close_left(struct recorder *r)
{
	/* Without a thread, it is closed later. */
	if (r->leaves)
		r->leaves = job_do(&r->job, job_close, r);
}

static void begin_file(struct recorder *r, const char *why, uint64_t set_off_ns, uint64_t after_ns);

/* At the end of the run, there is another file only if there is something to be written. */
static void begin_next_file(struct recorder *r)
{
	const bool fired = r->next.fired;

	r->next.fired = false;
	ring_end_block(&r->ring);
	if (fired && (r->next.after_ns || ring_from(&r->ring, r->next_block)))
		begin_file(r, r->next.why, r->next.ns, r->next.after_ns);
}

static void end_file(struct recorder *r)
{
	keep_file_close(&r->file);
	if (r->file.asked)
		job_leave(&r->job);
	r->left = r->file.to;
	r->file.to.fd = -1;
	r->leaves = true;
	close_left(r);
	see_folder(r);
	r->writing = false;
	r->closing = false;
	r->ring.reader = 0;
	begin_next_file(r);
}

/* @path: of the file, or "" */
static void tell_failure(struct recorder *r, const char *path, bool crowded, int err)
{
	r->failed++;
	say(r, true, "%s is not written (%s): %s%s; its records are kept on",
	    path[0] ? path : r->path, r->why, folder_error(err),
	    crowded ? " but what --keep-free leaves to others" : "");
}

static void fail(struct recorder *r, int err)
{
	r->lost_room = err == -ENOSPC && !r->file.crowded;
	tell_failure(r, r->file.path, r->file.crowded, err);
	end_file(r);
}

/* @err: 0, or why the file may not survive a power cut */
static void succeed(struct recorder *r, int err)
{
	const struct keep_file *f = &r->file;
	double before = f->first_ns && f->first_ns < r->set_off_ns
				? (double)(r->set_off_ns - f->first_ns) / NS_PER_SECOND
				: 0;

	r->written++;
	memcpy(r->newest, f->name, sizeof(r->newest));
	r->newest_ns = f->realtime_ns;
	r->next_block = f->next;
	r->events_in = f->events;
	say(r, err != 0, "wrote %s (%s): %" PRIu64 " records, from %.1f s before%s%s%s%s", f->path,
	    r->why, stream_records(f->w), before,
	    !f->full	 ? ""
	    : f->crowded ? ", ended early: --keep-free is reached"
			 : ", ended early: --bytes is reached",
	    r->ring.missed ? ", and not all of them: the disk is too slow" : "",
	    err ? "; it may not be on the disk yet: " : "", err ? strerror(-err) : "");
	end_file(r);
}

/* Return: whether the file has begun */
static bool open_file(struct recorder *r)
{
	/*
	 * The disk closes the last file first, and takes the options that waited for its end. Those
	 * that come while it opens this one wait for the answer, which has to be taken.
	 */
	int err = r->leaves || (r->changes && !keep_file_opens(&r->file))
			  ? -EAGAIN
			  : keep_file_open(&r->file, &r->header);

	if (err && err != -EAGAIN)
		fail(r, err);
	return !err;
}

static void begin_file(struct recorder *r, const char *why, uint64_t set_off_ns, uint64_t after_ns)
{
	const struct ring_block *first;

	snprintf(r->why, sizeof(r->why), "%s", why);
	r->set_off_ns = set_off_ns;
	r->until_ns = set_off_ns + after_ns;
	r->writing = true;
	ring_age(&r->ring, set_off_ns);
	ring_end_block(&r->ring);
	r->ring.file++;
	r->ring.untold = true;
	r->ring.reader = r->next_block ?: 1;
	r->ring.missed = 0;
	first = ring_from(&r->ring, r->next_block);
	r->file = (struct keep_file){
		.realtime_ns = realtime_ns(),
		.next = r->next_block,
		.events = r->events_in,
		/* The header and the names before them take less than the end. */
		.room = (first ? first->records.len : 0) + 2 * KEEP_FILE_END_BYTES,
		.in = &r->folder,
		.job = &r->job,
		.to.fd = -1,
	};
	open_file(r);
}

static void set_off(struct recorder *r, unsigned int trigger, const char *why, uint64_t after_ns)
{
	uint64_t now = monotonic_ns();

	r->triggers[trigger]++;
	if (!r->begun)
		return;
	if (!r->writing) {
		begin_file(r, why, now, after_ns);
	} else if (r->closing && !r->next.fired) {
		snprintf(r->next.why, sizeof(r->next.why), "%s", why);
		r->next.ns = now;
		r->next.after_ns = after_ns;
		r->next.fired = true;
	}
	/* Else the file that is being written, or the next one, has this event as well. */
}

bool recorder_record(struct recorder *r, const struct nt_record *rec)
{
	const struct when_condition *c = when_record(&r->when, rec);
	bool unknown = ring_add(&r->ring, rec, monotonic_ns());
	char why[sizeof(r->why)];

	if (c) {
		snprintf(why, sizeof(why), "%s: %s of %.3f ms", c->text,
			 op_name((enum nt_op)rec->op), (double)record_latency_ns(rec) / 1e6);
		set_off(r, (unsigned int)(c - r->when.condition), why, r->after_ns);
	}
	return unknown;
}

void recorder_queue(struct recorder *r, const struct queue_info *q)
{
	/* Without memory its records stay unidentified, which is no reason to stop. */
	ring_tell(&r->ring, q);
}

void recorder_device(struct recorder *r, const struct device_name *d)
{
	/* Without memory the namespace has no name. */
	ring_tell_device(&r->ring, d);
}

void recorder_event(struct recorder *r, const struct nt_path_event *e)
{
	const struct when_condition *c = when_event(&r->when, e);
	char why[sizeof(r->why)];

	/* Without memory the event is in no file, which is no reason to stop. */
	path_events_add(&r->events, e);
	if (!c)
		return;
	snprintf(why, sizeof(why), "%s: nvme%u", c->text, e->instance);
	set_off(r, (unsigned int)(c - r->when.condition), why, r->after_ns);
}

void recorder_interval(struct recorder *r, const struct stats *s)
{
	const struct when_condition *c = when_interval(&r->when, s, monotonic_ns());

	memcpy(r->ring.losses, s->counters_total, sizeof(r->ring.losses));
	if (c)
		set_off(r, (unsigned int)(c - r->when.condition), c->text, r->after_ns);
}

void recorder_trigger(struct recorder *r, unsigned int trigger)
{
	if (trigger == TRIGGER_SIGNAL && !r->begun)
		say(r, true, "SIGUSR1: nothing is traced yet");
	if (trigger == TRIGGER_SIGNAL)
		set_off(r, trigger, "SIGUSR1", r->after_ns);
	else if (r->writing || ring_from(&r->ring, r->next_block))
		set_off(r, trigger, "exit", 0);
}

/*
 * Writes the events that are in no file, but for those older than the records. Return: as
 * keep_file_tell()
 */
static int tell_events(struct recorder *r)
{
	const struct path_events *p = &r->events;
	uint64_t *in = &r->file.events;
	int err = 0;

	if (p->total - *in > p->nr)
		*in = p->total - p->nr;
	for (; !err && *in < p->total; *in += !err) {
		struct stream_event e = {.type = STREAM_PATH};

		e.path = *path_events_at(p, p->nr - (size_t)(p->total - *in));
		if (e.path.ns + r->ring.keep_ns >= r->set_off_ns)
			err = keep_file_tell(&r->file, &e);
	}
	return err;
}

/* Return: 0 or a negative errno. */
static int feed(struct recorder *r, uint64_t now)
{
	int ret;

	if (!r->closing && now >= r->until_ns) {
		r->closing = true;
		ring_end_block(&r->ring);
	}
	r->file.turn_ns = monotonic_ns();
	ret = tell_events(r);
	if (ret == -EAGAIN)
		return 0;
	ret = ret ?: keep_file_feed(&r->file, &r->ring);
	if (r->file.full) {
		r->closing = true;
		ret = 1;
	}
	if (ret < 0 || !ret || !r->closing)
		return ret < 0 ? ret : 0;
	ret = keep_file_end(&r->file, &r->ring);
	return ret == -EAGAIN ? 0 : ret;
}

/* A change that waited for the disk or for a file. */
static void change_late(struct recorder *r)
{
	int err = r->changes ? change(r) : 0;

	if (err && err != -EAGAIN)
		say(r, true, "cannot keep files in %s: %s; options of files are as they were",
		    r->change.folder, folder_error(err));
}

/* Brings the file that is being written one step on. */
static void write_file(struct recorder *r, uint64_t now)
{
	int ret;

	if (!r->writing || (!r->file.w && !open_file(r)))
		return;
	ret = r->file.ended ? 0 : feed(r, now);
	if (!ret && r->file.ended)
		ret = keep_file_commit(&r->file);
	if (ret < 0 && !r->file.named)
		fail(r, ret);
	else if (ret)
		succeed(r, ret < 0 ? ret : 0);
}

/* Sees since when the disk has not answered what it was asked. */
static void watch_disk(struct recorder *r, uint64_t now)
{
	const struct keep_file *f = &r->file;
	const bool asked =
		r->job.busy || r->leaves || (r->writing && (!f->w || !output_idle(f->out)));
	const uint64_t step = f->w ? 1 + f->named + output_written(f->out) : 0;
	job_fn *run = r->job.busy ? r->job.run : NULL;

	if (!asked || !r->disk.asked || step != r->disk.step || run != r->disk.run) {
		r->disk = (__typeof__(r->disk)){
			.since_ns = now, .step = step, .run = run, .asked = asked};
		return;
	}
	if (r->disk.told || now - r->disk.since_ns < recorder_patience_ns)
		return;
	r->disk.told = true;
	say(r, true, "the disk of %s has not answered for %.0f s: files are written when it does",
	    run == job_change ? r->change.folder : r->path,
	    (double)(now - r->disk.since_ns) / NS_PER_SECOND);
}

void recorder_work(struct recorder *r)
{
	uint64_t now = monotonic_ns();

	ring_age(&r->ring, now);
	close_left(r);
	write_file(r, now);
	change_late(r);
	see_folder(r);
	watch_disk(r, now);
}

/* Ends the file at once, because the time for it has run out. */
static void give_up(struct recorder *r)
{
	int ret = keep_file_hurry(&r->file);
	const bool runs = job_runs(&r->job);

	/* The job that gives the name may have ended in between. */
	if (ret == -EAGAIN && !runs && keep_file_takes_name(&r->file))
		ret = r->job.result ?: 1;
	if (ret == 1) {
		succeed(r, -ETIMEDOUT);
	} else if (!runs) {
		fail(r, -ETIMEDOUT);
	} else {
		/* The job uses the file. */
		tell_failure(r, "", false, -ETIMEDOUT);
		r->writing = false;
	}
}

static void settle(struct recorder *r)
{
	/* With nothing to be written it is the job that is waited for. */
	if (r->writing && r->file.w && !output_idle(r->file.out))
		output_settle(r->file.out, -1, SETTLE_NS);
	else if (r->writing || r->leaves)
		nanosleep(&moment, NULL);
}

void recorder_finish(struct recorder *r, uint64_t patience_ns)
{
	uint64_t until = monotonic_ns() + patience_ns;

	ring_end_block(&r->ring);
	recorder_trigger(r, TRIGGER_EXIT);
	r->until_ns = r->next.after_ns = 0;
	while (r->writing || r->leaves) {
		recorder_work(r);
		if (monotonic_ns() <= until)
			settle(r);
		else if (r->writing)
			give_up(r);
		else
			break;
	}
}

void recorder_counts(const struct recorder *r, struct keep_counts *c)
{
	const struct ring_block *oldest = r->ring.oldest ?: r->ring.open;
	uint64_t now = monotonic_ns();

	*c = (struct keep_counts){
		.records = r->ring.kept,
		.memory_bytes = ring_bytes(&r->ring),
		.seconds = oldest && now > oldest->began_ns
				   ? (double)(now - oldest->began_ns) / NS_PER_SECOND
				   : 0,
		.left_out = r->ring.left_out,
		.unnamed = r->ring.unnamed,
		.written = r->written,
		.failed = r->failed,
		.removed = r->seen.removed,
		.files = r->seen.nr,
		.disk_bytes = r->seen.used,
		.newest = r->newest[0] ? r->newest : NULL,
		.newest_ns = r->newest_ns,
		.disk_seconds = r->disk.asked && now > r->disk.since_ns
					? (double)(now - r->disk.since_ns) / NS_PER_SECOND
					: 0,
	};
	memcpy(c->triggers, r->triggers, sizeof(c->triggers));
	for (unsigned int i = 0; i < r->when.nr; i++)
		c->trigger_name[i] = r->when.condition[i].text;
	c->trigger_name[TRIGGER_SIGNAL] = "SIGUSR1";
	c->trigger_name[TRIGGER_EXIT] = "exit";
}

void recorder_free(struct recorder *r)
{
	/* A job that still waits has the recorder's memory for as long as the process lives. */
	if (!r || job_runs(&r->job))
		return;
	keep_file_close(&r->file);
	if (r->file.to.fd >= 0)
		destination_close(&r->file.to);
	folder_close(&r->folder);
	when_free(&r->when);
	path_events_free(&r->events);
	ring_free(&r->ring);
	free(r);
}
