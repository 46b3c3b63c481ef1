/* SPDX-License-Identifier: GPL-2.0-only */
/* Who sits at the screen of the live view: keys that are pressed there change what it shows. */
#ifndef NTPROF_CLI_BROWSER_H
#define NTPROF_CLI_BROWSER_H

#include "view/keys.h"
#include "view/pressed.h"

/**
 * struct browser - the keyboard, and what of it waits
 * @look: what the keys change; its keys are told only as long as they work
 * @epoll_fd: readable when browser_ready() has something to do, or who was added to it
 * @keyboard_fd: -1 if there is none
 * @timer_fd: for the rest of a sequence
 * @reads: @keyboard_fd is waited for
 */
struct browser {
	struct look *look;
	int epoll_fd;
	int keyboard_fd;
	int timer_fd;
	bool reads;
	struct keys keys;
};

/**
 * browser_open() - nothing is read yet; browser_close() is due in any case
 * @screen: there is one, so there may be keys
 *
 * Return: 0 or a negative errno.
 */
int browser_open(struct browser *b, struct look *look, bool screen);

/** browser_add() - wait for another descriptor as well; Return: 0 or a negative errno */
int browser_add(const struct browser *b, int fd);

/**
 * browser_update() - after anything that may have changed who has the terminal
 * @free: nobody else is asking for anything there
 *
 * Return: whether the screen is to be drawn anew: it is ours, and was not.
 */
bool browser_update(struct browser *b, bool free);

/** browser_ready() - take the keys that were pressed; @s: what is on the screen, or NULL */
enum pressed_wish browser_ready(struct browser *b, const struct stats *s);

/** browser_leave() - the terminal is what it was before; for good */
void browser_leave(struct browser *b);

/** browser_close() - and release */
void browser_close(struct browser *b);

#endif /* NTPROF_CLI_BROWSER_H */
