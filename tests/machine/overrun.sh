#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who does not read records in time loses them, told to the command and where they were, but no count and no histogram.
# takes: 30
set -u
. /lib/machine.sh

cd /tmp || exit 1
total=72000 # more than the ring buffer holds

target_subsystem "$(target_setup_null a size=256)"
target_port
dev=$(host_device "$(host_connect -i 2)")
tracer_start out trace --host --summary
kill -STOP "$tracer_pid"
fio --name=r --filename="$dev" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=200M --norandommap \
	--iodepth=32 --numjobs=2 --number_ios=$((total / 2)) --group_reporting >fio 2>&1 || cat fio
kill -CONT "$tracer_pid"
# What comes next tells of them.
sleep 1
dd if="$dev" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
tracer_stop "$tracer_pid"
equal "the run ends well" $? 0
lost=$(loss out.err ring_full)
check "records were lost" test "$lost" -gt 0
equal "every command is in the histograms" "$(commands out.err read)" $((total + 3))
equal "each one is printed or told as lost" $(($(grep -c ' op=read ' out) + lost)) $((total + 3))
equal "between the lines, too" "$(awk '/ lost [0-9]+ event.*: ring_full/ { n += $3 } END { printf "%.0f\n", n }' out)" "$lost"
equal "where they were" "$(awk '/ lost /{ at = NR } / op=read / { last = NR } END { print (last - at >= 1 && last - at <= 3) }' out)" 1
no_losses "nothing else is lost" out.err '^(async_event|ring_full)$'
host_disconnect
target_remove
finish
