/* SPDX-License-Identifier: GPL-2.0-only */
/* The timers of a run: descriptors that are readable when their time has come. */
#ifndef NTPROF_CLI_TIMER_H
#define NTPROF_CLI_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/** timer_new() - one that fires @ns from now, as timer_arm(). Return: its fd, or -1 with errno set */
int timer_new(uint64_t ns, bool periodic);

/** timer_arm() - fire @ns from now, and then again and again if @periodic; 0 is never. @fd: -1 is fine */
void timer_arm(int fd, uint64_t ns, bool periodic);

/** timer_pace() - fire every @ns from now on, unless that is what @pace says, which is set to it */
void timer_pace(int fd, uint64_t *pace, uint64_t ns);

/** timer_new_wall() - one of the wall clock, not armed yet. Return: its fd, or -1 with errno set */
int timer_new_wall(void);

/**
 * timer_arm_wall() - fire once, at @real_ns of CLOCK_REALTIME, or when that clock is set before
 * @fd: of timer_new_wall()
 */
void timer_arm_wall(int fd, int64_t real_ns);

/** timer_fired() - how often it has since the last call; 0 where the wall clock was set */
uint64_t timer_fired(int fd);

#endif /* NTPROF_CLI_TIMER_H */
