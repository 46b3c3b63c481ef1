// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds what both machines of a pair recorded of their commands against what passed on the wire:
 *
 *   wire_compare HOST_PACKETS TARGET_PACKETS HOST_REPORT TARGET_REPORT MERGED_REPORT
 *
 * Packets are wire_capture's, from before the connections were opened; the reports are those of
 * "report --commands" of either stream and of both. PDUs are read from the packets by the NVMe/TCP
 * Transport Specification 1.0 alone. Commands of I/O queues are distinguished by queue, command id
 * and how often that came before, so every one must have been recorded.
 *
 * For each arrival: "arrival SIDE POINT of N right N joined N missing N wrong N worst NANOSECONDS".
 * Joined are those whose record says that it may be that of a later packet, and wrong those of the
 * others that are not the packet's. For the network: "network of N right N joined N below N above N
 * worst NANOSECONDS". For each finer point: "left SIDE POINT of N after N tenth NANOSECONDS", of
 * those after the packet was handed to the card, and how long before it the fastest tenth was. For
 * its TCP sequence number: "number SIDE POINT of N wrong N", of those that are not the PDU's or are
 * missing.
 * Before these, one line for each fault: "wrong SIDE POINT queue QID late NANOSECONDS byte BYTE"
 * and the packets about it, each with its bytes and when it came after the right one.
 *
 *   wire_compare --headers PACKETS
 *
 * prints the header of each PDU of I/O queues, those to the target first, in their order: "q QID to
 * target|host type, flags, header's length, data's offset, length", and of a command its opcode, of
 * a response its status. Connections may have TLS, with the keys of tests/machine/tls_keys.h.
 */
#include <linux/if_alg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../machine/tls_keys.h"
#include "wire.h"

/*
 * How exactly the two clocks of a machine are known; one of them stamps packets. The delays that
 * are looked for last as long as a reader waits for a processor.
 */
#define EXACT_NS 20000

/* NVMe/TCP 1.0, 3.6.2: types of PDUs. */
enum {
	PDU_CAPSULE_CMD = 0x04,
	PDU_CAPSULE_RESP = 0x05,
	PDU_H2C_DATA = 0x06,
	PDU_C2H_DATA = 0x07,
	PDU_R2T = 0x09,
};
#define PDU_COMMON_BYTES 8
#define PDU_HEADER_MAX 128
#define C2H_SUCCESS 0x08 /* 3.6.2.10: no response follows */

#define QUEUES_MAX 64
#define CIDS 65536

/* When something of a command passed: its first byte, and the last byte of its PDU's header. 0: it
 * did not. */
struct instant {
	int64_t first;
	int64_t header;
	const struct stream *stream;
	size_t at; /* that last byte, and the first one of its PDU */
	size_t begin;
};

enum event { CAPSULE, R2T, H2C_DATA, ANSWER, EVENTS };

enum point {
	SEND_CMD,
	R2T_RX,
	SEND_DATA,
	HOST_RX,
	HOST_OUT,
	DATA_OUT,
	TARGET_RX,
	SEND_R2T,
	DATA_RX,
	SEND,
	TARGET_OUT,
	R2T_OUT,
	POINTS
};
static const char *const point_names[POINTS] = {"send_cmd", "r2t_rx",	"send_data", "rx",
						"out",	    "data_out", "rx",	     "send_r2t",
						"data_rx",  "send",	"out",	     "r2t_out"};
#define SIDE_OF(point) ((point) >= TARGET_RX)

struct command {
	struct command *next;
	struct instant wire[2][EVENTS]; /* as the host's card saw it, and the target's */
	int64_t points[POINTS];
	int64_t numbers[POINTS]; /* TCP's; 0: there is none */
	bool recorded[2];
	bool joined[2];
	bool merged;
	int64_t network;
};

/* Of a command id: all its commands in their order, and which of them each reader has got to. */
struct cid {
	struct command *first;
	struct command **last;
	struct command *at[8];
};
enum reader { HOST_SENT, HOST_GOT, TARGET_GOT, TARGET_SENT, HOST_RECORD, TARGET_RECORD, MERGED };

static struct cid *queues[QUEUES_MAX];

static void die(const char *what)
{
	fprintf(stderr, "wire_compare: %s\n", what);
	exit(1);
}

/* The next command of that id; a new one if there is none yet. */
static struct command *next_command(unsigned int qid, unsigned int cid, enum reader reader)
{
	struct command **at;
	struct cid *c;

