/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds the records of a live view to its groups: see view/tally.h. */
#ifndef NTPROF_CLI_TALLYING_H
#define NTPROF_CLI_TALLYING_H

#include "cli/naming.h"
#include "view/tally.h"

/**
 * struct tallying - all zeroes: there are no such groups
 * @queue: [slot] the connection that has it, if a record has announced it
 */
struct tallying {
	struct tally *tally;
	struct group_by by;
	struct naming naming;
	struct queue_info *queue;
	uint32_t nr_queues;
};

/**
 * tallying_open() - begin, with groups by these keys; tallying_close() is due in any case. Return:
 * 0 or -ENOMEM
 */
int tallying_open(struct tallying *t, const struct group_by *by);

/** tallying_record() - call when a command has ended. Return: 0 or -ENOMEM */
int tallying_record(struct tallying *t, const struct tracer *tracer, const struct nt_record *r);

/** tallying_close() - release; fine if it was not opened */
void tallying_close(struct tallying *t);

#endif /* NTPROF_CLI_TALLYING_H */
