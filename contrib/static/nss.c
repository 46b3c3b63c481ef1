// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the statically linked program only: users and groups are those of /etc/passwd and /etc/group.
 * Other sources that nsswitch.conf names are shared libraries, which would have to be of the very C
 * library that the program was linked with. A caller of sudo who is not in /etc/passwd is the one
 * that sudo's variables tell (src/peer/child.c).
 */
#include <nss.h>

static void __attribute__((constructor)) use_files_only(void)
{
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("initgroups", "files");
}
