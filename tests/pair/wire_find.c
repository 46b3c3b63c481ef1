// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for the command of a filter of "report --pcap-filter" in the packets of wire_capture:
 *
 *   wire_find PACKETS PORT FROM TO CID [target|host BEGIN LENGTH]...
 *
 * PORT is the host's; FROM and TO are nanoseconds of CLOCK_REALTIME. Of what goes to the target, or
 * to the host, only packets with bytes of the LENGTH ones from sequence number BEGIN on are looked
 * at, if it is given. Prints how many command capsules with that id the host sent over the
 * connection at that time, how many responses it got (NVMe/TCP 1.0, 3.6.2), how many packets there
 * were of it in either direction, and how many without ranges: "capsules N responses N packets N of
 * N". A PDU may lie in two packets, so the bytes are put together by their sequence numbers first.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/*
 * Type and header's length of a PDU, and where its command id is: byte 2 of a command, byte 12 of a
 * completion queue entry.
 */
struct pdu {
	uint8_t type;
	uint8_t bytes;
	uint8_t cid_at;
};
static const struct pdu capsule = {0x04, 72, 10}, response = {0x05, 24, 20};

#define RANGES_MAX 8
static struct range {
	bool to_target;
	uint32_t begin;
	uint32_t len;
} ranges[RANGES_MAX];
static int nr_ranges;

/* Byte by byte. Return: whether a filter with these ranges has to show a packet */
static bool is_shown(const struct wire_packet *p)
{
	bool any = true;

	for (int i = 0; i < nr_ranges; i++) {
		if (ranges[i].to_target != p->to_target)
			continue;
		for (uint32_t at = 0; at < p->len; at++)
			if (p->seq + at - ranges[i].begin < ranges[i].len)
				return true;
		any = false;
	}
	return any;
}

/* The bytes that one machine sent: those of sequence number @begin and later. */
struct sent {
	uint32_t begin;
	size_t len;
	uint8_t *data;
	bool *came;
};

static unsigned int pdus_in(const struct sent *s, const struct pdu *pdu, unsigned int cid)
{
	unsigned int n = 0;

	for (size_t i = 0; i + pdu->bytes <= s->len; i++)
		n += s->data[i] == pdu->type && s->data[i + 2] == pdu->bytes &&
		     (s->data[i + pdu->cid_at] | s->data[i + pdu->cid_at + 1] << 8) == (int)cid &&
		     !memchr(s->came + i, false, pdu->bytes);
	return n;
}

/* Packets may come in another order than they were sent in, but none is 2^31 bytes early. */
static bool sent_add(struct sent *s, const struct wire_packet *p, const uint8_t *data)
{
	size_t early = s->len && (int32_t)(p->seq - s->begin) < 0 ? s->begin - p->seq : 0;
	size_t at, len;

	if (!s->len || early)
		s->begin = p->seq;
	at = p->seq - s->begin;
	len = s->len + early > at + p->len ? s->len + early : at + p->len;
	s->data = realloc(s->data, len);
	s->came = realloc(s->came, len * sizeof(*s->came));
	if (!s->data || !s->came)
		return false;
	memmove(s->data + early, s->data, s->len);
	memmove(s->came + early, s->came, s->len * sizeof(*s->came));
	memset(s->came, false, early * sizeof(*s->came));
	memset(s->came + early + s->len, false, (len - early - s->len) * sizeof(*s->came));
	s->len = len;
	memcpy(s->data + at, data, p->len);
	memset(s->came + at, true, p->len * sizeof(*s->came));
	return true;
}

int main(int argc, char **argv)
{
	unsigned int packets = 0, all = 0, port, cid;
	struct wire_packet p;
	struct sent sent[2] = {0};
	long long from, to;
	FILE *f;

	if (argc < 6 || argc % 3 || argc > 6 + 3 * RANGES_MAX)
		return 2;
	for (char **arg = argv + 6; *arg; arg += 3)
		ranges[nr_ranges++] = (struct range){.to_target = !strcmp(arg[0], "target"),
						     .begin = (uint32_t)strtoul(arg[1], NULL, 10),
						     .len = (uint32_t)strtoul(arg[2], NULL, 10)};
	f = fopen(argv[1], "r");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	port = (unsigned int)strtoul(argv[2], NULL, 10);
	from = strtoll(argv[3], NULL, 10);
	to = strtoll(argv[4], NULL, 10);
	cid = (unsigned int)strtoul(argv[5], NULL, 0);
	while (fread(&p, sizeof(p), 1, f) == 1) {
		uint8_t *data = malloc(p.len + 1);

		if (!data || fread(data, 1, p.len, f) != p.len)
			return 1;
		if (p.port == port && p.ns >= from && p.ns <= to) {
			all++;
			if (is_shown(&p)) {
				packets++;
				if (p.len && !sent_add(&sent[p.to_target], &p, data))
					return 1;
			}
		}
		free(data);
	}
	fclose(f);
	printf("capsules %u responses %u packets %u of %u\n", pdus_in(&sent[1], &capsule, cid),
	       pdus_in(&sent[0], &response, cid), packets, all);
	for (int i = 0; i < 2; i++) {
		free(sent[i].data);
		free(sent[i].came);
	}
	return 0;
}
