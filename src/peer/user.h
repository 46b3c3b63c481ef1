/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As whom a peer's command runs: under sudo as the user who called it, so that ssh finds that user's keys,
 * known hosts and agent, and nothing that needs no root has it.
 */
#ifndef NTPROF_PEER_USER_H
#define NTPROF_PEER_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* NGROUPS_MAX of Linux is 65,536; who is in more groups than this keeps the first ones. */
#define PEER_GROUPS_MAX 1024

/**
 * struct peer_user - somebody else than who runs this program
 * @other: there is one; without, a command runs as this process does, but for capabilities that it would inherit
 * @bare: ...and without those, either, which root has by itself, and without new privileges: for good
 * @name: "" where the user has none
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
 * peer_user_find() - who called sudo, by SUDO_UID, SUDO_GID and the password file
 * @u: filled; &peer_user.other is false where this process is not root, was not started by sudo, or by root
 *
 * Return: 0, or -EINVAL where SUDO_UID or SUDO_GID are no numbers: who it is cannot be known then.
 */
int peer_user_find(struct peer_user *u);

/**
 * peer_user_become() - in a child: become that user, without any capability; the environment says so
 *
 * Of a process that stays what it is only those capabilities go that a program would inherit: inheritable and
 * ambient ones; all where it is to be @bare. Return: 0 or a negative errno.
 */
int peer_user_become(const struct peer_user *u);

#endif /* NTPROF_PEER_USER_H */
