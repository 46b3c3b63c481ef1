/* SPDX-License-Identifier: GPL-2.0-only */
/* Feeds a live view's records to the groups that they are told in: see view/tally.h. */
#ifndef NTPROF_CLI_TALLYING_H
#define NTPROF_CLI_TALLYING_H

#include "cli/naming.h"
#include "view/tally.h"

/** struct tallying - all zeroes: there are no such groups; @queue: who has a slot, as far as records have told */
struct tallying {
	struct tally *tally;
	struct group_by by;
	struct naming naming;
	struct queue_info *queue;
	uint32_t nr_queues;
};

/** tallying_open() - begin, with groups by these keys; Return: 0 or -ENOMEM; tallying_close() is due in either case */
int tallying_open(struct tallying *t, const struct group_by *by);

/** tallying_record() - a command has ended; Return: 0 or -ENOMEM */
int tallying_record(struct tallying *t, const struct tracer *tracer, const struct nt_record *r);

/** tallying_close() - release; also where it was not opened */
void tallying_close(struct tallying *t);

#endif /* NTPROF_CLI_TALLYING_H */
