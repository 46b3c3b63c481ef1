// SPDX-License-Identifier: GPL-2.0-only
#include "cli/peering.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int peering_user(const struct peer_options *o, struct peer_user *user)
{
	*user = (struct peer_user){.other = false};
	if (!o->as_root && peer_user_find(user)) {
		fprintf(stderr, "ntprof-bpf: SUDO_UID and SUDO_GID do not say who called sudo; "
				"--peer-as-root runs the peers as root\n");
		return -1;
	}
	return 0;
}

int peering_start(struct peering *p, const struct peer_options *o, const struct peer_user *user,
		  bool lasting)
{
	p->merge = lasting ? live_merge_new_lasting((char *const *)o->source, o->nr, user)
			   : live_merge_new((char *const *)o->source, o->nr, user);
	if (p->merge)
		return 0;
	fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n", strerror(errno));
	errno = ECANCELED;
	return -1;
}

int peering_record(struct peering *p, const struct tracer *t, const struct nt_record *r)
{
	struct queue_info q;
	int ret = 0;

	if (!p->merge)
		return 0;
	if (!p->lacks_told) {
		live_merge_lacks(p->merge, tracer_missing(t));
		p->lacks_told = true;
	}
	if (!announced_already(&p->announced, r))
		ret = announce(&p->announced, t, r, &q);
	if (ret > 0)
		ret = live_merge_queue(p->merge, &q);
	return ret ?: live_merge_record(p->merge, r);
}

int peering_finish(struct peering *p)
{
	sigset_t set;
	int fd, err;

	if (!p->merge)
		return 0;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	err = live_merge_finish(p->merge, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

void peering_close(struct peering *p)
{
	live_merge_free(p->merge);
	p->merge = NULL;
	announced_free(&p->announced);
}
