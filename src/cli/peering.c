// SPDX-License-Identifier: GPL-2.0-only
#include "cli/peering.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/notify.h"
#include "core/names.h"
#include "core/text.h"
#include "core/time.h"
#include "peer/prompts.h"
#include "view/peers.h"

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

/* Return: a descriptor that is readable when a signal that ends the run has come, or -1. */
static int hurry_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

struct prompter {
	const struct live_merge *merge;
	uint64_t told;
};

static void heard(void *context, unsigned int i, bool all)
{
	struct prompter *p = context;

	if (isatty(STDERR_FILENO))
		peers_print_messages(p->merge, i, all, &p->told, stderr);
}

/* Return: 0 or a negative errno. */
static int answer(struct live_merge *l, int terminal)
{
	int hurry_fd = hurry_open(), err = 0;

	for (unsigned int i = 0; !err && live_merge_peer(l, i); i++) {
		struct prompter p = {.merge = l};

		if (peer_settled(live_merge_peer(l, i)))
			continue;
		if (isatty(STDERR_FILENO))
			peers_print_waiting(l, i, stderr);
		err = prompts_answer(l, i, terminal, hurry_fd, monotonic_ns() + PROMPT_NS, heard,
				     &p);
	}
	if (hurry_fd >= 0)
		close(hurry_fd);
	return err;
}

int peering_start(struct peering *p, const struct peer_options *o, enum nt_side side,
		  struct peer_user *user, bool lasting)
{
	int terminal = lasting ? -1 : prompts_terminal(), err = 0;

	user->terminal = terminal >= 0;
	for (unsigned int i = 0; i < o->nr; i++)
		if (o->machine[i])
			message("--peer %s runs: %s", o->machine[i], o->source[i]);
	p->merge = lasting ? live_merge_new_lasting(side, (char *const *)o->source, o->nr, user)
			   : live_merge_new(side, (char *const *)o->source, o->nr, user);
	if (!p->merge)
		err = -errno;
	if (terminal >= 0) {
		err = err ?: answer(p->merge, terminal);
		close(terminal);
	}
	if (!err)
		return 0;
	fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n", strerror(-err));
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
	int fd, err;

	if (!p->merge)
		return 0;
	fd = hurry_open();
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

/* Room for a peer's name or a line from it; longer ones are cut. */
#define TEXT_SIZE 512
/* The stream ends before the command does. This is how long a message waits for the exit status. */
#define STATUS_NS 2000000000ULL

/* Details to follow the state's name in a message; "" if there are none. */
static void how(const struct peer_about *a, char *text, size_t size)
{
	char name[TEXT_SIZE];

	text[0] = '\0';
	if (a->state == PEER_DIED && a->signal)
		snprintf(text, size, ", killed by signal %d", a->signal);
	else if (a->state == PEER_DIED)
		snprintf(text, size, ", exit status %d", a->exit_status);
	else if (a->header)
		snprintf(text, size, ", %s %s", side_name(a->header->side),
			 text_copy(name, sizeof(name), a->header->hostname, TEXT_HEX));
}

/* The last line that the peer wrote to standard error, which mostly has the reason. */
static const char *last_words(const struct peer_about *a, char *text, size_t size)
{
	const struct messages *m = a->messages;
	const char *line = m->nr > a->first_message ? messages_line(m, m->nr - 1) : NULL;

	return text_copy(text, size, line ?: "", TEXT_HEX);
}

static void tell(unsigned int number, const struct peer_about *a)
{
	static const char *const names[PEER_STATES_NR] = {
#define NAME(id, name) [PEER_##id] = name,
		PEER_STATES(NAME)
#undef NAME
	};
	const bool well = a->state != PEER_STALLED && a->state != PEER_DIED &&
			  a->state != PEER_REFUSED && a->state != PEER_ENDED;
	char detail[TEXT_SIZE + 32], why[TEXT_SIZE], said[TEXT_SIZE] = "";

	how(a, detail, sizeof(detail));
	text_copy(why, sizeof(why), a->why, TEXT_HEX);
	if (!well)
		last_words(a, said, sizeof(said));
	journal(well ? JOURNAL_NOTICE : JOURNAL_WARNING, "peer %u: %s%s%s%s%s%s", number,
		names[a->state], detail, why[0] ? ": " : "", why, said[0] ? "; it says: " : "",
		said);
}

/*
 * A restart is reported once until the peer's stream begins, so that a peer that fails for days
 * does not fill the journal.
 */
static void tell_again(struct peer_news *n, unsigned int i, const struct peer_about *a)
{
	if (n->restarts[i] == a->restarts)
		return;
	n->restarts[i] = a->restarts;
	if (!n->again[i])
		journal(JOURNAL_NOTICE,
			"peer %u: started again; the next line comes when a start succeeds", i + 1);
	n->again[i] = true;
}

void peer_news_tell(struct peer_news *n, const struct live_merge *l)
{
	const struct peer *p;
	struct peer_about a;

	for (unsigned int i = 0; (p = live_merge_peer(l, i)); i++) {
		peer_about(p, &a);
		tell_again(n, i, &a);
		if (n->state[i] == a.state + 1 || (n->again[i] && a.state == PEER_STARTING))
			continue;
		if (a.state == PEER_DIED && !peer_gone(p) && a.silent_ns < STATUS_NS)
			continue;
		n->state[i] = a.state + 1;
		n->again[i] = n->again[i] && a.state != PEER_RUNNING && a.state != PEER_WAITING;
		tell(i + 1, &a);
	}
}
