// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to find the track of a command, in basic blocks of the code: see
 * tests/unit/merge/test_cost.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "core/hash.h"
#include "merge/connection.h"
#include "view/perfetto.h"

/* Tracks, of which each has commands. The chosen ones are in one of 2^BUCKET_BITS buckets. */
#define TRACKS 400
#define BUCKET_BITS 8
/* Kind and side of the track of a tag of a host: see TRACK_KEY() */
#define TAG_OF_HOST (2ULL << 62)

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

/* Whether the known hash of a track's key has a place in the first bucket. */
static bool is_chosen(uint32_t index, unsigned int tag)
{
	uint64_t key = TAG_OF_HOST | (uint64_t)index << 16 | tag;

	return !(hash_mix(key) & ((1u << BUCKET_BITS) - 1));
}

/* Return: blocks to write one command of each of TRACKS tracks. */
static uint64_t cost(bool chosen)
{
	static struct merge_connection c[TRACKS];
	struct perfetto *p = perfetto_new(TRACKS);
	struct perfetto_about about = {.tcp = &(struct tcp_history){.nr_streams = 0},
				       .events = &(struct path_events){.nr = 0}};
	uint64_t before = blocks, left_out, connections;
	FILE *f = fopen("/dev/null", "w");
	unsigned int nr = 0;

	assert_non_null(p);
	assert_non_null(f);
	for (uint32_t index = 0; nr < TRACKS; index++)
		for (unsigned int tag = 0; nr < TRACKS && tag < 1u << 12; tag++) {
			const struct nt_record r = {.side = NT_HOST,
						    .op = NT_OP_READ,
						    .cid = (uint16_t)tag,
						    .points = {1, 2}};

			if (chosen && !is_chosen(index, tag))
				continue;
			c[nr].index = index;
			assert_int_equal(perfetto_add(p, &c[nr], &r, NULL, 0), 0);
			nr++;
		}
	assert_int_equal(perfetto_write(p, &about, f, &left_out, &connections), 0);
	assert_int_equal(left_out, 0);
	fclose(f);
	perfetto_free(p);
	return blocks - before;
}

static void chosen_tags_cost_a_trace_little(void **state)
{
	uint64_t any = cost(false), chosen = cost(true);

	print_message("# %llu blocks, %llu with chosen tags\n", (unsigned long long)any,
		      (unsigned long long)chosen);
	assert_in_range(chosen, 1, 2 * any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen_tags_cost_a_trace_little),
	};

	return cmocka_run_group_tests_name("perfetto_cost", tests, NULL, NULL);
}
