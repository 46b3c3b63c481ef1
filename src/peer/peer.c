// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE /* pipe2(), F_SETPIPE_SZ */
#include "peer/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/time.h"
#include "stream/reader.h"

/* Room for the last line of what the command says on its standard error. */
#define MESSAGE_MAX 256

struct peer {
	char *source;
	enum nt_side side;
	pid_t pid; /* 0 when it has been waited for */
	int status;
	int fd;
	int message_fd;
	struct stream_reader *reader;
	struct stream_header header;
	struct stream_losses losses;
	bool begun;	/* the header has come */
	bool recording; /* and more than that */
	bool over;
	bool stopped; /* by us, which then was its state: */
	enum peer_state before;
	int result;	     /* of the last stream_read() */
	const char *refused; /* why, where the reader has no objection */
	uint64_t heard_ns;
	uint64_t records;
	char message[MESSAGE_MAX];
	size_t message_len;
	bool message_ended;
};

/* In the child: becomes the command. */
static void become(const char *source, int out, int err)
{
	sigset_t none;
	struct stat st;
	int in = open("/dev/null", O_RDONLY);

	/* Ctrl-C ends the view, and the view then ends its peers, when they have said all. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(err, STDERR_FILENO) < 0)
		_exit(126);
	if (!stat(source, &st) && S_ISFIFO(st.st_mode))
		execlp("cat", "cat", "--", source, (char *)NULL);
	else if (!stat(source, &st) && S_ISREG(st.st_mode))
		execlp("tail", "tail", "-c", "+1", "-f", "--", source, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", source, (char *)NULL);
	dprintf(STDERR_FILENO, "cannot run it: %s\n", strerror(errno));
	_exit(127);
}

static int start(struct peer *p)
{
	int out[2], err[2], saved;

	if (pipe2(out, O_CLOEXEC))
		return -1;
	if (pipe2(err, O_CLOEXEC))
		goto close_out;
	p->pid = fork();
	if (p->pid < 0)
		goto close_err;
	if (!p->pid)
		become(p->source, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	p->fd = out[0];
	p->message_fd = err[0];
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	fcntl(p->message_fd, F_SETFL, O_NONBLOCK);
	/* A burst then does not make the recorder wait; it is the most that an ordinary user may have. */
	fcntl(p->fd, F_SETPIPE_SZ, 1 << 20);
	return 0;

close_err:
	saved = errno;
	p->pid = 0;
	close(err[0]);
	close(err[1]);
	errno = saved;
close_out:
	saved = errno;
	close(out[0]);
	close(out[1]);
	errno = saved;
	return -1;
}

struct peer *peer_new(const char *source, enum nt_side side)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->side = side;
	p->fd = p->message_fd = -1;
	p->result = -EAGAIN;
	p->source = strdup(source);
	if (!p->source || start(p))
		goto fail;
	p->reader = stream_reader_new(p->fd);
	if (!p->reader)
		goto fail;
	p->heard_ns = monotonic_ns();
	return p;

fail:
	peer_free(p);
	return NULL;
}

void peer_fds(const struct peer *p, int fd[2])
{
	fd[0] = p->over ? -1 : p->fd;
	fd[1] = p->message_fd;
}

/* Keeps the last line that is not empty. A progress line that is redrawn begins with a return. */
static void take_message(struct peer *p, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n' || text[i] == '\r') {
			p->message_ended = true;
			continue;
		}
		if (p->message_ended)
			p->message_len = 0;
		p->message_ended = false;
		if (p->message_len < sizeof(p->message) - 1)
			p->message[p->message_len++] = text[i];
		p->message[p->message_len] = '\0';
	}
}

static void read_messages(struct peer *p)
{
	char text[512];

	for (int i = 0; p->message_fd >= 0 && i < 64; i++) {
		ssize_t n = read(p->message_fd, text, sizeof(text));

		if (n > 0) {
			take_message(p, text, (size_t)n);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(p->message_fd);
			p->message_fd = -1;
		} else {
			return;
		}
	}
}

