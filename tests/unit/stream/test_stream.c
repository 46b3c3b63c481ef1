// SPDX-License-Identifier: GPL-2.0-only
/*
 * The framed stream: every event is read as it was written, whatever it contains and however it is
 * transported.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <time.h>
#include <sys/wait.h>

#include "core/names.h"
#include "in_range.h"
#include "streams.h"

#define MANY_RECORDS 100000

/*
 * A record of typical mixed I/O: 4 queues, and reads, inline writes and R2T writes of a few sizes.
 */
static struct stream_event typical_record(enum nt_side side, uint64_t *now)
{
	static const uint16_t passes[NT_SIDES][NT_SHAPES_NR] = {
		[NT_HOST] = {0xf0f, 0xd0f, 0xdff, 0xd0f},
		[NT_TARGET] = {0x3c3, 0x3c3, 0x3ff, 0x3c3},
	};
	static const uint8_t shapes[] = {NT_SHAPE_READ, NT_SHAPE_READ, NT_SHAPE_INLINE_WRITE,
					 NT_SHAPE_R2T_WRITE};
	static const uint32_t kib[] = {4, 4, 8, 16, 64, 128};
	struct stream_event e = {.type = STREAM_RECORD};
	struct nt_record *r = &e.record;
	uint64_t t;

	r->side = side;
	r->shape = shapes[random64() % 4];
	r->op = r->shape == NT_SHAPE_READ ? NT_OP_READ : NT_OP_WRITE;
	r->opcode = r->op == NT_OP_READ ? 2 : 1;
	r->cid = random64();
	r->qid = 1 + random64() % 4;
	r->cntlid = 1;
	r->slot = r->qid;
	r->gen = 1;
	r->nsid = 1;
	r->length = (r->shape == NT_SHAPE_INLINE_WRITE ? 4 : kib[random64() % 6]) << 10;
	r->slba = (random64() % (1ULL << 33)) & ~7ULL;
	*now += random64() % 20000;
	t = *now;
	for (int i = NT_POINTS_MAX - 1; i >= 0; i--) {
		if (!(passes[side][r->shape] >> i & 1))
			continue;
		r->points[i] = t;
		/*
		 * From a microsecond to a millisecond; each order of magnitude is equally likely.
		 */
		t -= 1000 + random64() % (1000ULL << random64() % 11);
	}
	return e;
}

static void every_type_of_event_comes_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e, record = random_record();
	const struct stream_event burst = {.type = STREAM_BURST,
					   .burst = {.began_ns = 1ULL << 40, .ended_ns = ~0ULL}};

	const struct stream_event origin = {.type = STREAM_ORIGIN,
					    .origin = {.number = 4094,
						       .cpu = 511,
						       .cgroup = "/a/b",
						       .pid = 1u << 22,
						       .comm = "[0123456789abcde]"}};
	const struct stream_event device = {.type = STREAM_DEVICE,
					    .device = {.subsysnqn = "nqn.a",
						       .instance = DEVICE_ANY_INSTANCE,
						       .nsid = 7,
						       .name = "/dev/sda",
						       .block_bytes = 4096,
						       .disk = "sda"}};
	const struct stream_event disk = {.type = STREAM_DISK,
					  .disk = {.from_ns = 1ULL << 40,
						   .to_ns = 1ULL << 41,
						   .disk = "nvme0c1n1",
						   .user = DISK_OTHERS,
						   .who = "/a/b",
						   .requests = 1ULL << 33,
						   .bytes = 1ULL << 45,
						   .ns = ~0ULL}};
	const struct stream_event path = {.type = STREAM_PATH,
					  .path = {.ns = 1ULL << 50,
						   .instance = 70000,
						   .kind = NT_PATH_ANA,
						   .state = 0xffff,
						   .attempts = 600000,
						   .queues = 129,
						   .group = UINT32_MAX,
						   .cntlid = 65535,
						   .qid = 3,
						   .cid = 0x1234,
						   .opcode = 0x18,
						   .subsysnqn = "nqn.b"}};

	must_write(w, clock_event());
	must_write(w, queue_event());
	must_write(w, origin);
	must_write(w, device);
	must_write(w, path);
	must_write(w, disk);
	must_write(w, record);
	must_write(w, burst);
	must_write(w, losses_event());
	must_write(w, end_event(12345));
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	assert_int_equal(stream_offset(r), PREAMBLE);
	must_read(r, clock_event());
	must_read(r, queue_event());
	must_read(r, origin);
	must_read(r, device);
	must_read(r, path);
	must_read(r, disk);
	must_read(r, record);
	must_read(r, burst);
	must_read(r, losses_event());
	/* The writer has counted the records by itself. */
	must_read(r, end_event(1));
	assert_int_equal(stream_read(r, &e), 0);
	assert_int_equal(stream_read(r, &e), 0);
	assert_string_equal(stream_error(r), "");
	assert_int_equal(stream_skipped(r), 0);
	reader_done(r, fd);
}

