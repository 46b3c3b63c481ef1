// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command lines that are refused, and the messages about them. None of them begins to trace, so
 * neither root nor BPF is needed.
 */
#include "cli/testing.h"

#define LINE_MAX_WORDS 12 /* words of a line in the tables below */

/*
 * Checks that it was refused with status 64, and that the first line on standard error has @part,
 * without other output.
 */
static void assert_refused(struct result *r, const char *part)
{
	if (r->status != EX_USAGE)
		fail_msg("status %d, not refused for '%s':\n%s", r->status, part, r->err);
	assert_string_equal(r->out, "");
	assert_memory_equal(r->err, "ntprof-bpf", strlen("ntprof-bpf"));
	r->err[strcspn(r->err, "\n")] = '\0';
	assert_contains(r->err, part);
}

static void an_option_of_another_verb_is_refused(void **state)
{
	char part[64];
	struct result r;
	struct scan s;

	scan_begin(&s, all_verbs);
	for (const struct verb *const *v = all_verbs; *v; v++) {
		for (unsigned int k = SCAN_OWN; k < s.nr; k++) {
			char *verb = (char *)(*v)->name, name[32];

			if (verb_option(*v, s.options[k]->name))
				continue;
			snprintf(name, sizeof(name), "--%s", s.options[k]->name);
			RUN(&r, verb, name, argument_of(s.options[k]));
			snprintf(part, sizeof(part), ": %s is an option of ", name);
			assert_refused(&r, part);
			snprintf(part, sizeof(part), ", not of %s: see ntprof-bpf %s --help", verb,
				 verb);
			assert_contains(r.err, part);
		}
	}
	RUN(&r, "--slower", "1ms", "--host");
	assert_refused(&r, "--slower is an option of trace, record and report, not of live: see");
	RUN(&r, "--host", "--every=1s", "--by", "op");
	assert_refused(&r, "--every is an option of report, not of live: see ntprof-bpf live "
			   "--help; it has rows of each --interval");
	RUN(&r, "trace", "--target", "--disks");
	assert_refused(&r, "--disks is an option of live, record and serve, not of trace: see");
	RUN(&r, "report", "x", "-n3");
	assert_refused(&r, "--count is an option of live, trace and record, not of report: see");
	RUN(&r, "-i", "1", "--host", "trace");
	assert_refused(&r, "--interval is an option of live and serve, not of trace: see");
}

/* An extra word shows that the options before it were accepted, as options are read first. */
static void an_option_is_taken_before_and_after_its_verb(void **state)
{
	struct result r;
	struct scan s;

	for (const struct verb *const *v = all_verbs; *v; v++) {
		scan_begin(&s, (const struct verb *const[]){*v, NULL});
		for (unsigned int k = SCAN_OWN; k < s.nr; k++) {
			char *verb = (char *)(*v)->name, *argument = argument_of(s.options[k]),
			     text[64];
			bool report = !strcmp(verb, "report");

			/* It is carried out at once, and the other one needs two files. */
			if (!strcmp(s.options[k]->name, "json-schema") ||
			    !strcmp(s.options[k]->name, "compare"))
				continue;
			snprintf(text, sizeof(text), "--%s%s%s", s.options[k]->name,
				 argument ? "=" : "", argument ?: "");
			RUN(&r, verb, "/nowhere/more", text);
			if (report && strstr(r.err, " is for --"))
				continue; /* it needs another one */
			if (!report)
				assert_refused(&r, "too many arguments: '/nowhere/more'");
			assert_int_equal(r.status, report ? EXIT_FAILURE : EX_USAGE);
			assert_contains(r.err, "/nowhere/more");
			snprintf(text, sizeof(text), "--%s", s.options[k]->name);
			if (argument)
				RUN(&r, text, argument, verb, "/nowhere/more");
			else
				RUN(&r, text, verb, "/nowhere/more");
			assert_int_equal(r.status, report ? EXIT_FAILURE : EX_USAGE);
			assert_contains(r.err, "/nowhere/more");
		}
	}
}

