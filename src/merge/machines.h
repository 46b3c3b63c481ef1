/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machines that the streams come from, by the caller's numbers of streams: what their headers
 * say, such as names and the points that their kernels lack.
 */
#ifndef NTPROF_MERGE_MACHINES_H
#define NTPROF_MERGE_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/points.h"

/*
 * Room for a host name of Linux (__NEW_UTS_LEN), the end of a label in parentheses, and the
 * terminator.
 */
#define MACHINE_NAME_LEN (64 + 1 + MACHINE_LABEL_MAX + 1 + 1)
#define MACHINE_LABEL_MAX 40

/**
 * struct machine - the machine of one stream
 * @known: its header has come; if not, all else is 0
 * @name: host name, for display
 * @sample: about one command in this many was measured; 0 and 1: every one
 * @missing: bits of the points that no probe gives there
 */
struct machine {
	bool known;
	enum nt_side side;
	char name[MACHINE_NAME_LEN];
	uint32_t sample;
	uint32_t missing;
};

/**
 * struct machines - all of them; all zero at the beginning
 * @machine: [stream] of @nr streams
 * @told: how often machines_set() was called
 */
struct machines {
	struct machine *machine;
	unsigned int nr;
	unsigned int told;
};

/** machines_init() - begin with @nr unknown machines; Return: 0 or -ENOMEM */
int machines_init(struct machines *m, unsigned int nr);

/**
 * machines_set() - the header of a stream has come
 * @m: machines
 * @stream: number of the stream, below @nr
 * @what: copied, without @known
 * @label: "a.ntp", "peer 2": tells machines apart where the name is empty, or is that of another
 *         machine of the same side
 */
void machines_set(struct machines *m, unsigned int stream, const struct machine *what,
		  const char *label);

/**
 * machines_get() - the machine of a stream; @m may be NULL, and @stream unknown: then @known is
 * false
 */
const struct machine *machines_get(const struct machines *m, unsigned int stream);

/** machines_free() - release */
void machines_free(struct machines *m);

#endif /* NTPROF_MERGE_MACHINES_H */
