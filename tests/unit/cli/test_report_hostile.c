// SPDX-License-Identifier: GPL-2.0-only
/* Output of the verb report, in each format, for recordings in which all names are hostile. */
#include <sys/resource.h>

#include "cli/recordings.h"
#include "core/hash.h"
#include "hostile.h"

/* Makes an NQN of the greatest length, with the hostile bytes at its beginning and at its end. */
static void long_name(char *buf, size_t size, char fill)
{
	memset(buf, fill, size - 1);
	buf[size - 1] = '\0';
	memcpy(buf, HOSTILE, strlen(HOSTILE));
	memcpy(buf + size - 1 - strlen(HOSTILE), HOSTILE, strlen(HOSTILE));
}

static char subsystem[NT_NQN_LEN], host[NT_NQN_LEN];

static void hostile_queue(struct queue_info *q)
{
	memcpy(q->subsysnqn, subsystem, sizeof(q->subsysnqn));
	memcpy(q->hostnqn, host, sizeof(q->hostnqn));
	snprintf(q->address, sizeof(q->address), "%s", HOSTILE);
}

/* Of the hosts: the recordings that tell of TCP and of events only later. */
static struct recording *untold[2];

/* The state of its connection, and an event of its controller. */
static void tell(struct recording *f, const struct nt_record *r)
{
	struct stream_event tcp = {.type = STREAM_TCP}, path = {.type = STREAM_PATH};

	tcp.tcp.slot = r->slot;
	tcp.tcp.gen = r->gen;
	tcp.tcp.ns = path.path.ns = r->points[NT_H_SUBMIT];
	tcp.tcp.state.srtt_us = 77;
	snprintf(path.path.subsysnqn, sizeof(path.path.subsysnqn), "%s", HOSTILE);
	recording_put(f, &tcp);
	recording_put(f, &path);
}

static bool from_origin(struct nt_record *r)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(untold); i++) {
		if (!untold[i] || untold[i]->header.side != r->side)
			continue;
		tell(untold[i], r);
		untold[i] = NULL;
		break;
	}
	if (r->side == NT_HOST)
		r->flags |= 1u << NT_F_ORIGIN_SHIFT;
	return true;
}

/* Of the target: the recording that tells who uses its disk, before it tells of queues. */
static struct recording *unused;

static void tell_use(struct recording *f)
{
	struct stream_event e = {.type = STREAM_DISK,
				 .disk = {.to_ns = UINT64_MAX,
					  .user = DISK_CGROUP,
					  .requests = UINT64_MAX,
					  .bytes = UINT64_MAX,
					  .ns = UINT64_MAX}};

	snprintf(e.disk.disk, sizeof(e.disk.disk), "%.*s", NT_DISK_NAME_LEN - 1, HOSTILE);
	snprintf(e.disk.who, sizeof(e.disk.who), "%s", HOSTILE);
	recording_put(f, &e);
	e.disk.user = UINT16_MAX;
	recording_put(f, &e);
}

/*
 * Another connection that the host does not announce, so that both sides have records of their own.
 */
static bool some_of_target(struct nt_record *r)
{
	if (unused)
		tell_use(unused);
	unused = NULL;
	if (r->cid % 7 == 0)
		r->status = 0x4002;
	return true;
}

#define INPUTS 3

/* Recordings of a host, a target and another host, with hostile names. */
struct hostile {
	struct recording f[INPUTS];
	char directory[32];
	char path[INPUTS][128];
};

