// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_corpus DIRECTORY - writes the seeds of the fuzzer, the same ones every time. To be run again
 * (tests/fuzz/run --make-corpus) when the format of the stream changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "core/names.h"
#include "stream/codec.h"
#include "stream/writer.h"

static void die(const char *what)
{
	fprintf(stderr, "make_corpus: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct stream_writer *begin(int *fd, const char *name, enum nt_side side)
{
	struct stream_header h = {.side = side,
				  .source = "tracepoints",
				  .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				  .hostname = "machine",
				  .kernel = "6.1.0",
				  .program = "0.1.0",
				  .missing = 1u << (side == NT_HOST ? NT_H_SEND_CMD : NT_T_DONE)};
	struct stream_writer *w;

	*fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (*fd < 0)
		die(name);
	w = stream_writer_new(*fd, &h);
	if (!w)
		die(name);
	return w;
}

static void append(struct stream_writer *w, struct stream_event e)
{
	if (stream_write(w, &e))
		die("stream_write");
}

static void append_queue(struct stream_writer *w, unsigned int qid)
{
	append(w, (struct stream_event){.type = STREAM_QUEUE,
					.queue = {.slot = qid,
						  .gen = 1,
						  .cntlid = 1,
						  .qid = qid,
						  .sqsize = 127,
						  .subsysnqn = "nqn.2024-01.org.example:disk",
						  .hostnqn = "nqn.2024-01.org.example:host",
						  .address = "traddr=10.0.0.1,trsvcid=4420"}});
}

static void append_clock(struct stream_writer *w)
{
	append(w, (struct stream_event){.type = STREAM_CLOCK,
					.clock = {.monotonic_ns = 1000000000,
						  .realtime_ns = 1700000000000000000}});
}

/* Every shape in turn; each length of a number occurs. */
static void append_records(struct stream_writer *w, enum nt_side side, unsigned int nr)
{
	for (unsigned int n = 0; n < nr; n++) {
		struct stream_event e = {.type = STREAM_RECORD,
					 .record = {.side = side,
						    .op = n % NT_OPS_NR,
						    .opcode = 1 + n % 2,
						    .shape = n % NT_SHAPES_NR,
						    .cid = n,
						    .status = n % 16 ? 0 : 0x4002,
						    .qid = 1 + n % 3,
						    .cntlid = 1,
						    .slot = 1 + n % 3,
						    .gen = 1,
						    .nsid = 1,
						    .length = n % 5 * 4096,
						    .slba = n % 4 ? 0x10ULL << n % 48 : 0}};

		for (unsigned int i = 0; i < points_nr(side); i++)
			if ((n + i) % 7)
				e.record.points[i] = 1000000000 + n * 100000ULL + (i << n % 25);
		append(w, e);
	}
}

static void append_end(struct stream_writer *w)
{
	append(w, (struct stream_event){.type = STREAM_END,
					.end = {.clock = {.monotonic_ns = 2000000000},
						.losses = {.count = {1, 2, 3}, .unknown = 4}}});
}

static void finish(struct stream_writer *w, int fd)
{
	if (stream_flush(w) || close(fd))
		die("writing");
	stream_writer_free(w);
}

static void make_whole(const char *name, enum nt_side side, unsigned int records)
{
	struct stream_writer *w;
	int fd;

	w = begin(&fd, name, side);
	append_clock(w);
	for (unsigned int qid = 1; qid <= 3; qid++)
		append_queue(w, qid);
	append_records(w, side, records);
	append(w, (struct stream_event){.type = STREAM_LOSSES, .losses = {.count = {0, 7}}});
	append(w, (struct stream_event){.type = STREAM_ORIGIN,
					.origin = {.number = 1, .cpu = 3, .cgroup = "/a/b"}});
	append(w, (struct stream_event){.type = STREAM_DEVICE,
					.device = {.subsysnqn = "nqn.2024-01.org.example:disk",
						   .instance = 0,
						   .nsid = 1,
						   .name = "nvme0n1",
						   .disk = "nvme0n1"}});
	append(w, (struct stream_event){.type = STREAM_DISK,
					.disk = {.from_ns = 1400000000,
						 .to_ns = 1600000000,
						 .disk = "nvme0c0n1",
						 .user = DISK_CGROUP,
						 .who = "/a",
						 .requests = 3,
						 .ns = 90000000}});
	append(w, (struct stream_event){.type = STREAM_PATH,
					.path = {.ns = 1500000000,
						 .state = NT_PATH_CONNECTING,
						 .subsysnqn = "nqn.2024-01.org.example:disk"}});
	append(w, (struct stream_event){.type = STREAM_RESENT,
					.resent = {.slot = 1, .gen = 1, .ns = 1500000000}});
	append(w, (struct stream_event){.type = STREAM_TCP,
					.tcp = {.slot = 1,
						.gen = 1,
						.ns = 1600000000,
						.state = {.snd_cwnd = 10, .congestion = "cubic"}}});
	append(w, (struct stream_event){.type = STREAM_BURST,
					.burst = {.began_ns = 1000000000, .ended_ns = 2000000000}});
	append_records(w, side, 3);
	append_end(w);
	finish(w, fd);
}

static void make_empty(const char *name)
{
	int fd;
	struct stream_writer *w = begin(&fd, name, NT_HOST);

	append_end(w);
	finish(w, fd);
}

static void make_cut(const char *name)
{
	int fd;
	struct stream_writer *w = begin(&fd, name, NT_HOST);

	append_clock(w);
	append_records(w, NT_HOST, 30);
	if (stream_flush(w) || ftruncate(fd, stream_bytes(w) - 100))
		die(name);
	finish(w, fd);
}

/* The longest strings, and no byte of 0: a length that is changed finds what to read. */
static void make_full(const char *name)
{
	struct stream_event e = {.type = STREAM_QUEUE}, l = {.type = STREAM_LOSSES};
	int fd;
	struct stream_writer *w = begin(&fd, name, NT_HOST);

	memset(e.queue.subsysnqn, 's', sizeof(e.queue.subsysnqn) - 1);
	memset(e.queue.hostnqn, 'h', sizeof(e.queue.hostnqn) - 1);
	memset(e.queue.address, 'a', sizeof(e.queue.address) - 1);
	append(w, e);
	memset(&l.losses, 0x11, sizeof(l.losses));
	append(w, l);
	append_end(w);
	finish(w, fd);
}

/* What a frame has behind its head gets @more bytes, or fewer; its checksums are right again. */
static size_t frame_resize(uint8_t *bytes, size_t n, size_t at, int more)
{
	uint32_t len = get_le32(bytes + at);
	size_t end = at + FRAME_HEAD_LEN + len;

	memmove(bytes + end + more, bytes + end, n - end);
	if (more > 0)
		memset(bytes + end, 'm', (size_t)more);
	len += (uint32_t)more;
	put_le32(bytes + at, len);
	put_le32(bytes + at + 12, (uint32_t)crc32(0, bytes + at + FRAME_HEAD_LEN, len));
	put_le32(bytes + at + 16, (uint32_t)crc32(0, bytes + at, FRAME_HEAD_SUMMED));
	return n + (size_t)(ptrdiff_t)more;
}

/* Every frame has fields that this program does not know. */
static size_t to_longer(uint8_t *bytes, size_t n)
{
	for (size_t at = PREAMBLE_LEN; at < n; at += FRAME_HEAD_LEN + get_le32(bytes + at)) {
		if (get_le16(bytes + at + 4) != STREAM_RECORD)
			n = frame_resize(bytes, n, at, 5);
	}
	return n;
}

/* @from, made otherwise */
static void make_other(const char *name, const char *from,
		       size_t (*change)(uint8_t *bytes, size_t n))
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(from, "r");
	size_t n;

	if (!f)
		die(from);
	n = fread(bytes, 1, sizeof(bytes) / 2, f);
	fclose(f);
	n = change(bytes, n);
	f = fopen(name, "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		die(name);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: make_corpus DIRECTORY\n");
		return 1;
	}
	make_whole("host", NT_HOST, 50);
	make_whole("target", NT_TARGET, 50);
	make_whole("few", NT_TARGET, 1);
	make_empty("empty");
	make_cut("cut");
	make_full("full");
	make_other("longer", "target", to_longer);
	return 0;
}
