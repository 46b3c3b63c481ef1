/* SPDX-License-Identifier: GPL-2.0-only */
/* A screen that is drawn into memory and read back line by line, with four rows of a host. */
#ifndef NTPROF_UNIT_VIEW_DRAWN_H
#define NTPROF_UNIT_VIEW_DRAWN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/controllers.h"
#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "view/view.h"
#include "view/view_state.h"
#include "view/visible_rows.h"

#define US 1000ull
#define MS (1000 * US)
#define LINES_MAX 64

static struct {
	struct stats s;
	struct view_state state;
	struct view_options o;
	char *raw; /* as it was written; text and line have no sequences any more */
	char *text;
	char *line[LINES_MAX];
	size_t nr;
} t;

static void commands(const char *controller, const char *peer, uint16_t qid, enum nt_op op,
		     uint64_t ns, uint64_t times)
{
	struct stats_row *row = stats_row(&t.s, controller, peer, qid, op, false);

	assert_non_null(row);
	for (uint64_t i = 0; i < times; i++) {
		hist_count(&row->interval, ns);
		hist_count(&row->total, ns);
		for (unsigned int k = 0; k < NT_HOST_STAGES_NR; k += k + 1 == NT_HS_DEVICE ? 2 : 1)
			hist_count(&t.s.stage_interval[op][k], ns / (NT_HOST_STAGES_NR - 1));
	}
}

#define ONE "nqn.2024-01.org.example:one"
#define TWO "nqn.2024-01.org.example:two"

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.s = (struct stats){.side = NT_HOST,
			     .kernel = "6.1.0-56-amd64",
			     .driver = "nvme_tcp",
			     .source = "tracepoints",
			     .seconds = 1,
			     .elapsed = 10};
	commands("nvme0", ONE, 1, NT_OP_READ, 100 * US, 300);
	commands("nvme0", ONE, 2, NT_OP_READ, 900 * US, 200);
	commands("nvme0", ONE, 2, NT_OP_WRITE, 2 * MS, 100);
	commands("nvme1", TWO, 1, NT_OP_READ, 50 * US, 400);
	stats_row(&t.s, "nvme1", TWO, 1, NT_OP_READ, false)->waiting =
		(struct waiting){.commands = 1, .oldest_ns = 5 * MS};
	stats_row(&t.s, "nvme0", ONE, 1, NT_OP_READ, false)->waiting =
		(struct waiting){.commands = 9, .oldest_ns = 1 * MS};
	t.state = (struct view_state){.keys = true, .interval_ns = 1000 * MS};
	t.o = (struct view_options){.redraw = true, .columns = 80, .lines = 24, .state = &t.state};
	return 0;
}

static int tear_down(void **state)
{
	free(t.text);
	free(t.raw);
	stats_free(&t.s);
	return 0;
}

/* Bytes after the first of a character of UTF-8 are 10xxxxxx. */
static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Draws the screen and keeps its lines as a terminal without colours shows them. */
static void draw(void)
{
	char *from, *to;
	size_t size;

	free(t.text);
	free(t.raw);
	t.text = NULL;
	t.o.out = open_memstream(&t.text, &size);
	assert_non_null(t.o.out);
	assert_int_equal(view_interval(&t.s, &t.o), 0);
	fclose(t.o.out);
	t.raw = strdup(t.text);
	from = to = t.text;
	for (; *from; from++) {
		if (*from != '\033') {
			*to++ = *from;
			continue;
		}
		while (!strchr("HJKhlm", *from))
			from++;
	}
	*to = '\0';
	t.nr = 0;
	for (char *rest = t.text, *line; (line = strsep(&rest, "\n"));) {
		assert_true(t.nr < LINES_MAX);
		assert_true(characters(line) <= t.o.columns);
		t.line[t.nr++] = line;
	}
	assert_true(t.nr <= t.o.lines);
}

static inline void press(const char *characters)
{
	for (; *characters; characters++)
		assert_int_not_equal(pressed(&t.state, (unsigned char)*characters, &t.s),
				     PRESSED_QUIT);
	draw();
}

static inline void press_key(int key)
{
	pressed(&t.state, key, &t.s);
	draw();
}

/*
 * Return: the first line from @from on that begins with these words, with any blanks between them;
 * or -1
 */
static int find(const char *words, size_t from)
{
	for (size_t i = from; i < t.nr; i++) {
		const char *l = t.line[i], *w = words;

		while (*w && *l) {
			if (*w == ' ' && *l == ' ') {
				w += strspn(w, " ");
				l += strspn(l, " ");
			} else if (*w++ != *l++) {
				w--;
				break;
			}
		}
		if (!*w)
			return (int)i;
	}
	return -1;
}

static void assert_seen(const char *words)
{
	if (find(words, 0) < 0) {
		for (size_t i = 0; i < t.nr; i++)
			print_message("%s\n", t.line[i]);
		fail_msg("no line \"%s\"", words);
	}
}

static inline void assert_order(const char *const *rows, size_t nr)
{
	size_t from = 0;

	for (size_t i = 0; i < nr; i++) {
		int next = find(rows[i], from);

		if (next < 0)
			assert_seen(rows[i]);
		assert_true(next >= 0);
		from = (size_t)next + 1;
	}
}

#define ASSERT_ORDER(...)                                 \
	do {                                              \
		const char *const rows[] = {__VA_ARGS__}; \
		assert_order(rows, ARRAY_SIZE(rows));     \
	} while (0)

static inline const char *last_line(void)
{
	return t.line[t.nr - 1];
}

#endif /* NTPROF_UNIT_VIEW_DRAWN_H */
