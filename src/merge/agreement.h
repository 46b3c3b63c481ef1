/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether two halves are recordings of the same commands: an offset on which some commands agree is believed only if
 * nearly all do that both halves can have in common. Two runs of one program ask for the same, and agree for a while.
 */
#ifndef NTPROF_MERGE_AGREEMENT_H
#define NTPROF_MERGE_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

/**
 * struct agreement - what the commands say that both halves seem to have
 * @vote: that was on trial
 * @best: the offset that they agree on
 * @rate: at which it changes
 * @waiting: records of the half with fewer
 * @agree: how many fit one offset between clocks, which changes evenly
 * @unique: of those, how many are the only ones of their address on either side
 * @repeats: a side repeats itself, in what it asks for and in time
 * @unlike: the only ones of their address that do not fit
 * @width_ns: of the bounds of all that fit
 * @disagree: how many do not, or have another command id on the other side
 * @records: of the half with fewer, from the first one that agrees to the last
 * @ns: and how long that took
 * @lasts: as large a share agrees at the beginning and at the end
 */
struct agreement {
	struct offset_vote vote;
	struct offset_bounds best;
	double rate;
	size_t waiting;
	size_t agree;
	size_t unique;
	size_t unlike;
	uint64_t width_ns;
	size_t disagree;
	bool repeats;
	size_t records;
	uint64_t ns;
	bool lasts;
};

/**
 * agreement_find() - compare what waits at two halves
 * @pool: where the records wait
 * @few, @many: halves of one connection, perhaps; the one with fewer records, and the other
 * @from: record of @few to begin with
 * @vote: offset that is on trial, and its rate
 * @a: filled
 *
 * Return: 0 or -ENOMEM.
 */
int agreement_find(const struct pending_pool *pool, const struct half *few, const struct half *many,
		   pending_id from, const struct offset_vote *vote, struct agreement *a);

/*
 * Two runs of one program part when so many of their commands, or so much time, have passed, as no two commands take
 * equally long.
 */
#define AGREEMENT_RECORDS 192
#define AGREEMENT_NS 1000000000ULL

/* How well the offset is known before: within bounds that are too wide to tell commands apart, or better. */
enum agreement_need {
	AGREEMENT_UNKNOWN,
	AGREEMENT_UNKNOWN_PATIENT, /* there will not be more to go by */
	AGREEMENT_PRIOR,
	AGREEMENT_PRIOR_PATIENT,
	AGREEMENT_KNOWN,
	AGREEMENT_KNOWN_PATIENT,
};

/** agreement_convinces() - whether it cannot be chance */
bool agreement_convinces(const struct agreement *a, enum agreement_need need);

#endif /* NTPROF_MERGE_AGREEMENT_H */