/* Finer points are in frames of their own: of some records of a frame, of none, of all. */
static void finer_points_come_back_with_their_records(void **state)
{
	enum { SOME = 20000 };
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_event e, *all = calloc(SOME, sizeof(*all));
	struct stream_reader *r;
	uint64_t now = 1ULL << 40;

	assert_non_null(all);
	for (unsigned int i = 0; i < SOME; i++) {
		all[i] = typical_record(NT_TARGET, &now);
		for (unsigned int k = 0; i >= 5000 && k < NT_FINE_MAX; k++)
			if (i >= 10000 || !(random64() % 3))
				all[i].record.fine[k] = (uint32_t)random64() >> random64() % 30;
		for (unsigned int k = 0; i >= 7000 && k < NT_FINE_MAX; k++)
			if (random64() % 3)
				all[i].record.seq[k] = (uint32_t)random64();
		for (unsigned int k = 0; i >= 9000 && k < NT_WAITS_NR; k++)
			if (random64() % 3)
				all[i].record.wait[k] = (uint32_t)random64();
		for (unsigned int k = 0; (i >= 3000 && i < 6000) || i >= 13000; k++) {
			if (k == NT_CPUS_MAX)
				break;
			if (random64() % 3)
				all[i].record.cpu[k] = (uint16_t)random64();
		}
		/* Points of a disk lie between others, behind which they are written. */
		for (unsigned int k = NT_TD_ISSUE; i >= 11000 && k < NT_DISK_POINTS_END; k++)
			if (random64() % 3)
				all[i].record.points[k] =
					all[i].record.points[NT_T_DONE] - random64() % 100000;
		must_write(w, all[i]);
		/* A frame without any lies between two. */
		if (i == 12000)
			must_write(w, clock_event());
	}
	must_write(w, end_event(0));
	assert_int_equal(stream_records(w), SOME);
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	for (unsigned int i = 0; i < SOME; i++) {
		if (i == 12001)
			must_read(r, clock_event());
		assert_int_equal(stream_read(r, &e), 1);
		assert_int_equal(e.type, STREAM_RECORD);
		assert_memory_equal(e.record.fine, all[i].record.fine, sizeof(e.record.fine));
		assert_memory_equal(e.record.seq, all[i].record.seq, sizeof(e.record.seq));
		assert_memory_equal(e.record.cpu, all[i].record.cpu, sizeof(e.record.cpu));
		assert_memory_equal(e.record.wait, all[i].record.wait, sizeof(e.record.wait));
		assert_memory_equal(e.record.points, all[i].record.points, sizeof(e.record.points));
	}
	must_read(r, end_event(SOME));
	assert_int_equal(stream_skipped(r), 0);
	free(all);
	reader_done(r, fd);
}

static void records_of_any_values_come_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e;

	random_state = 2;
	for (unsigned int i = 0; i < MANY_RECORDS; i++)
		must_write(w, random_record());
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	random_state = 2;
	for (unsigned int i = 0; i < MANY_RECORDS; i++)
		must_read(r, random_record());
	assert_int_equal(stream_read(r, &e), 1);
	assert_int_equal(stream_read(r, &e), 0);
	reader_done(r, fd);
}

/* The times of the records behind it are relative to those before it. */
static void a_record_without_times_comes_back_between_others(void **state)
{
	struct stream_event e[3] = {random_record(), random_record(), random_record()};
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++) {
		e[0].record.points[i] = 1000000000000 + i;
		e[1].record.points[i] = 0;
		e[2].record.points[i] = 1000000001000 + i;
	}
	for (unsigned int i = 0; i < 3; i++)
		must_write(w, e[i]);
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	for (unsigned int i = 0; i < 3; i++)
		must_read(r, e[i]);
	reader_done(r, fd);
}

