/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that ended with a status other than success, by queue, operation and status: of an interval and of the
 * whole run. They are in no histogram: how long an error takes is no latency.
 */
#ifndef NTPROF_CORE_ERRORS_H
#define NTPROF_CORE_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"

/*
 * Different ones that are kept apart: far more than a person reads. A stream may tell of any number, and strangers connect.
 * Past that, the one that nothing was counted in for longest is counted as those of an unknown queue and status are; if
 * there is none, the new one.
 */
#define ERRORS_MAX 4096

/* Status of those that are not kept apart: no command has it. */
#define ERRORS_OTHER 0xffff

/**
 * struct error_count - how many commands ended so
 * @controller, @peer, @other, @qid, @op: see struct stats_row
 * @status: status code and type, or ERRORS_OTHER
 * @quiet: intervals in a row in which nothing was counted
 */
struct error_count {
	char controller[32];
	char peer[NT_NQN_LEN];
	char other[NT_NQN_LEN];
	uint16_t qid;
	enum nt_op op;
	uint16_t status;
	uint32_t quiet;
	uint64_t interval;
	uint64_t total;
};

/** struct errors - all of them, sorted by controller, peer, queue, operation and status; zeroes at first */
struct errors {
	struct error_count *row;
	size_t nr;
};

/**
 * errors_add() - count commands
 * @status: of a record; what tells how to try again is left out
 * @n: how many
 *
 * Return: 0 or -ENOMEM.
 */
int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n);

/** errors_add_of() - the same where the other NQN is known */
int errors_add_of(struct errors *e, const char *controller, const char *peer, const char *other,
		  uint16_t qid, enum nt_op op, uint16_t status, uint64_t n);

/** errors_fold() - add the totals of @from to @into, and zero them; 0 or -ENOMEM */
int errors_fold(struct errors *into, struct errors *from);

/** errors_begin_interval() - zero what belongs to one interval */
void errors_begin_interval(struct errors *e);

/** errors_free() - release; @e is empty then */
void errors_free(struct errors *e);

#endif /* NTPROF_CORE_ERRORS_H */
