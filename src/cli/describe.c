// SPDX-License-Identifier: GPL-2.0-only
#include "cli/describe.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/names.h"

void stream_describe(struct stream_header *h, const struct run_options *o, enum nt_source source)
{
	struct utsname u;
	FILE *f;

	*h = (struct stream_header){.side = o->side, .sample = o->sample};
	snprintf(h->source, sizeof(h->source), "%s", source_name(source));
	snprintf(h->selection, sizeof(h->selection), "%s", o->only.said);
	snprintf(h->program, sizeof(h->program), "ntprof-bpf " NTPROF_VERSION);
	if (!uname(&u)) {
		snprintf(h->hostname, sizeof(h->hostname), "%s", u.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%s", u.release);
	}
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		if (fgets(h->boot_id, sizeof(h->boot_id), f))
			h->boot_id[strcspn(h->boot_id, "\n")] = '\0';
		fclose(f);
	}
}

void stats_describe(struct stats *s, const struct run_options *o)
{
	struct utsname u;

	s->side = o->side;
	s->driver = "";
	s->source = source_name(o->source);
	s->sample = o->sample;
	s->selected = nt_selects_by(&o->only.by);
	s->burst = o->burst;
	s->by_other = o->by_other;
	if (!uname(&u))
		snprintf(s->kernel, sizeof(s->kernel), "%s", u.release);
}