/* It has nothing more to say, or nothing that we want to hear: closing tells it so. */
static void end_reading(struct peer *p)
{
	p->over = true;
	close(p->fd);
	p->fd = -1;
}

static void take(struct peer *p, const struct stream_event *e)
{
	switch (e->type) {
	case STREAM_HEADER:
		p->header = e->header;
		p->begun = true;
		if (p->header.side != p->side)
			p->refused = p->side == NT_TARGET ? "it records a host; a target is needed"
							  : "it records a target; a host is needed";
		return;
	case STREAM_RECORD:
		p->records++;
		break;
	case STREAM_LOSSES:
		p->losses = e->losses;
		break;
	case STREAM_END:
		p->losses = e->end.losses;
		break;
	case STREAM_CLOCK:
	case STREAM_QUEUE:
		break;
	}
	p->recording = true;
}

/* Takes note of the command's end, if it has ended. */
static bool reap(struct peer *p)
{
	if (p->pid && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
		p->pid = 0;
	return !p->pid;
}

int peer_read(struct peer *p, int (*event)(void *context, const struct stream_event *e),
	      void *context, uint64_t until_ns)
{
	struct stream_event e;
	int err;

	read_messages(p);
	reap(p);
	for (unsigned int n = 1; !p->over; n++) {
		p->result = stream_read(p->reader, &e);
		if (p->result == -EAGAIN)
			return 0;
		p->heard_ns = monotonic_ns();
		if (p->result <= 0) {
			end_reading(p);
			return 0;
		}
		take(p, &e);
		if (p->refused) {
			end_reading(p);
			return 0;
		}
		err = event(context, &e);
		if (err)
			return err;
		if (n % 1024 == 0 && monotonic_ns() >= until_ns)
			return 1;
	}
	return 0;
}

enum peer_state peer_state(const struct peer *p)
{
	if (p->refused)
		return PEER_REFUSED;
	if (p->over && p->result == 0)
		return PEER_ENDED;
	if (p->over && p->result != -ENODATA)
		return PEER_REFUSED;
	if (p->stopped)
		return p->before;
	if (p->over)
		return PEER_DIED;
	if (!p->begun)
		return PEER_STARTING;
	if (!p->recording)
		return PEER_WAITING;
	return monotonic_ns() > p->heard_ns + PEER_STALL_NS ? PEER_STALLED : PEER_RUNNING;
}

void peer_about(const struct peer *p, struct peer_about *a)
{
	*a = (struct peer_about){
		.source = p->source,
		.state = peer_state(p),
		.silent_ns = monotonic_ns() - p->heard_ns,
		.why = "",
		.message = p->message,
		.header = p->begun ? &p->header : NULL,
		.records = p->records,
		.losses = &p->losses,
		.skipped = stream_skipped(p->reader),
		.longer = stream_longer(p->reader),
	};
	if (a->state == PEER_REFUSED)
		a->why = p->refused ?: stream_error(p->reader);
	if (a->state != PEER_DIED)
		return;
	a->why = stream_error(p->reader);
	if (!p->pid && WIFEXITED(p->status))
		a->exit_status = WEXITSTATUS(p->status);
	if (!p->pid && WIFSIGNALED(p->status))
		a->signal = WTERMSIG(p->status);
}

void peer_stop(struct peer *p)
{
	if (!reap(p) && !p->stopped) {
		p->before = peer_state(p);
		p->stopped = true;
		kill(p->pid, SIGTERM);
		/* One that is stopped does not hear of it before it goes on. */
		kill(p->pid, SIGCONT);
	}
}

bool peer_over(const struct peer *p)
{
	return p->over;
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	if (p->message_fd >= 0)
		close(p->message_fd);
	if (!reap(p)) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, &p->status, 0);
	}
	stream_reader_free(p->reader);
	free(p->source);
	free(p);
}
