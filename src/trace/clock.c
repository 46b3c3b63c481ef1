// SPDX-License-Identifier: GPL-2.0-only
#include "trace/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/time.h"

/* Enough for a few samples that no interrupt has made longer. */
#define SAMPLES 64
#define NS_PER_S 1000000000

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET (1 << 1)
#endif

static void arm_step(int fd)
{
	/* Far in the future: the timer only ever ends by being cancelled. */
	struct itimerspec far = {.it_value.tv_sec = time(NULL) + 365 * 24 * 3600};

	timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
}

static void measure(int64_t *low, int64_t *high)
{
	*low = INT64_MIN;
	*high = INT64_MAX;
	for (int i = 0; i < SAMPLES; i++) {
		int64_t before = (int64_t)monotonic_ns();
		int64_t real = realtime_ns();
		int64_t after = (int64_t)monotonic_ns();

		if (real - after > *low)
			*low = real - after;
		if (real - before < *high)
			*high = real - before;
	}
}

int64_t rx_clock_update(struct rx_clock *c)
{
	uint64_t ticks;
	int64_t low, high;

	/*
	 * After the clock was set, one read fails with ECANCELED. Armed again, the timer shows the
	 * next time.
	 */
	if (read(c->step_fd, &ticks, sizeof(ticks)) < 0 && errno == ECANCELED) {
		arm_step(c->step_fd);
		c->low = INT64_MIN;
		c->high = INT64_MAX;
	}
	measure(&low, &high);
	if (low > high) /* set while this measured; the timer will show it */
		return c->high == INT64_MAX ? low : c->high;
	if (low > c->high || high < c->low) {
		c->low = low;
		c->high = high;
	} else {
		c->low = low > c->low ? low : c->low;
		c->high = high < c->high ? high : c->high;
	}
	return c->high;
}

int64_t rx_clock_tai(void)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	struct timespec t;

	/*
	 * adjtimex() would return it, but is refused where only setting the clocks should be. It is
	 * whole seconds, so the middle of bounds that are less than a second apart is enough.
	 */
	for (int i = 0; i < SAMPLES && (!i || high - low >= NS_PER_S / 2); i++) {
		int64_t before = realtime_ns(), after, tai;

		if (clock_gettime(CLOCK_TAI, &t))
			return 0;
		after = realtime_ns();
		tai = (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
		if (tai - after > low)
			low = tai - after;
		if (tai - before < high)
			high = tai - before;
	}
	/* The offset was set while this measured: the next call returns the new one. */
	if (low > high)
		return low / NS_PER_S * NS_PER_S;
	return (low + (high - low) / 2 + NS_PER_S / 2) / NS_PER_S * NS_PER_S;
}

/* A socket that has asked once counts until it is closed (sock_disable_timestamp()). */
int rx_clock_stamps(struct rx_clock *c, bool on)
{
	int yes = 1, err = 0;

	if (!on && c->stamp_fd >= 0) {
		close(c->stamp_fd);
		c->stamp_fd = -1;
	}
	if (!on || c->stamp_fd >= 0)
		return 0;
	c->stamp_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (c->stamp_fd < 0)
		return -errno;
	if (setsockopt(c->stamp_fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes))) {
		err = -errno;
		close(c->stamp_fd);
		c->stamp_fd = -1;
	}
	return err;
}

int rx_clock_open(struct rx_clock *c)
{
	int err;

	*c = (struct rx_clock){.stamp_fd = -1, .step_fd = -1, .low = INT64_MIN, .high = INT64_MAX};
	err = rx_clock_stamps(c, true);
	if (err)
		return err;
	c->step_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->step_fd < 0) {
		err = -errno;
		goto out;
	}
	arm_step(c->step_fd);
	rx_clock_update(c);
	return 0;
out:
	rx_clock_close(c);
	return err;
}

void rx_clock_close(struct rx_clock *c)
{
	if (c->stamp_fd >= 0)
		close(c->stamp_fd);
	if (c->step_fd >= 0)
		close(c->step_fd);
	c->stamp_fd = c->step_fd = -1;
}
