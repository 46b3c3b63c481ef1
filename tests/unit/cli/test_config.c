// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of --config: the options that are refused in them, with file and line, and that options in
 * them do the same as on the command line.
 */
#include "cli/recordings.h"

#include <sys/stat.h>

#define LINE_MAX_WORDS 12
#define TOO_MANY "too many arguments: 'more'"

static char path[128] = "/tmp/ntprof-config-XXXXXX";

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* @part: "%s" at its beginning stands for the file. */
static void assert_says(const struct result *r, const char *part)
{
	bool file = !strncmp(part, "%s", 2);
	char text[512];

	snprintf(text, sizeof(text), "%s%s", file ? path : "", file ? part + 2 : part);
	if (r->status != EX_USAGE || strcmp(r->out, "") != 0)
		fail_msg("status %d:\n%s", r->status, r->err);
	assert_contains(r->err, text);
}

/* An error in a file that @verb reads is reported with its line. */
static void what_is_wrong_is_told_by_file_and_line(void **state)
{
	static const struct {
		const char *verb, *text, *part;
	} files[] = {
		{"live", "[nothing]\n", "%s:1: unknown section [nothing]"},
		{"live", "# a\n\n[probes]\n", "%s:3: unknown section [probes]"},
		{"live", "[live]\n[none]\n[all]\n", "%s:2: unknown section [none]"},
		{"live", "host = true\n", "%s:1: 'host' is in no section"},
		{"live", "[live]\nhost\n", "%s:2: neither [section] nor key = value"},
		{"live", "[live\nhost = yes\n", "%s:1: neither [section] nor key = value"},
		{"live", "[live]\nhots = true\n", "%s:2: unknown key 'hots' in section [live]"},
		{"live", "[live]\n\n= true\n", "%s:3: unknown key '' in section [live]"},
		{"live", "[live]\nslower = 1ms\n", "%s:2: unknown key 'slower' in section [live]"},
		{"live", "[record]\ninterval = 1\n",
		 "%s:2: unknown key 'interval' in section [record]"},
		{"live", "[all]\nhelp = true\n", "%s:2: unknown key 'help' in section [all]"},
		{"live", "[all]\nconfig = x\n", "%s:2: unknown key 'config' in section [all]"},
		{"live", "[all]\nhost = maybe\n", "%s:2: host = maybe: neither true nor false"},
		{"live", "[all]\nsize =\n", "%s:2: size has no value"},
		{"live", "[live] op = read\n", "%s:1: 'op = read' comes after the section's name"},
		{"live", "[live]\rop = reed\rop = read\n", "%s:1: 'op = reed' comes after"},
		{"live", "[all]\n@include = x\n", "%s:2: unknown key '@include'"},
		{"live", "@include x\n", "%s:1: neither [section] nor key = value"},
		{"live", "[live]\nduration = 1\nop = read\nduration = 2\n",
		 "%s:4: duration is there twice, first in line 2"},
		{"live", "[live]\nhost = 1\n[all]\n[live]\nhost = yes\n",
		 "%s:5: host is there twice, first in line 2"},
		{"live", "[all]\nhost = 1\ntarget = 1\n", "%s:3: --host and --target are two"},
		{"live", "[live]\nduration = 99999999999999999999h\n",
		 "%s:2: --duration 99999999999999999999h: not a time"},
		{"live", "[live]\ncount = 18446744073709551616\n",
		 "%s:2: --count 18446744073709551616: not a positive whole number"},
		{"live", "[live]\nqueue = 65536\n", "%s:2: --queue 65536: not queue ids"},
		{"live", "[live]\nby = op,\033[2J\n", "%s:2: --by op,?[2J: keys are"},
		{"live", "[\033[2J]\nhost = 1\n", "%s:1: unknown section [?[2J]"},
		{"live", "[li\033ve]\n", "%s:1: unknown section [li?ve]"},
		{"live", "[all]\nsize = # none\n", "%s:2: size has no value"},
		{"live", "[all]\nnqn = \"a\n", "%s:2: \"a: no closing quote"},
		{"live", "[all]\nnqn = 'a' b\n", "%s:2: 'b' comes after the closing quote"},
		{"live", "[all]\nop = 'reed' # no\n", "%s:2: --op reed: not operations"},
		{"live", "[all]\nop = reed#no # no\n", "%s:2: --op reed#no: not operations"},
		{"live", "[all]\nop = \"reed\" ; no\n", "%s:2: --op reed: not operations"},
		{"live", "[all]\n  size = 4kB ; no\n", "%s:2: --size 4kB: not sizes below 4G"},
		{"live", "[live]\r\nop = reed\r\n", "%s:2: --op reed: not operations"},
		{"live", "\xef\xbb\xbf[live]\n \t op = reed", "%s:2: --op reed: not operations"},
		{"live", "[live]\n\n\xef\xbb\xbfop = read\n", "%s:3: unknown key '???op'"},
		{"trace", "[all]\n[trace]\nslower = 4k\n", "%s:3: --slower 4k: not a time"},
		{"record", "[record]\nbuffer = 1\n", "%s:2: --buffer 1: not a size from"},
		{"stacks", "[stacks]\npaths = 0\n", "%s:2: --paths 0: not a positive whole"},
		{"report", "[report]\nwhere = latency>4k\n", "%s:2: --where 'latency>4k': not"},
		/* files of ntprof */
		{"live", "[Workload]\r\nIO_TYPE = both\r\nIO_TYPE = read\r\n",
		 "%s:3: IO_TYPE is there twice, first in line 2"},
		{"live", "[Profiling]\nFREQUENCY = 99999999999999999999\n",
		 "%s:2: --sample 99999999999999999999: not a positive whole number"},
		{"live", "[Profiling]\nTIME_INTERVAL = 99999999999999999999\n",
		 "%s:2: --interval 99999999999999999999: not a time"},
		{"live", "[Workload]\nIO_TYPE = reed\n",
		 "%s:2: IO_TYPE = reed: neither read nor write nor both"},
		{"live", "[Workload]\nIO_SIZES = 4K\n",
		 "%s:2: unknown key 'IO_SIZES' in section [Workload]"},
		{"live", "[Report]\nFREQUENCY = 1\n",
		 "%s:2: unknown key 'FREQUENCY' in section [Report]"},
		{"live", "[Workload]\nIO_SIZE = 4K, 8Q\n", "%s:2: IO_SIZE = 4K, 8Q: not sizes"},
		{"live", "[Workload]\nIO_SIZE = 1,2,3,4,5,6,7,8,9\n",
		 "%s:2: --size 1,2,3,4,5,6,7,8,9: too many, the most are 8"},
		{"live", "[Workload]\nMIN_IO_SIZE = 8K\nMAX_IO_SIZE = 4K\n",
		 "%s:2: --size 8K-4K: ends before it begins"},
		{"live", "[Execution]\nNETWORK_BANDWIDTH_LIMIT = fast\n",
		 "%s:2: NETWORK_BANDWIDTH_LIMIT = fast: neither MB/s"},
		{"live", "[Execution]\nNVME_DRIVE_BANDWIDTH_LIMIT = 0\n",
		 "%s:2: NVME_DRIVE_BANDWIDTH_LIMIT = 0: neither MB/s"},
		{"live", "[Profiling]\nIS_ONLINE = yes\n",
		 "%s:2: IS_ONLINE = yes: neither true nor false"},
		{"live", "[Profiling]\nIS_ONLINE = false\n", "%s:2: IS_ONLINE is false, which"},
		{"live", "[Profiling]\nTIME_INTERVAL = 0\n", "%s:2: TIME_INTERVAL = 0: not a"},
		{"live", "[Profiling]\nFREQUENCY = 1.5\n", "%s:2: FREQUENCY = 1.5: not a"},
		{"live", "[Profiling]\nFREQUENCY = 2000000\n", "%s:2: --sample 2000000: too many"},
		{"record", "[Profiling]\nBUFFER_SIZE = 2048\n", "%s:2: --buffer 2048M: not a size"},
		{"live", "[Profiling]\nDATA_DIR = \"\"\n", "%s:2: DATA_DIR = : says nothing"},
		{"live", "[Profiling]\nAGGREGATION = mean\n",
		 "%s:2: AGGREGATION = mean: not min, max, avg or dist"},
		{"live", "[Report]\nENABLE_THROUGHPUT = 2\n",
		 "%s:2: ENABLE_THROUGHPUT = 2: neither true nor false"},
	};
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		write_file(files[i].text);
		RUN(&r, (char *)files[i].verb, "--config", path, "more");
		assert_says(&r, files[i].part);
	}
}

