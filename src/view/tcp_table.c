// SPDX-License-Identifier: GPL-2.0-only
#include "view/tcp_table.h"

#include <arpa/inet.h>

#include "view/lines.h"

/* TCP_INFINITE_SSTHRESH in include/net/tcp.h: there was no loss yet. */
#define SSTHRESH_INFINITE 0x7fffffff

static void get_address(const void *row, const struct column *c, struct value *v)
{
	const struct nt_tcp_state *s = &((const struct tcp_row *)row)->now;
	const bool peer = c->arg == TCP_REMOTE, v6 = s->family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(s->family, peer ? s->peer : s->local, text, sizeof(text));
	snprintf(v->buf, sizeof(v->buf), v6 ? "[%s]:%u" : "%s:%u", text,
		 peer ? s->peer_port : s->local_port);
	value_text(v, v->buf);
	v->none = !s->family;
}

static void get_ns(const void *row, const struct column *c, struct value *v)
{
	const struct nt_tcp_state *s = &((const struct tcp_row *)row)->now;

	value_natural(v, 1000ULL * (c->arg == TCP_SRTT ? s->srtt_us : s->rttvar_us));
	v->none = !s->srtt_us;
}

static void get_expected(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, tcp_expected_ns(&((const struct tcp_row *)row)->now));
	v->none = !v->natural;
}

static bool no_ssthresh(const void *row)
{
	return ((const struct tcp_row *)row)->now.snd_ssthresh >= SSTHRESH_INFINITE;
}

static bool no_pacing(const void *row)
{
	return ((const struct tcp_row *)row)->now.pacing_rate == ~0ULL;
}

/* It was not read before. */
static bool is_new(const void *row)
{
	return ((const struct tcp_row *)row)->seconds <= 0;
}

#define FIELD(member) COLUMN_FIELD(struct tcp_row, member)
#define STATE(member) COLUMN_FIELD(struct tcp_row, now.member)
#define SINCE(member) COLUMN_FIELD(struct tcp_row, member), .none = is_new

static const struct column tcp[] = {
	[TCP_CONTROLLER] = COLUMN("controller", NAME, .brief = "ctrl", FIELD(controller)),
	[TCP_PEER] = {"peer", "peer NQN", .unit = UNIT_TEXT, FIELD(peer), .least = 1},
	[TCP_QUEUE] = COLUMN("queue", NUMBER, .brief = "qid", FIELD(qid)),
	[TCP_LOCAL] = {"local", "from", .unit = UNIT_NAME, .get = get_address, .arg = TCP_LOCAL},
	[TCP_REMOTE] = {"remote", "to", .unit = UNIT_NAME, .get = get_address, .arg = TCP_REMOTE},
	[TCP_SRTT] = COLUMN("srtt", NANOSECONDS, .get = get_ns, .arg = TCP_SRTT),
	[TCP_RTTVAR] = COLUMN("rttvar", NANOSECONDS, .get = get_ns, .arg = TCP_RTTVAR),
	[TCP_CWND] = COLUMN("cwnd", COUNT, STATE(snd_cwnd)),
	[TCP_SSTHRESH] = COLUMN("ssthresh", COUNT, STATE(snd_ssthresh), .none = no_ssthresh),
	[TCP_UNACKED] = COLUMN("unacked", COUNT, .brief = "unack", STATE(unacked)),
	[TCP_LOST] = COLUMN("lost", COUNT, STATE(lost)),
	[TCP_RETRANS] = {"retransmitting", "retrans", .unit = UNIT_COUNT, STATE(retrans)},
	[TCP_RETRANSMITTED] = {"retransmitted", "sent again", .brief = "again", .unit = UNIT_COUNT,
			       STATE(total_retrans)},
	[TCP_RETRANSMITTED_ADDED] = {"retransmitted_added", "+", .unit = UNIT_COUNT,
				     SINCE(retransmitted)},
	[TCP_SENT] = COLUMN("sent", BYTES, SINCE(sent)),
	[TCP_QUEUED] = COLUMN("queued", BYTES, STATE(queued)),
	[TCP_NOTSENT] = {"notsent", "not sent", .brief = "unsent", .unit = UNIT_BYTES,
			 STATE(notsent)},
	[TCP_EXPECTED] = COLUMN("expected", NANOSECONDS, .get = get_expected),
	[TCP_WINDOW] = {"peer_window", "window", .brief = "wnd", .unit = UNIT_BYTES,
			STATE(snd_wnd)},
	[TCP_BUSY] = COLUMN("busy", SHARE, SINCE(busy)),
	[TCP_RWND_LIMITED] = {"window_limited", "by window", .brief = "by wnd", .unit = UNIT_SHARE,
			      SINCE(rwnd_limited)},
	[TCP_SNDBUF_LIMITED] = {"buffer_limited", "by buffer", .brief = "by buf",
				.unit = UNIT_SHARE, SINCE(sndbuf_limited)},
	[TCP_MSS] = COLUMN("mss", BYTES, STATE(snd_mss)),
	[TCP_PACING] = {"pacing_rate", "paced", .unit = UNIT_BYTES_PER_SECOND, STATE(pacing_rate),
			.none = no_pacing},
	[TCP_CONGESTION] = {"congestion", "congestion", .brief = "cc", .unit = UNIT_TEXT,
			    STATE(congestion)},
};

const struct columns tcp_columns = COLUMNS("tcp", tcp);

void tcp_print(const struct tcp_rows *t, FILE *f, unsigned int width)
{
	static const unsigned char shown[] = {
		TCP_CONTROLLER,	    TCP_QUEUE,	       TCP_SRTT,
		TCP_RTTVAR,	    TCP_CWND,	       TCP_UNACKED,
		TCP_LOST,	    TCP_RETRANSMITTED, TCP_RETRANSMITTED_ADDED,
		TCP_QUEUED,	    TCP_NOTSENT,       TCP_EXPECTED,
		TCP_WINDOW,	    TCP_BUSY,	       TCP_RWND_LIMITED,
		TCP_SNDBUF_LIMITED, TCP_CONGESTION,    TCP_REMOTE,
	};
	static const unsigned char dispensable[] = {
		TCP_REMOTE,   TCP_CONGESTION, TCP_RTTVAR, TCP_WINDOW,	      TCP_BUSY,
		TCP_EXPECTED, TCP_UNACKED,    TCP_LOST,	  TCP_SNDBUF_LIMITED, TCP_RWND_LIMITED,
	};
	struct table table = {
		.columns = &tcp_columns,
		.dispensable = dispensable,
		.nr_dispensable = ARRAY_SIZE(dispensable),
	};
	unsigned int layout = TABLE_WIDE;

	if (!t->nr) {
		fputs("no connection is known yet: a queue is known from its first command on\n",
		      f);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		table_add(&table, shown[i], NULL, 0);
	for (size_t i = 0; i < t->nr; i++)
		table_measure(&table, &t->row[i]);
	while (table_lay_out(&table, layout) > width &&
	       layout < TABLE_BRIEF + ARRAY_SIZE(dispensable))
		layout++;
	table_titles(&table, f);
	for (size_t i = 0; i < t->nr; i++)
		table_row(&table, &t->row[i], f);
	if (t->past)
		fprintf(f, "connections that have no room here: %zu\n", t->past);
}
