#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Queues of their own for writes and for polling, and commands that end on another CPU than they began.
# takes: 40
set -u
. /lib/machine.sh

disk=$(target_setup_null a size=256)
target_subsystem "$disk"
target_port

# start: trace both sides; process ids in $host and $target.
start() {
	tracer_start /tmp/host trace --host --summary
	host=$tracer_pid
	tracer_start /tmp/target trace --target --summary
	target=$tracer_pid
}

# on SIDE QUEUE OP: how many commands.
on() {
	grep -c " q$2 .* op=$3 " "/tmp/$1"
}

job() {
	fio --name="$1" --filename="$dev" --direct=1 --size=200M --bs=4k "${@:2}" >/tmp/fio 2>&1 || cat /tmp/fio
}

# One queue for writes, then two for reads, then one for polling.
ctrl=$(host_connect -i 2 -W 1 -P 1)
dev=$(host_device "$ctrl")
start
job write --rw=randwrite --ioengine=libaio --iodepth=4 --number_ios=200
job read --rw=randread --ioengine=libaio --iodepth=4 --number_ios=200 --cpus_allowed=0
job read --rw=randread --ioengine=libaio --iodepth=4 --number_ios=200 --cpus_allowed=1
job poll --rw=randread --ioengine=io_uring --hipri --iodepth=4 --number_ios=200
tracer_stop "$host" "$target"
for side in host target; do
	equal "$side: writes are on the write queue" "$(on $side 1 write)" 200
	equal "$side: reads are not" "$(on $side 1 read)" 0
	equal "$side: reads are on the read queues" $(($(on $side 2 read) + $(on $side 3 read))) \
		"$(($(grep -c ' op=read ' /tmp/$side) - $(on $side 4 read)))"
	check "$side: both read queues are used" test "$(on $side 2 read)" -ge 200 -a "$(on $side 3 read)" -ge 200
	equal "$side: polled reads are on the poll queue" "$(on $side 4 read)" 200
	no_losses "$side: nothing is lost" /tmp/$side.err
	equal "$side: every command is split" "$(grep -c unsplit /tmp/$side)" 0
done
host_disconnect "$ctrl"

# One queue for both CPUs: its worker runs on one of them.
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
start
job cpus --rw=randrw --ioengine=libaio --iodepth=4 --number_ios=300 --numjobs=2 --cpus_allowed=0,1 \
	--cpus_allowed_policy=split
tracer_stop "$host" "$target"
for side in host target; do
	check "$side: commands of both CPUs are seen" test "$(grep -c ' q1 ' /tmp/$side)" -ge 600
	no_losses "$side: nothing is lost of them" /tmp/$side.err
	equal "$side: every one of them is split" "$(grep -c unsplit /tmp/$side)" 0
done
equal "both sides see as many" "$(grep -c ' q1 ' /tmp/host)" "$(grep -c ' q1 ' /tmp/target)"
host_disconnect "$ctrl"
target_remove
finish