	if (qid >= QUEUES_MAX)
		die("too many queues");
	if (!queues[qid])
		queues[qid] = calloc(CIDS, sizeof(*queues[qid]));
	c = &queues[qid][cid & (CIDS - 1)];
	at = c->at[reader] ? &c->at[reader]->next : &c->first;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	c->at[reader] = *at;
	return *at;
}

static struct command *this_command(unsigned int qid, unsigned int cid, enum reader reader)
{
	return queues[qid] ? queues[qid][cid].at[reader] : NULL;
}

/*
 * One direction of a connection: its bytes, and with which packet each of them came first. Packets
 * may come again, in another order, and in other parts than before.
 */
struct stream {
	struct stream *next;
	uint16_t port;
	bool to_target;
	uint32_t begin; /* sequence number of its first byte */
	uint8_t *data;
	uint32_t *with; /* of each byte the packet, counted from 1; 0: it has not come */
	size_t len, room;
	struct packet {
		size_t begin, end;
		int64_t ns;
	} * packets; /* as they came */
	size_t nr_packets;
};

static struct stream *stream_of(struct stream **all, const struct wire_packet *p)
{
	struct stream *s;

	for (s = *all; s; s = s->next)
		if (s->port == p->port && s->to_target == p->to_target)
			return s;
	if (!p->syn)
		die("a connection from before the capture");
	s = calloc(1, sizeof(*s));
	*s = (struct stream){
		.next = *all, .port = p->port, .to_target = p->to_target, .begin = p->seq + 1};
	return *all = s;
}

static void stream_grow(struct stream *s, size_t len)
{
	size_t room = 2 * len;

	if (len > s->room) {
		s->data = realloc(s->data, room);
		s->with = realloc(s->with, room * sizeof(*s->with));
		memset(s->with + s->room, 0, (room - s->room) * sizeof(*s->with));
		s->room = room;
	}
	if (len > s->len)
		s->len = len;
}

static void stream_add(struct stream *s, const struct wire_packet *p, const uint8_t *data)
{
	size_t begin = (uint32_t)(p->seq - s->begin), end = begin + p->len;

	s->packets = realloc(s->packets, (s->nr_packets + 1) * sizeof(*s->packets));
	s->packets[s->nr_packets++] = (struct packet){begin, end, p->ns};
	/* An acknowledgement alone; or the byte before the first one, which asks whether the other
	 * side is still there. */
	if (!p->len || end > UINT32_MAX)
		return;
	stream_grow(s, end);
	for (size_t i = begin; i < end; i++) {
		if (s->with[i])
			continue;
		s->with[i] = (uint32_t)s->nr_packets;
		s->data[i] = data[i - begin];
	}
}

static void all_came(const struct stream *s)
{
	for (size_t i = 0; i < s->len; i++)
		if (!s->with[i])
			die("a segment is missing");
}

/* RFC 8446, 5.1 and 5.2: type, version and length of a record; behind the data its real type and
 * the tag. */
#define TLS_HEAD_BYTES 5
#define TLS_TAG_BYTES 16
#define TLS_DATA 0x17

/* Return: a socket with which the kernel's AES in counter mode is used with @key */
static int cipher_open(const unsigned char *key, size_t bytes)
{
	struct sockaddr_alg name = {
		.salg_family = AF_ALG, .salg_type = "skcipher", .salg_name = "ctr(aes)"};
	int fd = socket(AF_ALG, SOCK_SEQPACKET, 0), cipher;

	if (fd < 0 || bind(fd, (void *)&name, sizeof(name)) ||
	    setsockopt(fd, SOL_ALG, ALG_SET_KEY, key, (socklen_t)bytes))
		die("ctr(aes)");
	cipher = accept(fd, NULL, NULL);
	close(fd);
	return cipher;
}

