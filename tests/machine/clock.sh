#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# The wall clock, by which packets are stamped, is set again and again while commands pass: no second of that is in a
# stage or a latency, neither while recorders hear of it nor while they are stopped.
set -u
. /lib/machine.sh

step_s=5
# So many reads pass between two steps, at most so many at once.
reads=150
depth=8

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
path=$(host_path "$ctrl")
for side in host target; do
	tracer_start $side.log record --$side -o $side.ntp
	declare "$side=$tracer_pid"
done
# More than packets wait when nobody keeps the reader busy, and not more than recorders that are stopped can hold.
fio --name=r --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=128M --numjobs=2 \
	--iodepth=$((depth / 2)) --rate_iops=400 --time_based --runtime=10000 --group_reporting --output-format=json >fio 2>&1 &
load=$!

passed() { # N: so many reads have passed
	(($(block_stat "$path" 1) >= $1))
}

# Sets the clock by so many seconds, and waits until more reads have passed. A second that has begun is lost.
steps=0
set_clock() {
	date -s "@$(($(date +%s) + $1))" >/dev/null
	steps=$((steps + 1))
	wait_for passed $(($(block_stat "$path" 1) + reads))
}

wait_for passed $reads
# shellcheck disable=SC2154 # set by declare above
for told in 1 0; do
	# Who is stopped hears of nothing: what BPF programs see by themselves is all that there is.
	((told)) || kill -STOP "$host" "$target"
	for by in $step_s -$step_s $step_s $step_s -$step_s -$step_s; do
		set_clock "$by"
	done
	((told)) || kill -CONT "$host" "$target"
done
kill -INT $load
wait $load
tracer_stop "$host" "$target"
equal "recorders exit with 0" $? 0
for side in host target; do
	tail -n 1 $side.log.err | sed "s/^/# /"
done

# Of all that fio has seen, submission to completion.
longest=$(awk '/"lat_ns"/ { lat = 1 } lat && /"max"/ { gsub(/[^0-9]/, ""); if ($0 + 0 > max) max = $0 + 0; lat = 0 }
	END { printf "%.0f\n", max }' fio)
check "fio has seen commands ($longest ns at most)" test "$longest" -gt 0
[[ $longest -gt 0 ]] || cat fio

# reads_of: "N LONGEST BROKEN UNSPLIT", of the reads of a list of commands: how many, the longest latency, how many have a
# stage that is below zero or longer than the latency, and how many have no stages. The last part of a line is the stages.
reads_of() {
	awk -F'|' '/ op=read / && / nsid=1 / {
			n++
			match($0, / latency=[0-9]+/)
			latency = substr($0, RSTART + 9, RLENGTH - 9) + 0
			if (latency > max) max = latency
			unsplit += $NF ~ /unsplit/
			bad = 0
			nr = split($NF, stages, " ")
			for (i = 1; i <= nr; i++) {
				v = substr(stages[i], index(stages[i], "=") + 1) + 0
				if (v < 0 || v > latency) bad = 1
			}
			broken += bad
		}
		END { printf "%.0f %.0f %.0f %.0f\n", n, max, broken, unsplit }'
}

for of in "host.ntp target.ntp" host.ntp target.ntp; do
	# shellcheck disable=SC2086
	ntprof-bpf report --commands $of >commands
	read -r n max broken unsplit < <(reads_of <commands)
	check "$of: reads are told ($n)" test "$n" -ge $((steps * reads))
	within "no second that fio has not seen" "$max" 1 "$longest"
	equal "no stage is below zero, or longer than its command" "$broken" 0
	# Those that were under way when the clock was set may have come before that or after it.
	within "all but a few of each step have their stages" "$unsplit" 0 $((steps * depth))
done
host_disconnect "$ctrl"
target_remove
finish
