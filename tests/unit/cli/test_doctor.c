// SPDX-License-Identifier: GPL-2.0-only
/* The checks of a machine: what they find in a sysfs that is made up, and what they advise. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/doctor.h"

static char sys[] = "/tmp/ntprof-doctor.XXXXXX";
static const struct peer_options nobody;

/* Writes a file below the made-up sysfs, and its folders. */
static void put_mode(const char *name, const char *text, mode_t mode)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", sys, name);
	for (char *slash = path + sizeof(sys); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	assert_int_equal(fchmod(fileno(f), mode), 0);
	fclose(f);
}

static void put(const char *name, const char *text)
{
	put_mode(name, text, 0644);
}

static int remove_it(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return at->level ? remove(path) : 0;
}

static void clear(void)
{
	assert_int_equal(nftw(sys, remove_it, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void assert_says(enum nt_side side, const char *name, bool ok, const char *text)
{
	const struct doctor d = {.side = side, .sys = sys, .peers = &nobody};
	struct doctor_line l;

	for (unsigned int n = 0; doctor_check(&d, n, &l); n++) {
		if (strcmp(l.name, name) != 0)
			continue;
		assert_string_equal(l.text, text);
		assert_int_equal(l.ok, ok);
		return;
	}
	fail_msg("there is no check %s", name);
}

static void a_driver_that_is_missing_is_named_with_its_command(void **state)
{
	assert_says(NT_SIDES, "driver", false,
		    "neither nvme_tcp nor nvmet_tcp is loaded: modprobe nvme-tcp on a host, "
		    "modprobe nvmet-tcp on a target");
	assert_says(NT_TARGET, "driver", false, "nvmet_tcp is not loaded: modprobe nvmet-tcp");
	assert_says(NT_SIDES, "controllers", true, "");
	put("module/nvme_tcp/initstate", "live");
	assert_says(NT_SIDES, "driver", true, "nvme_tcp is loaded (host)");
	assert_says(NT_TARGET, "driver", false, "nvmet_tcp is not loaded: modprobe nvmet-tcp");
	put("module/nvmet_tcp/initstate", "coming");
	assert_says(NT_TARGET, "driver", false, "nvmet_tcp is not loaded: modprobe nvmet-tcp");
	put("module/nvmet_tcp/initstate", "live");
	assert_says(NT_SIDES, "driver", true,
		    "nvme_tcp is loaded (host), nvmet_tcp is loaded (target)");
	clear();
}

static void a_controller_that_is_not_live_is_named(void **state)
{
	put("module/nvme_tcp/initstate", "live");
	assert_says(NT_HOST, "controllers", false,
		    "no controller is connected by TCP: nvme connect -t tcp ...");
	put("class/nvme/nvme0/transport", "pcie");
	put("class/nvme/nvme1/transport", "tcp");
	put("class/nvme/nvme1/state", "live");
	assert_says(NT_HOST, "controllers", true, "nvme1 is live");
	put("class/nvme/nvme2/transport", "tcp");
	put("class/nvme/nvme2/state", "connecting");
	assert_says(NT_SIDES, "controllers", false,
		    "nvme1 is live, nvme2 is connecting: commands wait until it is live; look at "
		    "the network, the target and dmesg");
	assert_says(NT_TARGET, "controllers", true, "");
	clear();
}

static void a_disk_without_start_times_is_named_with_its_command(void **state)
{
	char want[256];

	put("class/nvme/nvme1/transport", "tcp");
	put("class/nvme/nvme1/nvme1n1/queue/iostats", "1");
	assert_says(NT_HOST, "iostats", true, "on for all disks");
	put("class/nvme/nvme1/nvme1n2/queue/iostats", "0");
	snprintf(want, sizeof(want),
		 "commands of a disk have no start times: echo 1 "
		 ">%s/class/nvme/nvme1/nvme1n2/queue/iostats",
		 sys);
	assert_says(NT_HOST, "iostats", false, want);
	clear();
}

static void a_kernel_without_type_information_is_wrong(void **state)
{
	const struct doctor d = {.side = NT_HOST, .sys = sys, .peers = &nobody};
	struct doctor_line l;

	assert_true(doctor_check(&d, 2, &l));
	assert_string_equal(l.name, "kernel");
	assert_false(l.ok);
	assert_non_null(strstr(l.text, "has no type information. Run a kernel built with "
				       "CONFIG_DEBUG_INFO_BTF=y"));
	put("kernel/btf/vmlinux", "x");
	assert_true(doctor_check(&d, 2, &l));
	assert_true(l.ok);
	assert_non_null(strstr(l.text, " has type information (BTF)"));
	clear();
}

/* Runs the check of a peer, as @o has it, with an ssh that does @script. */
static void try_peer_of(const struct peer_options *o, const char *script, struct doctor_line *l)
{
	const struct doctor d = {
		.side = NT_HOST, .sys = sys, .peers = o, .patience_ns = 2000000000};
	char text[512];
	unsigned int n = 0;

	snprintf(text, sizeof(text), "#!/bin/sh\n%s", script);
	put_mode("ssh", text, 0755);
	while (!doctor_peer(n))
		n++;
	assert_true(doctor_check(&d, n, l));
	assert_false(doctor_check(&d, n + 1, &(struct doctor_line){.name = NULL}));
	clear();
}

static void try_peer(const char *script, struct doctor_line *l)
{
	const struct peer_options o = {
		.source = {"ssh a sudo -n ntprof-bpf record --target -o -"},
		.machine = {"a"},
		.nr = 1,
	};

	try_peer_of(&o, script, l);
}

static void what_is_no_machine_is_named_harmlessly(void **state)
{
	const struct peer_options o = {.source = {"a\x1b[2J\xc2\x9b"}, .nr = 1};
	struct doctor_line l;

	try_peer_of(&o, "", &l);
	assert_string_equal(l.text, "a?[2J??: only HOST and USER@HOST are tried here");
	try_peer("printf 'a\\033[2J' >&2; exit 255", &l);
	assert_null(strchr(l.text, '\x1b'));
}

static void a_peer_is_asked_for_its_version_by_ssh(void **state)
{
	char *path = strdup(getenv("PATH")), with[4096];
	struct doctor_line l;

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	snprintf(with, sizeof(with), "%s:%s", sys, path);
	setenv("PATH", with, 1);
	try_peer(
		"test \"$*\" = \"-o BatchMode=yes -o ConnectTimeout=5 a sudo -n ntprof-bpf --version\" && "
		"echo ntprof-bpf " NTPROF_VERSION,
		&l);
	assert_string_equal(l.text, "a has ntprof-bpf " NTPROF_VERSION);
	assert_true(l.ok);
	try_peer("echo ntprof-bpf 0.0.1", &l);
	assert_false(l.ok);
	assert_string_equal(l.text, "a has ntprof-bpf 0.0.1, and this is ntprof-bpf " NTPROF_VERSION
				    ": install the same version on both");
	try_peer("echo no route >&2; exit 255", &l);
	assert_false(l.ok);
	assert_non_null(strstr(l.text, "ends with status 255: no route"));
	/* A process that it leaves may have the pipe for longer. */
	try_peer("sleep 60 & printf 'so\\rntprof-bpf " NTPROF_VERSION "'", &l);
	assert_string_equal(l.text, "a has ntprof-bpf " NTPROF_VERSION);
	try_peer("exec yes", &l);
	assert_false(l.ok);
	assert_non_null(strstr(l.text, "--version' does not end"));
	try_peer("exec sleep 60", &l);
	assert_non_null(strstr(l.text, "--version' does not end"));
	setenv("PATH", path, 1);
	free(path);
}

static int enter(void **state)
{
	return mkdtemp(sys) && !chmod(sys, 0755) ? 0 : -1;
}

static int leave(void **state)
{
	return rmdir(sys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_that_is_missing_is_named_with_its_command),
		cmocka_unit_test(a_controller_that_is_not_live_is_named),
		cmocka_unit_test(a_disk_without_start_times_is_named_with_its_command),
		cmocka_unit_test(a_kernel_without_type_information_is_wrong),
		cmocka_unit_test(what_is_no_machine_is_named_harmlessly),
		cmocka_unit_test(a_peer_is_asked_for_its_version_by_ssh),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
