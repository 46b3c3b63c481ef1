#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 40
# A kernel that preempts tasks within programs, as Linux 7.3 does: a program is skipped for other tasks of its CPU meanwhile,
# and another one stands in. What neither was run for is told as that, and as nothing else.
set -u
. /lib/machine.sh

cd /tmp || exit 1
first=queue_rq
[[ $VM_KIND != stock ]] || first=stock_queue_rq
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")

# attached PROGRAM: the tracer has it attached now.
attached() {
	# shellcheck disable=SC2154 # set by tracer_start
	tracer_attached "$1" "$tracer_pid"
}

# skipped PROGRAM: how often it was.
skipped() {
	bpftool -j prog show | awk -v name="\"name\":\"$1\"" 'BEGIN { RS = "{" }
		index($0, name) && match($0, /"recursion_misses":[0-9]+/) { n += substr($0, RSTART + 19, RLENGTH - 19) }
		END { print n + 0 }'
}

# load SECONDS: more tasks than processors.
load() {
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw --bs=4k --iodepth=8 --numjobs=4 \
		--time_based --runtime="$1" --group_reporting >fio 2>&1 || cat fio
}

tracer_start host --host
reads=$(block_stat "$path" 1)
writes=$(block_stat "$path" 5)
rounds=0
while (($(skipped $first) == 0 && rounds++ < 20)); do
	load 3
done
n=$(skipped $first)
check "a program is skipped now and then" test "$n" -gt 0
check "its stand-in is there" wait_for -t 30 attached ${first}_nested
load 5
check "and stays" attached ${first}_nested
reads=$(($(block_stat "$path" 1) - reads))
writes=$(($(block_stat "$path" 5) - writes))
echo "# skipped: $n, then $(skipped $first), the stand-in $(skipped ${first}_nested)"
tracer_stop "$tracer_pid"
equal "the tracer exits with 0" $? 0
echo "# $reads reads, $writes writes; $(grep -hE '^loss (no_start|probe_missed) ' host | cut -d' ' -f1-3 | paste -sd,)"
ended=$(($(commands host read) + $(commands host write)))
equal "each command is counted, or its beginning was not seen" $((ended + $(loss host no_start))) $((reads + writes))
check "that is no more often than is told" test "$(loss host no_start)" -le "$(loss host probe_missed)"
equal "none is told as never sent" "$(loss host never_sent)" 0
equal "and none as overwritten" "$(loss host overwritten)" 0
host_disconnect "$ctrl"
target_remove
finish