static void hostile_make(struct hostile *h)
{
	struct traffic_config c = traffic_of_one_queue();

	*h = (struct hostile){
		.f = {{.edit = from_origin}, {.edit = some_of_target}, {.edit = from_origin}}};
	c.stream[2] = (struct traffic_stream){.side = NT_HOST, .offset_ns = 70000000000LL};
	c.nr_streams = INPUTS;
	c.queue[1] = c.queue[0];
	c.queue[1].host = 2;
	c.queue[1].slot = c.queue[1].cntlid = c.nr_queues = 2;
	long_name(subsystem, sizeof(subsystem), 's');
	long_name(host, sizeof(host), 'h');
	for (unsigned int i = 0; i < INPUTS; i++) {
		struct stream_header *head = &h->f[i].header;

		snprintf(head->hostname, sizeof(head->hostname), "%s", HOSTILE);
		snprintf(head->kernel, sizeof(head->kernel), "%s", HOSTILE);
		snprintf(head->program, sizeof(head->program), "=\x1b[2J");
		snprintf(head->source, sizeof(head->source), "=\x1b[2J\x9b");
		snprintf(head->selection, sizeof(head->selection), "--nqn %s", HOSTILE);
		snprintf(head->boot_id, sizeof(head->boot_id), "=%u\x1b[2J\xc2\x9b", i);
		head->origins = i != 1 ? NT_ORIGIN_PLACE | NT_ORIGIN_TASK : 0;
		h->f[i].edit_queue = hostile_queue;
		h->f[i].device[0] = h->f[i].device[1] = h->f[i].disk = HOSTILE;
		h->f[i].cgroup = i == 1 ? NULL : HOSTILE;
	}
	c.commands = 100;
	untold[0] = &h->f[0];
	untold[1] = &h->f[2];
	unused = &h->f[1];
	recordings_make(h->f, &c);
	assert_true(!untold[0] && !untold[1]);
	strcpy(h->directory, "/tmp/ntprof-hostile.XXXXXX");
	assert_non_null(mkdtemp(h->directory));
	for (unsigned int i = 0; i < INPUTS; i++) {
		snprintf(h->path[i], sizeof(h->path[i]), "%s/%s%u", h->directory, HOSTILE, i);
		assert_int_equal(symlink(h->f[i].path, h->path[i]), 0);
	}
}

static void hostile_free(struct hostile *h)
{
	for (unsigned int i = 0; i < INPUTS; i++)
		assert_int_equal(unlink(h->path[i]), 0);
	assert_int_equal(rmdir(h->directory), 0);
	recordings_free(h->f, INPUTS);
}

/* Options to test, without and with each format. */
static const char *const shown[][3] = {
	{NULL},
	{"--slowest=3"},
	{"--commands"},
	{"--detail"},
	{"--drive-limit=0.001", "--network-limit=0.001"},
	{"--by=ctrl,nqn,host,queue,op,source,size,nsid,status,device,path,cgroup,cpu,pid,"
	 "comm,container",
	 "--every=1ms"},
	{"--by=cgroup", "--min-latency=1us"},
	{"--by=nqn,host", "--stats=min,p99.9"},
	{"--by=ctrl", "--drive-limit=0.001"},
	{"--device=" HOSTILE},
	{"--nqn=" HOSTILE, "--by=device"},
	{"--cgroup=" HOSTILE},
	{"--where=" HOSTILE},
	{"--by=" HOSTILE},
	{"--tcp"},
	{"--why", "--every=1s"},
	{"--pcap-filter=2"},
};

static const struct {
	const char *option;
	void (*assert_harmless)(const char *text);
} formats[] = {
	{"--format=text", assert_text_is_harmless},
	{"--format=json", assert_json_is_harmless},
	{"--format=csv", assert_csv_is_harmless},
};

/* Return: whether the name was printed. */
static bool report(struct hostile *h, size_t option, size_t format, unsigned int inputs)
{
	char *words[5 + INPUTS] = {"report", (char *)formats[format].option};
	struct result r;
	int nr = 2;

	for (size_t i = 0; i < ARRAY_SIZE(shown[option]) && shown[option][i]; i++)
		words[nr++] = (char *)shown[option][i];
	for (unsigned int i = 0; i < INPUTS; i++)
		if (inputs & 1u << i)
			words[nr++] = h->path[i];
	run_words(&r, words);
	assert_true(r.status < 128);
	formats[format].assert_harmless(r.out);
	assert_text_is_harmless(r.err);
	/* The format is not possible with the option, or is not valid. */
	if (r.status)
		assert_true(r.err[0]);
	return strstr(r.out, HOSTILE_MARK);
}

static void names_are_harmless_in_every_output(void **state)
{
	unsigned int with_name[ARRAY_SIZE(formats)] = {0};
	struct hostile h;

	hostile_make(&h);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		for (size_t k = 0; k < ARRAY_SIZE(formats); k++)
			for (unsigned int inputs = 1; inputs < 1 << INPUTS; inputs++)
				with_name[k] += report(&h, i, k, inputs);
	/* The names are really printed: output is not harmless only because they are missing. */
	for (size_t k = 0; k < ARRAY_SIZE(formats); k++)
		assert_true(with_name[k] >= 6);
	hostile_free(&h);
}

static void names_are_whole_in_json(void **state)
{
	struct json_object *o, *inputs, *name;
	struct hostile h;
	struct result r;

	hostile_make(&h);
	RUN(&r, "report", "--format=json", h.path[0], h.path[1]);
	o = json_tokener_parse(r.out);
	assert_true(json_object_object_get_ex(o, "inputs", &inputs));
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(inputs, 0), "hostname", &name));
	/* The name is complete, except for bytes that are not UTF-8. */
	assert_non_null(strstr(json_object_get_string(name), "(\"x\")\x1b[2J\xc2\x9b"
							     "2J\xef\xbf\xbd"
							     "2J\r\nFAKE"));
	json_object_put(o);
	hostile_free(&h);
}