static void records_of_many_connections_and_kinds_come_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e = {.type = STREAM_RECORD, .record.side = NT_TARGET};

	for (unsigned int i = 0; i < MANY_RECORDS; i++) {
		e.record.slot = i % 5000;
		e.record.length = i % 1500;
		must_write(w, e);
	}
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	for (unsigned int i = 0; i < MANY_RECORDS; i++) {
		e.record.slot = i % 5000;
		e.record.length = i % 1500;
		must_read(r, e);
	}
	must_fail(r, -ENODATA);
	reader_done(r, fd);
}

static void a_typical_record_takes_at_most_45_bytes(void **state)
{
	for (enum nt_side side = 0; side < NT_SIDES; side++) {
		struct stream_header h = header;
		int fd = file_make();
		struct stream_writer *w;
		uint64_t now = 1000000000000;

		h.side = side;
		w = stream_writer_new(fd, &h);
		random_state = 3;
		for (unsigned int i = 0; i < MANY_RECORDS; i++)
			must_write(w, typical_record(side, &now));
		assert_int_equal(stream_flush(w), 0);
		print_message("# %s: %.1f bytes per record\n", side_name(side),
			      (double)stream_bytes(w) / MANY_RECORDS);
		assert_true(stream_bytes(w) <= 45ULL * MANY_RECORDS);
		stream_writer_free(w);
		close(fd);
	}
}

static void a_frame_of_records_has_at_most_64_kib(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct bytes b;

	for (unsigned int i = 0; i < 10000; i++)
		must_write(w, random_record());
	stream_writer_free(w);
	b = file_bytes(fd);
	for (size_t at = PREAMBLE; at < b.n; at = frame_next(&b, at))
		assert_true(frame_next(&b, at) - at <= 64 << 10);
	free(b.p);
	close(fd);
}

static void what_is_not_flushed_is_not_written(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	off_t before = lseek(fd, 0, SEEK_CUR);

	must_write(w, random_record());
	assert_int_equal(lseek(fd, 0, SEEK_CUR), before);
	assert_true(stream_bytes(w) > (uint64_t)before);
	assert_int_equal(stream_flush(w), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), stream_bytes(w));
	stream_writer_free(w);
	close(fd);
}

static void a_slow_pipe_gives_eagain_and_then_everything(void **state)
{
	struct bytes b = small_stream();
	struct stream_event e;
	struct stream_reader *r;
	unsigned int events = 0, all;
	int p[2], ret;

	all = count_events(b.p, b.n, &ret);
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	r = stream_reader_new(p[0]);
	for (size_t i = 0; i < b.n; i++) {
		assert_int_equal(stream_read(r, &e), -EAGAIN);
		assert_int_equal(write(p[1], b.p + i, 1), 1);
		while (i + 1 < b.n && (ret = stream_read(r, &e)) == 1)
			events++;
	}
	assert_int_equal(stream_read(r, &e), 1);
	assert_int_equal(e.type, STREAM_END);
	assert_int_equal(events + 1, all);
	/* While the other end is open, more may come. */
	assert_int_equal(stream_read(r, &e), -EAGAIN);
	close(p[1]);
	assert_int_equal(stream_read(r, &e), 0);
	stream_reader_free(r);
	close(p[0]);
	free(b.p);
}

