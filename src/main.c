// SPDX-License-Identifier: GPL-2.0-only
#include <locale.h>

#include "cli/options.h"
#include "cli/verbs.h"

int main(int argc, char **argv)
{
	static int (*const verbs[VERBS_NR])(const struct options *) = {
		[VERB_LIVE] = verb_live,     [VERB_TRACE] = verb_trace,
		[VERB_RECORD] = verb_record, [VERB_REPORT] = verb_report,
		[VERB_PROBES] = verb_probes,
	};
	struct options o;

	setlocale(LC_CTYPE, "");
	options_parse(&o, argc, argv);
	return verbs[o.verb](&o);
}
