// SPDX-License-Identifier: GPL-2.0-only
/* report --compare, from the files to the text, the JSON and the exit status. */
#include "cli/recordings.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

/* Some 40 seconds of one queue. */
static struct traffic_config traffic_of_seconds(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.queue[0].depth = 2;
	c.think_ns = 20 * MS;
	c.commands = 4000;
	return c;
}

static void make(struct recording f[2], struct traffic_config c, uint64_t device_ns, uint64_t seed)
{
	c.device_ns = device_ns;
	c.seed = seed;
	recordings_make(f, &c);
}

static void assert_first_line(const struct result *r, int status, const char *part)
{
	char line[1024];

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(r->out, "\n"), r->out);
	assert_int_equal(r->status, status);
	assert_contains(line, part);
}

static void a_recording_does_not_differ_from_itself(void **state)
{
	struct recording f[2] = {{.edit = NULL}};
	struct result r;

	make(f, traffic_of_seconds(), 100000, 7);
	RUN(&r, "report", "--compare", f[0].path, f[1].path, "--", f[0].path, f[1].path);
	assert_first_line(&r, 0, "no difference found");
	assert_lacks(r.out, "slower");
	assert_lacks(r.out, "another machine");
	/* Without "--", two files are two recordings. */
	RUN(&r, "report", "--compare", f[0].path, f[0].path);
	assert_first_line(&r, 0, "no difference found");
	recordings_free(f, 2);
}

static void what_is_slower_is_a_regression_and_the_other_way_faster(void **state)
{
	struct recording a[2] = {{.header.hostname = "db"}, {.header.hostname = "stor1"}};
	struct recording b[2] = {{.header.hostname = "db"}, {.header.hostname = "stor2"}};
	struct result r;

	make(a, traffic_of_seconds(), 100000, 7);
	make(b, traffic_of_seconds(), 160000, 8);
	RUN(&r, "report", a[0].path, "--compare", a[1].path, "--", b[1].path, b[0].path);
	assert_first_line(&r, 1, "regression: ");
	assert_contains(r.out, "it is in target_subsystem (target stor2): mean +");
	assert_contains(r.out, "another machine: before stor1, after stor2");
	RUN(&r, "report", "--tolerance", "200", "--compare", a[0].path, a[1].path, "--", b[0].path,
	    b[1].path);
	assert_first_line(&r, 0, "no evidence of a regression above 200 %, but ");
	RUN(&r, "report", "--compare", b[0].path, b[1].path, "--", a[0].path, a[1].path);
	assert_first_line(&r, 0, " is faster: mean ");
	/* Selections are of both. */
	RUN(&r, "report", "--op=write", "--where=target_subsystem>50us", "--compare", a[0].path,
	    a[1].path, "--", b[0].path, b[1].path);
	assert_int_equal(r.status, 1);
	assert_lacks(r.out, "read ");
	recordings_free(a, 2);
	recordings_free(b, 2);
}

/* As a broken one may; the sanitizer fails this test where that overflows. */
static void a_recording_may_begin_at_half_of_what_its_clock_can_have(void **state)
{
	struct traffic_config c = traffic_of_seconds();
	struct recording f[2] = {{.edit = NULL}};
	struct result r;

	c.stream[0].offset_ns = (int64_t)((1ULL << 63) - TRAFFIC_EPOCH_NS);
	make(f, c, 100000, 7);
	RUN(&r, "report", "--compare", f[0].path, f[0].path);
	assert_first_line(&r, 0, "no difference found");
	recordings_free(f, 2);
}

static void too_little_is_said_to_be_too_little(void **state)
{
	struct traffic_config one = traffic_of_seconds();
	struct recording a[2] = {{.edit = NULL}}, b[2] = {{.edit = NULL}}, c[2] = {{.edit = NULL}};
	struct result r;

	make(a, traffic_of_seconds(), 100000, 7);
	one.commands = 1;
	make(b, one, 100000, 7);
	make(c, one, 100000, 9);
	RUN(&r, "report", "--compare", a[0].path, a[1].path, "--", b[0].path, b[1].path);
	assert_int_equal(r.status, 2);
	assert_contains(r.out, "nothing can be said: ");
	RUN(&r, "report", "--compare", b[0].path, b[0].path);
	assert_int_equal(r.status, 2);
	/* Of a host before, and of a target after. */
	RUN(&r, "report", "--compare", a[0].path, a[1].path);
	assert_first_line(&r, 2, "one recording is of a host, and the other one of a target");
	/* Not of the same commands. */
	RUN(&r, "report", "--compare", a[0].path, c[1].path, "--", a[0].path, a[1].path);
	assert_first_line(&r, 2,
			  "nothing can be said: of before no command of both sides was found");
	RUN(&r, "report", "--compare", a[0].path, "/dev/null");
	assert_int_equal(r.status, 2);
	RUN(&r, "report", "--compare", a[0].path, "/nowhere/file");
	assert_int_equal(r.status, 2);
	recordings_free(a, 2);
	recordings_free(b, 2);
	recordings_free(c, 2);
}

