// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the state of a queue's TCP connection, and note when it sends a segment again. User space
 * runs a program for each queue (BPF_PROG_TEST_RUN) with a struct nt_tcp_state as context. The only
 * program that is attached runs when TCP sends again, so there is no cost for commands. This works
 * where the module tcp_diag is missing, which ss needs.
 *
 * Context: a task; of the attached program, any. Nothing is locked: members may be of different
 * times, some nanoseconds apart. All reads are by helper, so that a socket that is being closed
 * does no harm. Which socket is read, a map says that user space cannot write. The memory of TCP
 * sockets is not given back to other uses at once (SLAB_TYPESAFE_BY_RCU in net/ipv4/tcp_ipv4.c);
 * user space verifies afterwards that the connection is still there.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "shared/control.h"
#include "shared/tcp.h"

#include "kernel_queues.bpf.h"

/* include/linux/socket.h */
#define AF_INET 2
#define AF_INET6 10

/* CO-RE: members of the sockets' structures that no other program reads. */
struct in6_addr___state {
	__u8 bytes[16];
};

struct sock_common___state {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport; /* network byte order */
	__u16 skc_num;
	unsigned short skc_family;
	unsigned short skc_rx_queue_mapping;
	int skc_incoming_cpu;
	struct in6_addr___state skc_v6_daddr;
	struct in6_addr___state skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct sock___state {
	struct sock_common___state __sk_common;
	void *sk_user_data;
	unsigned long sk_pacing_rate;
} __attribute__((preserve_access_index));

/* Context of programs that the kernel calls for each of its TCP sockets (net/ipv4/tcp_ipv4.c). */
struct bpf_iter_meta___state {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__tcp___state {
	struct bpf_iter_meta___state *meta;
	struct sock_common___state *sk_common;
} __attribute__((preserve_access_index));

/* NO_QUEUE_MAPPING in include/net/sock.h */
#define NO_QUEUE 0xffff

struct tcp_congestion_ops___state {
	char name[NT_TCP_CA_NAME];
} __attribute__((preserve_access_index));

struct inet_connection_sock___state {
	const struct tcp_congestion_ops___state *icsk_ca_ops;
} __attribute__((preserve_access_index));

struct tcp_sock___state {
	__u32 srtt_us;
	__u32 mdev_us;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 packets_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 dsack_dups;
	__u32 mss_cache;
	__u32 snd_wnd;
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 snd_una;
	__u64 bytes_sent;
	__u64 bytes_retrans;
	__u32 chrono_start;
	__u32 chrono_stat[3];
	__u8 chrono_type : 2;
} __attribute__((preserve_access_index));

/* enum tcp_chrono in include/linux/tcp.h, which begins with TCP_CHRONO_UNSPEC. */
enum { CHRONO_BUSY = 1, CHRONO_RWND_LIMITED, CHRONO_SNDBUF_LIMITED };

static __always_inline void addresses_read(struct nt_tcp_state *c, struct sock___state *sk)
{
	struct in6_addr___state local, peer;

	c->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	c->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	c->peer_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (c->family == AF_INET) {
		*(__u32 *)c->local = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		*(__u32 *)c->peer = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	} else if (c->family == AF_INET6) {
		BPF_CORE_READ_INTO(&local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&peer, sk, __sk_common.skc_v6_daddr);
		__builtin_memcpy(c->local, &local, sizeof(local));
		__builtin_memcpy(c->peer, &peer, sizeof(peer));
	}
}

/*
 * As tcp_get_info_chrono_stats() in net/ipv4/tcp.c: each time that is running now has to be added.
 */
static __always_inline __u32 chrono(struct tcp_sock___state *tp, __u32 which, __u32 now)
{
	__u32 stat = 0;

	bpf_core_read(&stat, sizeof(stat), &tp->chrono_stat[which - 1]);
	if (BPF_CORE_READ_BITFIELD_PROBED(tp, chrono_type) == which)
		stat += now - BPF_CORE_READ(tp, chrono_start);
	return stat;
}

static __always_inline void times_read(struct nt_tcp_state *c, struct tcp_sock___state *tp)
{
	__u32 now;

	c->jiffies = bpf_jiffies64();
	now = c->jiffies;
	c->rwnd_limited = chrono(tp, CHRONO_RWND_LIMITED, now);
	c->sndbuf_limited = chrono(tp, CHRONO_SNDBUF_LIMITED, now);
	c->busy = chrono(tp, CHRONO_BUSY, now) + c->rwnd_limited + c->sndbuf_limited;
}

static __always_inline int state_read(struct nt_tcp_state *c, struct sock___state *sk)
{
	struct tcp_sock___state *tp = (void *)sk;
	__u32 una = BPF_CORE_READ(tp, snd_una), written = BPF_CORE_READ(tp, write_seq);
	/* Older kernels let no helper write to the context itself. */
	char name[NT_TCP_CA_NAME] = {};

	c->sock = (__u64)sk;
	addresses_read(c, sk);
	/* The kernel keeps 8 times the one, and 4 times the other (include/linux/tcp.h). */
	c->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	c->rttvar_us = BPF_CORE_READ(tp, mdev_us) >> 2;
	c->snd_cwnd = BPF_CORE_READ(tp, snd_cwnd);
	c->snd_ssthresh = BPF_CORE_READ(tp, snd_ssthresh);
	c->unacked = BPF_CORE_READ(tp, packets_out);
	c->lost = BPF_CORE_READ(tp, lost_out);
	c->retrans = BPF_CORE_READ(tp, retrans_out);
	c->total_retrans = BPF_CORE_READ(tp, total_retrans);
	c->dsack_dups = BPF_CORE_READ(tp, dsack_dups);
	c->snd_mss = BPF_CORE_READ(tp, mss_cache);
	c->snd_wnd = BPF_CORE_READ(tp, snd_wnd);
	c->queued = written - una;
	c->notsent = written - BPF_CORE_READ(tp, snd_nxt);
	/* Acknowledged, or sent, between two reads. */
	if ((__s32)c->queued < 0)
		c->queued = 0;
	if ((__s32)c->notsent < 0)
		c->notsent = 0;
	c->bytes_sent = BPF_CORE_READ(tp, bytes_sent);
	c->bytes_retrans = BPF_CORE_READ(tp, bytes_retrans);
	c->pacing_rate = BPF_CORE_READ(sk, sk_pacing_rate);
	BPF_CORE_READ_STR_INTO(&name, (struct inet_connection_sock___state *)sk, icsk_ca_ops, name);
	__builtin_memcpy(c->congestion, name, sizeof(name));
	times_read(c, tp);
	c->known = 1;
	return 0;
}

SEC("syscall")
int tcp_state(struct nt_tcp_state *c)
{
	__u32 slot = c->slot;
	struct nt_kernel_queue *k = bpf_map_lookup_elem(&kernel_queues, &slot);
	struct sock___state *sk = k ? (void *)k->sock : NULL;

	/*
	 * The driver sets this when it takes over the socket, and clears it when it gives it back.
	 */
	if (!sk || (__u64)BPF_CORE_READ(sk, sk_user_data) != k->queue)
		return 0;
	return state_read(c, sk);
}

/*
 * Runs for each TCP socket of the reader's network namespace, with the socket locked. A socket that
 * belongs to another user than nvme-tcp has something else in sk_user_data: it is a queue's if that
 * leads back to the socket, and if the queue is one of its controller's array.
 */
SEC("iter/tcp")
int queue_sockets(struct bpf_iter__tcp___state *ctx)
{
	struct sock___state *sk = (void *)ctx->sk_common;
	const __u64 bytes = bpf_core_type_size(struct nvme_tcp_queue);
	struct nt_queue_socket s = {.rx_queue = -1};
	struct nvme_tcp_queue *queue;
	struct nvme_tcp_ctrl *ctrl;
	__u64 offset;

	if (!sk)
		return 0;
	queue = BPF_CORE_READ(sk, sk_user_data);
	if (!queue || (void *)BPF_CORE_READ(queue, sock, sk) != (void *)sk)
		return 0;
	ctrl = BPF_CORE_READ(queue, ctrl);
	offset = (__u64)queue - (__u64)BPF_CORE_READ(ctrl, queues);
	if (offset % bytes || offset / bytes > 0xffff)
		return 0;
	s.qid = offset / bytes;
	s.instance = BPF_CORE_READ(ctrl, ctrl.instance);
	s.io_cpu = BPF_CORE_READ(queue, io_cpu);
	s.rx_cpu = BPF_CORE_READ(sk, __sk_common.skc_incoming_cpu);
	if (bpf_core_field_exists(sk->__sk_common.skc_rx_queue_mapping) &&
	    BPF_CORE_READ(sk, __sk_common.skc_rx_queue_mapping) != NO_QUEUE)
		s.rx_queue = BPF_CORE_READ(sk, __sk_common.skc_rx_queue_mapping);
	addresses_read(&s.ends, sk);
	bpf_seq_write(ctx->meta->seq, &s, sizeof(s));
	return 0;
}

/* The queues' sockets, by address: user space fills it when it reads their states. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NT_TCP_SOCKETS);
	__type(key, __u64);
	__type(value, struct nt_resent);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, NT_RESENT_BYTES);
} resent SEC(".maps");

/* Those that found no room in it. */
__u64 nt_resent_lost;

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_resent, struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct nt_resent *s = bpf_map_lookup_elem(&sockets, &key);
	__u64 now;

	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	if (now - s->ns < NT_RESENT_GAP_NS)
		return 0;
	s->ns = now;
	if (bpf_ringbuf_output(&resent, s, sizeof(*s), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&nt_resent_lost, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
