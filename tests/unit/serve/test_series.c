// SPDX-License-Identifier: GPL-2.0-only
/* Label sets that have no series of their own are counted one by one, up to a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/series.h"

/* As many as docs/metrics.md says, and more. */
#define COUNTED 65536
#define LABELS (COUNTED + 100)

struct labels {
	uint64_t hash;
	char text[16];
};

/* FNV-1a: in the order in which they are kept, each comes behind the last one. */
static int by_hash(const void *a, const void *b)
{
	const struct labels *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static struct labels *labels_make(void)
{
	struct labels *l = calloc(LABELS, sizeof(*l));

	assert_non_null(l);
	for (unsigned int i = 0; i < LABELS; i++) {
		snprintf(l[i].text, sizeof(l[i].text), "{a=\"%u\"}", i);
		l[i].hash = 0xcbf29ce484222325ULL;
		for (const char *c = l[i].text; *c; c++)
			l[i].hash = (l[i].hash ^ (unsigned char)*c) * 0x100000001b3ULL;
	}
	qsort(l, LABELS, sizeof(*l), by_hash);
	return l;
}

static void what_has_no_series_is_of_the_others_however_many_there_are(void **state)
{
	struct series_table *t = series_new("{a=\"other\"}");
	struct labels *l = labels_make();
	char text[16];

	(void)state;
	for (unsigned int i = 0; i < SERIES_MAX; i++) {
		snprintf(text, sizeof(text), "{b=\"%u\"}", i);
		assert_string_equal(series_get(t, text)->labels, text);
	}
	/* The second time they are known. */
	for (unsigned int i = 0; i < 2 * LABELS; i++) {
		struct series *s = series_get(t, l[i % LABELS].text);

		assert_non_null(s);
		assert_string_equal(s->labels, "{a=\"other\"}");
		if (i == COUNTED - 2)
			assert_int_equal(series_folded(t), COUNTED - 1);
	}
	assert_int_equal(series_folded(t), COUNTED);
	series_free(t);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_series_is_of_the_others_however_many_there_are),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
