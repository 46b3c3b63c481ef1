// SPDX-License-Identifier: GPL-2.0-only
#include "view/flame.h"

#include <errno.h>
#include <flame.inc.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "view/html_write.h"

/* In pixels. */
#define WIDTH 1200.0
#define ROW 18u
#define HEAD 60u
/* A narrower function has no room for its name. */
#define NARROW 24.0

/**
 * struct flame - what is drawn
 * @path: sorted by the functions from the outermost on, so that those that begin alike are side by
 *        side
 * @deepest: functions of the longest one, with its kind
 */
struct flame {
	const struct path **path;
	uint64_t commands;
	unsigned int deepest;
	FILE *f;
};

/* Frame 0 is the kind, the others are functions from the outermost on; NULL behind the last one. */
static const char *frame_of(const struct path *p, unsigned int i)
{
	if (!i)
		return path_kind_name(p->kind);
	return i <= p->nr ? p->names[p->nr - i] ?: "?" : NULL;
}

static int by_frames(const void *a, const void *b)
{
	const struct path *x = *(const struct path *const *)a, *y = *(const struct path *const *)b;

	for (unsigned int i = 0;; i++) {
		const char *n = frame_of(x, i), *m = frame_of(y, i);
		int order;

		if (!n || !m)
			return (n ? 1 : 0) - (m ? 1 : 0);
		order = strcmp(n, m);
		if (order)
			return order;
	}
}

/* @x, @commands: where it is, and how wide; @depth: 0 is the lowest */
static void draw(const struct flame *fl, const char *name, uint64_t x, uint64_t commands,
		 unsigned int depth)
{
	double width = (double)commands * WIDTH / (double)fl->commands;

	fprintf(fl->f,
		"<svg class=\"f c%u%s\" x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%u\" "
		"tabindex=\"0\" role=\"button\" data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64
		"\" data-d=\"%u\" data-n=\"",
		!depth	     ? 0
		: depth == 1 ? 1
			     : 2 + (depth & 1),
		width < NARROW ? " n" : "", (double)x * WIDTH / (double)fl->commands,
		HEAD + (fl->deepest - depth) * ROW, width, ROW - 1, x, commands, depth);
	html_text(fl->f, name);
	fputs("\"><title>", fl->f);
	html_text(fl->f, name);
	fprintf(fl->f, ": %" PRIu64 " command%s, %.1f %%</title>", commands,
		commands == 1 ? "" : "s", 100.0 * (double)commands / (double)fl->commands);
	fputs("<rect width=\"100%\" height=\"100%\"/><text x=\"4\" y=\"13\">", fl->f);
	html_text(fl->f, name);
	fputs("</text></svg>\n", fl->f);
}

/* Draws the paths from @from to before @to, which are alike below @depth. */
static void draw_from(const struct flame *fl, size_t from, size_t to, unsigned int depth,
		      uint64_t x)
{
	for (size_t next; from < to; from = next) {
		const char *name = frame_of(fl->path[from], depth);
		uint64_t commands = 0;

		for (next = from; next < to; next++) {
			const char *other = frame_of(fl->path[next], depth);

			if (!name != !other || (name && strcmp(name, other) != 0))
				break;
			commands += fl->path[next]->figures.commands;
		}
		if (name && commands) {
			draw(fl, name, x, commands, depth + 1);
			draw_from(fl, from, next, depth + 1, x);
		}
		x += commands;
	}
}

int flame_print(const struct paths *paths, const struct paths_run *run, FILE *f)
{
	struct flame fl = {.commands = paths->commands ?: 1, .f = f};
	unsigned int height;

	fl.path = calloc(paths->nr + 1, sizeof(struct path *));
	if (!fl.path)
		return -ENOMEM;
	for (size_t i = 0; i < paths->nr; i++) {
		fl.path[i] = &paths->path[i];
		if (paths->path[i].nr + 1 > fl.deepest)
			fl.deepest = paths->path[i].nr + 1;
	}
	if (paths->nr)
		qsort(fl.path, paths->nr, sizeof(struct path *), by_frames);
	height = HEAD + (fl.deepest + 1) * ROW + 10;
	fprintf(f,
		FLAME_BEGINS
		" viewBox=\"0 0 %.0f %u\" preserveAspectRatio=\"xMidYMin\" lang=\"en\">\n<style>%s</style>\n",
		WIDTH, height, flame_css);
	fprintf(f, "<title>How %" PRIu64 " commands came to the driver</title>\n", paths->commands);
	fprintf(f,
		"<text x=\"4\" y=\"18\">%" PRIu64 " commands on their way to the driver | kernel ",
		paths->commands);
	html_text(f, run->kernel);
	fprintf(f, " | %.1f s", (double)run->elapsed_ns / 1e9);
	if (run->sample > 1)
		fprintf(f, " | a sample of 1 command in %" PRIu32, run->sample);
	fputs("</text>\n<text x=\"4\" y=\"40\">A click, or Enter, zooms; Esc shows all</text>\n"
	      "<text id=\"found\" x=\"600\" y=\"40\"/>\n"
	      "<foreignObject x=\"330\" y=\"24\" width=\"250\" height=\"26\"><input "
	      "xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"search\" "
	      "placeholder=\"search a function\" aria-label=\"search a function\"/></foreignObject>\n",
	      f);
	draw(&fl, "all", 0, fl.commands, 0);
	draw_from(&fl, 0, paths->nr, 0, 0);
	fprintf(f, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_js);
	free(fl.path);
	return 0;
}
