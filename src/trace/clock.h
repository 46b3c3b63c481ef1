/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet arrival times: makes the kernel stamp received packets while tracing, and keeps the
 * difference between the clock of those stamps and the clock that the BPF programs use.
 */
#ifndef NTPROF_TRACE_CLOCK_H
#define NTPROF_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct rx_clock - state
 * @stamp_fd: UDP socket that asks for receive timestamps. While any socket on the machine does, the
 *            kernel fills skb->tstamp of every packet (net/core/dev.c, net_enable_timestamp())
 * @step_fd: timerfd that becomes readable when CLOCK_REALTIME is set (timerfd_create(2),
 *           TFD_TIMER_CANCEL_ON_SET)
 * @low, @high: bounds of CLOCK_REALTIME - CLOCK_MONOTONIC, nanoseconds. Slewing changes both clocks
 *              alike, so the difference is constant until the clock is set
 */
struct rx_clock {
	int stamp_fd;
	int step_fd;
	int64_t low;
	int64_t high;
};

/**
 * rx_clock_open() - ask for packet timestamps and measure the clocks' difference
 * @c: filled
 *
 * Return: 0 or a negative errno.
 */
int rx_clock_open(struct rx_clock *c);

/**
 * rx_clock_update() - measure again
 * @c: the bounds become narrower, or new ones if the clock was set since; re-arms @step_fd
 *
 * Return: the difference to use, nanoseconds. It is the upper bound, so that the arrival of a
 * packet is never later than the moment at which it was read.
 */
int64_t rx_clock_update(struct rx_clock *c);

/**
 * rx_clock_stamps() - ask for packet timestamps, as rx_clock_open() did, or stop asking
 *
 * Return: 0 or a negative errno.
 */
int rx_clock_stamps(struct rx_clock *c, bool on);

/** rx_clock_tai() - CLOCK_TAI - CLOCK_REALTIME, nanoseconds; set rarely, and not with the clocks */
int64_t rx_clock_tai(void);

/** rx_clock_close() - stop asking for timestamps */
void rx_clock_close(struct rx_clock *c);

#endif /* NTPROF_TRACE_CLOCK_H */
