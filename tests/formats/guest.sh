#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One run of I/O under every view; what they print is left in /out.
set -u
. /lib/machine.sh

cd /out || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

started=()
tracer_start host.log record --host -o host.ntp
started+=("$tracer_pid")
tracer_start target.log record --target -o target.ntp
started+=("$tracer_pid")
tracer_start live.json --host -i 0.5 --histogram --format json --network-limit 100000 --drive-limit 0.001
started+=("$tracer_pid")
tracer_start live.csv --host -i 0.5 --format csv
started+=("$tracer_pid")
tracer_start trace.json trace --host --format json
started+=("$tracer_pid")
tracer_start events.json trace --target --events --format json
started+=("$tracer_pid")
tracer_start trace.csv trace --target --format csv
started+=("$tracer_pid")
tracer_start peer.json --host -i 0.5 --format json --peer 'ntprof-bpf record --target -o -'
started+=("$tracer_pid")
wait_for grep -q '"state":"running"' peer.json
ntprof-bpf stacks --host --format json >stacks.json 2>stacks.err &
started+=($!)
wait_for grep -q counting stacks.err
for io in "randread 4k 300" "randwrite 64k 60" "randwrite 512 40"; do
	read -r rw bs n <<<"$io"
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --size=100M --rw="$rw" --bs="$bs" \
		--iodepth=8 --number_ios="$n" >fio 2>&1 || cat fio
done
ntprof-bpf probes --format json >probes.json
for pid in "${started[@]}"; do
	tracer_stop "$pid" || echo "a tracer ended with $?"
done
host_disconnect "$ctrl"
target_remove
