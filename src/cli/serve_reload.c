// SPDX-License-Identifier: GPL-2.0-only
#include "cli/serve_reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/reread.h"
#include "cli/journal.h"

static void refuse(bool changed, const char *option)
{
	if (changed)
		journal(JOURNAL_WARNING, "%s is another now, which takes a restart: it stays",
			option);
}

static bool texts_differ(const char *a, const char *b)
{
	return strcmp(a ?: "", b ?: "") != 0;
}

static bool peers_differ(const struct peer_options *a, const struct peer_options *b)
{
	bool differ = a->nr != b->nr || a->as_root != b->as_root;

	for (unsigned int i = 0; i < a->nr && !differ; i++)
		differ = strcmp(a->source[i], b->source[i]) != 0;
	return differ;
}

static void refuse_all(const struct serve_options *was, const struct serve_options *is)
{
	const struct run_options *a = &was->run, *b = &is->run;

	refuse(a->side != b->side, "--host or --target");
	refuse(a->source != b->source, "--source");
	refuse(a->sample != b->sample, "--sample");
	refuse(memcmp(&a->burst, &b->burst, sizeof(a->burst)) != 0, "--burst");
	refuse(a->duration_ns != b->duration_ns, "--duration");
	refuse(a->verbose != b->verbose, "--verbose");
	refuse(memcmp(&a->only.by, &b->only.by, sizeof(a->only.by)) != 0, "a selection");
	refuse(texts_differ(was->listen, is->listen), "--listen");
	refuse(peers_differ(&was->peers, &is->peers), "--peer or --peer-as-root");
	refuse(was->by_queue != is->by_queue, "--by");
	refuse(was->series != is->series, "--series");
	refuse(!was->flight.recorder.keep_ns != !is->flight.recorder.keep_ns,
	       "--keep, which is there or not,");
}

/* Runs in the child process of reread_read(). */
static void read_line(int argc, char **argv, void *context, void *result)
{
	const struct serve_options *was = context;
	struct serve_change *c = result;
	struct serve_options is;

	serve_parse(argc, argv, &is);
	refuse_all(was, &is);
	*c = (struct serve_change){.interval_ns = is.run.interval_ns, .flight = is.flight};
	if (is.flight.recorder.folder)
		snprintf(c->folder, sizeof(c->folder), "%s", is.flight.recorder.folder);
	fflush(stderr);
}

int serve_reload(const struct serve_options *o, struct serve_change *c)
{
	int err = reread_read(read_line, (void *)o, c, sizeof(*c));

	if (err == -ENOENT)
		journal(JOURNAL_WARNING, "SIGHUP: there is no configuration to read");
	else if (err)
		journal(JOURNAL_WARNING,
			"SIGHUP: the configuration is not taken%s%s; all is as it was",
			err == -ECANCELED ? "" : ": ", err == -ECANCELED ? "" : strerror(-err));
	if (err)
		return err;
	c->flight.recorder.folder = c->folder;
	c->flight.first = NULL;
	/*
	 * The recorder cannot be switched off now, which a message says. The child has no options
	 * for it, so all stays as it was.
	 */
	if (!c->flight.recorder.keep_ns && o->flight.recorder.keep_ns)
		return -ECANCELED;
	return 0;
}
