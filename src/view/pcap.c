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

static void print_side(const struct nt_record *r, const struct pcap_side *s, FILE *f)
{
	uint64_t begin = record_begin_ns(r), end = record_last_ns(r);
	int64_t from = wall_of(s, begin - PCAP_MARGIN_NS);
	int64_t to = wall_of(s, end + PCAP_MARGIN_NS);
	const struct queue_ends *e = s->ends;
	int family = family_of(e);

	fprintf(f, "  %s ", side_name((enum nt_side)r->side));
	text_print(f, s->machine, TEXT_HEX);
	if (!begin || from <= 0 || to < from) {
		fprintf(f, ": when it was on its way is not known\n");
		return;
	}
	fprintf(f, "\n    tcpdump    ");
	if (family)
		fprintf(f, "'tcp and host %s and port %u and host %s and port %u'\n", e->local,
			e->local_port, e->remote, e->remote_port);
	else
		fprintf(f, "not known: the recording has no addresses and ports of the queue\n");
	fprintf(f, "    Wireshark  '");
	if (family)
		fprintf(f, "%s.addr==%s && %s.addr==%s && tcp.port==%u && tcp.port==%u && ",
			family == AF_INET ? "ip" : "ipv6", e->local,
			family == AF_INET ? "ip" : "ipv6", e->remote, e->local_port,
			e->remote_port);
	fprintf(f, "frame.time_epoch>=");
	put_time(from, f);
	fprintf(f, " && frame.time_epoch<=");
	put_time(to, f);
	fprintf(f, "'\n");
}

void pcap_print(const struct slow_command *c, const struct pcap_side side[NT_SIDES], FILE *f)
{
	const struct nt_record *r = &c->host;
	char took[32];

	fprintf(f, "packets of %s of %u bytes, LBA %" PRIu64 ", cid 0x%04x, queue %u, %s\n",
		op_name(r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER), r->length,
		(uint64_t)r->slba, r->cid, r->qid,
		duration_format(took, sizeof(took), (double)c->latency));
	print_side(&c->host, &side[NT_HOST], f);
	if (side[NT_TARGET].machine)
		print_side(&c->target, &side[NT_TARGET], f);
}