static void the_live_view_does_not_need_its_name(void **state)
{
	static char *const lines[][LINE_MAX_WORDS] = {
		{"--host", "--target"},
		{"--host", "-i", "soon"},
		{"--host", "--hots"},
		{"--target", "--peer", ""},
		{"--host", "--slower", "1ms"},
		{"--host", "--histogram", "--sample=5", "-vn3", "--source", "stock", "-d", "0"},
	};
	struct result named, r;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *words[WORDS_MAX + 1] = {"live"};
		const char *colon;

		memcpy(words + 1, lines[i], sizeof(lines[i]));
		run_words(&named, words);
		assert_int_equal(named.status, EX_USAGE);
		run_words(&r, words + 1);
		colon = strchr(named.err, ':');
		assert_non_null(colon);
		assert_refused(&r, "ntprof-bpf: ");
		named.err[strcspn(named.err, "\n")] = '\0';
		assert_string_equal(strchr(r.err, ':'), colon);
	}
}

static void an_unknown_verb_is_told_the_known_ones(void **state)
{
	static const char known[] =
		"the verbs are live, trace, record, report, serve, stacks, paths, probes and help";
	struct result r;

	RUN(&r, "xyzzy", "--host");
	assert_refused(&r, "unknown verb 'xyzzy'");
	assert_contains(r.err, known);
	RUN(&r, "--host", "-d", "1", "--", "xyzzy");
	assert_refused(&r, "unknown verb 'xyzzy'");
	RUN(&r, "help", "xyzzy");
	assert_refused(&r, "unknown verb 'xyzzy'");
	assert_contains(r.err, known);
	RUN(&r, "");
	assert_refused(&r, "unknown verb ''");
	RUN(&r, "-");
	assert_refused(&r, "unknown verb '-'");
}

static void a_slip_of_the_pen_is_told_what_was_meant(void **state)
{
	static const struct {
		char *words[LINE_MAX_WORDS];
		const char *part;
	} lines[] = {
		{{"tarce", "--host"}, "unknown verb 'tarce': did you mean trace?"},
		{{"help", "reprot"}, "unknown verb 'reprot': did you mean report?"},
		{{"hots"}, "unknown verb 'hots': did you mean host?"},
		{{"verison"}, "unknown verb 'verison': did you mean version?"},
		{{"--hots"}, "live has no option --hots: did you mean --host?"},
		{{"trace", "--host", "--slowr=1ms"},
		 "trace has no option --slowr: did you mean --slower?"},
		{{"report", "x", "--slowets", "3"},
		 "report has no option --slowets: did you mean --slowest?"},
		{{"record", "--hepl"}, "record has no option --hepl: did you mean --help?"},
	};
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		run_words(&r, (char **)lines[i].words);
		assert_refused(&r, lines[i].part);
	}
}

static void short_forms_are_verbs_with_an_option(void **state)
{
	struct result r, other;

	RUN(&r, "version");
	RUN(&other, "--version");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, other.out);
	assert_memory_equal(r.out, "ntprof-bpf ", strlen("ntprof-bpf "));
	RUN(&r, "host", "--help");
	RUN(&other, "live", "--help");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, other.out);
	RUN(&r, "host", "--target");
	assert_refused(&r, "--host and --target are two sides");
	RUN(&r, "target", "host");
	assert_refused(&r, "too many arguments: 'host'");
}

static void without_a_driver_a_side_is_asked_for(void **state)
{
	struct result r;

	if (!access("/sys/module/nvme_tcp", F_OK) || !access("/sys/module/nvmet_tcp", F_OK))
		skip();
	RUN(&r, NULL);
	assert_refused(&r, "no driver of NVMe/TCP is loaded: modprobe nvme-tcp on a host");
	RUN(&r, "record", "-o", "x");
	assert_refused(&r, "no driver of NVMe/TCP is loaded");
}