static void json_has_the_same(void **state)
{
	struct recording a[2] = {{.edit = NULL}}, b[2] = {{.edit = NULL}};
	struct json_object *o, *member;
	struct result r;

	make(a, traffic_of_seconds(), 100000, 7);
	make(b, traffic_of_seconds(), 160000, 8);
	RUN(&r, "report", "--format=json", "--compare", a[0].path, a[1].path, "--", b[0].path,
	    b[1].path);
	assert_int_equal(r.status, 1);
	o = json_tokener_parse(r.out);
	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "type", &member));
	assert_string_equal(json_object_get_string(member), "comparison");
	assert_true(json_object_object_get_ex(o, "outcome", &member));
	assert_string_equal(json_object_get_string(member), "regression");
	assert_true(json_object_object_get_ex(o, "exit_status", &member));
	assert_int_equal(json_object_get_int(member), 1);
	assert_true(json_object_object_get_ex(o, "shifts", &member));
	assert_true(json_object_array_length(member) > 20);
	json_object_put(o);
	recordings_free(a, 2);
	recordings_free(b, 2);
}

static void html_has_both_beside_each_other(void **state)
{
	struct recording a[2] = {{.header.hostname = "<blink>"}, {.header.hostname = "stor1"}};
	struct recording b[2] = {{.header.hostname = "<blink>"}, {.header.hostname = "<i>"}};
	char path[] = "/tmp/compare-XXXXXX", option[64], *page = calloc(1, 1 << 20);
	struct result r;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && page);
	assert_int_equal(unlink(path), 0);
	close(fd);
	snprintf(option, sizeof(option), "--html=%s", path);
	make(a, traffic_of_seconds(), 100000, 7);
	make(b, traffic_of_seconds(), 160000, 8);
	RUN(&r, "report", option, "--compare", a[0].path, a[1].path, "--", "/nowhere/file");
	assert_int_equal(r.status, 2);
	assert_int_equal(access(path, F_OK), -1);
	RUN(&r, "report", option, "--compare", a[0].path, a[1].path, "--", b[0].path, b[1].path);
	assert_int_equal(r.status, 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && read(fd, page, (1 << 20) - 1) > 0);
	close(fd);
	assert_contains(page, "<p class=verdict>regression: ");
	assert_contains(page, "<tr><th scope=row>before<");
	assert_contains(page, "<tr><th scope=row>after<");
	assert_contains(page, "<i class='s6'></i>network_transmission</span>");
	assert_contains(page, "target_subsystem");
	assert_contains(page, "(target &lt;i&gt;)");
	assert_lacks(page, "<i>");
	assert_lacks(page, "<blink>");
	/* One that is there already is replaced. */
	RUN(&r, "report", option, "--compare", a[0].path, a[0].path);
	assert_int_equal(r.status, 0);
	assert_int_equal(unlink(path), 0);
	free(page);
	recordings_free(a, 2);
	recordings_free(b, 2);
}

/* Return: a child that writes a recording to @to. */
static pid_t writes(const struct recording *f, int to)
{
	struct stat st;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (!fstat(f->fd, &st) && lseek(f->fd, 0, SEEK_SET) == 0)
		while (sendfile(to, f->fd, NULL, (size_t)st.st_size) > 0)
			;
	_exit(0);
}

/* One recording is of the host alone, so that of both has to be read without the target. */
static void a_pipe_that_has_to_be_read_twice_is_refused(void **state)
{
	struct recording a[2] = {{.edit = NULL}};
	char path[64];
	struct result r;
	int ends[2];
	pid_t pid;

	make(a, traffic_of_seconds(), 100000, 7);
	assert_int_equal(pipe(ends), 0);
	pid = writes(&a[0], ends[1]);
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), ends[0]);
	RUN(&r, "report", "--compare", path, "--", a[0].path, a[1].path);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(r.status, 2);
	assert_contains(r.out, "is no file, and has to be read once more to be compared");
	recordings_free(a, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_does_not_differ_from_itself),
		cmocka_unit_test(what_is_slower_is_a_regression_and_the_other_way_faster),
		cmocka_unit_test(a_recording_may_begin_at_half_of_what_its_clock_can_have),
		cmocka_unit_test(too_little_is_said_to_be_too_little),
		cmocka_unit_test(json_has_the_same),
		cmocka_unit_test(html_has_both_beside_each_other),
		cmocka_unit_test(a_pipe_that_has_to_be_read_twice_is_refused),
	};

	return cmocka_run_group_tests_name("report --compare", tests, find_program, NULL);
}