/* Each verb takes its own options of the same file, and accepts all of it. */
static void what_is_right_is_taken(void **state)
{
	static const char own[] = "\xef\xbb\xbf; ours\n"
				  "[all]\n"
				  "host = yes\n"
				  "  sample = 10   # one in ten\n"
				  "op=read,write ;\n"
				  "force = false\n"
				  "format : json\n"
				  "[live]\n"
				  "interval = 2 ; seconds\n"
				  "peer = \"true ; false # ;\"; two of them\n"
				  "peer = 'true'\n"
				  "[record]\n"
				  "output = /nowhere/file\n"
				  "[trace]\n"
				  "slower = 1ms\n"
				  "[report]\n"
				  "slowest = 3\n"
				  "[stacks]\n"
				  "paths = 3\n";
	static const char ntprof[] = "[workload]\n"
				     "SESSION_NAME = all\n"
				     "io_type = \"both\"\n"
				     "IO_SIZE = 4K, 128k ; two\n"
				     "MAX_IO_SIZE=64K\n"
				     "[Execution]\n"
				     "NETWORK_BANDWIDTH_LIMIT = INF # none\n"
				     "NVME_DRIVE_BANDWIDTH_LIMIT = 3000\n"
				     "[Profiling]\n"
				     "IS_ONLINE = 1\n"
				     "DATA_DIR = ./data\n"
				     "TIME_INTERVAL = 1\n"
				     "FREQUENCY = 1000\n"
				     "BUFFER_SIZE = 1024\n"
				     "[Report]\n"
				     "ENABLE_THROUGHPUT = true\n"
				     "ENABLE_LATENCY_BREAKDOWN = true\n"
				     "ENABLE_QUEUE_LENGTH = false\n";
	static const char *const texts[] = {own, ntprof};
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file(texts[i]);
		for (const struct verb *const *v = all_verbs; *v; v++) {
			if (!verb_option(*v, "config") || *v == &verb_report)
				continue;
			RUN(&r, (char *)(*v)->name, "--config", path, "more");
			assert_says(&r, TOO_MANY);
		}
		RUN(&r, "report", "--config", path, "/nowhere/more");
		assert_int_equal(r.status, EXIT_FAILURE);
		assert_contains(r.err, "cannot read /nowhere/more");
	}
	RUN(&r, "live", "--config", path, "more");
	assert_says(&r, "%s:18: ENABLE_QUEUE_LENGTH is false, but it is always shown");
}

