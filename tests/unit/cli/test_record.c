// SPDX-License-Identifier: GPL-2.0-only
/* The verb record, with a tracer that traces what the test sets. */
#include "streams.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "cli/announced_names.h"
#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "in_range.h"
#include "merge/places.h"

#define BURST 500000
#define DISK_BYTES 300000

static char path[] = "/tmp/ntprof-record.XXXXXX";

/* Records @nr commands into @to, no more bytes than @max_size. Return: exit status. */
static int record_at_most(char *to, uint64_t nr, char *max_size)
{
	char *words[] = {"record", "--host", "--force",	   "-o",     to,
			 "-d",	   "1",	     "--max-size", max_size, NULL};
	int status;

	traced.nr = 0;
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	status = verb_record.main((int)ARRAY_SIZE(words) - 1, words);
	close(traced.records_fd);
	return status;
}

static int record(char *to, uint64_t nr)
{
	return record_at_most(to, nr, "1G");
}

static void a_full_disk_leaves_no_record_that_is_not_counted(void **state)
{
	struct rlimit old, limit;
	struct stream_reader *r;
	struct stream_event e;
	uint64_t records = 0;
	int status, fd, ret;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = DISK_BYTES;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	status = record(path, BURST);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(status, EXIT_FAILURE);
	assert_int_equal(traced.nr, BURST);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = stream_reader_new(fd);
	while ((ret = stream_read(r, &e)) == 1)
		records += e.type == STREAM_RECORD;
	assert_int_equal(ret, 0);
	assert_int_equal(e.type, STREAM_END);
	assert_int_equal(e.end.records, records);
	assert_uint_in_range(records, 1, BURST - 1);
	assert_int_equal(records + e.end.losses.count[COUNTER_READER_SLOW], BURST);
	stream_reader_free(r);
	close(fd);
}

/* The frame that closes the stream is within the size, too. Less than a frame is left unused. */
static void a_recording_is_no_larger_than_asked_for(void **state)
{
	static char *const sizes[] = {"64K", "100K", "1M"};

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		off_t most = (off_t)atoi(sizes[i]) << (strchr(sizes[i], 'M') ? 20 : 10);
		struct stat st;

		assert_int_equal(record_at_most(path, BURST, sizes[i]), EXIT_SUCCESS);
		assert_int_equal(stat(path, &st), 0);
		assert_uint_in_range(st.st_size, most - STREAM_FRAME_MAX, most);
	}
}

/* All names of losses are in each frame of losses. */
static void fill_all_losses(struct stats *s)
{
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++)
		s->counters_interval[i] = 1;
}

/* Also where the last frame of records leaves little for the frames behind it. */
static void nothing_that_follows_the_records_makes_it_larger(void **state)
{
	traced.fill = fill_all_losses;
	for (unsigned int bytes = 2 * STREAM_FRAME_MAX; bytes < 2 * STREAM_FRAME_MAX + 1024;
	     bytes += 64) {
		char size[16];
		struct stat st;

		snprintf(size, sizeof(size), "%u", bytes);
		assert_int_equal(record_at_most(path, BURST, size), EXIT_SUCCESS);
		assert_int_equal(stat(path, &st), 0);
		assert_uint_in_range(st.st_size, bytes - STREAM_FRAME_MAX, bytes);
	}
	traced.fill = NULL;
}

