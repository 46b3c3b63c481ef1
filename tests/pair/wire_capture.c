// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the NVMe/TCP segments that pass a network card, with the kernel's time stamps, until
 * SIGINT or SIGTERM: wire_capture INTERFACE FILE. What it says in the end is "captured PACKETS lost
 * PACKETS".
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "wire.h"

/*
 * All that a test sends may have to wait for us: we share the processor with the measured
 * commands. The
 * kernel copies packets into this ring; they would not be joined with others as long as we had them
 * ourselves.
 */
#define BLOCK_BYTES (1u << 20)
#define BLOCKS 96
#define FRAME_BYTES (1u << 11)
/* A block that is not full is handed over after so long. */
#define RETIRE_MS 50
/* So long after the last packet all blocks have been. */
#define IDLE_MS 1000

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
	ended = 1;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_socket(const char *interface)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	struct tpacket_req3 ring = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = FRAME_BYTES,
		.tp_frame_nr = BLOCK_BYTES / FRAME_BYTES * BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	int version = TPACKET_V3, fd;

	/* Without the link's header. Of all protocols, because others do not show sent packets. */
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		die("setsockopt");
	if (!address.sll_ifindex || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die(interface);
	return fd;
}

/* Return: whether the packet is of NVMe/TCP. @payload: filled, with where it begins */
static bool parse(const uint8_t *data, size_t size, struct wire_packet *p, size_t *payload)
{
	struct iphdr ip;
	struct tcphdr tcp;
	size_t total;

	if (size < sizeof(ip))
		return false;
	memcpy(&ip, data, sizeof(ip));
	total = ntohs(ip.tot_len);
	if (ip.version != 4 || ip.protocol != IPPROTO_TCP || total > size ||
	    total < ip.ihl * 4 + sizeof(tcp))
		return false;
	memcpy(&tcp, data + ip.ihl * 4, sizeof(tcp));
	if (ntohs(tcp.dest) != NVME_TCP_PORT && ntohs(tcp.source) != NVME_TCP_PORT)
		return false;
	*payload = ip.ihl * 4 + tcp.doff * 4;
	if (*payload > total)
		return false;
	p->to_target = ntohs(tcp.dest) == NVME_TCP_PORT;
	p->port = ntohs(p->to_target ? tcp.source : tcp.dest);
	p->seq = ntohl(tcp.seq);
	p->syn = tcp.syn;
	p->len = (uint32_t)(total - *payload);
	return true;
}

/* Return: how many packets of the block were of NVMe/TCP. */
static unsigned long write_block(const uint8_t *block, FILE *file)
{
	const struct tpacket_block_desc *desc = (const void *)block;
	const uint8_t *at = block + desc->hdr.bh1.offset_to_first_pkt;
	unsigned long packets = 0;

	for (uint32_t i = 0; i < desc->hdr.bh1.num_pkts; i++) {
		const struct tpacket3_hdr *head = (const void *)at;
		const uint8_t *data = at + head->tp_net;
		struct wire_packet p = {
			.ns = (int64_t)head->tp_sec * 1000000000 + head->tp_nsec,
		};
		size_t payload;

		at += head->tp_next_offset;
		if (!parse(data, head->tp_snaplen, &p, &payload))
			continue;
		if (fwrite(&p, sizeof(p), 1, file) != 1 ||
		    fwrite(data + payload, 1, p.len, file) != p.len)
			die("write");
		packets++;
	}
	return packets;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct tpacket_stats_v3 stats;
	socklen_t size = sizeof(stats);
	unsigned long packets = 0;
	struct pollfd fd = {.events = POLLIN | POLLERR};
	uint8_t *ring;
	FILE *file;

	if (argc != 3)
		return 2;
	file = fopen(argv[2], "w");
	if (!file)
		die(argv[2]);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	fd.fd = open_socket(argv[1]);
	ring = mmap(NULL, (size_t)BLOCK_BYTES * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, fd.fd,
		    0);
	if (ring == MAP_FAILED)
		die("mmap");
	puts("capturing");
	fflush(stdout);
	for (unsigned int i = 0;;) {
		uint8_t *block = ring + (size_t)(i % BLOCKS) * BLOCK_BYTES;
		uint32_t *status = &((struct tpacket_block_desc *)block)->hdr.bh1.block_status;

		if (__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) {
			packets += write_block(block, file);
			__atomic_store_n(status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
			i++;
		} else if (poll(&fd, 1, IDLE_MS) == 0 && ended) {
			break;
		}
	}
	if (fclose(file))
		die(argv[2]);
	if (getsockopt(fd.fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		die("getsockopt");
	printf("captured %lu lost %u\n", packets, stats.tp_drops);
	return 0;
}
