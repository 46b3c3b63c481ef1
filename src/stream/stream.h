/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of the framed stream that `record` writes and `report` and --peer read: what one
 * side of one machine saw. docs/stream-format.md describes every byte. Types only: stream/writer.h
 * writes them, stream/reader.h reads them.
 */
#ifndef NTPROF_STREAM_STREAM_H
#define NTPROF_STREAM_STREAM_H

#include <stdint.h>

#include "core/counters.h"
#include "core/device.h"
#include "core/disks.h"
#include "core/select.h"
#include "core/time.h"
#include "shared/path_event.h"
#include "shared/record.h"
#include "shared/tcp.h"

/* Largest frame that a writer makes, bytes: some 2,000 records; a reader takes four times that. */
#ifndef STREAM_FRAME_MAX
#define STREAM_FRAME_MAX 65536
#endif
/* Host names and kernel releases: __NEW_UTS_LEN of <linux/utsname.h> and the terminator. */
#define STREAM_NAME_LEN 65

/* The machine and program that recorded. First frame of every stream. */
struct stream_header {
	enum nt_side side;
	char source[16];  /* "tracepoints" */
	char boot_id[37]; /* /proc/sys/kernel/random/boot_id: the same in streams of one clock */
	char hostname[STREAM_NAME_LEN];
	char kernel[STREAM_NAME_LEN];
	char program[32]; /* version of ntprof-bpf that wrote it */
	uint32_t sample;  /* about one command in this many was measured; 0 and 1: every one */
	uint32_t missing; /* bits of the points that no probe gives there, see core/segments.h */
	char selection[SELECT_SAID_LEN]; /* options that selected commands; "": all are in the
					    stream */
	uint8_t origins; /* NT_ORIGIN_*: records have the number of one, see NT_F_ORIGIN_SHIFT */
};

/* Losses so far. The stream has their names, so writer and reader may know different ones. */
struct stream_losses {
	uint64_t count[COUNTERS_NR];
	uint64_t unknown; /* sum of losses with names that this program does not know */
};

/*
 * The times of one burst, CLOCK_MONOTONIC; comes after the records of that time. A stream with
 * bursts was recorded during these only.
 */
struct stream_burst {
	uint64_t began_ns;
	uint64_t ended_ns;
};

/* A burst that ends before it begins has no length: streams are not trusted. */
static inline uint64_t burst_length_ns(const struct stream_burst *b)
{
	return b->ended_ns > b->began_ns ? b->ended_ns - b->began_ns : 0;
}

/* The state of a connection's socket at a time, CLOCK_MONOTONIC. Times and counts are since the
 * beginning of the connection. */
struct stream_tcp {
	uint32_t slot;
	uint32_t gen;
	uint64_t ns;
	struct nt_tcp_state state;
};

/* Last frame of a stream that ended well. */
struct stream_end {
	uint64_t records; /* before this frame; the writer counts them itself */
	struct instant clock;
	struct stream_losses losses;
};

enum stream_type {
	STREAM_HEADER = 1,
	STREAM_CLOCK,
	STREAM_QUEUE,
	STREAM_RECORD, /* many of them share a frame on the wire */
	STREAM_LOSSES,
	STREAM_END,
	STREAM_BURST,
	STREAM_ORIGIN, /* before the first record with that origin */
	STREAM_DEVICE, /* before the first record of the namespace, if the device is known */
	STREAM_PATH,   /* an event of a host's controller, among records of about its time */
	STREAM_TCP = 11,
	STREAM_RESENT, /* TCP sent a segment again */
	STREAM_DISK = 14,
};

/* One event. Valid until the next stream_read() of the same reader. */
struct stream_event {
	enum stream_type type;
	union {
		struct stream_header header;
		struct instant clock;
		struct queue_info queue; /* before its first record, and again when more is known */
		struct nt_record record;
		struct stream_losses losses;
		struct stream_end end;
		struct stream_burst burst;
		struct origin origin;
		struct device_name device;
		struct stream_tcp tcp;
		struct nt_resent resent;
		struct disk_sample disk;
		struct nt_path_event path;
	};
};

#endif /* NTPROF_STREAM_STREAM_H */
