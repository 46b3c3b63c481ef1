// SPDX-License-Identifier: GPL-2.0-only
#include "view/errors.h"

#include "view/columns_errors.h"
#include "view/lines.h"
#include "view/wrap.h"

void errors_print_interval(const struct errors *e, FILE *f, unsigned int width)
{
	static const struct phrase item[] = {
		PHRASE(NULL, ERROR_CONTROLLER, .after = " "),
		PHRASE("q", ERROR_QUEUE, .after = " "),
		PHRASE(NULL, ERROR_OP, .after = " "),
		PHRASE(NULL, ERROR_NAME),
		PHRASE("=", ERROR_TOTAL),
		PHRASE("(+", ERROR_ADDED, .after = ")"),
	};
	struct wrap w = {.f = f, .width = width};

	if (!e->nr)
		return;
	wrap_text(&w, "errors, in no histogram:");
	for (size_t i = 0; i < e->nr; i++)
		if (e->row[i].total)
			WRAP_LINE(&w, &error_columns, item, &e->row[i]);
	fputs("\n", f);
}

void errors_print_run(const struct errors *e, const char *word, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(" ", ERROR_OP),	   PHRASE(" ", ERROR_NAME),
		PHRASE(" ", ERROR_TOTAL),  PHRASE(" status=", ERROR_STATUS),
		PHRASE(" q", ERROR_QUEUE), PHRASE(" ", ERROR_CONTROLLER),
		PHRASE(" ", ERROR_PEER),
	};

	for (size_t i = 0; i < e->nr; i++) {
		if (!e->row[i].total)
			continue;
		fputs(word, f);
		LINE_PRINT(f, &error_columns, line, &e->row[i]);
		fputs(i ? "\n" : "  # errors are in no histogram\n", f);
	}
}