/* In place. NIST SP 800-38D: the data of GCM is counted from 2. */
static void decrypt(int cipher, const unsigned char nonce[12], uint8_t *data, size_t bytes)
{
	struct {
		struct af_alg_iv head;
		unsigned char counter[16];
	} iv = {.head.ivlen = 16, .counter[15] = 2};
	union {
		char bytes[CMSG_SPACE(sizeof(__u32)) + CMSG_SPACE(sizeof(iv))];
		struct cmsghdr align;
	} control = {0};
	struct iovec io = {data, bytes};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_ALG;
	c->cmsg_type = ALG_SET_OP;
	c->cmsg_len = CMSG_LEN(sizeof(__u32));
	*(__u32 *)CMSG_DATA(c) = ALG_OP_DECRYPT;
	c = CMSG_NXTHDR(&m, c);
	memcpy(iv.counter, nonce, 12);
	c->cmsg_level = SOL_ALG;
	c->cmsg_type = ALG_SET_IV;
	c->cmsg_len = CMSG_LEN(sizeof(iv));
	memcpy(CMSG_DATA(c), &iv, sizeof(iv));
	if (sendmsg(cipher, &m, 0) != (ssize_t)bytes || read(cipher, data, bytes) != (ssize_t)bytes)
		die("decrypt");
}

/*
 * Puts what is in a stream's TLS records in the place of the records. When a byte came is not known
 * any more.
 */
static void open_records(struct stream *s)
{
	struct tls12_crypto_info_aes_gcm_128 keys = tls_keys(s->to_target);
	int cipher = cipher_open(keys.key, sizeof(keys.key));
	size_t at = 0, len = 0;

	all_came(s);
	for (uint64_t n = 0; at + TLS_HEAD_BYTES <= s->len; n++) {
		uint8_t *record = s->data + at;
		size_t bytes = (size_t)record[3] << 8 | record[4];
		unsigned char nonce[12];

		if (at + TLS_HEAD_BYTES + bytes > s->len)
			break;
		memcpy(nonce, keys.salt, 4);
		memcpy(nonce + 4, keys.iv, 8);
		for (int i = 0; i < 8; i++)
			nonce[11 - i] ^= (unsigned char)(n >> (8 * i));
		at += TLS_HEAD_BYTES + bytes;
		bytes -= TLS_TAG_BYTES;
		decrypt(cipher, nonce, record + TLS_HEAD_BYTES, bytes);
		while (bytes && !record[TLS_HEAD_BYTES + bytes - 1])
			bytes--;
		if (!bytes || record[TLS_HEAD_BYTES + bytes - 1] != TLS_DATA)
			continue;
		memmove(s->data + len, record + TLS_HEAD_BYTES, bytes - 1);
		len += bytes - 1;
	}
	s->len = len;
	close(cipher);
}

static struct stream *read_packets(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stream *all = NULL;
	struct wire_packet p;
	uint8_t *data;

	if (!f)
		die(path);
	while (fread(&p, sizeof(p), 1, f) == 1) {
		data = malloc(p.len + 1);
		if (fread(data, 1, p.len, f) != p.len)
			die("a capture is cut");
		struct stream *s = stream_of(&all, &p);

		if (!p.syn)
			stream_add(s, &p, data);
		free(data);
	}
	fclose(f);
	for (struct stream *s = all; s; s = s->next)
		if (s->len && s->data[0] == TLS_DATA)
			open_records(s);
	return all;
}

static uint32_t le(const uint8_t *at, int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | at[bytes];
	return v;
}

/* When byte @at came first. */
static int64_t came(const struct stream *s, size_t at)
{
	return s->packets[s->with[at] - 1].ns;
}

static void note(struct command *c, int side, enum event event, const struct instant *when)
{
	if (!c)
		die("a PDU of no command");
	if (!c->wire[side][event].first)
		c->wire[side][event] = *when;
}

static void pdu_to_target(unsigned int qid, const uint8_t *pdu, int side,
			  const struct instant *when)
{
	enum reader reader = side ? TARGET_GOT : HOST_SENT;

	if (pdu[0] == PDU_CAPSULE_CMD)
		note(next_command(qid, le(pdu + 10, 2), reader), side, CAPSULE, when);
	else if (pdu[0] == PDU_H2C_DATA)
		note(this_command(qid, le(pdu + 8, 2), reader), side, H2C_DATA, when);
}

/* What answers a command is of the first of its id that has not been answered. */
static void pdu_to_host(unsigned int qid, const uint8_t *pdu, int side, const struct instant *when)
{
	enum reader reader = side ? TARGET_SENT : HOST_GOT;
	unsigned int cid = le(pdu + (pdu[0] == PDU_CAPSULE_RESP ? 20 : 8), 2);
	bool last = pdu[0] == PDU_CAPSULE_RESP || (pdu[1] & C2H_SUCCESS);
	struct command *c;

	if (pdu[0] != PDU_CAPSULE_RESP && pdu[0] != PDU_C2H_DATA && pdu[0] != PDU_R2T)
		return;
	c = this_command(qid, cid, reader);
	c = c ? c->next : queues[qid] ? queues[qid][cid].first : NULL;
	note(c, side, pdu[0] == PDU_R2T ? R2T : ANSWER, when);
	if (last)
		next_command(qid, cid, reader);
}

