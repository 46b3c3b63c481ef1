// SPDX-License-Identifier: GPL-2.0-only
#include "stream/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"
#include "stream/codec.h"

/* Position in a frame's payload. Fields past its end read as 0, and set @bad. */
struct get {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static const uint8_t *get_bytes(struct get *b, size_t n)
{
	static const uint8_t zero[256];
	const uint8_t *p = b->p;

	if ((size_t)(b->end - p) < n) {
		b->bad = true;
		return zero;
	}
	b->p += n;
	return p;
}

static uint64_t get_number(struct get *b, size_t bytes)
{
	uint8_t le[sizeof(uint64_t)] = {0};

	memcpy(le, get_bytes(b, bytes), bytes);
	return get_le64(le);
}

/* The rest of @s is filled with NUL. */
static void get_text(struct get *b, char *s, size_t size)
{
	size_t n = get_number(b, 1);
	const uint8_t *p = get_bytes(b, n);

	memset(s, 0, size);
	if (n >= size || memchr(p, 0, n))
		b->bad = true;
	else
		memcpy(s, p, n);
}

/* Size of the buffer at first, enough for the frames of all writers so far; and at most. */
#define BUFFER_FIRST STREAM_FRAME_MAX
#define BUFFER_MAX (FRAME_HEAD_LEN + FRAME_PAYLOAD_MAX)
/*
 * The most bytes of unknown frames in a row. They limit the time of one stream_read() to some 50
 * ms, even for endless input.
 */
#define SKIP_MAX (16u << 20)

/* What records have in frames before theirs. */
enum { BESIDE_CPUS, BESIDE_FINE, BESIDES_NR };

static const struct {
	unsigned int type;
	const uint8_t *(*decode)(const uint8_t *p, const uint8_t *end, struct nt_record *r);
} besides[] = {
	[BESIDE_CPUS] = {STREAM_CPUS, cpus_decode},
	[BESIDE_FINE] = {STREAM_FINE, fine_decode},
};

/* @payload: of @size bytes; @next, @stop: what is of records that have not been delivered */
struct beside {
	uint8_t *payload;
	size_t size;
	const uint8_t *next;
	const uint8_t *stop;
};

/*
 * @state: 1 while reading goes on, else what stream_read() returns from now on
 * @buffer: of @buffer_size bytes; it begins at byte @buffer_offset of the stream
 * @begin, @end: bytes in @buffer that have not been consumed
 * @next, @stop: records of the current frame that have not been delivered
 * @beside: the last frame of each of enum beside; @beside_fresh: there was no other frame since
 */
struct stream_reader {
	int fd;
	int state;
	bool begun;
	bool has_header;
	bool ended;
	enum nt_side side;
	uint32_t sequence;
	uint64_t frame_offset;
	uint64_t records;
	uint64_t skipped;
	uint64_t skipped_in_a_row;
	uint64_t longer;
	uint64_t buffer_offset;
	size_t begin;
	size_t end;
	const uint8_t *next;
	const uint8_t *stop;
	struct beside beside[BESIDES_NR];
	bool beside_fresh;
	struct record_decoder decoder;
	char error[192];
	size_t buffer_size;
	uint8_t *buffer;
};

/* One frame as in the stream. */
struct wire_frame {
	uint32_t len;
	uint16_t type;
	const uint8_t *payload;
};

__attribute__((format(printf, 3, 4))) static int fail(struct stream_reader *r, int err,
						      const char *format, ...)
{
	int n = snprintf(r->error, sizeof(r->error), "byte %" PRIu64 ": ", r->frame_offset);
	va_list args;

	va_start(args, format);
	vsnprintf(r->error + n, sizeof(r->error) - n, format, args);
	va_end(args);
	return r->state = err;
}

/* The buffer may move: no pointers into it are kept while more is read. */
static int grow(struct stream_reader *r)
{
	uint8_t *grown = realloc(r->buffer, BUFFER_MAX);

	if (!grown)
		return fail(r, -ENOMEM, "out of memory");
	r->buffer = grown;
	r->buffer_size = BUFFER_MAX;
	return 1;
}

/*
 * Return: 1 when @need bytes are there, 0 at the end of the input, -EAGAIN or an errno of read().
 */
static int fill(struct stream_reader *r, size_t need)
{
	if (need > r->buffer_size && grow(r) < 0)
		return r->state;
	while (r->end - r->begin < need) {
		ssize_t n;

		if (r->begin) {
			memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
			r->buffer_offset += r->begin;
			r->end -= r->begin;
			r->begin = 0;
		}
		n = read(r->fd, r->buffer + r->end, r->buffer_size - r->end);
		if (!n)
			return 0;
		if (n > 0)
			r->end += n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return -EAGAIN;
		else if (errno != EINTR)
			return fail(r, -errno, "cannot read: %s", strerror(errno));
	}
	return 1;
}

static int no_stream(struct stream_reader *r)
{
	/* A terminal leaves the first bytes as they are, but changes the line ends. */
	if (r->end >= 4 && !memcmp(r->buffer, STREAM_MAGIC, 4))
		return fail(r, -EPROTO,
			    "line ends were changed on the way: the stream is binary, and must not "
			    "pass a terminal (ssh -t)");
	return fail(r, -EPROTO, "not a recording of ntprof-bpf");
}

static int read_preamble(struct stream_reader *r)
{
	uint32_t version;
	int ret;

	/* A wrong byte is reported at once: a message of a shell may be shorter than a preamble. */
	for (;;) {
		size_t n = r->end < STREAM_MAGIC_LEN ? r->end : STREAM_MAGIC_LEN;

		if (memcmp(r->buffer, STREAM_MAGIC, n))
			return no_stream(r);
		if (r->end >= PREAMBLE_LEN)
			break;
		ret = fill(r, r->end + 1);
		if (ret < 0)
			return ret;
		if (!ret)
			return fail(r, -ENODATA,
				    r->end ? "the input ends within the first 12 bytes"
					   : "the input is empty");
	}
	version = get_le32(r->buffer + STREAM_MAGIC_LEN);
	if (version != STREAM_VERSION)
		return fail(r, -EPROTO,
			    "recorded in version %" PRIu32
			    " of the stream format, which is %s: this program reads version %d",
			    version, version > STREAM_VERSION ? "newer" : "older", STREAM_VERSION);
	r->begin = PREAMBLE_LEN;
	r->begun = true;
	return 1;
}

static int check_head(struct stream_reader *r, const uint8_t *head, struct wire_frame *f)
{
	uint32_t sequence = get_le32(head + 8);
	uint16_t flags = get_le16(head + 6);

	f->len = get_le32(head);
	f->type = get_le16(head + 4);
	if (get_le32(head + 16) != libdeflate_crc32(0, head, FRAME_HEAD_SUMMED)) {
		if (!memcmp(head, STREAM_MAGIC, STREAM_MAGIC_LEN))
			return fail(r, -EBADMSG, "another stream begins before this one has ended");
		return fail(r, -EBADMSG, "damaged: wrong checksum of a frame's head");
	}
	if (!r->has_header && f->type != STREAM_HEADER)
		return fail(r, -EPROTO, "the first frame is not a header but of type %u", f->type);
	if (r->has_header && f->type == STREAM_HEADER)
		return fail(r, -EPROTO, "a second header");
	if (sequence != r->sequence)
		return fail(r, -EBADMSG, "frame %" PRIu32 " where %" PRIu32 " is expected",
			    sequence, r->sequence);
	if (f->len > FRAME_PAYLOAD_MAX)
		return fail(r, -EBADMSG, "a frame of %" PRIu32 " bytes, at most %u are allowed",
			    f->len, FRAME_PAYLOAD_MAX);
	if (flags)
		return fail(r, -EPROTO, "a frame of type %u with unknown flags 0x%x", f->type,
			    flags);
	return 1;
}

/* Consumes one frame. Its payload stays in place until the next one is read. */
static int read_frame(struct stream_reader *r, struct wire_frame *f)
{
	const uint8_t *head;
	int ret;

	r->frame_offset = r->buffer_offset + r->begin;
	ret = fill(r, FRAME_HEAD_LEN);
	if (ret > 0) {
		ret = check_head(r, r->buffer + r->begin, f);
		if (ret > 0)
			ret = fill(r, FRAME_HEAD_LEN + f->len);
	}
	if (ret < 0)
		return ret;
	if (!ret)
		return fail(r, -ENODATA,
			    r->begin == r->end
				    ? "the recording breaks off: it has no closing frame"
				    : "the recording breaks off in the middle of a frame");
	head = r->buffer + r->begin;
	f->payload = head + FRAME_HEAD_LEN;
	if (get_le32(head + 12) != libdeflate_crc32(0, f->payload, f->len))
		return fail(r, -EBADMSG, "damaged: wrong checksum of a frame of type %u", f->type);
	r->begin += FRAME_HEAD_LEN + f->len;
	r->sequence++;
	return 1;
}

static void number_set(char *member, size_t size, uint64_t n)
{
	switch (size) {
	case 1:
		*(uint8_t *)member = (uint8_t)n;
		break;
	case 2:
		*(uint16_t *)(void *)member = (uint16_t)n;
		break;
	case 4:
		*(uint32_t *)(void *)member = (uint32_t)n;
		break;
	default:
		*(uint64_t *)(void *)member = n;
	}
}

static void get_fields(struct get *b, const struct wire_field *f, struct stream_event *e)
{
	for (; f->size; f++) {
		char *member = (char *)e + f->offset;

		if (f->later && b->p == b->end)
			memset(member, 0, f->size);
		else if (f->bytes)
			number_set(member, f->size, get_number(b, f->bytes));
		else
			get_text(b, member, f->size);
	}
}

static void check_header(struct get *b, struct stream_header *h)
{
	if ((unsigned int)h->side < NT_SIDES)
		h->missing &= ((1u << points_nr(h->side)) - 1) |
			      (h->side == NT_HOST ? NT_WITH_CORE | NT_WITHOUT_TCP : 0);
	else
		b->bad = true;
}

static void get_losses(struct get *b, struct stream_losses *l)
{
	char name[STREAM_LOSS_NAME_LEN];

	memset(l, 0, sizeof(*l));
	for (unsigned int nr = (unsigned int)get_number(b, 2); nr && !b->bad; nr--) {
		uint64_t *count = &l->unknown;

		get_text(b, name, sizeof(name));
		for (unsigned int i = 0; i < COUNTERS_NR; i++)
			if (!strcmp(name, counter_name(i)))
				count = &l->count[i];
		*count += get_number(b, sizeof(*count));
	}
}

/* The decoder does not check the end of the frame: the last records are decoded from a copy. */
static const uint8_t *decode_tail(struct stream_reader *r, size_t left, struct nt_record *record)
{
	uint8_t tail[RECORD_LEN_MAX + RECORD_SLACK] = {0};
	const uint8_t *p;

	memcpy(tail, r->next, left);
	p = record_decode(&r->decoder, tail, record);
	return p && (size_t)(p - tail) <= left ? r->next + (p - tail) : NULL;
}

static __attribute__((noinline)) int no_record(struct stream_reader *r)
{
	return fail(r, -EBADMSG, "damaged: no valid record after %" PRIu64 " records", r->records);
}

/* Fills what a record has beside it. Return: false if that is damaged */
static inline bool read_beside(struct stream_reader *r, struct nt_record *record)
{
	for (unsigned int i = 0; i < BESIDES_NR; i++) {
		struct beside *b = &r->beside[i];

		if (b->next == b->stop)
			continue;
		b->next = besides[i].decode(b->next, b->stop, record);
		if (!b->next)
			return false;
	}
	return true;
}

/* Keeps what the records of the next frame have beside them. Return: 0 or a negative errno */
static int keep_beside(struct stream_reader *r, struct beside *b, const struct wire_frame *f)
{
	uint8_t *grown;

	if (f->len > b->size) {
		grown = realloc(b->payload, f->len);
		if (!grown)
			return fail(r, -ENOMEM, "out of memory");
		b->payload = grown;
		b->size = f->len;
	}
	b->next = b->stop = NULL;
	if (f->len) {
		memcpy(b->payload, f->payload, f->len);
		b->next = b->payload;
		b->stop = b->payload + f->len;
	}
	return 0;
}

/* Return: NULL where a frame is of another type */
static struct beside *beside_of(struct stream_reader *r, unsigned int type)
{
	for (unsigned int i = 0; i < BESIDES_NR; i++)
		if (besides[i].type == type)
			return &r->beside[i];
	return NULL;
}

static int read_record(struct stream_reader *r, struct nt_record *record)
{
	size_t left = r->stop - r->next;
	const uint8_t *p;

	if (left >= RECORD_LEN_MAX + RECORD_SLACK)
		p = record_decode(&r->decoder, r->next, record);
	else
		p = decode_tail(r, left, record);
	if (!p || !read_beside(r, record))
		return no_record(r);
	r->next = p;
	r->records++;
	return 1;
}

/* Return: 1 with an event, 0 when the frame has none, or an error. */
static int read_event(struct stream_reader *r, const struct wire_frame *f, struct stream_event *e)
{
	struct get b = {.p = f->payload, .end = f->payload + f->len};
	const struct wire_field *fields = wire_fields(f->type);
	struct beside *beside = beside_of(r, f->type);

	/* They are of the very next frame, with nothing but others of them between. */
	for (unsigned int i = 0; i < BESIDES_NR; i++)
		if (!r->beside_fresh || (!beside && f->type != STREAM_RECORD))
			r->beside[i].next = r->beside[i].stop = NULL;
	r->beside_fresh = beside;
	e->type = f->type;
	if (f->type == STREAM_RECORD) {
		r->next = b.p;
		r->stop = b.end;
		record_decoder_begin(&r->decoder, r->side);
		return read_record(r, &e->record);
	}
	if (!fields) {
		if (beside && keep_beside(r, beside, f))
			return r->state;
		r->skipped += !beside;
		r->skipped_in_a_row += FRAME_HEAD_LEN + f->len;
		if (r->skipped_in_a_row > SKIP_MAX)
			return fail(r, -EPROTO, "nothing but frames of unknown types");
		return 0;
	}
	/* A state has members that no stream has. */
	if (f->type == STREAM_TCP)
		e->tcp = (struct stream_tcp){.slot = 0};
	get_fields(&b, fields, e);
	if (f->type == STREAM_HEADER)
		check_header(&b, &e->header);
	else if (f->type == STREAM_LOSSES)
		get_losses(&b, &e->losses);
	else if (f->type == STREAM_END)
		get_losses(&b, &e->end.losses);
	if (b.bad)
		return fail(r, -EBADMSG, "damaged: invalid contents of a frame of type %u",
			    f->type);
	r->longer += b.p != b.end;
	if (f->type == STREAM_HEADER) {
		r->has_header = true;
		r->side = e->header.side;
	} else if (f->type == STREAM_END) {
		if (e->end.records != r->records)
			return fail(r, -EBADMSG,
				    "the closing frame tells of %" PRIu64 " records, %" PRIu64
				    " came before it",
				    e->end.records, r->records);
		r->ended = true;
	}
	return 1;
}

static int read_past_end(struct stream_reader *r)
{
	int ret;

	r->frame_offset = r->buffer_offset + r->begin;
	ret = fill(r, 1);
	if (ret > 0)
		return fail(r, -EBADMSG, "data after the end of the stream");
	if (!ret)
		r->state = 0;
	return ret;
}

struct stream_reader *stream_reader_new(int fd)
{
	struct stream_reader *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	r->buffer = malloc(BUFFER_FIRST);
	if (!r->buffer) {
		free(r);
		return NULL;
	}
	r->buffer_size = BUFFER_FIRST;
	/* The tables of the decoder are not zeroed: memory that is not needed is not touched. */
	memset(r, 0, offsetof(struct stream_reader, decoder));
	r->error[0] = '\0';
	r->fd = fd;
	r->state = 1;
	return r;
}

static int read_other(struct stream_reader *r, struct stream_event *e)
{
	struct wire_frame f = {0};
	int ret;

	if (!r->begun) {
		ret = read_preamble(r);
		if (ret <= 0)
			return ret;
	}
	if (r->ended)
		return read_past_end(r);
	do {
		ret = read_frame(r, &f);
		if (ret <= 0)
			return ret;
		ret = read_event(r, &f, e);
	} while (!ret);
	r->skipped_in_a_row = 0;
	return ret;
}

static int read_slowly(struct stream_reader *r, struct stream_event *e)
{
	if (r->state <= 0)
		return r->state;
	if (r->next == r->stop)
		return read_other(r, e);
	e->type = STREAM_RECORD;
	return read_record(r, &e->record);
}

int stream_read(struct stream_reader *r, struct stream_event *e)
{
	const uint8_t *p;

	if (r->state <= 0 || r->stop - r->next < RECORD_LEN_MAX + RECORD_SLACK)
		return read_slowly(r, e);
	p = record_decode(&r->decoder, r->next, &e->record);
	if (!p || !read_beside(r, &e->record))
		return no_record(r);
	e->type = STREAM_RECORD;
	r->next = p;
	r->records++;
	return 1;
}

const char *stream_error(const struct stream_reader *r)
{
	return r->error;
}

uint64_t stream_offset(const struct stream_reader *r)
{
	return r->frame_offset;
}

uint64_t stream_skipped(const struct stream_reader *r)
{
	return r->skipped;
}

uint64_t stream_longer(const struct stream_reader *r)
{
	return r->longer;
}

void stream_reader_free(struct stream_reader *r)
{
	if (r) {
		free(r->buffer);
		for (unsigned int i = 0; i < BESIDES_NR; i++)
			free(r->beside[i].payload);
	}
	free(r);
}

/* Whether this is a FIFO with a name. An unnamed pipe had its writer before this program got it. */
static bool is_fifo(int fd, const struct stat *st)
{
	struct statfs fs;

	return S_ISFIFO(st->st_mode) && !fstatfs(fd, &fs) && fs.f_type != PIPEFS_MAGIC;
}

/*
 * Does not wait for the writer of a FIFO. One process may write several FIFOs: it waits until each
 * of them is opened, in an order that we do not know.
 */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

int input_open(struct input *in, const char *path)
{
	struct stat st;

	*in = (struct input){.path = path, .now = INT64_MIN};
	in->fd = strcmp(path, "-") ? open_path(path) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (in->fd < 0)
		return -errno;
	if (fstat(in->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	in->again = S_ISREG(st.st_mode) && strcmp(path, "-");
	in->unfed = strcmp(path, "-") && is_fifo(in->fd, &st);
	in->reader = stream_reader_new(in->fd);
	return in->reader ? 0 : -errno;
}

bool input_same(const struct input *a, const struct input *b)
{
	struct stat x, y;

	return !fstat(a->fd, &x) && !fstat(b->fd, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int input_rewind(struct input *in)
{
	struct stream_reader *reader;

	if (lseek(in->fd, 0, SEEK_SET))
		return -errno;
	reader = stream_reader_new(in->fd);
	if (!reader)
		return -errno;
	stream_reader_free(in->reader);
	in->reader = reader;
	in->begun = in->ended = false;
	in->end_ns = in->last_ns;
	in->records = in->first_ns = in->last_ns = in->bursts = in->burst_ns = 0;
	in->now = INT64_MIN;
	in->result = 0;
	return 0;
}

static void take_clock(struct input *in, const struct instant *c)
{
	if (!in->clock.monotonic_ns)
		in->clock = *c;
	in->last_clock = *c;
	if (!in->lined_up)
		in->to_common = (int64_t)((uint64_t)c->realtime_ns - c->monotonic_ns);
	in->now = (int64_t)(c->monotonic_ns + (uint64_t)in->to_common);
}

static void take_record(struct input *in, const struct nt_record *r)
{
	uint64_t first = record_begin_ns(r), last = record_last_ns(r);

	in->records++;
	if (first && (!in->first_ns || first < in->first_ns))
		in->first_ns = first;
	if (!last)
		return;
	if (last > in->last_ns)
		in->last_ns = last;
	in->now = (int64_t)(last + (uint64_t)in->to_common);
}

int input_read(struct input *in, struct stream_event *e)
{
	if (in->ended)
		return 0;
	/* Without a writer, read() would return 0 as at the end of a file. */
	if (in->unfed)
		poll(&(struct pollfd){.fd = in->fd, .events = POLLIN}, 1, -1);
	in->unfed = false;
	in->result = stream_read(in->reader, e);
	if (in->result <= 0) {
		in->ended = true;
		return 0;
	}
	switch (e->type) {
	case STREAM_HEADER:
		in->header = e->header;
		in->begun = true;
		break;
	case STREAM_CLOCK:
		take_clock(in, &e->clock);
		break;
	case STREAM_RECORD:
		take_record(in, &e->record);
		break;
	case STREAM_LOSSES:
		in->losses = e->losses;
		break;
	case STREAM_END:
		in->losses = e->end.losses;
		break;
	case STREAM_BURST:
		in->bursts++;
		in->burst_ns = ns_add(in->burst_ns, burst_length_ns(&e->burst));
		break;
	case STREAM_QUEUE:
	case STREAM_ORIGIN:
	case STREAM_DEVICE:
	case STREAM_TCP:
	case STREAM_RESENT:
	case STREAM_PATH:
	case STREAM_DISK:
		break;
	}
	return 1;
}

double input_seconds(const struct input *in)
{
	/* A damaged stream may have its points in any order. */
	return in->last_ns > in->first_ns ? (double)(in->last_ns - in->first_ns) / 1e9 : 0;
}

bool input_failed(const struct input *in)
{
	return in->result < 0 && (in->result != -ENODATA || !in->begun);
}

void input_close(struct input *in)
{
	stream_reader_free(in->reader);
	if (in->fd >= 0)
		close(in->fd);
}
