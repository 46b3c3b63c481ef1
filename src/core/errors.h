/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that ended with a status other than success, by queue, operation and status, of an
 * interval and of the whole run. Histograms do not have them, because the duration of a failed
 * command is not a latency.
 */
#ifndef NTPROF_CORE_ERRORS_H
#define NTPROF_CORE_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"

/*
 * The most rows, far more than a person reads. They are limited because a stream may have any
 * number, and unknown hosts may connect. With more of them, the row that has counted nothing for
 * longest is added to the row of unknown queue and status. If every row has counted something just
 * now, that happens to the new one.
 */
#define ERRORS_MAX 4096

/* The status of that row; no command has it. */
#define ERRORS_OTHER 0xffff

/**
 * struct error_count - number of commands that ended with a status
 * @controller, @peer, @other, @qid, @op: see struct stats_row
 * @status: status code and type, or ERRORS_OTHER
 * @quiet: number of intervals in a row in which nothing was counted
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

/**
 * struct errors - all rows, sorted by controller, peer, queue, operation and status; zeroes at
 * first
 */
struct errors {
	struct error_count *row;
	size_t nr;
};

/**
 * errors_add() - count commands
 * @status: status of a record; the bits that say how to retry are ignored
 * @n: number of commands
 *
 * Return: 0 or -ENOMEM.
 */
int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n);

/** errors_add_of() - like errors_add(), if the other NQN is known */
int errors_add_of(struct errors *e, const char *controller, const char *peer, const char *other,
		  uint16_t qid, enum nt_op op, uint16_t status, uint64_t n);

/** errors_fold() - add the totals of @from to @into, and zero them; 0 or -ENOMEM */
int errors_fold(struct errors *into, struct errors *from);

/** errors_begin_interval() - zero everything that belongs to one interval */
void errors_begin_interval(struct errors *e);

/** errors_free() - release; @e is empty then */
void errors_free(struct errors *e);

#endif /* NTPROF_CORE_ERRORS_H */