/* NVMe over Fabrics 1.1, 3.3: the queue's id is in bytes 42 and 43 of its first command, Connect.
 */
static int qid_of(const struct stream *s)
{
	for (size_t at = 0; at + PDU_COMMON_BYTES + 64 <= s->len; at += le(s->data + at + 4, 4))
		if (s->data[at] == PDU_CAPSULE_CMD)
			return (int)le(s->data + at + PDU_COMMON_BYTES + 42, 2);
	return -1;
}

/* Calls @got for each PDU of a stream whose header has come. */
static void each_pdu(const struct stream *s, int side, unsigned int qid,
		     void (*got)(unsigned int qid, const uint8_t *pdu, int side,
				 const struct instant *when))
{
	size_t at = 0;

	all_came(s);
	while (at + PDU_HEADER_MAX / 4 <= s->len || at + 24 <= s->len) {
		const uint8_t *pdu = s->data + at;
		uint32_t header = pdu[2], len = le(pdu + 4, 4);
		struct instant when;

		if (header < PDU_COMMON_BYTES || header > PDU_HEADER_MAX || len < header)
			die("no PDU");
		if (at + header > s->len)
			break;
		when.stream = s;
		when.begin = at;
		when.at = at + header - 1;
		when.first = came(s, when.begin);
		when.header = came(s, when.at);
		got(qid, pdu, side, &when);
		at += len;
	}
}

static void read_pdus(const struct stream *s, int side, unsigned int qid)
{
	each_pdu(s, side, qid, s->to_target ? pdu_to_target : pdu_to_host);
}

static void print_header(unsigned int qid, const uint8_t *pdu, int side, const struct instant *when)
{
	printf("q %u to %s %#x, %#x, %u, %u, %u", qid, when->stream->to_target ? "target" : "host",
	       pdu[0], pdu[1], pdu[2], pdu[3], le(pdu + 4, 4));
	if (pdu[0] == PDU_CAPSULE_CMD)
		printf(" opcode %#x", pdu[PDU_COMMON_BYTES]);
	else if (pdu[0] == PDU_CAPSULE_RESP)
		printf(" status %#x", le(pdu + PDU_COMMON_BYTES + 14, 2) >> 1);
	putchar('\n');
}

static void print_headers(const struct stream *s, int side, unsigned int qid)
{
	each_pdu(s, side, qid, print_header);
}

/* Return: the stream of the same connection to the target; NULL if there is none */
static const struct stream *to_target(const struct stream *all, const struct stream *s)
{
	while (all && (all->port != s->port || !all->to_target))
		all = all->next;
	return all;
}

/* Calls @read for each stream of an I/O queue, those to the target first. */
static void each_queue(const char *path, int side,
		       void (*read)(const struct stream *s, int side, unsigned int qid))
{
	struct stream *all = read_packets(path);

	for (int direction = 1; direction >= 0; direction--)
		for (struct stream *s = all; s; s = s->next) {
			const struct stream *sent = to_target(all, s);
			int qid;

			if (s->to_target != direction)
				continue;
			qid = sent ? qid_of(sent) : -1;
			if (qid > 0)
				read(s, side, (unsigned int)qid);
		}
}

/* The number behind @name, which has a blank before it; false where there is none. */
static bool number(const char *line, const char *name, int base, int64_t *value)
{
	const char *at = strstr(line, name);

	if (at)
		*value = strtoll(at + strlen(name), NULL, base);
	return at;
}

static int64_t instant_of(const char *line)
{
	char *end;
	int64_t seconds = strtoll(line, &end, 10);

	return seconds * 1000000000 + strtoll(end + 1, NULL, 10);
}

