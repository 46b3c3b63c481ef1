// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many series a page has at most, by --series: docs/guides/fleet.md. With NTPROF_PAGES=FOLDER
 * the largest pages are written into that folder, as SIDE.LIMIT: tests/fleet/run multiplies them.
 */
#include "serve/made.h"

/* The page's samples, and so its series: lines that are no comment. */
static unsigned int samples(const struct made *m)
{
	unsigned int n = 0;

	for (const char *at = m->text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		n += *at != '#';
	return n;
}

/*
 * More connections than there is room for, each with commands of all operations that a file system
 * asks for, in each of @stages. On a host they are controllers of as many arrays, on a target hosts
 * of one array.
 */
static void fill(struct made *m, unsigned int connections, unsigned int stages)
{
	static const enum nt_op ops[] = {NT_OP_READ, NT_OP_WRITE, NT_OP_FLUSH, NT_OP_ADMIN,
					 NT_OP_FABRICS};
	char controller[32], array[64], host[96];

	for (unsigned int i = 0; i < connections; i++)
		for (unsigned int k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
			enum nt_op op = ops[k];
			struct stats_row *r;
			struct stats_stages *of;

			snprintf(controller, sizeof(controller),
				 m->s.side == NT_HOST ? "nvme%u" : "cntlid %u", i);
			snprintf(array, sizeof(array), "nqn.2024-01.io.ntprof:array%u",
				 m->s.side == NT_HOST ? i : 1);
			snprintf(
				host, sizeof(host),
				"nqn.2014-08.org.nvmexpress:uuid:5f0c7a52-31d8-4c4b-9a8a-0d6f3b1e%04x",
				i);
			r = m->s.side == NT_HOST
				    ? stats_row_of(&m->s, controller, array, host, 1, op, false)
				    : stats_row_of(&m->s, controller, host, array, 1, op, false);
			assert_non_null(r);
			for (unsigned int n = 0; n < 50; n++)
				count(r, 700000 + n * 10000, 4096);
			of = op == NT_OP_ADMIN || op == NT_OP_FABRICS ? NULL
								      : stats_stages_make(&m->s, r);
			for (unsigned int s = 0; s < stages; s++) {
				hist_count(&m->s.stage_interval[op][s], 50000);
				if (of)
					hist_count(&of->interval[s], 50000);
			}
		}
}

/* Writes the page where the generator of a fleet looks for it. */
static void keep(const struct made *m, const char *side, unsigned int limit)
{
	const char *folder = getenv("NTPROF_PAGES");
	char path[4096];
	FILE *f;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.%u", folder, side, limit);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(m->text, 1, m->size, f), m->size);
	assert_int_equal(fclose(f), 0);
}

/* Return: the series of the largest page of that limit */
static unsigned int largest(enum nt_side side, unsigned int limit, bool ends)
{
	unsigned int stages = ends		? 2
			      : side == NT_HOST ? NT_HOST_STAGES_NR
						: NT_TARGET_STAGES_NR,
		     n;
	struct made *m;

	assert_int_equal(begin((void **)&m), 0);
	m->s.side = side;
	m->s.by_other = true;
	page_free(m->page);
	m->page = page_new(side, false, limit, m->now_ms);
	assert_non_null(m->page);
	for (unsigned int i = 0; i < 3; i++) {
		fill(m, limit, stages);
		render(m, EXPOSITION_OPENMETRICS);
	}
	n = samples(m);
	print_message("# %s, --series %u%s: %u series, %zu bytes\n",
		      side == NT_HOST ? "host" : "target", limit, ends ? " --points ends" : "", n,
		      m->size);
	if (!ends)
		keep(m, side == NT_HOST ? "host" : "target", limit);
	end((void **)&m);
	return n;
}

/* A thousand machines have less than two million series. */
static void the_limit_bounds_the_series_of_a_page(void **state)
{
	static const unsigned int limits[] = {8, 16, 24, 32, 64, 256};

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		for (unsigned int ends = 0; ends < 2; ends++) {
			unsigned int host = largest(NT_HOST, limits[i], ends);
			unsigned int target = largest(NT_TARGET, limits[i], ends);

			if (limits[i] <= (ends ? 24 : 8)) {
				assert_in_range(host, 1, 2000);
				assert_in_range(target, 1, 2000);
			}
		}
	(void)state;
}

/* Hosts of one array, whose names have @len bytes that are shown as they are or as U+FFFD. */
static size_t largest_of_hosts(size_t len, char byte, bool *folds)
{
	const char *array = "nqn.2014-08.org.nvmexpress:uuid:5f0c7a52-31d8-4c4b-9a8a-0d6f3b1e0001";
	char host[NT_NQN_LEN], number[16];
	struct made *m;
	size_t size;

	assert_int_equal(begin((void **)&m), 0);
	m->s.side = NT_TARGET;
	m->s.by_other = true;
	page_free(m->page);
	m->page = page_new(NT_TARGET, false, SERIES_MAX, m->now_ms);
	assert_non_null(m->page);
	for (unsigned int i = 0; i < SERIES_MAX; i++) {
		enum nt_op op = i % 2 ? NT_OP_READ : NT_OP_WRITE;
		struct stats_stages *of;
		struct stats_row *r;

		snprintf(number, sizeof(number), "%08u", i / 2);
		memset(host, byte, len);
		memcpy(host + len - strlen(number), number, strlen(number) + 1);
		r = stats_row_of(&m->s, "cntlid 1", host, array, 1, op, false);
		assert_non_null(r);
		count(r, 700000, 4096);
		of = stats_stages_make(&m->s, r);
		for (unsigned int s = 0; s < NT_TARGET_STAGES_NR; s++) {
			hist_count(&m->s.stage_interval[op][s], 50000);
			if (of)
				hist_count(&of->interval[s], 50000);
		}
	}
	render(m, EXPOSITION_OPENMETRICS);
	size = m->size;
	*folds = strstr(
		m->text,
		"ntprof_command_duration_seconds_bucket{side=\"target\",subsysnqn=\"other\"");
	print_message("# %u series, host NQNs of %zu bytes 0x%02x: %zu bytes\n", SERIES_MAX, len,
		      (unsigned char)byte, size);
	end((void **)&m);
	return size;
}

/* A page may be in memory six times (HTTP_PAGES_MAX), and the unit has 2 GB (MemoryMax). */
static void names_of_strangers_do_not_make_a_page_larger_than_its_limit(void **state)
{
	bool folds;

	largest_of_hosts(68, 'h', &folds);
	assert_false(folds);
	assert_in_range(largest_of_hosts(NT_NQN_LEN - 1, '\x01', &folds), SERIES_BYTES_MAX / 2,
			2 * SERIES_BYTES_MAX);
	assert_true(folds);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_bounds_the_series_of_a_page),
		cmocka_unit_test(names_of_strangers_do_not_make_a_page_larger_than_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