static void write_bytes(const char *bytes, size_t nr)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, nr, f), nr);
	assert_int_equal(fclose(f), 0);
}

/* A file that cannot have options is refused soon, with the place, and without much memory. */
static void what_is_no_file_of_options_is_refused(void **state)
{
	static const struct {
		const char *path, *says;
	} others[] = {
		{"/dev/zero", "/dev/zero:1: a byte is 0: not a text"},
		{"/nowhere/file", "cannot read /nowhere/file: No such file or directory"},
		{"/tmp", "cannot read /tmp: Is a directory"},
		{"/proc/self/mem", "/proc/self/mem"},
	};
	static char zeroes[] = "[all]\nhost = yes\nop = re\0ad\n";
	char *fifo, part[256];
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		RUN(&r, "--config", (char *)others[i].path);
		assert_says(&r, others[i].says);
	}
	write_bytes(zeroes, sizeof(zeroes) - 1);
	RUN(&r, "--config", path);
	assert_says(&r, "%s:3: a byte is 0: not a text");
	assert_true(asprintf(&fifo, "%s.fifo", path) > 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	RUN(&r, "--config", fifo);
	unlink(fifo);
	snprintf(part, sizeof(part), "cannot read %s: a pipe, which may never end", fifo);
	free(fifo);
	assert_says(&r, part);
	/* Root may read any file, so this one as well. */
	if (!geteuid())
		return;
	assert_int_equal(chmod(path, 0), 0);
	RUN(&r, "--config", path);
	assert_int_equal(chmod(path, 0600), 0);
	assert_contains(r.err, "Permission denied");
}