/* Return: bytes of a recording of a second with @nr commands. */
static off_t size_of(uint64_t nr, unsigned int most)
{
	char size[16];
	struct stat st;

	snprintf(size, sizeof(size), "%u", most);
	assert_int_equal(record_at_most(path, nr, size), EXIT_SUCCESS);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* Losses and clocks come each 200 ms, also where there are no more commands. */
static void nor_does_what_comes_without_commands(void **state)
{
	const off_t one = (size_of(2000, 1 << 30) - size_of(1000, 1 << 30)) / 1000;
	const uint64_t nr = (STREAM_FRAME_MAX - 512) / (uint64_t)one;
	off_t all;

	traced.fill = fill_all_losses;
	all = size_of(nr, 1 << 30) - 512;
	/* On a slow machine a second may have few intervals. */
	if (all > STREAM_FRAME_MAX)
		assert_uint_in_range(size_of(nr, (unsigned int)all), 1, all);
	traced.fill = NULL;
}

static void fill_losses(struct stats *s)
{
	if (s->counters_total[NT_CNT_NO_START])
		return;
	s->counters_interval[NT_CNT_NO_START] = 3;
	s->counters_interval[NT_CNT_ASYNC_EVENT] = 2;
	s->counters_interval[NT_CNT_RING_FULL] = 4;
}

/* Like record(); @text: set to its messages. */
static int record_saying(char *to, char text[4096])
{
	int err = dup(STDERR_FILENO), told = memfd_create("told", MFD_CLOEXEC), status;

	memset(text, 0, 4096);
	dup2(told, STDERR_FILENO);
	status = record(to, 1);
	dup2(err, STDERR_FILENO);
	close(err);
	assert_true(pread(told, text, 4095, 0) > 0);
	close(told);
	return status;
}

/* Other users must not read root's recording. */
static void a_fifo_of_another_user_gets_no_stream(void **state)
{
	char folder[sizeof(path) + 8], fifo[sizeof(folder) + 8], text[4096];
	int reader;

	if (geteuid())
		skip();
	snprintf(folder, sizeof(folder), "%s.folder", path);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(mkfifo(fifo, 0666), 0);
	assert_int_equal(chown(fifo, 1234, 1234), 0);
	reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(record_saying(fifo, text), EXIT_FAILURE);
	assert_non_null(strstr(text, "it is another user's, in a folder that others may write to"));
	assert_int_equal(read(reader, text, 1), 0);
	close(reader);
	unlink(fifo);
	rmdir(folder);
}

/* A command that began before the recording is not a loss. */
static void what_is_no_loss_is_not_told_as_one(void **state)
{
	char text[4096];
	int status;

	traced.fill = fill_losses;
	status = record_saying(path, text);
	traced.fill = NULL;
	assert_int_equal(status, EXIT_SUCCESS);
	assert_non_null(strstr(text, " 4 losses, "));
}

/* Each is of a connection of its own, in a slot of its own. */
static void of_another_connection(struct nt_record *r, uint64_t n)
{
	/* The last one first: arrays of slots reach their size at once. */
	r->slot = PLACES_MAX + 5 - (uint32_t)n;
	r->gen = 1;
}

/* Nor are names, of which a recording says how many it may lack. */
static void names_that_gave_way_are_counted(void **state)
{
	struct stream_reader *r;
	struct stream_event e;
	char text[4096];
	int fd, ret;

	traced.make = of_another_connection;
	assert_int_equal(record(path, PLACES_MAX + 5), EXIT_SUCCESS);
	traced.make = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = stream_reader_new(fd);
	while ((ret = stream_read(r, &e)) == 1)
		;
	assert_int_equal(ret, 0);
	assert_int_equal(e.type, STREAM_END);
	assert_int_equal(e.end.records, PLACES_MAX + 5);
	assert_int_equal(e.end.losses.count[COUNTER_NAMES_GONE], 5);
	stream_reader_free(r);
	close(fd);
	assert_int_equal(record_saying(path, text), EXIT_SUCCESS);
	assert_non_null(strstr(text, " 0 losses, "));
}

static void a_terminal_by_any_name_gets_no_stream(void **state)
{
	int user = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), terminal;
	struct pollfd seen = {.fd = user, .events = POLLIN};

	if (user < 0 || grantpt(user) || unlockpt(user))
		skip();
	/* Keep the terminal open; otherwise there would be a hangup. */
	terminal = open(ptsname(user), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal >= 0);
	assert_int_equal(record(ptsname(user), 1), EXIT_FAILURE);
	assert_int_equal(poll(&seen, 1, 0), 0);
	close(terminal);
	close(user);
}