static void who_used_a_disk_is_shown_harmlessly(void **state)
{
	struct hostile h;
	struct result r;

	hostile_make(&h);
	RUN(&r, "report", "--slowest=1", h.path[0], h.path[1]);
	assert_contains(r.out, "of its disk's time then, processes of the target itself had");
	assert_contains(r.out, "most of it ");
	assert_text_is_harmless(r.out);
	hostile_free(&h);
}

static void messages_name_files_harmlessly(void **state)
{
	char path[128], *words[] = {"report", path, path, NULL};
	struct result r;
	struct hostile h;

	hostile_make(&h);
	snprintf(path, sizeof(path), "%s/%snone", h.directory, HOSTILE);
	run_words(&r, words);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "=HYPERLINK(\"x\")?[2J");
	assert_text_is_harmless(r.err);
	RUN(&r, "report", h.path[0], h.path[0]);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, " are the same file");
	assert_text_is_harmless(r.err);
	/* Cut the file off. */
	assert_int_equal(ftruncate(h.f[0].fd, 600), 0);
	RUN(&r, "report", h.path[0]);
	assert_contains(r.err, HOSTILE_MARK);
	assert_text_is_harmless(r.err);
	assert_text_is_harmless(r.out);
	RUN(&r, "report", "--config", path, h.path[0]);
	assert_contains(r.err, HOSTILE_MARK);
	assert_text_is_harmless(r.err);
	hostile_free(&h);
}

/* Connections whose records are reported, and records of each. */
#define CONNECTIONS 16000
#define RECORDS_EACH 3

/*
 * Return: seconds of the processor that a report takes. @mask: bits in which the places of all
 * slots and generations are 0 while the secret numbers are those of this process; 0: any
 */
static double report_seconds(unsigned int mask)
{
	struct recording f = {.header.side = NT_HOST};
	struct traffic_config c = {.stream = {{NT_HOST, 0, 0}}, .nr_streams = 1};
	struct stream_event q = {.type = STREAM_QUEUE}, e = {.type = STREAM_RECORD};
	static struct queue_info queue[CONNECTIONS];
	unsigned int nr = 0;
	struct rusage before, after;
	struct result r;

	for (uint32_t i = 0; nr < CONNECTIONS; i++)
		if (!(hash_pair(i % 262144, i / 262144) & mask))
			queue[nr++] = (struct queue_info){
				.slot = i % 262144, .gen = i / 262144, .cntlid = 1, .qid = 1};
	recording_begin(&f, &c, 0);
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		q.queue = queue[i];
		recording_put(&f, &q);
	}
	for (unsigned int i = 0; i < RECORDS_EACH * CONNECTIONS; i++) {
		e.record = (struct nt_record){.side = NT_HOST,
					      .slot = queue[i % CONNECTIONS].slot,
					      .gen = queue[i % CONNECTIONS].gen,
					      .cntlid = 1,
					      .qid = 1,
					      .slba = i,
					      .points = {[NT_H_SUBMIT] = SECOND + i}};
		e.record.points[NT_H_COMPLETE] = 2 * SECOND + i;
		recording_put(&f, &e);
	}
	e = (struct stream_event){.type = STREAM_END};
	recording_put(&f, &e);
	stream_writer_free(f.w);
	getrusage(RUSAGE_CHILDREN, &before);
	RUN(&r, "report", "--by=device", f.path);
	getrusage(RUSAGE_CHILDREN, &after);
	assert_int_equal(r.status, 0);
	recordings_free(&f, 1);
	return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
}

/* If all were in one bucket, a report of these would take a hundred times as long. */
static void chosen_numbers_do_not_fill_one_bucket(void **state)
{
	double others = report_seconds(0), chosen = report_seconds(0xfff);

	print_message("# %.2f s, chosen %.2f s\n", others, chosen);
	assert_true(chosen < 10 * others + 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_harmless_in_every_output),
		cmocka_unit_test(names_are_whole_in_json),
		cmocka_unit_test(who_used_a_disk_is_shown_harmlessly),
		cmocka_unit_test(messages_name_files_harmlessly),
		cmocka_unit_test(chosen_numbers_do_not_fill_one_bucket),
	};

	return cmocka_run_group_tests_name("report_hostile", tests, find_program, NULL);
}
