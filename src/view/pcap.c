// SPDX-License-Identifier: GPL-2.0-only
#include "view/pcap.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "view/lines.h"

#define NS_PER_S 1000000000
/* No wall clock is set by more than centuries. */
#define AHEAD_MAX_NS 4e18

/*
 * Headers of PDUs (NVMe/TCP 1.0, 3.6.2). Each PDU may have a digest of its header and one of its
 * data. Nothing is between header and data: Linux asks for no alignment, and a Linux host connects
 * to no controller that does (nvme_tcp_init_connection()).
 */
#define CAPSULE_BYTES 72 /* of a command */
#define HEADER_BYTES 24	 /* of all other PDUs here */
#define DIGEST_BYTES 4
/*
 * A controller takes at least so many data bytes in one PDU (MAXH2CDATA: 3.6.2.3), or Linux does
 * not connect to it.
 */
#define H2C_DATA_MIN 4096

/* A segment before the wrap-around of sequence numbers, at most so long, may reach beyond it. */
#define SEGMENT_MAX (1u << 20)
#define SEQ_HALF (1u << 31)

/* The addresses come from a recording. Return: AF_INET, AF_INET6, or 0 if one of them is none */
static int family_of(const struct queue_ends *e)
{
	unsigned char ip[sizeof(struct in6_addr)];

	if (!e || !e->local_port || !e->remote_port)
		return 0;
	if (inet_pton(AF_INET, e->local, ip) == 1 && inet_pton(AF_INET, e->remote, ip) == 1)
		return AF_INET;
	if (inet_pton(AF_INET6, e->local, ip) == 1 && inet_pton(AF_INET6, e->remote, ip) == 1)
		return AF_INET6;
	return 0;
}

static void put_time(int64_t ns, FILE *f)
{
	fprintf(f, "%" PRId64 ".%09" PRId64, ns / NS_PER_S, ns % NS_PER_S);
}

/*
 * Between the two instants, or outside of them as far, the clocks drift evenly. 0: not known; a
 * broken recording may have any times
 */
static int64_t wall_of(const struct pcap_side *s, uint64_t ns)
{
	const struct instant *a = s->clock[0], *b = s->clock[1];
	uint64_t wall = (uint64_t)b->realtime_ns - (uint64_t)a->realtime_ns;
	uint64_t passed = b->monotonic_ns - a->monotonic_ns;
	double ahead = 0;

	if (!a->monotonic_ns)
		return 0;
	if (b->monotonic_ns > a->monotonic_ns)
		ahead = (double)(int64_t)(wall - passed) / (double)passed *
			(double)(int64_t)(ns - a->monotonic_ns);
	if (!(ahead > -AHEAD_MAX_NS && ahead < AHEAD_MAX_NS))
		return 0;
	return (int64_t)((uint64_t)instant_wall(a, ns) + (uint64_t)(int64_t)ahead);
}

/* Sequence numbers: @len of them from @begin on, modulo 2^32. */
struct range {
	uint32_t begin;
	uint32_t len;
};

/*
 * Those of a command that go from one machine to the other.
 * @known: those of all its PDUs are
 */
struct direction {
	bool known;
	unsigned int nr;
	struct range range[NT_FINE_MAX];
};

/* @len: a broken recording may have any lengths */
static void direction_add(struct direction *d, uint32_t begin, uint64_t len)
{
	d->known = begin && (d->known || !d->nr);
	d->range[d->nr++] = (struct range){begin, len < SEQ_HALF ? (uint32_t)len : SEQ_HALF - 1};
}

/*
 * The capsule, with the data of an inline write. Data that the controller asks for are in further
 * PDUs, at most one for each H2C_DATA_MIN bytes and one more, as R2T asks for. A Linux target asks
 * once, and a Linux host sends what was asked for one behind the other. Another target may ask
 * several times: then PDUs of other commands may lie between, and the last data behind the range.
 */
static struct direction direction_to_target(const struct nt_record *r)
{
	bool asked = r->points[NT_H_SEND_DATA];
	bool inline_data = !asked && (r->op == NT_OP_FABRICS || (r->opcode & 1));
	struct direction d = {0};

	direction_add(&d, r->seq[NT_HF_OUT],
		      CAPSULE_BYTES + DIGEST_BYTES +
			      (inline_data ? (uint64_t)r->length + DIGEST_BYTES : 0));
	if (asked)
		direction_add(&d, r->seq[NT_HF_DATA_OUT],
			      r->length + (r->length / H2C_DATA_MIN + 1) *
						  (uint64_t)(HEADER_BYTES + 2 * DIGEST_BYTES));
	return d;
}

/* A Linux target asks once, and answers with one data PDU and the response behind it. */
static struct direction direction_to_host(const struct nt_record *r)
{
	const uint64_t response = HEADER_BYTES + DIGEST_BYTES;
	struct direction d = {0};

	if (r->points[NT_T_SEND_R2T])
		direction_add(&d, r->seq[NT_TF_R2T_OUT], HEADER_BYTES + DIGEST_BYTES);
	direction_add(&d, r->seq[NT_TF_OUT],
		      response + (nt_target_shape(r) == NT_SHAPE_READ
					  ? HEADER_BYTES + (uint64_t)r->length + 2 * DIGEST_BYTES
					  : 0));
	return d;
}

/*
 * Segments with bytes of the range, in tcpdump's language, which computes modulo 2^32: those that
 * begin in it, and those that begin before it and reach into it. tcp[] is for IPv4 only; TCP
 * follows the header of IPv6 at once. A longer packet than its header can say (BIG TCP) is shown as
 * well.
 */
