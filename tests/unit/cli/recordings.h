/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of simulated traffic as files for the verb report, and functions that look at its
 * output.
 */
#ifndef NTPROF_CLI_RECORDINGS_H
#define NTPROF_CLI_RECORDINGS_H

#include "cli/testing.h"
#include "in_range.h"
#include "streams.h"
#include "traffic.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
/* Wall clock at the beginning of a simulation: 2024-01-01. */
#define WALL_NS 1704067200000000000LL

/**
 * struct recording - how a stream of the traffic is recorded
 * @header: its side is set to the stream's
 * @wall_ns: how far its wall clock is ahead
 * @edit: may change a record; if it returns false, the record is left out
 * @device: names of namespaces 1 and 2; NULL: not announced
 * @disk: on which they lie, if not NULL
 * @edit_queue: may change the description of a queue, if not NULL
 * @cgroup: cgroup of origin 1, and the name of its process 77, if not NULL
 */
struct recording {
	struct stream_header header;
	int64_t wall_ns;
	bool (*edit)(struct nt_record *r);
	const char *device[2];
	const char *disk;
	void (*edit_queue)(struct queue_info *q);
	const char *cgroup;
	char path[40];
	int fd;
	struct stream_writer *w;
	bool told[TRAFFIC_QUEUES_MAX];
};

static inline void recording_put(struct recording *f, const struct stream_event *e)
{
	assert_int_equal(stream_write(f->w, e), 0);
}

static inline struct instant recording_clock(const struct recording *f,
					     const struct traffic_stream *s, uint64_t ns)
{
	return (struct instant){
		.monotonic_ns = traffic_clock(s, ns),
		.realtime_ns = WALL_NS + f->wall_ns + (int64_t)(ns - TRAFFIC_EPOCH_NS),
	};
}

static inline void recording_begin(struct recording *f, const struct traffic_config *c,
				   unsigned int stream)
{
	struct stream_event e = {.type = STREAM_CLOCK};

	f->header.side = c->stream[stream].side;
	f->fd = memfd_create("recording", 0);
	assert_true(f->fd >= 0);
	snprintf(f->path, sizeof(f->path), "/proc/%d/fd/%d", (int)getpid(), f->fd);
	f->w = stream_writer_new(f->fd, &f->header);
	assert_non_null(f->w);
	e.clock = recording_clock(f, &c->stream[stream], TRAFFIC_EPOCH_NS);
	recording_put(f, &e);
	if (f->cgroup) {
		e = (struct stream_event){.type = STREAM_ORIGIN, .origin.number = 1};
		snprintf(e.origin.cgroup, sizeof(e.origin.cgroup), "%s", f->cgroup);
		e.origin.pid = 77;
		snprintf(e.origin.comm, sizeof(e.origin.comm), "%.*s",
			 (int)sizeof(e.origin.comm) - 1, f->cgroup);
		recording_put(f, &e);
	}
}

static inline void recording_devices(struct recording *f, const struct queue_info *q)
{
	struct stream_event e = {.type = STREAM_DEVICE};

	for (unsigned int i = 0; i < ARRAY_SIZE(f->device); i++) {
		if (!f->device[i])
			continue;
		memcpy(e.device.subsysnqn, q->subsysnqn, sizeof(e.device.subsysnqn));
		e.device.instance = f->header.side == NT_HOST ? q->instance : DEVICE_ANY_INSTANCE;
		e.device.nsid = i + 1;
		snprintf(e.device.name, sizeof(e.device.name), "%s", f->device[i]);
		if (f->disk)
			snprintf(e.device.disk, sizeof(e.device.disk), "%s", f->disk);
		recording_put(f, &e);
	}
}

static inline void recording_add(struct recording *f, const struct traffic_config *c,
				 const struct traffic_record *r)
{
	struct stream_event e = {.type = STREAM_RECORD, .record = r->r};
	struct stream_event q = {.type = STREAM_QUEUE};

	if (f->edit && !f->edit(&e.record))
		return;
	if (!f->told[r->queue]) {
		f->told[r->queue] = true;
		q.queue = traffic_stream_queue(c, r->queue, r->r.side);
		if (f->edit_queue)
			f->edit_queue(&q.queue);
		recording_put(f, &q);
		recording_devices(f, &q.queue);
	}
	recording_put(f, &e);
}

/* Writes the traffic's streams; @f has an element for each. */
static inline void recordings_make(struct recording *f, const struct traffic_config *c)
{
	struct traffic_record r = {.at_ns = TRAFFIC_EPOCH_NS};
	struct traffic *t = traffic_new(c);

	for (unsigned int i = 0; i < c->nr_streams; i++)
		recording_begin(&f[i], c, i);
	while (traffic_next(t, &r))
		recording_add(&f[r.stream], c, &r);
	for (unsigned int i = 0; i < c->nr_streams; i++) {
		struct stream_event e = {.type = STREAM_END};

		e.end.clock = recording_clock(&f[i], &c->stream[i], r.at_ns);
		recording_put(&f[i], &e);
		stream_writer_free(f[i].w);
	}
	traffic_free(t);
}

static inline void recordings_free(struct recording *f, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		close(f[i].fd);
}

static inline void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

#endif /* NTPROF_CLI_RECORDINGS_H */