static void read_report(const char *path, enum reader reader)
{
	FILE *f = fopen(path, "r");
	static char line[8192];
	int side = reader == TARGET_RECORD;
	struct command *c;
	int64_t qid, cid, at;

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] < '0' || line[0] > '9' || !number(line, " q", 10, &qid) ||
		    !number(line, " cid=", 16, &cid) || !qid)
			continue;
		c = next_command((unsigned int)qid, (unsigned int)cid, reader);
		if (reader == MERGED) {
			c->merged = strstr(line, " merged ") &&
				    number(line, " network_transmission=", 10, &c->network);
			continue;
		}
		c->recorded[side] = true;
		c->joined[side] = strstr(line, " arrival_joined") != NULL;
		for (int i = side ? TARGET_RX : 0; i < (side ? POINTS : TARGET_RX); i++) {
			char name[32];

			snprintf(name, sizeof(name), " %s=", point_names[i]);
			if (number(line, name, 10, &at))
				c->points[i] = instant_of(line) + at;
			snprintf(name, sizeof(name), " %s_seq=", point_names[i]);
			number(line, name, 10, &c->numbers[i]);
		}
	}
	fclose(f);
}

/* NULL for points that are no arrivals. */
static const struct instant *arrival_of(const struct command *c, enum point point)
{
	switch (point) {
	case R2T_RX:
		return &c->wire[0][R2T];
	case HOST_RX:
		return &c->wire[0][ANSWER];
	case TARGET_RX:
		return &c->wire[1][CAPSULE];
	case DATA_RX:
		return &c->wire[1][H2C_DATA];
	default:
		return NULL;
	}
}

static int64_t expected(const struct command *c, enum point point)
{
	const struct instant *at = arrival_of(c, point);

	return !at ? 0 : SIDE_OF(point) ? at->first : at->header;
}

static const char *side_name(enum point point)
{
	return SIDE_OF(point) ? "target" : "host";
}

/* The packet that it should be of, and those that came before and behind it. */
static void tell_wrong(const struct command *c, enum point point, int qid, int64_t late)
{
	const struct instant *of = arrival_of(c, point);
	const struct stream *s = of->stream;
	size_t byte = SIDE_OF(point) ? of->begin : of->at, right = s->with[byte] - 1;

	printf("wrong %s %s queue %d late %lld byte %zu\n", side_name(point), point_names[point],
	       qid, (long long)late, byte);
	for (size_t i = right > 8 ? right - 8 : 0; i < right + 9 && i < s->nr_packets; i++)
		printf("   packet%s %zu..%zu %+lld\n", i == right ? " *" : "", s->packets[i].begin,
		       s->packets[i].end, (long long)(s->packets[i].ns - expected(c, point)));
}

#define EACH_COMMAND(c)                                         \
	for (int q_ = 1; q_ < QUEUES_MAX; q_++)                 \
		for (int i_ = 0; queues[q_] && i_ < CIDS; i_++) \
			for (struct command *c = queues[q_][i_].first; c; c = c->next)

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC of a machine: what most of its arrivals have in common. */
static int64_t offset_of(int side)
{
	size_t n = 0, room = 0;
	int64_t *all = NULL, offset;

	EACH_COMMAND(c)
	{
		for (int p = 0; p < POINTS; p++) {
			if (SIDE_OF(p) != side || !expected(c, p) || !c->points[p])
				continue;
			if (n == room)
				all = realloc(all, (room = room ? 2 * room : 64) * sizeof(*all));
			all[n++] = expected(c, p) - c->points[p];
		}
	}
	if (!n)
		die("nothing to compare");
	qsort(all, n, sizeof(*all), compare);
	offset = all[n / 2];
	free(all);
	return offset;
}

static void compare_arrival(enum point point, int64_t offset)
{
	unsigned int n = 0, right = 0, joined = 0, missing = 0, wrong = 0;
	int side = SIDE_OF(point);
	int64_t worst = 0;

	EACH_COMMAND(c)
	{
		int64_t at = expected(c, point), late = c->points[point] + offset - at;

		if (!at || !c->recorded[side])
			continue;
		n++;
		if (!c->points[point]) {
			missing++;
		} else if (c->joined[side]) {
			joined++;
		} else if (llabs(late) <= EXACT_NS) {
			right++;
		} else {
			wrong++;
			tell_wrong(c, point, q_, late);
			if (llabs(late) > llabs(worst))
				worst = late;
		}
	}
	printf("arrival %s %s of %u right %u joined %u missing %u wrong %u worst %lld\n",
	       side_name(point), point_names[point], n, right, joined, missing, wrong,
	       (long long)worst);
}

