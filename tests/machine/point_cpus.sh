#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 60
# --points fine: the CPU of each point, against where fio ran and where the kernel's tracepoint of workqueues saw io_work begin; and
# what commands found queued, of a burst on one queue and of lone ones.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_port
target_subsystem "$(target_setup_null disk size=256)"
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
echo none >"$(host_path "$ctrl")/queue/scheduler"
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs none $tracing
work=$tracing/events/workqueue/workqueue_execute_start

# load RUN CPU FIO-ARGS: CPUs of the workers are in RUN.host.workers and RUN.target.workers.
load() {
	local side pids=()

	for side in host target; do
		tracer_start "$1.$side.log" record --$side --points fine -o "$1.$side.ntp"
		pids+=("$tracer_pid")
	done
	echo >$tracing/trace
	echo 1 >$work/enable
	fio --name=io --filename="$dev" --direct=1 --ioengine=libaio --cpus_allowed="$2" "${@:3}" >fio 2>&1 || cat fio
	echo 0 >$work/enable
	for side in host target; do
		grep "function nvme$([[ $side == host ]] || echo t)_tcp_io_work" $tracing/trace |
			sed 's/.*\[0*\([0-9]\+\)\].*/\1/' | sort -un | paste -sd' ' >"$1.$side.workers"
	done
	tracer_stop "${pids[@]}"
	equal "$1: both end well" $? 0
	for side in host target; do
		ntprof-bpf report --commands "$1.$side.ntp" | grep " op=\(read\|write\) " >"$1.$side.lines"
	done
}

# cpus FILE POINT: all that there are, in order
cpus() {
	grep -o " $2_cpu=[0-9]*" "$1" | sed 's/.*=//' | sort -un | paste -sd' '
}

# lack FILE POINT: reads that have none
lack() {
	grep -vc " $2_cpu=" "$1"
}

for cpu in 0 1; do
	load "lone$cpu" $cpu --rw=randread --bs=4k --iodepth=1 --number_ios=200
	host=lone$cpu.host target=lone$cpu.target
	equal "on CPU $cpu: it was submitted there" "$(cpus $host.lines queue_rq)" $cpu
	for point in queue_rq send_cmd c2h cqe complete; do
		equal "on CPU $cpu: host's $point has a CPU, of each read" "$(lack $host.lines $point)" 0
	done
	for point in c2h cqe; do
		equal "on CPU $cpu: host's $point is where its worker ran" "$(cpus $host.lines $point)" "$(cat $host.workers)"
	done
	for point in cmd send sent; do
		equal "on CPU $cpu: target's $point has a CPU, of each read" "$(lack $target.lines $point)" 0
		equal "on CPU $cpu: target's $point is where its worker ran" "$(cpus $target.lines $point)" "$(cat $target.workers)"
	done
	# The first one is of a queue that no program has seen.
	within "on CPU $cpu: a lone command finds nothing queued" "$(grep -c ' queued=0 ' $host.lines)" 198 200
	equal "on CPU $cpu: none is being sent then" "$(grep -c ' send_mutex=held' $host.lines)" 0
	head -n 1 $host.lines | sed 's/^/# /'
done

# A task sends by itself where the queue's worker belongs, so the burst comes from the other CPU.
[[ $(cat lone0.host.workers) == 0 ]] && other=1 || other=0
load burst "$other" --rw=randread --bs=4k --iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --number_ios=640
within "burst: many commands find others queued" "$(grep -c ' queued=[1-9]' burst.host.lines)" 64 640
most=$(grep -o ' queued=[0-9]*' burst.host.lines | sed 's/.*=//' | sort -n | tail -n 1)
within "burst: at most those that are in flight" "$most" 1 31
check "burst: the story has it" grep -q "before it on its connection's send list" \
	<(ntprof-bpf report --slowest 3 burst.host.ntp burst.target.ntp)

# One after the other, while the worker sends those before.
load stream "$other" --rw=randwrite --bs=128k --iodepth=32 --number_ios=640
held=$(grep -c ' send_mutex=held ' stream.host.lines) free=$(grep -c ' send_mutex=free ' stream.host.lines)
if [[ $(uname -v) == *PREEMPT_RT* ]]; then
	equal "stream: a real-time kernel does not tell whether send_mutex is held" "$held $free" "0 0"
else
	within "stream: for some of them the worker is sending" "$held" 1 639
	within "stream: it is known of all but the first" $((held + free)) 638 640
fi
host_disconnect "$ctrl"
target_remove
