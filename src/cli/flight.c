// SPDX-License-Identifier: GPL-2.0-only
#include "cli/flight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/describe.h"
#include "cli/journal.h"
#include "keep/folder.h"
#include "trace/announce.h"

static void tell(void *context, bool failed, const char *line)
{
	journal(failed ? JOURNAL_WARNING : JOURNAL_NOTICE, "%s", line);
}

struct recorder *flight_open(struct flight_options *o, enum nt_side side)
{
	const char *folder = o->recorder.folder;
	struct recorder *r = recorder_new(&o->recorder, side, tell, NULL);

	if (!r)
		fprintf(stderr, "ntprof-bpf: cannot keep files in %s: %s\n", folder,
			folder_error(-errno));
	return r;
}

void flight_begin(struct recorder *r, const struct run_options *o, const struct tracer *t)
{
	struct stream_header h;

	stream_describe(&h, o, tracer_source(t));
	h.missing = tracer_missing(t);
	recorder_begin(r, &h);
}

void flight_record(struct recorder *r, struct announced_names *n, const struct tracer *t,
		   const struct nt_record *rec)
{
	struct device_name d;
	struct queue_info q;

	/* The recorder forgets connections without records, and then asks for them again. */
	if (recorder_record(r, rec)) {
		announce_describe(t, rec, &q);
		recorder_queue(r, &q);
	}
	announced_names_queue(n, t, rec, &q);
	if (announced_names_device(n, rec, &d) > 0)
		recorder_device(r, &d);
}

void flight_change(struct recorder *r, struct flight_options *o)
{
	const char *folder = o->recorder.folder;
	int err = recorder_change(r, &o->recorder);

	if (err)
		journal(JOURNAL_WARNING, "cannot keep files in %s: %s; all is as it was", folder,
			folder_error(err));
}
