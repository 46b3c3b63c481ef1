#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2 --add tests/machine/faults.sh:/lib/faults.sh
# takes: 600
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
# As fio has it the rate is that of the smallest ones: 100 a second.
writes=(--bssplit=512/90:12k/10 --iodepth=128 --rate_iops=330)
burst=256 pause=5s
# A quarter of all commands would be as many as slow ones of a disk whose times are spread.
depth_pause=20s
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

# route METRIC...: connections that are made from now on have these, on both machines.
route() {
	ip route change 192.168.77.0/24 dev eth0 src 192.168.77.2 "$@"
	on_target "ip route change 192.168.77.0/24 dev eth0 src $address $*"
}
# patient: TCP waits for what comes late, and does not send it again. usual_tcp: it is as it was.
patient() {
	route rto_min 5s
	echo 0 >/proc/sys/net/ipv4/tcp_early_retrans
	on_target "echo 0 >/proc/sys/net/ipv4/tcp_early_retrans"
}
usual_tcp() {
	route rto_min 200ms
	echo 3 >/proc/sys/net/ipv4/tcp_early_retrans
	on_target "echo 3 >/proc/sys/net/ipv4/tcp_early_retrans"
}
before_network() {
	patient
	connected_anew
}
after_network() {
	usual_tcp
	connected_anew
}
# What is lost is sent again when no answer has come for long, as it is where disks are quick and 200 ms are long.
before_loss() {
	route rto_min 900ms
	echo 0 >/proc/sys/net/ipv4/tcp_early_retrans
	echo 0 >/proc/sys/net/ipv4/tcp_recovery
	echo 100 >/proc/sys/net/ipv4/tcp_reordering
	connected_anew
}
after_loss() {
	echo 1 >/proc/sys/net/ipv4/tcp_recovery
	echo 3 >/proc/sys/net/ipv4/tcp_reordering
	usual_tcp
	connected_anew
}
# The first windows of TCP have room for what is in flight, and the disk carries more than that.
before_r2t() {
	route initcwnd 200 initrwnd 200
	written=$(host_device "$(host_connect "$small_nqn" -a "$address" "${connect[@]}")")
}
after_r2t() {
	host_disconnect "$small_nqn"
	usual_tcp
}

runs=${1:-1}
faults=("${@:2}")
all=(healthy network loss outage disk one_array depth depth_one_cpu r2t neighbour host_worker target_worker one_queue reset
	block_layer few_queues window buffer cwnd)
faults_begin
faults_run "$runs" "${faults[@]:-${all[@]}}"
finish
