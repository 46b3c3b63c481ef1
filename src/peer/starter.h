/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that starts peers' commands for a program that may not execute anything any more (cli/confine.h): it began before
 * that, and ends when the program does, by whatever that ends. Guards are its children, see peer/guard.h.
 */
#ifndef NTPROF_PEER_STARTER_H
#define NTPROF_PEER_STARTER_H

#include "peer/child.h"
#include "peer/user.h"

/* It answers at once, or something is wrong with it: then no more is started. */
#define STARTER_PATIENCE_NS 5000000000ULL

struct starter;

/**
 * starter_new() - begin
 * @sources: of peer_new(), @nr of them; valid while this is called
 * @user: as whom all of them run
 *
 * Return: NULL with errno set.
 */
struct starter *starter_new(char *const *sources, unsigned int nr, const struct peer_user *user);

/**
 * starter_start() - child_start() by that process
 * @i: index of the source
 * @c: filled; starter_end() is due, also where this fails
 *
 * Return: 0 or a negative errno.
 */
int starter_start(struct starter *s, unsigned int i, struct child *c);

/** starter_end() - make sure that all have ended, and release: child_end() of one that it started */
void starter_end(struct starter *s, struct child *c);

/** starter_free() - release, and wait for its end; NULL is fine */
void starter_free(struct starter *s);

#endif /* NTPROF_PEER_STARTER_H */
