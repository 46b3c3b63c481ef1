/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether two endpoints are recordings of the same commands. An endpoint is one side's view
 * of a connection. An offset on which some commands agree is believed only if nearly all commands
 * agree on it that both endpoints can have in common. This is necessary because two runs of one
 * program ask for the same blocks, and agree for a while.
 */
#ifndef NTPROF_MERGE_AGREEMENT_H
#define NTPROF_MERGE_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

/**
 * struct agreement - result of comparing the commands that both endpoints seem to have
 * @vote: the candidate offset that was tested
 * @best: the offset on which the commands agree
 * @rate: the rate at which that offset changes
 * @waiting: number of records that wait at the endpoint with fewer records
 * @agree: pairs that fit one offset between the clocks; the offset changes at an even rate
 * @unique: pairs of @agree with an address that occurs only once on each side
 * @repeats: a side repeats itself, both in its addresses and in time
 * @unlike: pairs with an address that occurs only once on each side, and that do not fit
 * @width_ns: sum of the widths of the bounds of all pairs that fit
 * @disagree: pairs that do not fit, or have another command id on the other side
 * @records: records of the endpoint with fewer records, from the first one that agrees to the last
 * @ns: time from the first of @records to the last
 * @lasts: the share that agrees is large enough at the beginning and at the end, too
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
 * agreement_find() - compare the records that wait at two endpoints
 * @pool: where the records wait
 * @few, @many: endpoints that may be of one connection; @few has fewer records
 * @from: record of @few to begin with
 * @vote: the candidate offset to test, and its rate
 * @a: filled
 *
 * Return: 0 or -ENOMEM.
 */
int agreement_find(const struct pending_pool *pool, const struct endpoint *few,
		   const struct endpoint *many, pending_id from, const struct offset_vote *vote,
		   struct agreement *a);

/*
 * Two runs of one program have drifted apart after this many commands or this much time, because no
 * two commands take exactly the same time.
 */
#define AGREEMENT_RECORDS 192
#define AGREEMENT_NS 1000000000ULL

/*
 * How well the offset is known before the comparison: not at all (UNKNOWN), within bounds that are
 * too wide to tell commands apart (PRIOR), or better (KNOWN).
 */
enum agreement_need {
	AGREEMENT_UNKNOWN,
	AGREEMENT_UNKNOWN_PATIENT, /* PATIENT: no more records will come to decide by */
	AGREEMENT_PRIOR,
	AGREEMENT_PRIOR_PATIENT,
	AGREEMENT_KNOWN,
	AGREEMENT_KNOWN_PATIENT,
};

/** agreement_is_refuted() - whether too many addresses that both have once are at different times
 */
bool agreement_is_refuted(const struct agreement *a);

/** agreement_convinces() - whether the agreement is too strong to be chance */
bool agreement_convinces(const struct agreement *a, enum agreement_need need);

#endif /* NTPROF_MERGE_AGREEMENT_H */
