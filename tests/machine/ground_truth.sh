#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 100
# A delay that we put into the target's device is told as target_subsystem, and nowhere else.
set -u
. /lib/machine.sh

# stage FILE OP NAME: p50 of a stage from the summary, nanoseconds.
stage() {
	awk -v op="$2" -v name="$3" '$1 == "stage" && $2 == op && $3 == name { print $5 }' "$1"
}

# measure NAME FILE null_blk-options...
measure() {
	local name=$1 file=$2 disk ctrl dev

	shift 2
	disk=$(target_setup_null "$name" size=256 "$@")
	target_subsystem "$disk"
	target_port
	ctrl=$(host_connect -i 1)
	dev=$(host_device "$ctrl")
	tracer_start "$file.host" --host
	local host=$tracer_pid
	tracer_start "$file" --target
	# One command at a time, so that none waits for another; thinktime lets the machine come to rest.
	fio --name=read --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randread \
		--bs=4k --iodepth=1 --number_ios=1500 >/tmp/fio 2>&1 || cat /tmp/fio
	tracer_stop "$host" "$tracer_pid"
	host_disconnect "$ctrl"
	target_remove
}

measure none /tmp/none irqmode=2 completion_nsec=10000
measure slow /tmp/slow irqmode=2 completion_nsec=2000000

within "p50 of target_subsystem is the injected 2 ms" "$(stage /tmp/slow read target_subsystem)" 2000000 2400000
for s in nstack_submission nvmet_tcp_submission nvmet_tcp_completion send_response; do
	a=$(stage /tmp/none read $s)
	b=$(stage /tmp/slow read $s)
	echo "# $s: p50 $a ns without, $b ns with the delay"
	check "$s moves by no more than 20 %" awk -v a="$a" -v b="$b" \
		'BEGIN { exit !(a != "" && b <= a * 1.2 && b >= a * 0.8) }'
done
grep -E '^stage read' /tmp/none /tmp/slow /tmp/slow.host | sed 's/^/# /'
finish
