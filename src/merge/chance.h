/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the other halves of records that wait may come yet: by who of the other side is there, and
 * whose stream has ended.
 */
#ifndef NTPROF_MERGE_CHANCE_H
#define NTPROF_MERGE_CHANCE_H

#include "core/span.h"
#include "merge/topology.h"

/*
 * What a target had of a command that the host gave up it tells when it notices that the connection has closed:
 * at its next look, or when no Keep Alive has come for long. Keep Alive Timeouts are mostly 5 s to 30 s.
 */
#define CHANCE_GIVEN_UP_NS 60000000000ULL

/** chance_rate() - find out what chance the records of a half have, and whether it is over with them */
void chance_rate(const struct topology *t, struct half *h);

/** chance_stream_ends() - nothing more comes of a stream; of one that is not known nothing changes */
void chance_stream_ends(struct topology *t, unsigned int stream);

/** chance_is_settled() - whether partners know how far apart their clocks are, and so how far the other's stream is */
static inline bool chance_is_settled(const struct half *h)
{
	return h->partner && h->link->offset.known;
}

/**
 * chance_has_passed() - whether a waiting record's other half will not come any more
 * @t: topology
 * @h: the record's half
 * @r: the record
 * @margin: by which the record's end is passed, as records do not come exactly in order; nanoseconds
 *
 * The target's stream has passed the end of a record of the host: the target has sent its answer before
 * that. The other way round nothing follows: an answer may take any time from the target to the host's
 * completion. Where the other stream has ended, the record's own has to have gone on by as much.
 */
static inline bool chance_has_passed(const struct topology *t, const struct half *h,
				     const struct nt_record *r, uint64_t margin)
{
	uint64_t end = record_last_ns(r);

	if (h->over)
		return t->streams[h->stream].newest > end + margin;
	if (!chance_is_settled(h) || h->side != NT_HOST)
		return false;
	if (r->flags & NT_F_CANCELLED)
		margin += CHANCE_GIVEN_UP_NS;
	end += (uint64_t)h->link->offset.now.high;
	return t->streams[h->partner->stream].newest > end + margin;
}

/** chance_has_expired() - whether it has, or who has it is not known and the record is @age_ns old */
bool chance_has_expired(const struct topology *t, const struct half *h, const struct nt_record *r,
			uint64_t age_ns);

#endif /* NTPROF_MERGE_CHANCE_H */
