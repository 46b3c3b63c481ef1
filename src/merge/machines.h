/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the headers of the streams say of the machines that they are from, by the numbers that the caller
 * gives streams: who they are, and what their kernels lack.
 */
#ifndef NTPROF_MERGE_MACHINES_H
#define NTPROF_MERGE_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/points.h"

/* A host name of Linux (__NEW_UTS_LEN), the end of a label in parentheses, and the terminator. */
#define MACHINE_NAME_LEN (64 + 1 + MACHINE_LABEL_MAX + 1 + 1)
#define MACHINE_LABEL_MAX 40

/**
 * struct machine - one stream's
 * @known: its header has come; else all else is 0
 * @name: to show: its host name
 * @sample: about one command in so many was measured; 0 and 1: every one
 * @missing: bits of the points that nothing gives there
 */
struct machine {
	bool known;
	enum nt_side side;
	char name[MACHINE_NAME_LEN];
	uint32_t sample;
	uint32_t missing;
};

/** struct machines - @machine[stream], @nr of them, which have been told of @told times; all zero at the beginning */
struct machines {
	struct machine *machine;
	unsigned int nr;
	unsigned int told;
};

/** machines_init() - make room for @nr streams; Return: 0 or -ENOMEM */
int machines_init(struct machines *m, unsigned int nr);

/**
 * machines_set() - the header of a stream has come
 * @m: machines
 * @stream: its number, below @nr
 * @what: copied, @known aside; where its name is empty, or that of another of its side, @label is what
 *        tells them apart
 * @label: "a.ntp", "peer 2"
 */
void machines_set(struct machines *m, unsigned int stream, const struct machine *what,
		  const char *label);

/** machines_get() - a stream's; one that is not known where there is none: @m may be NULL */
const struct machine *machines_get(const struct machines *m, unsigned int stream);

/** machines_free() - release */
void machines_free(struct machines *m);

#endif /* NTPROF_MERGE_MACHINES_H */