/* One way there and back: what passed on the wire, and what the senders needed to get there. */
static void leg(const struct command *c, enum event there, enum event back, enum point sent,
		enum point answered, const int64_t offset[2], int64_t *wire, int64_t *senders)
{
	*wire += (c->wire[0][back].header - c->wire[0][there].first) -
		 (c->wire[1][back].first - c->wire[1][there].first);
	*senders += c->wire[0][there].first - (c->points[sent] + offset[0]);
	*senders += c->wire[1][back].first - (c->points[answered] + offset[1]);
}

/* The first packet with a PDU's first byte, as the sender's card saw it. */
static void compare_out(enum point point, enum event event, int64_t offset)
{
	int side = SIDE_OF(point);
	unsigned int n = 0, after = 0;
	size_t room = 0;
	int64_t *early = NULL;

	EACH_COMMAND(c)
	{
		int64_t at = c->wire[side][event].first;

		if (!at || !c->recorded[side] || !c->points[point])
			continue;
		if (n == room)
			early = realloc(early, (room = room ? 2 * room : 64) * sizeof(*early));
		early[n] = at - (c->points[point] + offset);
		after += early[n++] < -EXACT_NS;
	}
	qsort(early, n, sizeof(*early), compare);
	printf("left %s %s of %u after %u tenth %lld\n", side_name(point), point_names[point], n,
	       after, (long long)(n ? early[n / 10] : 0));
	free(early);
}

static void compare_number(enum point point, enum event event)
{
	int side = SIDE_OF(point);
	unsigned int n = 0, wrong = 0;

	EACH_COMMAND(c)
	{
		const struct instant *at = &c->wire[side][event];

		if (!at->first || !c->recorded[side])
			continue;
		n++;
		wrong += c->numbers[point] != (uint32_t)(at->stream->begin + at->begin);
	}
	printf("number %s %s of %u wrong %u\n", side_name(point), point_names[point], n, wrong);
}

static void compare_network(const int64_t offset[2])
{
	unsigned int n = 0, right = 0, joined = 0, below = 0, above = 0;
	int64_t worst = 0;

	EACH_COMMAND(c)
	{
		int64_t wire = 0, senders = 0, off;

		if (!c->merged || !c->wire[0][ANSWER].first || !c->wire[1][ANSWER].first)
			continue;
		n++;
		if (c->joined[0] || c->joined[1]) {
			joined++;
			continue;
		}
		if (c->wire[0][R2T].first) {
			leg(c, CAPSULE, R2T, SEND_CMD, SEND_R2T, offset, &wire, &senders);
			leg(c, H2C_DATA, ANSWER, SEND_DATA, SEND, offset, &wire, &senders);
		} else {
			leg(c, CAPSULE, ANSWER, SEND_CMD, SEND, offset, &wire, &senders);
		}
		off = c->network < wire ? c->network - wire : c->network - wire - senders;
		if (c->network < wire - 4 * EXACT_NS)
			below++;
		else if (c->network > wire + senders + 4 * EXACT_NS)
			above++;
		else
			right++;
		if (llabs(off) > llabs(worst))
			worst = off;
	}
	printf("network of %u right %u joined %u below %u above %u worst %lld\n", n, right, joined,
	       below, above, (long long)worst);
}

int main(int argc, char **argv)
{
	int64_t offset[2];

	if (argc == 3 && !strcmp(argv[1], "--headers")) {
		each_queue(argv[2], 0, print_headers);
		return 0;
	}
	if (argc != 6)
		return 2;
	each_queue(argv[1], 0, read_pdus);
	each_queue(argv[2], 1, read_pdus);
	read_report(argv[3], HOST_RECORD);
	read_report(argv[4], TARGET_RECORD);
	read_report(argv[5], MERGED);
	for (int side = 0; side < 2; side++)
		offset[side] = offset_of(side);
	compare_arrival(HOST_RX, offset[0]);
	compare_arrival(R2T_RX, offset[0]);
	compare_arrival(TARGET_RX, offset[1]);
	compare_arrival(DATA_RX, offset[1]);
	compare_network(offset);
	compare_out(HOST_OUT, CAPSULE, offset[0]);
	compare_out(DATA_OUT, H2C_DATA, offset[0]);
	compare_out(TARGET_OUT, ANSWER, offset[1]);
	compare_out(R2T_OUT, R2T, offset[1]);
	compare_number(HOST_OUT, CAPSULE);
	compare_number(DATA_OUT, H2C_DATA);
	compare_number(TARGET_OUT, ANSWER);
	compare_number(R2T_OUT, R2T);
	return 0;
}
