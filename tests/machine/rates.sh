#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Rates are of the time in which commands are counted.
# takes: 45
set -u
. /lib/machine.sh

target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# rates FILE: reads a second, from the CSV of a live view: the mean of its intervals, and of the summary
rates() {
	awk -F, '{ sub(/\r$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["op"] == "read" && $at["queue"] != 0 { iops[$at["type"]] += $at["iops"]; blocks[$at["type"], $at["time"]] }
		END {
			for (b in blocks) n += b ~ /^interval/
			printf "%.0f %.0f\n", n ? iops["interval"] / n : 0, iops["summary"]
		}' "$1"
}
# Attaching and detaching stock programs takes seconds, in which nothing is counted. So few a second, that a busy machine
# does not fall behind.
fio --name=rate --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randread --bs=4k --iodepth=4 \
	--rate_iops=50 --time_based --runtime=600 >/tmp/fio 2>&1 &
load=$!
for side in host target; do
	ntprof-bpf --$side -i 1 -n 3 --format csv >/tmp/rate 2>/tmp/rate.err || cat /tmp/rate.err
	read -r intervals summary < <(rates /tmp/rate)
	within "$side: reads a second of the summary are those of fio" "$summary" 40 60
	within "$side: and those of the intervals" "$intervals" $((summary * 8 / 10)) $((summary * 12 / 10))
done
kill -INT "$load"
wait "$load"
host_disconnect
target_remove
finish
