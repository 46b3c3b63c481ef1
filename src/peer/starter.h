/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that starts peers' commands for a program that may not execute anything any more
 * (cli/confine.h). It is forked before that, and ends when the program ends, for whatever reason.
 * Guards are its children, see peer/child.h.
 */
#ifndef NTPROF_PEER_STARTER_H
#define NTPROF_PEER_STARTER_H

#include "peer/child.h"

/*
 * The starter answers at once. If it does not within this time, something is wrong with it, and no
 * more is started.
 */
#define STARTER_PATIENCE_NS 5000000000ULL

struct starter;

/**
 * starter_new() - start the process
 * @sources: @nr sources as for peer_new(); they need to be valid only during the call. The kind of
 *           each is found out here, once: source_kind()
 * @user: user that all of them run as
 *
 * Return: NULL with errno set.
 */
struct starter *starter_new(char *const *sources, unsigned int nr, const struct peer_user *user);

/**
 * starter_start() - child_start() by the starter
 * @i: index of the source
 * @c: filled; the caller calls starter_end(), also if this fails
 *
 * Return: 0 or a negative errno.
 */
int starter_start(struct starter *s, unsigned int i, struct child *c);

/**
 * starter_has_file() - whether source @i is a file, which is read as it grows. If it were started
 * again, it would send the same data again
 */
bool starter_has_file(const struct starter *s, unsigned int i);

/**
 * starter_end() - child_end() for a child of the starter, but without waiting for its guard, which
 * may need up to GUARD_END_NS
 */
void starter_end(struct starter *s, struct child *c);

/** starter_free() - wait for the end of the starter, and release; NULL is fine */
void starter_free(struct starter *s);

#endif /* NTPROF_PEER_STARTER_H */
