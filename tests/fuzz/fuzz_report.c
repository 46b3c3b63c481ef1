// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for report with its options: an input is texts such as "where=latency>1ms", each
 * with a 0 behind it, an empty one, and then a play (scenario.h), whose streams are the files.
 * Besides what the sanitizers see, it asserts that:
 *  - options are refused with a message, or taken;
 *  - the output has only what text, JSON or CSV may have: visible characters, and no numbers
 * that are none.
 */
#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sysexits.h>
#include <unistd.h>

#include "asserts.h"
#include "cli/verbs.h"
#include "core/counters.h"
#include "core/array.h"
#include "real_read.h"
#include "scenario.h"
#include "seen.h"
#include "stream/writer.h"

#define OPTIONS_MAX 8
/* Longer than any option that is taken. */
#define OPTION_LEN 512
/* The places that a stream names as origins of its commands. */
#define ORIGINS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The linker puts it in the place of exit(), by which an option is refused. */
void __wrap_exit(int status) __attribute__((noreturn));
void __real_exit(int status) __attribute__((noreturn));

const char *__asan_default_options(void);

/* A refused option ends the program, which releases nothing then. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static struct scenario play;
static jmp_buf refused;
static size_t printed;
static FILE *messages;
/* An option has a text that is looked for, and is shown again. */
static bool numbers_in_options;
/* Those that are taken. */
static char option[OPTIONS_MAX][OPTION_LEN];
static unsigned int nr_options;
static bool is_running;

void __wrap_exit(int status)
{
	/* The fuzzer's own. */
	if (!is_running)
		__real_exit(status);
	ASSERT(status == EX_USAGE);
	longjmp(refused, 1);
}

static struct stream_event event_of(const struct scenario_event *e)
{
	struct stream_event s = {.type = e->type};

	switch (e->type) {
	case STREAM_QUEUE:
		s.queue = scenario_queue_info(&e->queue, play.stream[e->stream].side);
		if (e->queue.slot % 3)
			s.queue.ends = (struct queue_ends){"192.0.2.1", "192.0.2.2", 7, 4420};
		break;
	case STREAM_RECORD:
		s.record = e->record;
		s.record.flags &= NT_F_NO_CQE | NT_F_CANCELLED;
		s.record.fine[0] = s.record.cid % 3 ? s.record.cid + 1u : 0;
		s.record.fine[1] = s.record.cid % 5 ? UINT32_MAX - s.record.cid : 0;
		s.record.seq[0] = s.record.fine[1];
		s.record.seq[1] = s.record.fine[0];
		for (unsigned int i = 0; i < NT_WAITS_NR; i++)
			s.record.wait[i] = s.record.cid % (5 + i) ? s.record.cid << i : 0;
		if (s.record.side == NT_TARGET)
			s.record.disk = NT_DISK_COMMAND(1, s.record.cid);
		for (unsigned int i = 0; i < NT_CPUS_MAX; i++)
			s.record.cpu[i] = s.record.cid % (3 + i) ? (__u16)(s.record.cid * i) : 0;
		/* One more origin than there are. */
		s.record.flags |= (s.record.cid % (ORIGINS + 2)) << NT_F_ORIGIN_SHIFT;
		if (s.record.cid % 16 == 9)
			s.record.status = 0x281;
		break;
	case STREAM_CLOCK:
		s.clock = (struct instant){.monotonic_ns = e->number, .realtime_ns = INT64_MAX};
		break;
	case STREAM_LOSSES:
		s.losses.count[e->number % COUNTERS_NR] = e->number;
		break;
	default:
		ASSERT(!"one of the stream's");
	}
	return s;
}

/* Where commands come from and go to, as a recorder tells before the first of them; every third
 * stream was in bursts. */
