// SPDX-License-Identifier: GPL-2.0-only
#include "core/timer.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET (1 << 1)
#endif

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
				 .tv_nsec = (long)(ns % NS_PER_S)};
}

void timer_arm(int fd, uint64_t ns, bool periodic)
{
	struct itimerspec it = {.it_value = timespec_of(ns)};

	if (periodic)
		it.it_interval = it.it_value;
	timerfd_settime(fd, 0, &it, NULL);
}

int timer_new(uint64_t ns, bool periodic)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd >= 0)
		timer_arm(fd, ns, periodic);
	return fd;
}

void timer_pace(int fd, uint64_t *pace, uint64_t ns)
{
	if (*pace == ns)
		return;
	*pace = ns;
	timer_arm(fd, ns, true);
}

int timer_new_wall(void)
{
	return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
}

void timer_arm_wall(int fd, int64_t real_ns)
{
	struct itimerspec it = {.it_value = timespec_of((uint64_t)real_ns)};

	timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &it, NULL);
}

uint64_t timer_fired(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

void signals_that_end(sigset_t *set)
{
	struct sigaction hup = {.sa_handler = SIG_DFL};

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaction(SIGHUP, NULL, &hup);
	if (hup.sa_handler == SIG_DFL)
		sigaddset(set, SIGHUP);
}

int signals_open(void)
{
	sigset_t set;

	signals_that_end(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}
