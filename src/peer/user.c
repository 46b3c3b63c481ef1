// SPDX-License-Identifier: GPL-2.0-only
#include "peer/user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/array.h"
#include "core/trust.h"

/* Variables that sudo sets and that are wrong for a command that runs as sudo's caller. */
static const char *const of_sudo[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "MAIL"};

static void find_groups(struct peer_user *u)
{
	int nr = PEER_GROUPS_MAX;

	/* If the user has more groups, getgrouplist() fails, but has filled in the first ones. */
	if (!u->name[0]) {
		u->groups[0] = u->gid;
		nr = 1;
	} else if (getgrouplist(u->name, u->gid, u->groups, &nr) < 0) {
		nr = PEER_GROUPS_MAX;
	}
	u->nr_groups = nr;
}

int peer_user_find(struct peer_user *u)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID"),
		   *name = getenv("SUDO_USER");
	const struct passwd *pw;

	memset(u, 0, sizeof(*u));
	if (geteuid() != 0 || !uid)
		return 0;
	if (trust_parse_id(uid, &u->uid))
		return -EINVAL;
	if (u->uid == 0)
		return 0;
	pw = getpwuid(u->uid);
	u->gid = pw ? pw->pw_gid : (gid_t)-1;
	if ((gid || !pw) && trust_parse_id(gid, &u->gid))
		return -EINVAL;
	snprintf(u->name, sizeof(u->name), "%s", pw ? pw->pw_name : name ?: "");
	snprintf(u->home, sizeof(u->home), "%s", pw && pw->pw_dir[0] ? pw->pw_dir : "/");
	snprintf(u->shell, sizeof(u->shell), "%s",
		 pw && pw->pw_shell[0] ? pw->pw_shell : "/bin/sh");
	find_groups(u);
	u->other = true;
	return 0;
}

/*
 * Drops what a program would inherit. A program that is executed by a process that is not root gets
 * ambient capabilities, and those inheritable ones that its file has, and no others
 * (capabilities(7)). @all: drop the capabilities of the process as well, which securebits may have
 * kept when its user changed.
 */
static int drop_capabilities(bool all)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	/* Kernels before 4.3 have no ambient capabilities, so this fails there. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	memset(data, 0, sizeof(data));
	if (!all && syscall(SYS_capget, &h, data))
		return -errno;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].inheritable = 0;
	return syscall(SYS_capset, &h, data) ? -errno : 0;
}

static int set_environment(const struct peer_user *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_sudo); i++)
		unsetenv(of_sudo[i]);
	if (setenv("HOME", u->home, 1) || setenv("SHELL", u->shell, 1))
		return -errno;
	if (!u->name[0])
		return unsetenv("USER") || unsetenv("LOGNAME") ? -errno : 0;
	return setenv("USER", u->name, 1) || setenv("LOGNAME", u->name, 1) ? -errno : 0;
}

/*
 * Root gets capabilities with each program that it executes. PR_SET_NO_NEW_PRIVS prevents that
 * (capabilities(7), prctl(2)). It needs no capability, unlike emptying the bounding set.
 */
static int be_bare(void)
{
	int err = drop_capabilities(true);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

int peer_user_become(const struct peer_user *u)
{
	if (!u->other)
		return u->bare ? be_bare() : drop_capabilities(false);
	if (setgroups((size_t)u->nr_groups, u->groups) || setresgid(u->gid, u->gid, u->gid) ||
	    setresuid(u->uid, u->uid, u->uid))
		return -errno;
	return drop_capabilities(true) ?: set_environment(u);
}