static void write_places(struct stream_writer *w, unsigned int stream)
{
	static const char *const cgroups[ORIGINS] = {"/a", "/a/b\x1b[2J", "=\"x\",'y"};
	static const char *const devices[] = {"nvme0n1", "=nvme\xe2\x80\xae,\"1"};
	struct stream_event e = {.type = STREAM_ORIGIN};

	for (uint16_t i = 0; i < ORIGINS; i++) {
		e.origin = (struct origin){.number = i + 1, .cpu = i ? i : ORIGIN_NO_CPU};
		strcpy(e.origin.cgroup, cgroups[i]);
		strcpy(e.origin.comm, cgroups[ORIGINS - 1 - i]);
		e.origin.pid = i;
		ASSERT(!stream_write(w, &e));
	}
	e.type = STREAM_DEVICE;
	for (unsigned int i = 0; i < ARRAY_SIZE(devices); i++) {
		e.device = (struct device_name){.nsid = 1,
						.instance = i ? DEVICE_ANY_INSTANCE : 0,
						.subsysnqn = "nqn.2024-01.org.example:a"};
		strcpy(e.device.name, devices[i]);
		strcpy(e.device.disk, devices[i]);
		ASSERT(!stream_write(w, &e));
	}
	for (uint16_t i = 0; i < NT_PATH_KINDS_NR + 2; i++) {
		e = (struct stream_event){.type = STREAM_PATH,
					  .path = {.ns = (uint64_t)i << 30,
						   .kind = i,
						   .state = i * 3u,
						   .instance = UINT32_MAX * (i & 1),
						   .subsysnqn = "\x1b[2J=\"x\",'y"}};
		ASSERT(!stream_write(w, &e));
	}
	for (uint32_t i = 0; i < 8; i++) {
		e = (struct stream_event){
			.type = STREAM_RESENT,
			.resent = {.slot = i % 3, .gen = 1, .ns = (uint64_t)i << 9}};
		ASSERT(!stream_write(w, &e));
		e = (struct stream_event){.type = STREAM_TCP,
					  .tcp = {.slot = i % 3,
						  .gen = 1,
						  .ns = (uint64_t)i << 9,
						  .state = {.srtt_us = i << 28,
							    .snd_cwnd = i % 4,
							    .unacked = i,
							    .notsent = UINT32_MAX * (i & 1),
							    .total_retrans = 7 - i,
							    .jiffies = i % 5,
							    .rwnd_limited = i,
							    .congestion = "=\x1b[2J\"'"}}};
		ASSERT(!stream_write(w, &e));
	}
	/* Of intervals that follow each other, that overlap, and that end before they begin. */
	for (uint32_t i = 0; i < 4 * (DISK_USERS_NR + 1); i++) {
		e = (struct stream_event){.type = STREAM_DISK,
					  .disk = {.from_ns = (uint64_t)i << 24,
						   .to_ns = (uint64_t)(i ^ 3) << 26,
						   .requests = i % 3,
						   .bytes = UINT64_MAX * (i & 1),
						   .ns = UINT64_MAX >> i,
						   .user = (uint16_t)(i / 4)}};
		strcpy(e.disk.disk, devices[i % 2]);
		strcpy(e.disk.who, cgroups[i % ORIGINS]);
		ASSERT(!stream_write(w, &e));
	}
	e = (struct stream_event){.type = STREAM_BURST, .burst = {1000, 1000000000000}};
	if (stream % 3 == 2)
		ASSERT(!stream_write(w, &e));
}

/* Of the recording afterwards: some commands take longer, and some are not there. */
static bool is_later(struct nt_record *r)
{
	if (r->side == NT_HOST && r->points[NT_H_COMPLETE])
		r->points[NT_H_COMPLETE] += (uint64_t)(r->cid % 4) << 20;
	return r->cid % 8 != 7;
}

/*
 * Writes what happens to a stream into @fd. Those of odd numbers break off. @later: as it is in
 * another recording, to be compared with
 */