/*
 * Who may write to the file's folder may put a link to a watchdog there, which restarts the machine
 * once it was opened. A FIFO shows it as well: who writes to it waits until somebody opens it.
 */
static void what_is_refused_is_not_opened(void **state)
{
	char fifo[64];
	struct result r;
	pid_t writer;

	snprintf(fifo, sizeof(fifo), "/tmp/ntprof-fifo.%d", getpid());
	assert_int_equal(mkfifo(fifo, 0600), 0);
	writer = fork();
	if (!writer)
		_exit(open(fifo, O_WRONLY | O_CLOEXEC) < 0);
	assert_true(writer > 0);
	/* Until it waits in open(2). */
	usleep(200000);
	RUN(&r, "--config", fifo);
	usleep(200000);
	assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
	kill(writer, SIGKILL);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	unlink(fifo);
	RUN(&r, "--config", "/dev/ptmx");
	assert_says(&r, "cannot read /dev/ptmx: a device");
}

static void lines_and_files_have_a_length(void **state)
{
	enum { LINE = 4095, FILE_BYTES = 1 << 20 };
	static char text[FILE_BYTES + LINE];
	struct result r;

	memset(text, 'x', sizeof(text));
	memcpy(text, "[all]\n# ", 8);
	/* A line of the greatest length, and one that is a byte longer. */
	text[6 + LINE] = '\n';
	write_bytes(text, 6 + LINE + 1);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	text[6 + LINE] = 'x';
	write_bytes(text, 6 + LINE + 2);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, "%s:2: the line is longer than 4095 bytes");
	write_bytes(text, sizeof(text));
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, "%s:2: the line is longer than 4095 bytes");
	memset(text, '\n', sizeof(text));
	write_bytes(text, FILE_BYTES);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	text[FILE_BYTES - 1] = '#';
	write_bytes(text, FILE_BYTES);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	write_bytes(text, FILE_BYTES + 1);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, "the file is longer than 1 MiB");
	/* The same option very many times. */
	for (size_t i = 0; i < FILE_BYTES / 8; i++)
		memcpy(text + 8 * i, "peer=x\n\n", 8);
	memcpy(text, "[live]\n\n", 8);
	write_bytes(text, FILE_BYTES);
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, "too many options, the most are 256");
}

/* Wrong arguments show by their messages which one was taken. */
static void the_line_takes_the_place_of_the_file(void **state)
{
	struct result r;

	write_file(
		"[all]\ntarget = true\nsize = 4kB\nduration = 0\nnsid = x\n[live]\nduration = 1\n");
	/* --device needs the host's side; with the side in the file it is refused. */
	RUN(&r, "--config", path, "--size=4k", "--nsid=1", "--host", "--duration", "x");
	assert_says(&r, "ntprof-bpf: --duration x: not a time");
	RUN(&r, "--config", path, "--size", "4k", "--nsi", "1", "--device=nvme0n1");
	assert_says(&r, "ntprof-bpf: --device is what a host calls it");
	RUN(&r, "trace", "--config", path, "--size", "4k", "--nsid=1");
	assert_says(&r, "%s:4: --duration 0: too short");
	RUN(&r, "--config", path, "--size=4k", "--nsid=1", "live", "more");
	assert_says(&r, TOO_MANY);
	write_file("[all]\nhost=1\ninterval = 5\n[live]\nburst = 1s/60s\n");
	RUN(&r, "--config", path, "live", "more");
	assert_says(&r, TOO_MANY);
	RUN(&r, "--config", path, "-i1", "live", "more");
	assert_says(&r, TOO_MANY);
}

