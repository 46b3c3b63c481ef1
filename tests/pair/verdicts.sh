#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2 --add tests/machine/faults.sh:/lib/faults.sh
# takes: 400
# One fault at a time is put into two machines: report --why names it, and blames nothing where there is none (docs/verdict.md).
# A disk takes 200 ms, and faults more than 600, so that other load of this computer is none.
#
# Arguments: the number of runs of each fault (default 1), and the faults (default: all).
# shellcheck disable=SC2034 # for /lib/faults.sh
set -um
. /lib/pair.sh
cd /tmp || exit 1

at_target() { on_target "$@"; }
address=$pair_target
device=eth0
# A queue has room for a burst.
connect=(-i 2 -W 2 --queue-size=512)
quick_disk="size=256 delay=200000000 hw_queue_depth=512"
disk="$quick_disk mbps=1"
slow_disk="size=256 delay=2000000000"
rate=1gbit near=0ms away=900ms distant=600ms resetting=100ms
# With a rate fio would catch up after a stall, which is a burst.
usual=(--iodepth=12)
# What is in flight fits into TCP's windows as they are at first.
writes=(--bssplit=512/90:12k/10 --iodepth=128 --rate_iops=120)
burst=256 pause=5s
every=5 cut=1
reset_every=2
hog_ms=900 hog_every=5000
seconds=20
together=
. /lib/faults.sh

# record_begin, record_end NAME
record_begin() {
	on_target "tracer_start $1.target.log record --target --tcp --force -o $1.target.ntp; echo \$tracer_pid >recorder" &
	tracer_start "$1.host.log" record --host "${mine[@]}" --tcp --force -o "$1.host.ntp"
	wait %?recorder
}
record_end() {
	tracer_stop "$tracer_pid"
	# shellcheck disable=SC2016 # for the other machine's shell
	on_target 'pid=$(<recorder); kill -INT $pid; while [ -e /proc/$pid ]; do sleep 0.05; done'
	on_target "cat $1.target.ntp" >"$1.target.ntp"
}

# TCP waits for what comes late, and does not send it again.
patient() {
	ip route change 192.168.77.0/24 dev eth0 src 192.168.77.2 rto_min "$1"
	echo "$2" >/proc/sys/net/ipv4/tcp_early_retrans
	on_target "ip route change 192.168.77.0/24 dev eth0 src $address rto_min $1
		echo $2 >/proc/sys/net/ipv4/tcp_early_retrans"
}
before_network() {
	patient 5s 0
	connected_anew
}
after_network() {
	patient 200ms 3
	connected_anew
}

runs=${1:-1}
faults=("${@:2}")
all=(healthy network outage disk one_array depth depth_one_cpu r2t neighbour host_worker target_worker one_queue reset
	block_layer few_queues window buffer cwnd)
faults_begin
faults_run "$runs" "${faults[@]:-${all[@]}}"
finish