static void write_stream(int fd, unsigned int stream, bool later)
{
	struct stream_header h = {.side = play.stream[stream].side,
				  .source = "stock",
				  .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				  .hostname = "m\xc3\xa9\x1b[31m",
				  .kernel = "6.1.0\n",
				  .program = "0.1.0",
				  .origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK,
				  .sample = stream};
	struct stream_writer *w;

	ASSERT(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	w = stream_writer_new(fd, &h);
	ASSERT(w);
	write_places(w, stream);
	for (unsigned int i = 0; i < play.nr_events; i++) {
		const struct scenario_event *e = &play.event[play.order[i]];

		if (e->stream == stream && e->type != SCENARIO_EXPIRE) {
			struct stream_event s = event_of(e);

			if (!later || s.type != STREAM_RECORD || is_later(&s.record))
				ASSERT(!stream_write(w, &s));
		}
	}
	if (stream % 2) {
		ASSERT(!stream_flush(w));
	} else {
		struct stream_event end = {.type = STREAM_END};

		ASSERT(!stream_write(w, &end));
	}
	stream_writer_free(w);
}

/* What report prints passes by, and is forgotten. */
static ssize_t check_output(void *context, const char *text, size_t n)
{
	FILE *err = stderr;

	/* Messages about failures go there. */
	stderr = messages;
	printed += n;
	seen_check(text, n);
	ASSERT(numbers_in_options || (!memmem(text, n, "nan", 3) && !memmem(text, n, "inf ", 4)));
	stderr = err;
	return (ssize_t)n;
}

static FILE *output_get(void)
{
	const cookie_io_functions_t functions = {.write = check_output};
	static char buffer[1 << 23];
	FILE *f = fopencookie(NULL, "w", functions);

	ASSERT(f);
	/* Standard error has none, and a character may lie across the end of one: it is flushed
	 * with each line. */
	setvbuf(f, buffer, _IOLBF, sizeof(buffer));
	return f;
}

/* Options that read or end something else are not among them. */
static bool is_known(const char *text)
{
	static const char *const with[] = {
		"where",       "time",	      "by",	      "every",
		"stats",       "min-latency", "bucket-shift", "network-limit",
		"drive-limit", "slowest",     "slower",	      "ctrl",
		"nqn",	       "hostnqn",     "nsid",	      "queue",
		"op",	       "size",	      "lba",	      "device",
		"cgroup",      "format",      "tolerance",    "max-inflight",
		"pid",	       "comm",	      "size-classes", "pcap-filter",
		"fio-device",  "fio-pace",    "fio-scale",    "fio-block"};
	static const char *const without[] = {"commands", "detail", "failed", "compare",
					      "verbose",  "why",    "tcp",    "fio-write"};
	size_t length = strcspn(text, "=");

	for (size_t i = 0; text[length] && i < ARRAY_SIZE(with); i++)
		if (length == strlen(with[i]) && !memcmp(text, with[i], length))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		if (!strcmp(text, without[i]))
			return true;
	return false;
}

/* Return: where the play begins. */
static size_t take_options(const uint8_t *data, size_t size)
{
	size_t at = 0;

	nr_options = 0;
	numbers_in_options = memmem(data, size, "nan", 3) || memmem(data, size, "inf", 3);
	while (at < size && data[at]) {
		const char *text = (const char *)data + at;
		size_t length = strnlen(text, size - at);

		at += length + 1;
		if (length + 3 > OPTION_LEN || nr_options == OPTIONS_MAX || at > size)
			continue;
		snprintf(option[nr_options], OPTION_LEN, "--%.*s", (int)length, text);
		if (is_known(option[nr_options] + 2))
			nr_options++;
	}
	return at < size ? at + 1 : size;
}

/* A folder for what fio replays, which is there as long as the fuzzer. */
static char iolog[64] = "--fio-iolog=/tmp/fuzz-report.XXXXXX";

static void iolog_remove(void)
{
	char command[96];

	snprintf(command, sizeof(command), "exec rm -r %s", strchr(iolog, '/'));
	if (system(command))
		perror(command);
}

static void iolog_make(void)
{
	static bool is_made;

	if (is_made)
		return;
	ASSERT(mkdtemp(strchr(iolog, '/')));
	atexit(iolog_remove);
	is_made = true;
}

static void report_files(void)
{
	static char path[2 * SCENARIO_STREAMS][32], verb[] = "report";
	static char files[][24] = {"--html=/dev/null", "--perfetto=/dev/null",
				   "--fio-job=/dev/null"};
	char *argv[4 + OPTIONS_MAX + ARRAY_SIZE(files) + ARRAY_SIZE(path)] = {verb};
	static char between[] = "--";
	static int fd[ARRAY_SIZE(path)];
	static FILE *output;
	FILE *out = stdout, *err = stderr;
	int status, argc = 1;
	bool compares = false, replays = false;

	if (!output)
		output = output_get();
	messages = err;
	for (unsigned int i = 0; i < nr_options; i++)
		argv[argc++] = option[i];
	for (unsigned int i = 0; i < nr_options; i++)
		compares |= !strcmp(option[i], "--compare");
	for (unsigned int i = 0; i < nr_options; i++)
		replays |= !strncmp(option[i], "--fio-", strlen("--fio-"));
	if (replays) {
		iolog_make();
		argv[argc++] = iolog;
	}
	/* These take a while, so not each time. */
	for (unsigned int i = 0; !nr_options && i < ARRAY_SIZE(files); i++)
		argv[argc++] = files[i];
	for (unsigned int i = 0; i < (compares ? 2 : 1) * play.nr_streams; i++) {
		if (!path[i][0]) {
			fd[i] = memfd_create("stream", MFD_CLOEXEC);
			ASSERT(fd[i] >= 0);
			snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", fd[i]);
		}
		write_stream(fd[i], i % play.nr_streams, i >= play.nr_streams);
		if (i == play.nr_streams)
			argv[argc++] = between;
		argv[argc++] = path[i];
	}
	printed = 0;
	stdout = stderr = output;
	is_running = true;
	status = setjmp(refused) ? EX_USAGE : verb_report.main(argc, argv);
	is_running = false;
	fflush(output);
	stdout = out;
	stderr = err;
	/* 2: a comparison says nothing. */
	ASSERT(printed && (status == EXIT_SUCCESS || status == EXIT_FAILURE || status == EX_USAGE ||
			   (compares && status == 2)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = take_options(data, size);

	scenario_make(&play, data + at, size - at);
	report_files();
	return 0;
}