static void what_is_wrong_is_named(void **state)
{
	static const struct {
		char *words[LINE_MAX_WORDS];
		const char *part;
	} lines[] = {
		{{"trace", "--host", "--target"}, "--host and --target are two sides"},
		{{"probes", "--target", "--host"}, "--host and --target are two sides"},
		{{"trace", "--host", "record"}, "too many arguments: 'record'"},
		{{"help", "trace", "more"}, "too many arguments: 'more'"},
		{{"report"}, "report needs the files that record has written"},
		{{"report", "--commands"}, "report needs the files that record has written"},
		{{"trace", "--host", "--histogram"}, "--histogram is for"},
		{{"--host", "--peer-as-root"}, "--peer-as-root is for --peer"},
		{{"--host", "--peer", ""}, "--peer needs a host, a command, a file"},
		{{"--host", "--peer"}, "'--peer' requires an argument"},
		{{"--host", "-i", "0"}, "--interval 0: too short, the least is 100ms"},
		{{"--host", "--duration=-5"}, "--duration -5: not a time"},
		{{"trace", "--host", "--slower", "x"}, "--slower x: not a time"},
		{{"trace", "--host", "--burst", "1s/60s", "--slower", "1s"}, "ON has to be longer"},
		{{"--host", "-n", "0"}, "--count 0: not a positive whole number"},
		{{"--host", "--sample", "1000001"}, "--sample 1000001: too many, the most is"},
		{{"report", "--slowest", "1001", "x"}, "--slowest 1001: too many, the most is"},
		{{"--host", "--source", "perf"}, "--source perf: neither tracepoints nor stock"},
		{{"record", "--host", "-o", "x", "--stages", "1s/15s"},
		 "--stages is an option of live and serve, not of record"},
		{{"--host", "--stages", "1s"}, "--stages 1s: "},
		{{"--host", "--stages", "1s/15s", "--burst", "1s/60s"}, "--stages and --burst: "},
		{{"--host", "--stages", "1s/15s", "--points", "all"},
		 "--stages is for --points ends"},
		{{"--host", "--points", "some"}, "--points some: neither ends, all nor fine"},
		{{"--host", "--stages", "1s/15s", "--points", "fine"},
		 "--stages is for --points ends"},
		{{"record", "--host", "--points", "fine", "--burst", "1s/10s"},
		 "--points fine and --burst"},
		{{"--host", "--points", "fine"}, "--points fine is for record, trace and --peer"},
		{{"--host", "--transport", "pcie,ib"},
		 "--transport pcie,ib: not a list of tcp, pcie, rdma, fc, loop and other"},
		{{"--target", "--transport", "pcie"}, "--transport is for --host"},
		{{"record", "--host", "--transport", "pcie", "--points", "fine"},
		 "--points fine is for NVMe/TCP"},
		{{"--host", "--transport", "pcie,loop", "--tcp"}, "--tcp is for NVMe/TCP"},
		{{"trace", "--host", "--transport", "fc", "--source", "stock"},
		 "--source is for NVMe/TCP"},
		{{"--host", "--transport", "rdma", "--peer", "true"}, "--peer is for NVMe/TCP"},
		{{"serve", "--host", "--points", "fine"},
		 "--points fine is for record, trace and --peer"},
		{{"stacks", "--host", "--points", "ends"},
		 "--points is an option of live, trace, record and serve, not of stacks"},
		{{"--host", "--format", "xml"}, "--format xml: neither text nor json nor csv"},
		{{"--host", "--format", "csv", "--peer", "x"}, "with --peer take json"},
		{{"--host", "--format=csv", "--tcp"}, "--tcp is for --format text and json"},
		{{"--target", "--format=csv", "--disks"}, "--disks is for --format text and json"},
		{{"--host", "--disks"}, "--disks is for --target"},
		{{"serve", "--host", "--disks"}, "--disks is for --target"},
		{{"record", "--host", "-o", "x", "--disks"}, "--disks is for --target"},
		{{"record", "--target", "-o", "x", "--disks", "--burst", "1s/60s"},
		 "--disks and --burst"},
		{{"--target", "--disks", "--burst", "1s/60s"}, "--disks and --burst"},
		{{"--host", "--format=csv", "--histogram"},
		 "--histogram is for --format text and json"},
		{{"report", "--format=csv", "--commands", "--detail", "x"},
		 "--format csv has one table, of --commands, of --by and --every, or of --detail"},
		{{"report", "--format=csv", "--commands", "--slowest=1", "x"},
		 "--slowest is for --format text and json"},
		{{"report", "--compare", "x"}, "--compare needs the files of one recording, --, "},
		{{"report", "--compare", "x", "y", "z"}, "--compare needs the files of one"},
		{{"report", "--compare", "--", "x", "y"}, "--compare needs the files of one"},
		{{"report", "--compare", "--by=op", "x", "y"}, "--compare has selections, "},
		{{"report", "--compare", "--format=csv", "x", "y"}, "--compare has selections, "},
		{{"report", "--compare", "--tolerance=-1", "x", "y"},
		 "--tolerance -1: not a number"},
		{{"report", "--compare", "--tolerance=nan", "x", "y"}, "--tolerance nan: not a "},
		{{"report", "--tolerance=2", "x"}, "--tolerance is for --compare"},
		{{"report", "x", "--perfetto-max", "2"}, "--perfetto-max is for --perfetto"},
		{{"report", "--fio-write", "x"}, "--fio-write is for --fio-iolog and --fio-job"},
		{{"report", "--fio-dev", "/dev/x", "x"}, "--fio-device is for --fio-iolog and "},
		{{"report", "x", "--fio-pace=fast"}, "--fio-pace is for --fio-iolog and --fio-job"},
		{{"report", "--fio-scale=2", "x"}, "--fio-scale is for --fio-iolog and --fio-job"},
		{{"report", "--fio-block=512", "x"}, "--fio-block is for --fio-iolog and "},
		{{"probes", "--format", "xml"}, "--format xml: neither text nor json"},
		{{"record", "--max-size", "1T"}, "--max-size 1T: not a size"},
		{{"record", "--max-size", "65535"}, "--max-size 65535: not a size of 64K"},
		{{"record", "--buffer", "255K"}, "--buffer 255K: not a size from 256K to 1G"},
		{{"record", "--buffer", "2G"}, "--buffer 2G: not a size from 256K to 1G"},
		{{"--target", "--ctrl", "nvme0"}, "a target knows controllers by their ids"},
		{{"--host", "--op", "foo"}, "--op foo: not operations: there are read, write"},
		{{"record", "--host", "--queue", "70000"}, "--queue 70000: not queue ids from 0"},
		{{"trace", "--host", "--size", "4k-1k"}, "--size 4k-1k: ends before it begins"},
		{{"report", "x", "--size", "4k-1k"}, "--size 4k-1k: ends before it begins"},
		{{"report", "x", "--size=4kB"}, "--size 4kB: not sizes below 4G (such as 4k"},
		{{"report", "x", "--queue", "70000"},
		 "--queue 70000: not queue ids from 0 to 65535"},
		{{"report", "x", "--op", "foo"}, "--op foo: not operations: there are read, write"},
		{{"report", "x", "--ctrl", "sda"}, "--ctrl sda: not a controller (such as nvme0"},
		{{"report", "x", "--nsid", "x"}, "--nsid x: not namespace ids"},
		{{"report", "x", "--lba", "9-1"}, "--lba 9-1: ends before it begins"},
		{{"report", "x", "--nqn", ""}, "--nqn : not an NQN"},
		{{"report", "x", "--hostnqn", ""}, "--hostnqn : not an NQN"},
		{{"report", "x", "--slower", "4k"}, "--slower 4k: not a time"},
		{{"report", "x", "--time", "5"}, "--time 5: not FROM-TO or FROM..TO (such as"},
		{{"report", "x", "--time", "-"}, "--time -: not FROM-TO"},
		{{"report", "x", "--time", "2-1"}, "--time 2-1: ends before it begins"},
		{{"report", "x", "--where", "lateness>1ms"},
		 "--where 'lateness>1ms': no such stage: there are latency, "},
		{{"report", "x", "--where", "lateness>1ms"}, ", network_transmission, "},
		{{"report", "x", "--where", "latency"}, "--where 'latency': not STAGE>TIME"},
		{{"report", "x", "--where", "latency>4k"}, "--where 'latency>4k': not STAGE>TIME"},
		{{"--host", "--network-limit", "0"}, "--network-limit 0: not a rate in MB/s"},
		{{"--host", "--drive-limit", "1G"}, "--drive-limit 1G: not a rate in MB/s"},
		{{"--host", "--format=csv", "--drive-limit=5"}, "are for --format text and json"},
		{{"--config", "/nowhere/file"}, "cannot read /nowhere/file: No such file"},
		{{"--config=/dev/null", "--config=x"}, "--config can be given once"},
		{{"--host", "--device", "/dev/null"},
		 "--device /dev/null: no such block device on this machine"},
		{{"trace", "--host", "--device=x", "--nsid=1"}, "leave out --nsid and --nqn"},
		{{"--target", "--device", "x"}, "a target knows namespaces by --nqn and --nsid"},
		{{"trace", "--host", "--events", "--failed"}, "--failed and --slower are for"},
		{{"trace", "--host", "--admin", "--slower=1s"}, "--failed and --slower are for"},
		{{"trace", "--host", "--admin", "--op=read"}, "leave out --op"},
		{{"trace", "--host", "--events", "--format=csv"}, "has --format text and json"},
		{{"serve", "--host", "--keep", "30s", "--dir", "/tmp", "--burst", "1s/60s"},
		 "--keep and --burst: what makes a command slow is mostly between two bursts"},
		{{"serve", "--host", "--keep", "30s", "--burst", "1s/60s", "--when", "errors>0"},
		 "--keep needs a folder for its files"},
		{{"serve", "--host", "--when", "errors>0"}, "--when is for what --keep keeps"},
		{{"serve", "--host", "--keep=30s", "--dir=/tmp", "--when", "errors<0"},
		 "--when errors<0: at character 7: "},
		{{"serve", "--host", "--by", "nsid"},
		 "--by nsid: histograms in the kernel are not by namespace; --nsid and --device "
		 "select one, and live and report have --by nsid"},
		{{"serve", "--host", "--by", "op"}, "--by op: not queue"},
		{{"serve", "--target", "--peer", ""}, "--peer needs a host, a command, a file"},
		{{"serve", "--host", "--peer-as-root"}, "--peer-as-root is for --peer"},
		{{"report", "--nothing", "x"}, "unrecognized option '--nothing'"},
	};
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		run_words(&r, (char **)lines[i].words);
		assert_refused(&r, lines[i].part);
	}
}

