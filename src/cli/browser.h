/* SPDX-License-Identifier: GPL-2.0-only */
/* The keyboard of the live view: the keys that the user presses change what the screen shows. */
#ifndef NTPROF_CLI_BROWSER_H
#define NTPROF_CLI_BROWSER_H

#include "view/view_state.h"
#include "view/visible_rows.h"

/**
 * struct browser - the keyboard, and the keys that have not been handled
 * @state: what the keys change; &state.keys is set only while the keyboard can be read
 * @epoll_fd: readable when browser_ready() or the owner of a descriptor of browser_add() has
 *            something to do
 * @keyboard_fd: -1 if there is no keyboard
 * @timer_fd: fires when the rest of a key's sequence has not come in time
 * @reads: @keyboard_fd is in the epoll set
 */
struct browser {
	struct view_state *state;
	int epoll_fd;
	int keyboard_fd;
	int timer_fd;
	bool reads;
	struct keys keys;
};

/**
 * browser_open() - find the keyboard; nothing is read from it yet
 * @screen: the view has a screen, so there may be keys
 *
 * The caller calls browser_close() in any case.
 *
 * Return: 0 or a negative errno.
 */
int browser_open(struct browser *b, struct view_state *state, bool screen);

/** browser_add() - wait for another descriptor as well; Return: 0 or a negative errno */
int browser_add(const struct browser *b, int fd);

/**
 * browser_update() - take the keyboard, or give it up; call it after anything that may have changed
 * the terminal's foreground process
 *
 * Return: whether the screen has to be drawn again, because this process has just got the terminal.
 */
bool browser_update(struct browser *b);

/** browser_ready() - handle the keys that were pressed; @s: shown on the screen, or NULL */
enum pressed_wish browser_ready(struct browser *b, const struct stats *s);

/**
 * browser_screen() - remember whether the terminal shows its other screen (SCREEN_ENTER)
 *
 * While it does, this program leaves that screen when it is stopped or dies.
 */
void browser_screen(bool shown);

/** browser_leave() - restore the terminal for good */
void browser_leave(struct browser *b);

/** browser_close() - browser_leave(), and release */
void browser_close(struct browser *b);

#endif /* NTPROF_CLI_BROWSER_H */
