#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 70
# With bursts of all points on top of the ends every command is counted once, on each kind of connection, however often
# programs come and go under load; those of the bursts have all stages.
set -u
. /lib/machine.sh

cd /tmp || exit 1
# Linux waits for all tasks when a program is detached from a function, and not when it is from a tracepoint.
schedule=100ms/300ms least=5
[[ $VM_KIND == patched ]] || schedule=1s/5s least=2

connect_ways 2
declare -A pid
for side in host target; do
	tracer_start $side -v --$side --stages $schedule
	pid[$side]=$tracer_pid
done

declare -A fio=([read]=0 [write]=0)
for ctrl in "${way_ctrls[@]}"; do
	dev=$(host_device "$ctrl")
	fio --name=load --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw --bssplit=4k/70:16k/10:64k/20 \
		--iodepth=8 --numjobs=2 --group_reporting --time_based --runtime=16 --output-format=json >fio.json ||
		echo "# fio failed"
	while read -r kind n; do
		fio[$kind]=$((${fio[$kind]} + n))
	done < <(awk '/^ *"(read|write|trim|sync)" : \{/ { gsub(/"/, ""); kind = $1 }
		/"total_ios"/ && (kind == "read" || kind == "write") { sub(/,/, ""); print kind, $3 }' fio.json)
done
tracer_stop "${pid[@]}"
equal "tracers end well" $? 0

for side in host target; do
	switches=$(grep -c '^attached .* programs' $side.err)
	echo "# $side: $switches switches; $(sed -n 's/^stages of /&/p' $side | tail -n 1)"
	grep '^\(attached\|detached\)' $side.err | tail -n 2 | sed 's/^/# /'
	check "$side: programs came and went often enough" test "$switches" -ge $least
	for op in read write; do
		counted "$side counts every $op" "$(commands $side $op)" "${fio[$op]}" $side
	done
	# Arrivals that TCP joined before a burst, and what stock programs skip on functions that others call.
	equal "$side loses nothing" "$(awk '$1 == "loss" && $3 > 0 && $2 !~ /^(arrival_joined|async_event|probe_missed)$/ {
		printf "%s=%s ", $2, $3 }' $side)" ""
	check "$side says when stages are measured" grep -q 'stages of [0-9.]* s every [0-9.]* s' $side
done
for op in read write; do
	for stage in blk_submission nvme_tcp_submission network_and_target nstack_completion blk_completion; do
		check "host: ${op}s have $stage" grep -q "^stage $op $stage [1-9]" host
	done
	for stage in nstack_submission nvmet_tcp_submission target_subsystem nvmet_tcp_completion; do
		check "target: ${op}s have $stage" grep -q "^stage $op $stage [1-9]" target
	done
done

for ctrl in "${way_ctrls[@]}"; do
	host_disconnect "$ctrl"
done
target_remove
finish