/* Runs record in a process of its own, in @folder. Return: its exit status. @text: its messages */
static int record_here(const char *folder, uint64_t nr, char **words, char text[4096])
{
	int told = memfd_create("told", MFD_CLOEXEC), status, argc = 0;
	ssize_t n;
	pid_t pid;

	while (words[argc])
		argc++;
	pid = fork();
	if (!pid) {
		sigset_t none;

		/* Earlier runs of this process have blocked the signals that end one. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(told, STDERR_FILENO);
		traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		status = chdir(folder) || (nr && write(traced.records_fd, &nr, sizeof(nr)) < 0);
		_exit(status ?: verb_record.main(argc, words));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = pread(told, text, 4095, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	close(told);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_recording_without_a_name_gets_one(void **state)
{
	char folder[sizeof(path) + 8], file[PATH_MAX], text[4096], *name, *end;
	char *words[] = {"record", "--target", "-n", "1", NULL};
	struct utsname u;
	struct stat st;

	snprintf(folder, sizeof(folder), "%s.named", path);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(record_here(folder, 1, words, text), EXIT_SUCCESS);
	name = strstr(text, "recording into ");
	assert_non_null(name);
	name += strlen("recording into ");
	end = strchr(name, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_int_equal(uname(&u), 0);
	assert_memory_equal(name, "ntprof-", strlen("ntprof-"));
	assert_memory_equal(name + strlen("ntprof-"), u.nodename, strlen(u.nodename));
	assert_memory_equal(name + strlen("ntprof-") + strlen(u.nodename), "-target-2", 9);
	assert_string_equal(end - 5, "Z.ntp");
	snprintf(file, sizeof(file), "%s/%s", folder, name);
	assert_int_equal(stat(file, &st), 0);
	unlink(file);
	rmdir(folder);
}

static void a_recording_is_as_long_as_its_command(void **state)
{
	char *ends[] = {"record", "--host", "--force", "-o",	 path,
			"--",	  "sh",	    "-c",      "exit 7", NULL};
	char *dies[] = {"record", "--host", "--force", "-o",	     path,
			"--",	  "sh",	    "-c",      "kill -9 $$", NULL};
	char *lives[] = {"record", "--host", "--force", "-o",  path, "-d",
			 "0.1",	   "--",     "sleep",	"100", NULL};
	char *none[] = {"record", "--host", "--force", "-o", path, "--", "/nowhere/x", NULL};
	char text[4096];

	assert_int_equal(record_here("/", 1, ends, text), 7);
	assert_int_equal(record_here("/", 1, dies, text), 128 + SIGKILL);
	assert_int_equal(record_here("/", 1, lives, text), 0);
	assert_int_equal(record_here("/", 1, none, text), 127);
	assert_non_null(strstr(text, "cannot run /nowhere/x: No such file or directory"));
	ends[8] = "exit 0";
	assert_int_equal(record_here("/", 1, ends, text), 0);
}

static void a_command_to_record_comes_behind_two_dashes(void **state)
{
	char *no_dashes[] = {"record", "--host", "fio", NULL};
	char *pipe[] = {"record", "--host", "-o", "-", "--", "true", NULL};
	char text[4096];

	assert_int_equal(record_here("/", 1, no_dashes, text), EX_USAGE);
	assert_non_null(strstr(text, "too many arguments: 'fio'; a command to record comes behind "
				     "--, such as record -- fio job.fio"));
	assert_int_equal(record_here("/", 1, pipe, text), EX_USAGE);
	assert_non_null(strstr(text, "-o -: standard output is the command's: take -o FILE"));
}

static void a_run_that_saw_no_command_says_so(void **state)
{
	char *words[] = {"record", "--host", "--force", "-o", path, "-d", "0.1", NULL};
	char *command[] = {"record", "--host", "--force", "-o", path, "--", "false", NULL};
	char *disks[] = {"record", "--host", "--transport", "tcp,pcie", "--force",
			 "-o",	   path,     "-d",	    "0.1",	NULL};
	char text[4096];

	assert_int_equal(record_here("/", 0, words, text), 3);
	assert_non_null(strstr(text, "no command was seen: nothing was sent over NVMe/TCP, or "
				     "nothing that was asked for\n"));
	assert_int_equal(record_here("/", 1, words, text), EXIT_SUCCESS);
	assert_null(strstr(text, "no command was seen"));
	assert_int_equal(record_here("/", 0, command, text), 1);
	assert_int_equal(record_here("/", 0, disks, text), 3);
	assert_non_null(strstr(text, "nothing was sent over NVMe (tcp,pcie), or nothing that "
				     "was asked for\n"));
}

static void a_recording_waits_for_the_driver(void **state)
{
	char *words[] = {"record", "--host", "--force", "-o", path, "-d", "0.1", NULL};
	char text[4096];

	traced.absent = true;
	assert_int_equal(record_here("/", 0, words, text), 3);
	traced.absent = false;
	assert_non_null(strstr(text, "waiting for module nvme_tcp: modprobe nvme-tcp\n"));
}

/* The line has no end before the recording has, and a terminal is line-buffered. */
static void progress_is_seen_at_once(void **state)
{
	char *words[] = {"record", "--host", "--force", "-o", path, "-d", "60", NULL};
	char text[4096] = "";
	size_t used = 0;
	int terminal;
	ssize_t n;
	pid_t pid;

	pid = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(pid >= 0);
	if (!pid) {
		traced.records_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
		_exit(verb_record.main(ARRAY_SIZE(words) - 1, words));
	}
	while (!strstr(text, " commands, ") && used < sizeof(text) - 1) {
		n = read(terminal, text + used, sizeof(text) - 1 - used);
		assert_true(n > 0);
		used += (size_t)n;
		text[used] = '\0';
	}
	/* What waits for a full buffer comes as some kilobytes, which are those of seconds. */
	assert_true(used < 1500);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	assert_null(strchr(strstr(text, " commands, "), '\n'));
	kill(pid, SIGTERM);
	while (read(terminal, text, sizeof(text)) > 0)
		;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(terminal);
}

static int enter(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd);
}

/* A host may send commands for any namespace, and each look-up asks the file system. */
static void refused_commands_have_no_names_looked_up(void **state)
{
	struct queue_info q = {.slot = 1, .gen = 1, .qid = 1, .subsysnqn = "nqn.x"};
	struct nt_record r = {.side = NT_TARGET, .slot = 1, .gen = 1, .qid = 1};
	struct announced_names n;
	struct device_name d;

	assert_int_equal(announced_names_init(&n), 0);
	assert_int_equal(places_queue(n.places, &q), 0);
	for (r.nsid = 1; r.nsid <= 3; r.nsid++) {
		/* Invalid Namespace, Do Not Retry; a medium's error; none */
		r.status = r.nsid == 1 ? 0x400b : r.nsid == 2 ? 0x281 : 0;
		assert_int_equal(announced_names_device(&n, &r, &d), 0);
		/* What was looked up is known, found or not. */
		assert_int_equal(places_ask(n.places, &r, &d), r.nsid == 1);
	}
	announced_names_free(&n);
}

static int leave(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_leaves_no_record_that_is_not_counted),
		cmocka_unit_test(a_recording_is_no_larger_than_asked_for),
		cmocka_unit_test(nothing_that_follows_the_records_makes_it_larger),
		cmocka_unit_test(nor_does_what_comes_without_commands),
		cmocka_unit_test(what_is_no_loss_is_not_told_as_one),
		cmocka_unit_test(names_that_gave_way_are_counted),
		cmocka_unit_test(refused_commands_have_no_names_looked_up),
		cmocka_unit_test(a_terminal_by_any_name_gets_no_stream),
		cmocka_unit_test(a_fifo_of_another_user_gets_no_stream),
		cmocka_unit_test(a_recording_without_a_name_gets_one),
		cmocka_unit_test(a_recording_is_as_long_as_its_command),
		cmocka_unit_test(a_command_to_record_comes_behind_two_dashes),
		cmocka_unit_test(a_run_that_saw_no_command_says_so),
		cmocka_unit_test(a_recording_waits_for_the_driver),
		cmocka_unit_test(progress_is_seen_at_once),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
