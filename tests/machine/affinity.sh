#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 20
# Commands that end in an interrupt of the CPU that began them (rq_affinity=2), while packets come in on another one and that
# CPU is busy with other commands: each is counted once, and each is in its histogram.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_port
# One queue, whose worker answers for both CPUs.
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")
echo 2 >"$path/queue/rq_affinity"
# Neighbours stay two requests.
echo 2 >"$path/queue/nomerges"
[[ ! -e ${dev/#\/dev//sys/block}/queue/rq_affinity ]] || echo 2 2>/dev/null >"${dev/#\/dev//sys/block}/queue/rq_affinity"
echo 2 >/sys/class/net/lo/queues/rx-0/rps_cpus

# on_cpu CPU WHAT: how many softirqs of a kind there were on it
on_cpu() {
	awk -v at=$(($1 + 2)) -v what="$2:" '$1 == what { print $at }' /proc/softirqs
}

for side in host target; do
	tracer_start $side --$side -i 0.5
	declare "$side=$tracer_pid"
done
# A tracer that was started before there was any load has had its time to find out what it can do without.
sleep 4
for cpu in 0 1; do
	declare "before_$cpu=$(on_cpu $cpu BLOCK)"
done
reads=$(block_stat "$path" 1)
writes=$(block_stat "$path" 5)
fio --filename="$dev" --direct=1 --ioengine=libaio --bs=4k --size=60M --iodepth=16 --group_reporting \
	--name=cpu0 --rw=randrw --rwmixread=80 --number_ios=2500 --cpus_allowed=0 \
	--name=cpu1 --rw=randrw --rwmixread=80 --number_ios=2500 --cpus_allowed=1 --offset=100M --output-format=json >fio || cat fio
tracer_stop "$host" "$target"
equal "tracers exit with 0" $? 0
reads=$(($(block_stat "$path" 1) - reads))
writes=$(($(block_stat "$path" 5) - writes))
# shellcheck disable=SC2154 # set by declare above
ends="$(($(on_cpu 0 BLOCK) - before_0)) $(($(on_cpu 1 BLOCK) - before_1))"
echo "# requests were ended in $ends softirqs of CPUs 0 and 1"
read -r zero one <<<"$ends"
check "one CPU at least ends in interrupts what the other has received" test $((zero + one)) -ge 100
equal "fio has done all of them" \
	"$(awk '/"total_ios"/ { sub(/,/, ""); n += $2 == ":" ? $3 : $2 } END { print n }' fio)" 5000
equal "and so has the block layer" $((reads + writes)) 5000
for side in host target; do
	grep -E '^loss probe_missed' $side | sed "s/^/# $side: /"
	counted "$side: every read is counted" "$(commands $side read)" $reads $side
	counted "$side: every write is counted" "$(commands $side write)" $writes $side
	no_losses "$side: nothing is lost" $side
done
host_disconnect "$ctrl"
target_remove
finish
