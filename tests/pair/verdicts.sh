#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 300
# One fault at a time is put into two machines: report --why names it, and blames nothing where there is none.
#
# The first argument is the number of runs of each fault (default 1), the others are the faults (default: all). Prints a
# table: the faults down, the verdicts across. Other load of the computer that emulates both machines is a fault, too.
# shellcheck disable=SC1091,SC2154 # ctrl and dev are set by it
set -um
. /lib/pair.sh
cd /tmp || exit 1

runs=${1:-1}
faults=("${@:2}")
seconds=14
twin_nqn=nqn.2024-01.io.ntprof:twin
far_nqn=nqn.2024-01.io.ntprof:far

# io NAME DISK FIO_OPTION...: random reads of 4 KiB, unless options say otherwise.
io='fio --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=400m --norandommap --time_based --runtime=14 --thread'
io() {
	$io --name="$1" --filename="$2" "${@:3}" >"fio.$1" 2>&1
}

# hog CPU: for 50 ms of each 800, at the same time on all CPUs, nothing else runs there.
hog='end=$((SECONDS + 16))
while ((SECONDS < end)); do
	t=${EPOCHREALTIME/./}
	sleep 0.$(printf %06d $((800000 - t % 800000)))
	t=$((${EPOCHREALTIME/./} + 50000))
	while ((${EPOCHREALTIME/./} < t)); do :; done
done'

# Each fault is a function that runs while the usual load does.
usual_load() {
	local disk cpu pids=()

	for disk in "$dev" "$twin"; do
		for cpu in 0 1; do
			io "usual.${disk##*/}.$cpu" "$disk" --cpus_allowed=$cpu --iodepth=4 --rate_iops=70 \
				--rate_process=poisson &
			pids+=($!)
		done
	done
	if [[ $1 == r2t ]]; then
		io writes "$dev" --rw=randwrite --iodepth=4 --rate_iops=60 --rate_process=poisson &
		pids+=($!)
	fi
	wait "${pids[@]}"
}
healthy() { :; }
# A burst of something else is before our packets.
network() {
	while sleep 0.7; do dd if=/dev/zero bs=64k count=4 2>/dev/null; done | timeout 14 ssh root@target 'cat >/dev/null'
}
loss() {
	tc qdisc replace dev eth0 root netem rate 100mbit loss 1%
	sleep 14
}
# Somebody on the target reads from the same disk.
disk() { on_target "$io --name=local --filename=$backing --iodepth=64 --thinktime=600ms --thinktime_blocks=128" >/dev/null 2>&1; }
# So does another host, which is the target's own nvme-tcp.
neighbour() { on_target "$io --name=other --filename=$other --iodepth=64 --thinktime=600ms --thinktime_blocks=128" >/dev/null 2>&1; }
one_array() { io far "$far" --rate_iops=12; }
size() { io large "$dev" --bs=1m --rate_iops=7; }
depth() { io deep "$dev" --iodepth=48 --thinktime=600ms --thinktime_blocks=48; }
r2t() { io r2t "$dev" --rw=randwrite --bs=8k --rate_iops=4; }
host_worker() {
	taskset -c 0 chrt -f 50 bash -c "$hog" &
	taskset -c 1 chrt -f 50 bash -c "$hog"
	wait
}
target_worker() { on_target "taskset -c 0 chrt -f 50 bash -c '$hog' & taskset -c 1 chrt -f 50 bash -c '$hog'" >/dev/null 2>&1; }
reset() {
	sleep 6
	echo 1 >"/sys/class/nvme/$ctrl/reset_controller"
}

# verdict NAME: as report has it: of operations with enough commands the expected one, or else the first one that blames
# something.
verdict() {
	local all

	all=$(ntprof-bpf report "$1".{host,target}.ntp --why --format json |
		sed 's/"rules":\[[^]]*\]//g' | grep -o '"verdict":"[a-z_]*","cause":[^,}]*' | tr -d '"' |
		sed 's/verdict:named,cause://; s/verdict:\([a-z_]*\),.*/\1/')
	[[ $all != *"$1"* ]] || all=$1
	all=$(grep -vx 'healthy\|not_known' <<<"$all" || echo "$all")
	echo "${all%%$'\n'*}"
}

# one FAULT: a run; prints its verdict.
one() {
	local pid

	record_begin "$1" --tcp
	tc qdisc replace dev eth0 root netem rate 100mbit
	"$1" >/dev/null 2>&1 &
	pid=$!
	usual_load "$1"
	kill -- -$pid 2>/dev/null
	wait $pid 2>/dev/null
	tc qdisc replace dev eth0 root netem rate 100mbit
	record_end "$1" >/dev/null
	verdict "$1"
	[[ ! -d /out ]] || cp "$1".*.ntp /out
}

# A disk does one thing at a time, and takes 300 us for it.
single="size=512 submit_queues=1 hw_queue_depth=1 delay=300000"
backing=$(on_target "target_setup_null plain $single")
on_target "target_subsystem $backing
	target_subsystem $twin_nqn \$(target_setup_null twin $single)
	target_subsystem $far_nqn \$(target_setup_null far size=512 delay=20000000)
	target_port $pair_target inline_data_size=4096"
pair_connect -i 2
twin=$(host_device "$(host_connect "$twin_nqn" -a "$pair_target" -i 2)")
far=$(host_device "$(host_connect "$far_nqn" -a "$pair_target" -i 2)")
other=$(on_target "host_device \$(host_connect -a $pair_target -i 2 --hostnqn=nqn.2024-01.io.ntprof:neighbour)")
all=(healthy network loss disk neighbour one_array size depth r2t host_worker target_worker reset)
((${#faults[@]})) || faults=("${all[@]}")
for fault in "${faults[@]}"; do
	declare -A count=()
	for ((run = 0; run < runs; run++)); do
		got=$(one "$fault")
		count[$got]=$((${count[$got]:-0} + 1))
		[[ $got == "$fault" ]] || ntprof-bpf report "$fault".{host,target}.ntp --why --format text | sed 's/^/# /' | head -20
	done
	echo "# $fault:$(for v in "${!count[@]}"; do echo " $v ${count[$v]}"; done | tr -d '\n')"
	within "$fault is named in nine of ten runs" "${count[$fault]:-0}" $(((runs * 9 + 9) / 10)) "$runs"
done
finish
