// SPDX-License-Identifier: GPL-2.0-only
/* The way to a file: where it leads, and which steps are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/array.h"
#include "core/trust.h"

#define OTHER_USER 1234

static char base[] = "/tmp/ntprof-trust.XXXXXX";

/* base/folder/below/file, and base/link, which leads to "folder". The working folder is base. */
static int enter(void **state)
{
	int fd;

	if (!mkdtemp(base) || chdir(base) || mkdir("folder", 0755) || mkdir("folder/below", 0755) ||
	    symlink("folder", "link"))
		return -1;
	fd = open("folder/below/file", O_WRONLY | O_CREAT | O_EXCL, 0600);
	return fd < 0 ? -1 : close(fd);
}

static int leave(void **state)
{
	return unlink("folder/below/file") || rmdir("folder/below") || rmdir("folder") ||
	       unlink("link") || chdir("/") || rmdir(base);
}

/* The walk ends in @folder, with @name left. */
static void assert_walks(const char *path, enum trust_rule rule, bool follow, const char *folder,
			 const char *name)
{
	struct trust_walk w;
	struct stat got, want;
	int err = trust_walk(&w, path, rule, follow);

	if (err)
		fail_msg("'%s': %s %s", path, strerror(-err), w.why);
	assert_string_equal(w.why, "");
	assert_string_equal(w.rest, name);
	assert_int_equal(fstat(w.fd, &got), 0);
	assert_int_equal(stat(folder, &want), 0);
	if (got.st_dev != want.st_dev || got.st_ino != want.st_ino)
		fail_msg("'%s' does not lead to %s", path, folder);
	assert_int_equal(fcntl(w.fd, F_GETFD), FD_CLOEXEC);
	close(w.fd);
}

static void assert_refused(const char *path, enum trust_rule rule, bool follow, int want,
			   const char *why)
{
	struct trust_walk w;
	int fd = dup(STDERR_FILENO), err = trust_walk(&w, path, rule, follow),
	    after = dup(STDERR_FILENO);

	if (err != want)
		fail_msg("'%s': %d and not %d", path, err, want);
	assert_int_equal(w.fd, -1);
	if (!why[0])
		assert_string_equal(w.why, "");
	if (!strstr(w.why, why))
		fail_msg("'%s': no '%s' in '%s'", path, why, w.why);
	/* No descriptor is left open. */
	assert_int_equal(after, fd + 1);
	close(fd);
	close(after);
}

static void a_path_leads_where_the_kernel_says(void **state)
{
	static const struct {
		const char *path, *folder, *name;
	} cases[] = {
		{"file", ".", "file"},
		{"./file", ".", "file"},
		{"folder/below/file", "folder/below", "file"},
		{"folder//./below///file", "folder/below", "file"},
		{"folder/../folder/below/none", "folder/below", "none"},
		{"link/below/file", "folder/below", "file"},
		{"link/../link/below/file", "folder/below", "file"},
		{"folder/below/", "folder/below", "."},
		{"link/", "folder", "."},
		{"link/.", "folder", "."},
		{"link/..", "folder", ".."},
		{"absolute/file", "folder/below", "file"},
		{"/", "/", "."},
		{"//", "/", "."},
		{"/tmp", "/", "tmp"},
		{"..", ".", ".."},
	};
	char text[sizeof(base) + 16];

	snprintf(text, sizeof(text), "%s/link/below", base);
	assert_int_equal(symlink(text, "absolute"), 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		enum trust_rule rule = i % 2 ? TRUST_OURS : TRUST_NOT_PLANTED;

		assert_walks(cases[i / 2].path, rule, false, cases[i / 2].folder,
			     cases[i / 2].name);
		if (!access(cases[i / 2].path, F_OK))
			assert_walks(cases[i / 2].path, rule, true, cases[i / 2].folder,
				     cases[i / 2].name);
	}
	unlink("absolute");
}

static void the_last_link_is_followed_where_that_is_asked_for(void **state)
{
	assert_int_equal(symlink("link/below/file", "end"), 0);
	assert_int_equal(symlink("end", "first"), 0);
	for (int rule = TRUST_NOT_PLANTED; rule <= TRUST_OURS; rule++) {
		assert_walks("first", (enum trust_rule)rule, false, ".", "first");
		assert_walks("first", (enum trust_rule)rule, true, "folder/below", "file");
	}
	unlink("end");
	unlink("first");
}

static void what_leads_nowhere_is_an_error(void **state)
{
	static char slashes[PATH_MAX + 8], name[NAME_MAX + 8];

	memset(slashes, '/', sizeof(slashes) - 1);
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(symlink("round", "round"), 0);
	for (int r = TRUST_NOT_PLANTED; r <= TRUST_OURS; r++) {
		enum trust_rule rule = (enum trust_rule)r;

		assert_refused("", rule, false, -ENOENT, "");
		assert_refused("none/file", rule, false, -ENOENT, "");
		assert_refused("none", rule, true, -ENOENT, "");
		assert_refused("folder/below/file/x", rule, false, -ENOTDIR, "");
		assert_refused("folder/below/file/", rule, false, -ENOTDIR, "");
		assert_refused("round/x", rule, false, -ELOOP, "");
		assert_refused("round", rule, true, -ELOOP, "");
		assert_refused(slashes, rule, false, -ENAMETOOLONG, "");
		assert_refused(name, rule, false, -ENAMETOOLONG, "");
	}
	unlink("round");
}

