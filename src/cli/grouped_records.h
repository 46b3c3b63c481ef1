/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds the records of a live view to its groups: see view/live_groups.h. */
#ifndef NTPROF_CLI_GROUPED_RECORDS_H
#define NTPROF_CLI_GROUPED_RECORDS_H

#include "cli/announced_names.h"
#include "view/live_groups.h"

/**
 * struct grouped_records - all zeroes: there are no such groups
 * @queue: [slot] the connection that has it, if a record has announced it
 */
struct grouped_records {
	struct live_groups *live_groups;
	struct group_by by;
	struct announced_names announced_names;
	struct queue_info *queue;
	uint32_t nr_queues;
};

/**
 * grouped_records_open() - begin, with groups by these keys; grouped_records_close() is due in any
 * case. Return: 0 or -ENOMEM
 */
int grouped_records_open(struct grouped_records *t, const struct group_by *by);

/** grouped_records_record() - call when a command has ended. Return: 0 or -ENOMEM */
int grouped_records_record(struct grouped_records *t, const struct tracer *tracer,
			   const struct nt_record *r);

/** grouped_records_close() - release; fine if it was not opened */
void grouped_records_close(struct grouped_records *t);

#endif /* NTPROF_CLI_GROUPED_RECORDS_H */