/* What it is for may be in the file, or on the line. */
static void only_a_file_has_an_option_without_the_one_that_it_is_for(void **state)
{
	static const char nowhere[] = "ntprof-bpf: cannot read /nowhere/x: No such file";
	struct result r;

	write_file("[report]\nfio-pace = fast\nfio-block = 512\ntolerance = 3\n");
	RUN(&r, "report", "--config", path, "/nowhere/x");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, nowhere);
	RUN(&r, "report", "--config", path, "/nowhere/x", "--fio-scale=2");
	assert_says(&r, "ntprof-bpf: --fio-scale is for --fio-iolog and --fio-job");
	write_file("[report]\nfio-job = /nowhere/job\n");
	RUN(&r, "report", "--config", path, "/nowhere/x", "--fio-scale=2");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, "/nowhere/");
	/* What the parser finds comes first. */
	RUN(&r, "report", "--fio-scale=2", "--nonsense");
	assert_contains(r.err, "unrecognized option '--nonsense'");
}

/* Keys that need an option of another verb, or one that does not exist yet. */
static void a_key_without_an_option_is_refused_by_its_name(void **state)
{
	static const struct {
		const char *line, *option, *name;
	} keys[] = {
		{"[Workload]\nSESSION_NAME = nvme4n1\n", "device", "SESSION_NAME"},
		{"[Profiling]\nAGGREGATION = avg\n", "stats", "AGGREGATION"},
		{"[Report]\nENABLE_LATENCY_DISTRIBUTION = true\n", "stats",
		 "ENABLE_LATENCY_DISTRIBUTION"},
		{"[Report]\nENABLE_GROUP_BY_TYPE = 1\n", "by", "ENABLE_GROUP_BY_TYPE"},
		{"[Report]\nENABLE_GROUP_BY_SESSION = true\n", "by", "ENABLE_GROUP_BY_SESSION"},
	};
	struct result r, help;
	char part[128];

	RUN(&help, "live", "--help");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(part, sizeof(part), " --%s=", keys[i].option);
		write_file(keys[i].line);
		RUN(&r, "live", "--host", "--config", path, "more");
		if (strstr(help.out, part)) {
			assert_says(&r, TOO_MANY);
			continue;
		}
		snprintf(part, sizeof(part), ":2: %s is --%s here, which no verb has yet",
			 keys[i].name, keys[i].option);
		assert_contains(r.err, part);
		assert_int_equal(r.status, EX_USAGE);
	}
	/* The series of serve have no groups. */
	write_file("[Report]\nENABLE_GROUP_BY_SIZE = true\n");
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	RUN(&r, "serve", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	RUN(&help, "report", "--help");
	RUN(&r, "report", "--config", path, "/nowhere/more");
	assert_contains(r.err, strstr(help.out, " --by=")
				       ? "cannot read /nowhere/more"
				       : ":2: ENABLE_GROUP_BY_SIZE is --by here");
	write_file("[Report]\nENABLE_GROUP_BY_SIZE = false\nENABLE_LATENCY_DISTRIBUTION = 0\n");
	RUN(&r, "live", "--host", "--config", path, "more");
	assert_says(&r, TOO_MANY);
}