static void stages_in_bursts_are_not_of_records(void **state)
{
	static const char *const part = "--stages: records of commands have all points or none";
	char folder[] = "/tmp/ntprof-command-line.XXXXXX", lock[64];
	struct result r;

	RUN(&r, "--host", "--stages", "1s/15s", "--peer", "true");
	assert_refused(&r, part);
	RUN(&r, "serve", "--host", "--stages", "1s/15s", "--peer", "true");
	assert_refused(&r, part);
	assert_non_null(mkdtemp(folder));
	RUN(&r, "serve", "--host", "--stages", "1s/15s", "--keep", "30s", "--dir", folder);
	assert_refused(&r, part);
	snprintf(lock, sizeof(lock), "%s/.ntprof-bpf.host.lock", folder);
	unlink(lock);
	assert_int_equal(rmdir(folder), 0);
}

static void more_files_or_peers_than_the_most_are_refused(void **state)
{
	char *words[WORDS_MAX] = {"report"};
	struct result r;

	for (unsigned int i = 1; i <= 256; i++)
		words[i] = "/nowhere/file";
	run_words(&r, words);
	assert_int_equal(r.status, EXIT_FAILURE);
	words[257] = "/nowhere/file";
	run_words(&r, words);
	assert_refused(&r, "report takes 256 files at most");

	memset(words, 0, sizeof(words));
	words[0] = "--target";
	for (unsigned int i = 1; i <= 16; i++)
		words[i] = "--peer=x";
	words[17] = "--format=csv";
	run_words(&r, words);
	assert_refused(&r, "--format csv is of the queues of this machine");
	words[18] = "--peer=x";
	run_words(&r, words);
	assert_refused(&r, "at most 16 times --peer");
}

