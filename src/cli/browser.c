// SPDX-License-Identifier: GPL-2.0-only
#include "cli/browser.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/keyboard.h"
#include "cli/timer.h"

/*
 * The bytes of a key's sequence come together, but a network may separate them. After this time
 * without another byte, Escape is a key of its own.
 */
#define SEQUENCE_NS 50000000ULL
/* Bytes read in one round of the loop; the next round reads the rest. */
#define READ_BYTES 64

int browser_open(struct browser *b, struct view_state *state, bool screen)
{
	*b = (struct browser){.state = state, .keyboard_fd = -1, .timer_fd = -1};
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->epoll_fd < 0)
		return -errno;
	if (screen)
		b->keyboard_fd = keyboard_open();
	if (b->keyboard_fd < 0)
		return 0;
	b->timer_fd = timer_new(0, false);
	return b->timer_fd < 0 ? -errno : browser_add(b, b->timer_fd);
}

int browser_add(const struct browser *b, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void read_keyboard(struct browser *b, bool on)
{
	if (b->reads == on)
		return;
	b->reads = on;
	if (on)
		browser_add(b, b->keyboard_fd);
	else
		epoll_ctl(b->epoll_fd, EPOLL_CTL_DEL, b->keyboard_fd, NULL);
}

bool browser_update(struct browser *b, bool free)
{
	bool had = b->reads && keyboard_taken(), has;

	if (b->keyboard_fd < 0)
		return false;
	if (!free)
		keyboard_leave();
	has = free && keyboard_ours() && keyboard_take();
	read_keyboard(b, has);
	b->state->keys = has;
	return has && !had;
}

/*
 * The keyboard is gone for good. If it stayed in the epoll set, that would report it without end.
 */
static void lose_keyboard(struct browser *b)
{
	read_keyboard(b, false);
	keyboard_close();
	b->keyboard_fd = -1;
	b->state->keys = false;
	b->state->paused = false;
}

/* Return: whether there was anything. */
static bool take_bytes(struct browser *b)
{
	struct pollfd p = {.fd = b->keyboard_fd, .events = POLLIN};
	char bytes[READ_BYTES];
	ssize_t n;

	/* The kernel stops a background process that reads from its terminal. */
	if (!b->reads || !keyboard_taken() || !keyboard_ours() || poll(&p, 1, 0) <= 0)
		return false;
	n = p.revents & POLLIN ? read(b->keyboard_fd, bytes, sizeof(bytes)) : 0;
	if (n > 0)
		keys_put(&b->keys, bytes, (size_t)n);
	else if (p.revents & (POLLHUP | POLLERR | POLLNVAL))
		lose_keyboard(b);
	return n > 0;
}

static enum pressed_wish more(enum pressed_wish a, enum pressed_wish b)
{
	return a > b ? a : b;
}

enum pressed_wish browser_ready(struct browser *b, const struct stats *s)
{
	enum pressed_wish wish = PRESSED_NOTHING;
	bool late;
	int key;

	if (b->keyboard_fd < 0)
		return wish;
	late = timer_fired(b->timer_fd) != 0;
	if (take_bytes(b))
		late = false;
	while ((key = keys_next(&b->keys)))
		wish = more(wish, pressed(b->state, key, s));
	if (keys_partial(&b->keys) && late) {
		key = keys_give_up(&b->keys);
		wish = more(wish, key ? pressed(b->state, key, s) : PRESSED_NOTHING);
	}
	timer_arm(b->timer_fd, keys_partial(&b->keys) ? SEQUENCE_NS : 0, false);
	return wish;
}

void browser_leave(struct browser *b)
{
	if (b->keyboard_fd < 0)
		return;
	read_keyboard(b, false);
	keyboard_close();
	b->keyboard_fd = -1;
	b->state->keys = false;
}

void browser_close(struct browser *b)
{
	browser_leave(b);
	if (b->timer_fd >= 0)
		close(b->timer_fd);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	b->timer_fd = b->epoll_fd = -1;
}