/* A report with a file is equal to one with its options on the command line. */
static void a_file_does_what_its_options_do(void **state)
{
	static const struct {
		const char *text;
		char *words[LINE_MAX_WORDS];
	} same[] = {
		{"[report]\nop = read\ncommands = true\n", {"--op", "read", "--commands"}},
		{"[Workload]\nIO_TYPE = write\n[all]\ncommands = 1\n",
		 {"--op=write", "--commands"}},
		{"[Workload]\nMIN_IO_SIZE = 8K\nIO_SIZE = 512\n[all]\ncommands = 1\n",
		 {"--size=8k-4294967295", "--commands"}},
		{"[Workload]\nIO_SIZE = \"4096, 512\"\n[all]\ncommands = 1\n",
		 {"--size=512,4096", "--commands"}},
	};
	struct traffic_config c = traffic_of_one_queue();
	struct recording files[] = {{.edit = NULL}, {.edit = NULL}};
	static struct result expected, r, all;

	c.commands = 200;
	recordings_make(files, &c);
	RUN(&all, "report", files[0].path, files[1].path, "--commands");
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		char *words[LINE_MAX_WORDS + 4] = {"report", files[0].path, files[1].path};

		for (unsigned int k = 0; same[i].words[k]; k++)
			words[3 + k] = same[i].words[k];
		run_words(&expected, words);
		write_file(same[i].text);
		RUN(&r, "report", "--config", path, files[0].path, files[1].path);
		assert_int_equal(r.status, EXIT_SUCCESS);
		assert_string_equal(r.err, expected.err);
		assert_string_equal(r.out, expected.out);
		assert_string_not_equal(r.out, all.out);
	}
	recordings_free(files, ARRAY_SIZE(files));
	/* DATA_DIR is the folder that record writes to; the file's name is the side. */
	write_file("[Profiling]\nIS_ONLINE = false\nDATA_DIR = /nowhere/data\n");
	RUN(&r, "record", "--target", "--config", path);
	if (!geteuid() || strstr(r.err, "/nowhere"))
		assert_contains(r.err, "/nowhere/data/target.ntp");
}

#define OTHER_USER 1234

/* Checks that the option is refused, because a user other than the caller may have written it. */
static void assert_distrusted(const char *verb, const char *option, const char *why)
{
	struct result r;
	char part[256];

	RUN(&r, (char *)verb, "--config", path, "more");
	snprintf(part, sizeof(part), "%%s:2: %s is not taken from a file that", option);
	assert_says(&r, part);
	assert_contains(r.err, why);
}

/* Finds options by the name of their argument, so that new ones are covered. */
static void what_others_may_write_names_no_command_and_no_path(void **state)
{
	static const char *const names[] = {"FILE", "DIR", "PEER", "ADDRESS"};
	/* These have arguments of other kinds, and allow more to be run, replaced or removed. */
	static const char *const others[] = {"peer-as-root", "force",	  "files",
					     "bytes",	     "keep-free", "keep",
					     "keep-bytes",   "when",	  "after"};
	unsigned int nr = 0;
	struct result r;
	struct scan s;

	for (const struct verb *const *v = all_verbs; *v; v++) {
		scan_begin(&s, (const struct verb *const[]){*v, NULL});
		for (unsigned int i = SCAN_OWN; i < s.nr && verb_option(*v, "config"); i++) {
			const struct argp_option *o = s.options[i];
			bool named = false;
			char text[128];

			for (size_t k = 0; k < ARRAY_SIZE(others); k++)
				named = named || !strcmp(o->name, others[k]);
			for (size_t k = 0; o->arg && k < ARRAY_SIZE(names); k++)
				named = named || !strcmp(o->arg, names[k]);
			if (!named || !strcmp(o->name, "config"))
				continue;
			nr++;
			snprintf(text, sizeof(text), "[%s]\n%s = true\n", (*v)->name, o->name);
			write_file(text);
			assert_int_equal(chmod(path, 0666), 0);
			assert_distrusted((*v)->name, o->name, "others may write to");
			assert_int_equal(chmod(path, 0600), 0);
			RUN(&r, (char *)(*v)->name, "--config", path, "more");
			assert_null(strstr(r.err, "is not taken"));
		}
	}
	assert_true(nr >= 8);
	assert_int_equal(chmod(path, 0666), 0);
	write_file("[Profiling]\nDATA_DIR = /nowhere/data\n");
	RUN(&r, "record", "--target", "--config", path, "more");
	assert_says(&r, "%s:2: output is not taken from a file that");
	/* It may set options that only affect measuring, and any options of other verbs. */
	write_file("[live]\nhost = yes\nop = read\n[record]\noutput = x\n");
	RUN(&r, "live", "--config", path, "more");
	assert_says(&r, TOO_MANY);
	assert_int_equal(chmod(path, 0600), 0);
}

