/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that the running kernel does not take, although its type information has all that they
 * need: its verifier refused them, or they could not be attached. A way (trace/probes.h) that needs
 * such a program is given up, and the next way to the same points is tried.
 */
#ifndef NTPROF_TRACE_REFUSALS_H
#define NTPROF_TRACE_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

/* More than there are programs for a side. */
#define REFUSALS_MAX 64

/**
 * struct refusal - one program
 * @program: its name, which may be longer than the 15 characters that the kernel keeps
 * @why: one line of text for the user
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
 * Return: whether it was added: false if it was there already, or if there is no room.
 */
bool refusals_add(struct refusals *r, const char *program, const char *why);

/** refusals_why() - why @program was refused, or NULL if it was not */
const char *refusals_why(const struct refusals *r, const char *program);

/**
 * refusals_of_log() - find the reason for which the verifier refuses a program
 * @log: the verifier's log, "" if there is none. The reason is its last line before the statistics
 * @err: negative errno of loading the program; it is the reason if the log has none
 * @buf: filled with one line, no newline
 * @size: of @buf
 */
void refusals_of_log(const char *log, int err, char *buf, size_t size);

#endif /* NTPROF_TRACE_REFUSALS_H */