static void tcpdump_range(const struct range *r, int family, FILE *f)
{
	const char *seq = family == AF_INET ? "tcp[4:4]" : "ip6[44:4]";

	fprintf(f, "%s - %u < %u or %u - %s < %s", seq, r->begin, r->len, r->begin, seq,
		family == AF_INET ? "ip[2:2] - ((ip[0] & 15) << 2) - ((tcp[12] & 240) >> 2)"
				  : "ip6[4:2] - ((ip6[52] & 240) >> 2)");
}

/* The same for Wireshark: a number that is below 0 or above 2^32 has no value there. */
static void wireshark_range(const struct range *r, int family, FILE *f)
{
	uint32_t end = r->begin + r->len;

	fprintf(f, "(tcp.seq_raw>=%u %s tcp.seq_raw<%u)", r->begin, end < r->begin ? "||" : "&&",
		end);
	fprintf(f, " || (tcp.seq_raw<%u && tcp.len>%u - tcp.seq_raw)", r->begin, r->begin);
	if (r->begin < SEGMENT_MAX)
		fprintf(f, " || (tcp.seq_raw>%u && tcp.len>{%u - tcp.seq_raw} + %u)", SEQ_HALF,
			UINT32_MAX, r->begin + 1);
}

/* Behind what says which direction it is. */
static void print_direction(const struct direction *d, int family, bool wireshark, FILE *f)
{
	if (!d->known)
		return;
	fputs(wireshark ? " && (" : " and (", f);
	for (unsigned int i = 0; i < d->nr; i++) {
		if (i)
			fputs(wireshark ? " || " : " or ", f);
		(wireshark ? wireshark_range : tcpdump_range)(&d->range[i], family, f);
	}
	putc(')', f);
}

/* @d: what the machine sends, and what it receives */
static void print_tcpdump(const struct queue_ends *e, int family, const struct direction d[2],
			  FILE *f)
{
	fprintf(f, "tcp and host %s and port %u and host %s and port %u", e->local, e->local_port,
		e->remote, e->remote_port);
	if (!d[0].known && !d[1].known)
		return;
	fprintf(f, " and ((src host %s and src port %u", e->local, e->local_port);
	print_direction(&d[0], family, false, f);
	fprintf(f, ") or (src host %s and src port %u", e->remote, e->remote_port);
	print_direction(&d[1], family, false, f);
	fputs("))", f);
}

static void print_wireshark(const struct queue_ends *e, int family, const struct direction d[2],
			    FILE *f)
{
	const char *ip = family == AF_INET ? "ip" : "ipv6";

	fprintf(f, "%s.addr==%s && %s.addr==%s && tcp.port==%u && tcp.port==%u && ", ip, e->local,
		ip, e->remote, e->local_port, e->remote_port);
	if (!d[0].known && !d[1].known)
		return;
	fprintf(f, "((%s.src==%s && tcp.srcport==%u", ip, e->local, e->local_port);
	print_direction(&d[0], family, true, f);
	fprintf(f, ") || (%s.src==%s && tcp.srcport==%u", ip, e->remote, e->remote_port);
	print_direction(&d[1], family, true, f);
	fputs(")) && ", f);
}

/*
 * An answer may wait in the target's socket after the last point there, so the time is as long as
 * the command took on the host. With sequence numbers, it only tells a command from those with the
 * same numbers 4 GiB before and after.
 * @took: that, in nanoseconds
 * @d: see print_tcpdump()
 */
static void print_side(const struct nt_record *r, uint64_t took, const struct pcap_side *s,
		       const struct direction d[2], FILE *f)
{
	uint64_t begin = record_begin_ns(r), end = record_last_ns(r);
	const struct queue_ends *e = s->ends;
	int family = family_of(e);
	int64_t from, to;

	if (end - begin < took)
		end = begin + took;
	from = wall_of(s, begin - PCAP_MARGIN_NS);
	to = wall_of(s, end + PCAP_MARGIN_NS);

	fprintf(f, "  %s ", side_name((enum nt_side)r->side));
	text_print(f, s->machine, TEXT_HEX);
	if (!begin || from <= 0 || to < from) {
		fprintf(f, ": when it was on its way is not known\n");
		return;
	}
	fprintf(f, "\n    tcpdump    %s",
		family ? "'" : "not known: the recording has no addresses ");
	if (family)
		print_tcpdump(e, family, d, f);
	fprintf(f, "%s\n    Wireshark  '", family ? "'" : "and ports of the queue");
	if (family)
		print_wireshark(e, family, d, f);
	fprintf(f, "frame.time_epoch>=");
	put_time(from, f);
	fprintf(f, " && frame.time_epoch<=");
	put_time(to, f);
	fprintf(f, "'\n");
}

bool pcap_print(const struct slow_command *c, const struct pcap_side side[NT_SIDES], FILE *f)
{
	const struct nt_record *r = &c->host;
	/* Sent and received of the host, and from the second on those of the target. */
	struct direction d[NT_SIDES + 1] = {direction_to_target(r)};
	char took[32];

	if (side[NT_TARGET].machine)
		d[1] = direction_to_host(&c->target);
	d[2] = d[0];
	fprintf(f, "packets of %s of %u bytes, LBA %" PRIu64 ", cid 0x%04x, queue %u, %s\n",
		op_name(r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER), r->length,
		(uint64_t)r->slba, r->cid, r->qid,
		duration_format(took, sizeof(took), (double)c->latency));
	print_side(&c->host, c->latency, &side[NT_HOST], d, f);
	if (side[NT_TARGET].machine)
		print_side(&c->target, c->latency, &side[NT_TARGET], d + 1, f);
	return d[0].known && d[1].known;
}
