#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount --add tests/machine/faults.sh:/lib/faults.sh
# takes: 100
# One fault at a time is put into a machine that is host and target: report --why names it, and blames nothing where there is
# none (docs/verdict.md). One processor does it all, on which an instruction takes a nanosecond, so that no other load of this
# computer is a fault. A disk takes 3 ms, which is much beside what the machine itself does meanwhile.
#
# Arguments: the number of runs of each fault (default 1), and the faults (default: five with stock drivers, else all).
# shellcheck disable=SC2034 # for /lib/faults.sh
set -um
. /lib/machine.sh
cd /tmp || exit 1

at_target() { eval "$*"; }
address=127.0.0.1
device=lo
connect=(-i 1)
quick_disk="size=256 delay=3000000"
disk="$quick_disk mbps=4"
slow_disk="size=256 delay=60000000"
rate=1gbit near=50us away=30ms distant=5ms resetting=50us
usual=(--iodepth=4 --rate_iops=140 --rate_process=poisson)
writes=(--bssplit=4k/90:16k/10 --iodepth=64 --rate_iops=200)
burst=64 pause=600ms
every=0.7 cut=0.3
reset_every=0.7
hog_ms=50 hog_every=700
seconds=12
together=all
. /lib/faults.sh

# record_begin, record_end NAME
record_begin() {
	tracer_start "$1.host.log" record --host "${mine[@]}" --tcp --force -o "$1.host.ntp"
	pids=("$tracer_pid")
	tracer_start "$1.target.log" record --target --tcp --force -o "$1.target.ntp"
	pids+=("$tracer_pid")
}
record_end() { tracer_stop "${pids[@]}"; }

runs=${1:-1}
faults=("${@:2}")
all=(healthy network loss one_array r2t)
[[ $VM_KIND == stock ]] || all+=(disk depth neighbour)
# These five are named right in less time than all others.
[[ $VM_KIND != stock || -n ${faults[*]} ]] || seconds=8
faults_begin
faults_run "$runs" "${faults[@]:-${all[@]}}"
host_disconnect
target_remove
finish
