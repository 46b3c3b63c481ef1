/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether counterparts of waiting records may still come. That depends on which streams
 * of the other side are there, and which have ended.
 */
#ifndef NTPROF_MERGE_LIKELIHOOD_H
#define NTPROF_MERGE_LIKELIHOOD_H

#include "core/span.h"
#include "merge/topology.h"

/*
 * How much longer the record of a cancelled command waits for the target's record. The target's
 * tracer sends that record when it looks at the commands in flight and finds the connection closed.
 * The target may close the connection only when no Keep Alive has come for long: Keep Alive
 * Timeouts are mostly 5 s to 30 s.
 */
#define LIKELIHOOD_GIVEN_UP_NS 60000000000ULL

/**
 * likelihood_rate() - find out how likely it is that counterparts of an endpoint's records come,
 * and whether none can come any more
 */
void likelihood_rate(const struct topology *t, struct endpoint *h);

/** likelihood_stream_ends() - a stream has ended; ignored if the stream is not known */
void likelihood_stream_ends(struct topology *t, unsigned int stream);

/**
 * likelihood_is_settled() - whether the endpoint has a partner and the offset of their clocks is
 * known, and so how far the partner's stream has come
 */
static inline bool likelihood_is_settled(const struct endpoint *h)
{
	return h->partner && h->link->offset.known;
}

/**
 * likelihood_has_passed() - whether the counterpart of a waiting record will not come any more
 * @t: topology
 * @h: the record's endpoint
 * @r: the record
 * @margin: nanoseconds by which the other stream has to have passed the end of the record, as
 *          records do not come exactly in order
 *
 * A record of the host is late when the target's stream has passed its end: the target has sent its
 * answer before that. The other way round nothing follows: an answer may take any time from the
 * target to the host's completion. Where the other stream has ended, the record's own stream has to
 * have gone on by @margin.
 */
static inline bool likelihood_has_passed(const struct topology *t, const struct endpoint *h,
					 const struct nt_record *r, uint64_t margin)
{
	uint64_t end = record_last_ns(r);

	if (h->over)
		return t->streams[h->stream].newest > end + margin;
	if (!likelihood_is_settled(h) || h->side != NT_HOST)
		return false;
	if (r->flags & NT_F_CANCELLED)
		margin += LIKELIHOOD_GIVEN_UP_NS;
	end += (uint64_t)h->link->offset.now.high;
	return t->streams[h->partner->stream].newest > end + margin;
}

/**
 * likelihood_has_expired() - likelihood_has_passed(), or the partner is not known and the record is
 * @age_ns old
 */
bool likelihood_has_expired(const struct topology *t, const struct endpoint *h,
			    const struct nt_record *r, uint64_t age_ns);

#endif /* NTPROF_MERGE_LIKELIHOOD_H */
