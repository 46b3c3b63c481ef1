/* SPDX-License-Identifier: GPL-2.0-only */
/* The timers and the signals of a run, as descriptors that become readable. */
#ifndef NTPROF_CORE_TIMER_H
#define NTPROF_CORE_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * timer_new() - make a timer, armed as by timer_arm(). Return: a descriptor, or -1 with errno set
 */
int timer_new(uint64_t ns, bool periodic);

/** timer_arm() - fire @ns from now, and every @ns if @periodic; 0: never. @fd: -1 is fine */
void timer_arm(int fd, uint64_t ns, bool periodic);

/**
 * timer_pace() - fire every @ns from now on; does nothing if @pace is @ns already. @pace: set to
 * @ns
 */
void timer_pace(int fd, uint64_t *pace, uint64_t ns);

/**
 * timer_new_wall() - make a timer of the wall clock, not armed. Return: a descriptor, or -1 with
 * errno set
 */
int timer_new_wall(void);

/**
 * timer_arm_wall() - fire once, at @real_ns of CLOCK_REALTIME, or earlier when that clock is set
 * @fd: from timer_new_wall()
 */
void timer_arm_wall(int fd, int64_t real_ns);

/** timer_fired() - how often it has fired since the last call; 0 if the wall clock was set */
uint64_t timer_fired(int fd);

/**
 * signals_that_end() - the signals that end a run
 *
 * SIGHUP is one of them only with its default action: nohup(1) sets it to be ignored, which a
 * signalfd would not respect, and a verb that has a use for it sets a handler.
 */
void signals_that_end(sigset_t *set);

/**
 * signals_open() - block these signals and SIGWINCH. Return: a signalfd for them, or -1 with errno
 * set
 */
int signals_open(void);

#endif /* NTPROF_CORE_TIMER_H */