static void a_full_pipe_is_waited_for(void **state)
{
	struct stream_event e;
	struct stream_reader *r;
	pid_t child;
	int p[2], status;

	assert_int_equal(pipe(p), 0);
	child = fork();
	assert_true(child >= 0);
	random_state = 4;
	if (!child) {
		struct stream_writer *w;
		int bad = 0;

		close(p[0]);
		fcntl(p[1], F_SETFL, O_NONBLOCK);
		w = stream_writer_new(p[1], &header);
		for (unsigned int i = 0; i < 20000; i++) {
			e = random_record();
			bad |= stream_write(w, &e);
		}
		e = end_event(0);
		bad |= stream_write(w, &e);
		stream_writer_free(w);
		_exit(!!bad);
	}
	close(p[1]);
	r = stream_reader_new(p[0]);
	must_read(r, header_event());
	for (unsigned int i = 0; i < 20000; i++)
		must_read(r, random_record());
	must_read(r, end_event(20000));
	assert_int_equal(stream_read(r, &e), 0);
	stream_reader_free(r);
	close(p[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void after_an_error_nothing_is_written(void **state)
{
	int fd = open("/dev/full", O_WRONLY), file = file_make();
	struct stream_event e = random_record();
	struct stream_writer *w;
	off_t size;

	assert_null(stream_writer_new(fd, &header));
	assert_int_equal(errno, ENOSPC);
	close(fd);
	w = writer_make(file);
	e.record.side = NT_HOST;
	size = lseek(file, 0, SEEK_CUR);
	assert_int_equal(stream_write(w, &e), -EINVAL);
	e.record.side = NT_TARGET;
	assert_int_equal(stream_write(w, &e), -EINVAL);
	assert_int_equal(stream_flush(w), -EINVAL);
	assert_int_equal(lseek(file, 0, SEEK_CUR), size);
	stream_writer_free(w);
	close(file);
}

static void nothing_is_written_after_the_end(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_event e = random_record();

	must_write(w, end_event(0));
	assert_int_equal(stream_write(w, &e), -EINVAL);
	stream_writer_free(w);
	close(fd);
}

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* mallinfo2() does not see the heap of a sanitizer, so with one this checks nothing. */
static void readers_of_many_streams_take_little(void **state)
{
	enum { READERS = 256, EACH = 160 << 10 };
	struct stream_reader *r[READERS];
	int fd = file_make(), fds[READERS];
	struct stream_writer *w = writer_make(fd);
	struct stream_event e;
	struct bytes b;
	size_t before;

	for (unsigned int i = 0; i < MANY_RECORDS / 10; i++)
		must_write(w, random_record());
	stream_writer_free(w);
	b = file_bytes(fd);
	before = heap();
	for (unsigned int i = 0; i < READERS; i++) {
		r[i] = reader_of(b.p, b.n, &fds[i]);
		while (stream_read(r[i], &e) == 1)
			;
	}
	assert_uint_in_range(heap() - before, 0, READERS * EACH);
	for (unsigned int i = 0; i < READERS; i++)
		reader_done(r[i], fds[i]);
	free(b.p);
	close(fd);
}

static void a_failing_read_is_told(void **state)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct stream_reader *r = stream_reader_new(fd);

	must_fail(r, -EISDIR);
	reader_done(r, fd);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Not a test: `test_stream speed` prints records per second. */
static int speed(void)
{
	enum { RECORDS = 4000000 };
	struct stream_event *e = malloc(sizeof(*e) * 4096), got;
	int fd = file_make();
	struct stream_header h = header;
	struct stream_writer *w;
	struct stream_reader *r;
	uint64_t now = 1000000000000, records = 0;
	double begin;

	h.side = NT_HOST;
	for (unsigned int i = 0; i < 4096; i++)
		e[i] = typical_record(NT_HOST, &now);
	w = stream_writer_new(fd, &h);
	begin = seconds();
	for (unsigned int i = 0; i < RECORDS; i++)
		stream_write(w, &e[i % 4096]);
	stream_write(w, &(struct stream_event){.type = STREAM_END});
	printf("written: %.1f M records/s, %.1f bytes per record\n",
	       RECORDS / (seconds() - begin) / 1e6, (double)stream_bytes(w) / RECORDS);
	stream_writer_free(w);
	for (unsigned int round = 0; round < 3; round++) {
		lseek(fd, 0, SEEK_SET);
		r = stream_reader_new(fd);
		records = 0;
		begin = seconds();
		while (stream_read(r, &got) == 1)
			records += got.type == STREAM_RECORD;
		printf("read: %.1f M records/s\n", records / (seconds() - begin) / 1e6);
		stream_reader_free(r);
	}
	close(fd);
	free(e);
	return records != RECORDS;
}
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_of_event_comes_back),
		cmocka_unit_test(finer_points_come_back_with_their_records),
		cmocka_unit_test(records_of_any_values_come_back),
		cmocka_unit_test(a_record_without_times_comes_back_between_others),
		cmocka_unit_test(records_of_many_connections_and_kinds_come_back),
		cmocka_unit_test(a_typical_record_takes_at_most_45_bytes),
		cmocka_unit_test(a_frame_of_records_has_at_most_64_kib),
		cmocka_unit_test(what_is_not_flushed_is_not_written),
		cmocka_unit_test(a_slow_pipe_gives_eagain_and_then_everything),
		cmocka_unit_test(a_full_pipe_is_waited_for),
		cmocka_unit_test(after_an_error_nothing_is_written),
		cmocka_unit_test(nothing_is_written_after_the_end),
		cmocka_unit_test(readers_of_many_streams_take_little),
		cmocka_unit_test(a_failing_read_is_told),
	};

	if (argc > 1 && !strcmp(argv[1], "speed"))
		return speed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