static void an_abbreviation_is_taken_where_it_is_clear_to_its_verb(void **state)
{
	struct result r;

	RUN(&r, "report", "--slowes", "1001", "x");
	assert_refused(&r, "--slowest 1001: too many");
	RUN(&r, "trace", "--slow", "x", "--host");
	assert_refused(&r, "--slower x: not a time");
	RUN(&r, "--targ", "--dur", "x");
	assert_refused(&r, "--duration x: not a time");
}

/* Output that is printed once, when the disk is full. */
static void a_full_disk_is_called_by_its_name(void **state)
{
	static char *lines[][5] = {
		{"--json-schema"},	 {"--help"},
		{"--version"},		 {"help"},
		{"help", "record"},	 {"trace", "--help"},
		{"report", "/dev/null"}, {"report", "--format", "json", "/dev/null"},
	};
	static struct result r;

	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++) {
		int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

		assert_true(full >= 0);
		run_words_to(&r, full, lines[i]);
		close(full);
		assert_int_equal(r.status, EXIT_FAILURE);
		assert_contains(r.err, "No space left on device");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_of_another_verb_is_refused),
		cmocka_unit_test(an_option_is_taken_before_and_after_its_verb),
		cmocka_unit_test(the_live_view_does_not_need_its_name),
		cmocka_unit_test(an_unknown_verb_is_told_the_known_ones),
		cmocka_unit_test(a_slip_of_the_pen_is_told_what_was_meant),
		cmocka_unit_test(short_forms_are_verbs_with_an_option),
		cmocka_unit_test(without_a_driver_a_side_is_asked_for),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(stages_in_bursts_are_not_of_records),
		cmocka_unit_test(more_files_or_peers_than_the_most_are_refused),
		cmocka_unit_test(a_full_disk_is_called_by_its_name),
		cmocka_unit_test(an_abbreviation_is_taken_where_it_is_clear_to_its_verb),
	};

	return cmocka_run_group_tests_name("command line", tests, find_program, NULL);
}
