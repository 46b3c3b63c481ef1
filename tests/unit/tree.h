/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up sysfs or proc in a folder of its own. */
#ifndef NTPROF_TESTS_TREE_H
#define NTPROF_TESTS_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static int tree_take(const char *path, const struct stat *st, int type, struct FTW *w)
{
	return remove(path);
}

/* Removes a file, or a folder with all that it has. Return: 0, or nftw()'s */
static inline int tree_remove(const char *path)
{
	return nftw(path, tree_take, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a line to a file in @root, and makes the folders that it is in. */
static inline void tree_put(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

#endif /* NTPROF_TESTS_TREE_H */