static void others_may_write_in_many_ways(void **state)
{
	static const struct {
		mode_t file, folder;
		uid_t file_owner, folder_owner;
		const char *why; /* NULL: no other user may write */
	} cases[] = {
		{0600, 0755, 0, 0, NULL},
		{0644, 01777, 0, 0, NULL},
		{0620, 0755, 0, 0, "is a file that others may write to"},
		{0602, 0755, 0, 0, "is a file that others may write to"},
		{0600, 0777, 0, 0, ", which others may write to"},
		{0600, 0775, 0, 0, ", which others may write to"},
		{0600, 0755, OTHER_USER, 0, "is another user's"},
		{0600, 0755, 0, OTHER_USER, ", which is another user's"},
		{0600, 01777, 0, OTHER_USER, ", which is another user's"},
	};
	char file[sizeof(path)], folder[sizeof(path) + 8], below[sizeof(folder) + 16], part[64];
	struct result r;

	strcpy(file, path);
	snprintf(folder, sizeof(folder), "%s.folder", file);
	snprintf(below, sizeof(below), "%s/below", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(mkdir(below, 0700), 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		size_t k = i / 2;

		if (geteuid() && (cases[k].file_owner || cases[k].folder_owner))
			continue;
		/* The file is in the folder, or in a folder below it. */
		snprintf(path, sizeof(path), "%.100s/x.ini", i % 2 ? below : folder);
		write_file("[live]\nhost = true\npeer = true\n");
		assert_int_equal(chmod(path, cases[k].file), 0);
		assert_int_equal(chmod(folder, cases[k].folder), 0);
		if (!geteuid()) {
			assert_int_equal(chown(path, cases[k].file_owner, 0), 0);
			assert_int_equal(chown(folder, cases[k].folder_owner, 0), 0);
		}
		RUN(&r, "live", "--config", path, "more");
		snprintf(part, sizeof(part), "%s", cases[k].why ?: TOO_MANY);
		assert_says(&r, part);
		if (cases[k].file_owner || cases[k].folder_owner) {
			/* The caller of sudo may choose the commands. */
			setenv("SUDO_UID", "1234", 1);
			RUN(&r, "live", "--config", path, "more");
			assert_says(&r, TOO_MANY);
			setenv("SUDO_UID", "1235", 1);
			RUN(&r, "live", "--config", path, "more");
			assert_says(&r, part);
			unsetenv("SUDO_UID");
		}
		unlink(path);
		if (!geteuid())
			assert_int_equal(chown(folder, 0, 0), 0);
		assert_int_equal(chmod(folder, 0700), 0);
	}
	strcpy(path, file);
	rmdir(below);
	rmdir(folder);
}

/* A user who may replace the link could choose which file is read. */
static void a_link_that_others_may_replace_is_not_followed_to_commands(void **state)
{
	char folder[sizeof(path) + 8], link[sizeof(folder) + 8];
	struct result r;

	snprintf(folder, sizeof(folder), "%s.folder", path);
	snprintf(link, sizeof(link), "%s/x.ini", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink(path, link), 0);
	write_file("[live]\nhost = true\npeer = true\n");
	RUN(&r, "live", "--config", link, "more");
	assert_says(&r, TOO_MANY);
	assert_int_equal(chmod(folder, 0777), 0);
	RUN(&r, "live", "--config", link, "more");
	assert_says(&r, "which others may write to");
	assert_int_equal(chmod(folder, 01777), 0);
	if (!geteuid()) {
		assert_int_equal(lchown(link, OTHER_USER, OTHER_USER), 0);
		RUN(&r, "live", "--config", link, "more");
		assert_says(&r, "is another user's");
	}
	unlink(link);
	rmdir(folder);
}

/* In /a/link/below/x.ini others may replace "link" itself, or what lies where it leads. */
static void a_link_on_the_way_is_looked_at_and_so_is_where_it_leads(void **state)
{
	char base[sizeof(path) + 8], shared[sizeof(base) + 16], ours[sizeof(base) + 16],
		link[sizeof(shared) + 16], below[sizeof(ours) + 16], file[sizeof(link) + 16],
		was[sizeof(path)];
	struct result r;

	strcpy(was, path);
	snprintf(base, sizeof(base), "%s.folder", path);
	snprintf(shared, sizeof(shared), "%s/shared", base);
	snprintf(ours, sizeof(ours), "%s/ours", base);
	snprintf(below, sizeof(below), "%s/below", ours);
	snprintf(link, sizeof(link), "%s/link", shared);
	snprintf(file, sizeof(file), "%s/below/x.ini", link);
	assert_int_equal(mkdir(base, 0755) | mkdir(shared, 0755) | mkdir(ours, 0755) |
				 mkdir(below, 0755),
			 0);
	assert_int_equal(symlink("../ours", link), 0);
	snprintf(path, sizeof(path), "%.100s/x.ini", below);
	write_file("[live]\nhost = true\npeer = true\n");
	assert_int_equal(chmod(path, 0600), 0);
	RUN(&r, "live", "--config", file, "more");
	assert_says(&r, TOO_MANY);
	/* Others may replace the link. */
	assert_int_equal(chmod(shared, 0777), 0);
	RUN(&r, "live", "--config", file, "more");
	assert_says(&r, "/shared, which others may write to");
	/* Others may replace the file to which it leads. */
	assert_int_equal(chmod(shared, 01777), 0);
	assert_int_equal(chmod(ours, 0777), 0);
	RUN(&r, "live", "--config", file, "more");
	assert_says(&r, "/ours, which others may write to");
	assert_int_equal(chmod(ours, 0755), 0);
	RUN(&r, "live", "--config", file, "more");
	assert_says(&r, TOO_MANY);
	if (!geteuid()) {
		assert_int_equal(lchown(link, OTHER_USER, OTHER_USER), 0);
		RUN(&r, "live", "--config", file, "more");
		assert_says(&r, "/shared/link, which is another user's");
		assert_int_equal(lchown(link, 0, 0), 0);
		assert_int_equal(chown(ours, OTHER_USER, OTHER_USER), 0);
		RUN(&r, "live", "--config", file, "more");
		assert_says(&r, "/ours, which is another user's");
	}
	unlink(path);
	unlink(link);
	rmdir(below);
	rmdir(ours);
	rmdir(shared);
	rmdir(base);
	strcpy(path, was);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return find_program(state);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void help_and_version_come_before_the_file(void **state)
{
	struct result r;

	RUN(&r, "trace", "--config", "/nowhere", "--help");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "Usage: ntprof-bpf trace ");
	RUN(&r, "trace", "--config", "/nowhere", "--version");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "ntprof-bpf ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_told_by_file_and_line),
		cmocka_unit_test(what_is_right_is_taken),
		cmocka_unit_test(what_is_no_file_of_options_is_refused),
		cmocka_unit_test(what_is_refused_is_not_opened),
		cmocka_unit_test(lines_and_files_have_a_length),
		cmocka_unit_test(the_line_takes_the_place_of_the_file),
		cmocka_unit_test(only_a_file_has_an_option_without_the_one_that_it_is_for),
		cmocka_unit_test(a_key_without_an_option_is_refused_by_its_name),
		cmocka_unit_test(a_file_does_what_its_options_do),
		cmocka_unit_test(what_others_may_write_names_no_command_and_no_path),
		cmocka_unit_test(others_may_write_in_many_ways),
		cmocka_unit_test(a_link_that_others_may_replace_is_not_followed_to_commands),
		cmocka_unit_test(a_link_on_the_way_is_looked_at_and_so_is_where_it_leads),
		cmocka_unit_test(help_and_version_come_before_the_file),
	};

	return cmocka_run_group_tests_name("configuration file", tests, make_file, remove_file);
}