/* An open file may be named by a link in /proc, such as /dev/fd/3. */
static void a_link_of_proc_is_left_to_the_kernel(void **state)
{
	int fd = open("folder", O_PATH | O_DIRECTORY | O_CLOEXEC), p[2];
	char path[64], name[16];

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/below/file", fd);
	assert_walks(path, TRUST_NOT_PLANTED, true, "folder/below", "file");
	assert_walks("/proc/self/cwd/folder/x", TRUST_NOT_PLANTED, false, "folder", "x");
	/* No other user can change the folders above it, either. */
	assert_walks(path, TRUST_OURS, true, "folder/below", "file");
	assert_int_equal(pipe(p), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p[0]);
	snprintf(name, sizeof(name), "%d", p[0]);
	assert_walks(path, TRUST_NOT_PLANTED, true, "/proc/self/fd", name);
	assert_refused(path, TRUST_OURS, true, -ENOENT, "");
	close(p[0]);
	close(p[1]);
	close(fd);
}

static void steps_that_others_may_change_are_not_ours(void **state)
{
	assert_int_equal(chmod("folder", 0777), 0);
	assert_refused("folder/below/file", TRUST_OURS, true, -EPERM,
		       "/folder, which others may write to");
	assert_refused("link/below/file", TRUST_OURS, true, -EPERM,
		       "/folder, which others may write to");
	assert_walks("link/below/file", TRUST_NOT_PLANTED, true, "folder/below", "file");
	assert_int_equal(chmod("folder", 0775), 0);
	assert_refused("folder/below/file", TRUST_OURS, true, -EPERM,
		       "/folder, which others may write to");
	assert_int_equal(chmod("folder", 01777), 0);
	assert_walks("folder/below/file", TRUST_OURS, true, "folder/below", "file");
	/* Folders above the working folder count as well. */
	assert_int_equal(chmod("folder", 0777) | chdir("folder/below"), 0);
	assert_refused("file", TRUST_OURS, true, -EPERM, "/folder, which others may write to");
	assert_int_equal(chdir(base) | chmod("folder", 0755), 0);
}

static void steps_of_other_users_are_not_ours(void **state)
{
	if (geteuid())
		skip();
	assert_int_equal(chown("folder", OTHER_USER, OTHER_USER), 0);
	assert_refused("folder/below/file", TRUST_OURS, true, -EPERM, "in ");
	assert_refused("folder/below/file", TRUST_OURS, true, -EPERM,
		       "/folder, which is another user's");
	/* Root has made the folder above, and no other user may write there. */
	assert_walks("folder/below/file", TRUST_NOT_PLANTED, true, "folder/below", "file");
	assert_int_equal(chmod(base, 01777), 0);
	assert_refused("folder/below/file", TRUST_NOT_PLANTED, true, -EPERM, "");
	assert_int_equal(chown("folder", 0, 0), 0);
	assert_walks("link/below/file", TRUST_NOT_PLANTED, true, "folder/below", "file");
	assert_int_equal(lchown("link", OTHER_USER, OTHER_USER), 0);
	assert_refused("link/below/file", TRUST_NOT_PLANTED, false, -EPERM, "");
	assert_refused("link/below/file", TRUST_OURS, false, -EPERM, "reached by ");
	assert_refused("link/below/file", TRUST_OURS, false, -EPERM,
		       "/link, which is another user's");
	setenv("SUDO_UID", "1234", 1);
	assert_walks("link/below/file", TRUST_NOT_PLANTED, false, "folder/below", "file");
	assert_walks("link/below/file", TRUST_OURS, false, "folder/below", "file");
	unsetenv("SUDO_UID");
	assert_int_equal(chmod(base, 0700) | lchown("link", 0, 0), 0);
}

/* A link of ours leads through a place where others put theirs. */
static void each_link_of_a_chain_is_looked_at(void **state)
{
	if (geteuid())
		skip();
	assert_int_equal(mkdir("shared", 0755) | chmod("shared", 01777), 0);
	assert_int_equal(
		symlink("../folder", "shared/theirs") | symlink("shared/theirs/below", "chain"), 0);
	assert_walks("chain/file", TRUST_NOT_PLANTED, false, "folder/below", "file");
	assert_walks("chain/file", TRUST_OURS, false, "folder/below", "file");
	assert_int_equal(lchown("shared/theirs", OTHER_USER, OTHER_USER), 0);
	assert_refused("chain/file", TRUST_NOT_PLANTED, false, -EPERM, "");
	assert_refused("chain/file", TRUST_OURS, false, -EPERM,
		       "/shared/theirs, which is another user's");
	unlink("chain");
	unlink("shared/theirs");
	rmdir("shared");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_leads_where_the_kernel_says),
		cmocka_unit_test(the_last_link_is_followed_where_that_is_asked_for),
		cmocka_unit_test(what_leads_nowhere_is_an_error),
		cmocka_unit_test(a_link_of_proc_is_left_to_the_kernel),
		cmocka_unit_test(steps_that_others_may_change_are_not_ours),
		cmocka_unit_test(steps_of_other_users_are_not_ours),
		cmocka_unit_test(each_link_of_a_chain_is_looked_at),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
