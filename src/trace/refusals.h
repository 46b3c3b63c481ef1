/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that the running kernel does not take, although its type information has all that they
 * need: its verifier refused them, or they could not be attached. The ways that need them are given
 * up for the next ones.
 */
#ifndef NTPROF_TRACE_REFUSALS_H
#define NTPROF_TRACE_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

/* More than either side has programs. */
#define REFUSALS_MAX 64

/**
 * struct refusal - one program
 * @program: its name, which may be longer than the 16 bytes of the kernel
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
 * @why: may be longer than the part that is kept
 *
 * Return: whether this was not known before; also false if there is no room.
 */
bool refusals_add(struct refusals *r, const char *program, const char *why);

/** refusals_why() - why @program was refused, or NULL if it was not */
const char *refusals_why(const struct refusals *r, const char *program);

/**
 * refusals_of_log() - the reason for which the verifier refuses a program
 * @log: its log: the reason is the last line but for statistics. "" if there is none
 * @err: what loading returned, a negative errno; the reason where the log has none
 * @buf: filled with one line, no newline
 * @size: of @buf
 */
void refusals_of_log(const char *log, int err, char *buf, size_t size);

#endif /* NTPROF_TRACE_REFUSALS_H */
