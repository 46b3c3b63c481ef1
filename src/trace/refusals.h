/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that the running kernel did not take, though its type information has all that they
 * need: its verifier refused them, or they could not be attached. The ways that need them are
 * given up for the next ones.
 */
#ifndef NTPROF_TRACE_REFUSALS_H
#define NTPROF_TRACE_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

/* More than either side has programs. */
#define REFUSALS_MAX 64

/**
 * struct refusal - one of them
 * @program: its name, which the kernel's 16 bytes do not limit
 * @why: for people, one line
 */
struct refusal {
	char program[64];
	char why[192];
};

/** struct refusals - all zeroes when there is none */
struct refusals {
	size_t nr;
	struct refusal of[REFUSALS_MAX];
};

/**
 * refusals_add() - note that @program was refused
 * @why: may be longer than what is kept of it
 *
 * Return: whether that is news; false as well where there is no room.
 */
bool refusals_add(struct refusals *r, const char *program, const char *why);

/** refusals_why() - why @program was refused, or NULL if it was not */
const char *refusals_why(const struct refusals *r, const char *program);

/**
 * refusals_of_log() - what the verifier says of a program that it refuses
 * @log: its log: the last line but what it counted is the reason. "" if there is none
 * @err: what loading returned, a negative errno; the reason where the log has none
 * @buf: filled with one line, no newline
 * @size: of @buf
 */
void refusals_of_log(const char *log, int err, char *buf, size_t size);

#endif /* NTPROF_TRACE_REFUSALS_H */
