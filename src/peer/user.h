/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user that a peer's command runs as. Under sudo this is the user who called sudo, so that ssh
 * finds that user's keys, known hosts and agent, and a command that does not need root does not run
 * as root.
 */
#ifndef NTPROF_PEER_USER_H
#define NTPROF_PEER_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* NGROUPS_MAX of Linux is 65,536; of a user with more groups than this, the first ones are kept. */
#define PEER_GROUPS_MAX 1024

/**
 * struct peer_user - the user that commands run as
 * @other: a command runs as the user below. Otherwise it runs as this process does, but without the
 *         capabilities that it would inherit.
 * @bare: it also runs without the capabilities that root has by itself, and can never get new
 *        privileges
 * @name: "" if the user has none
 * @home, @shell: of the password file, or "/" and "/bin/sh"
 */
struct peer_user {
	bool other;
	bool bare;
	uid_t uid;
	gid_t gid;
	gid_t groups[PEER_GROUPS_MAX];
	int nr_groups;
	char name[256];
	char home[4096];
	char shell[4096];
};

/**
 * peer_user_find() - find the user who called sudo, by SUDO_UID, SUDO_GID and the password file
 * @u: filled; &peer_user.other is false if this process is not root, was not started by sudo, or
 *     was started by root
 *
 * Return: 0, or -EINVAL if SUDO_UID or SUDO_GID is not a number, so that the user is unknown.
 */
int peer_user_find(struct peer_user *u);

/**
 * peer_user_become() - become that user, without any capability, and set up the environment; in a
 * child
 *
 * If the user stays the same, only the capabilities that a program would inherit are dropped:
 * inheritable and ambient ones. With &peer_user.bare all are dropped.
 *
 * Return: 0 or a negative errno.
 */
int peer_user_become(const struct peer_user *u);

#endif /* NTPROF_PEER_USER_H */
