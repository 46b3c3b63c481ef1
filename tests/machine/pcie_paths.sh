#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two PCIe controllers are the paths of one namespace: every command is counted at the path that it took, and its stages add up.
# When one of them is pulled out, its commands go by the other one, and none is left behind. What the last one did is among what is gone, when
# another controller has had its name for a minute.
# run with: --nvme 2000000,paths=2
# takes: 95
set -u
. /lib/machine.sh

cd /tmp || exit 1
modprobe nvme
paths=()
have_paths() {
	local ctrl

	paths=()
	for ctrl in nvme0 nvme1; do
		paths+=("$(host_path $ctrl 1)") || return
	done
}
wait_for have_paths
wait_for host_device nvme0 1 >/dev/null
for policy in /sys/class/nvme-subsystem/*/iopolicy; do
	echo round-robin >"$policy"
done
# Linux 6.12 looks at namespaces side by side: the first disk may be of the second one.
dev=$(host_device nvme0 1)
job() {
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --iodepth=4 --bs=4k --size=32M "$@" >fio 2>&1 || cat fio
}
tracer_start trace trace --host --summary
trace=$tracer_pid
before=()
for path in "${paths[@]}"; do
	before+=("$(block_stat "$path" 1) $(block_stat "$path" 5)")
done
job --rw=randrw --number_ios=400
tracer_stop "$trace"
equal "trace exits with 0" $? 0
for i in 0 1; do
	read -r reads writes <<<"${before[i]}"
	reads=$(($(block_stat "${paths[i]}" 1) - reads)) writes=$(($(block_stat "${paths[i]}" 5) - writes))
	check "nvme$i had a part of them ($reads reads, $writes writes)" test "$reads" -ge 50 -a "$writes" -ge 50
	equal "its reads are its own" "$(grep -cE " host nvme$i q[1-9].* op=read " trace)" "$reads"
	equal "and its writes" "$(grep -cE " host nvme$i q[1-9].* op=write " trace)" "$writes"
done
grep -E ' host nvme[01] q[1-9].* op=(read|write) ' trace >records
unconserved records 3 >bad
equal "the stages of every command add up to its latency" "$(wc -l <bad)" 0
no_losses "nothing is lost" trace.err

# live: the disk, and both of its paths.
tracer_start live --host --transport pcie --by device,path -i 1 --format json
live=$tracer_pid
job --rw=randread --time_based --runtime=10 &
loader=$!
sleep 2
reads=$(block_stat "${paths[0]}" 1)
has_gone_on() { (($(block_stat "${paths[0]}" 1) > reads + 100)); }
echo 1 >/sys/class/nvme/nvme1/device/remove
check "reads go on by the other path" wait_for has_gone_on
wait $loader
check "none has failed" grep -q 'err= 0' fio
tracer_stop "$live"
equal "live exits with 0" $? 0
tail -n 1 live >summary
for name in in_flight overwritten no_start point_missing no_slot; do
	equal "a path that is pulled out leaves no $name" "$(grep -o "\"$name\":[0-9]*" summary | head -n 1)" "\"$name\":0"
done
grep -o '"path":"[^"]*"' live | sort | uniq -c | sed 's/^/# /'
equal "rows have the disk" "$(grep -o '"device":"[^"]*"' live | sort -u | head -n 1)" "\"device\":\"${dev#/dev/}\""

# What the other one did as well goes to the row of those that are gone, a minute after another controller has its name.
modprobe nvme-tcp
disk=(nqn.2024-01.io.ntprof:tcp "$(target_setup_null a size=64)")
target_subsystem "${disk[@]}"
target_port
tracer_start gone --host --transport tcp,pcie -i 1 --format json
gone=$tracer_pid
job --rw=randread --number_ios=100
echo 1 >/sys/class/nvme/nvme0/device/remove
wait_for test ! -e /sys/class/nvme/nvme0
equal "another controller has its name" "$(host_connect "${disk[0]}" -i "$(nproc)")" nvme0
fio --name=x --filename="$(host_device nvme0)" --direct=1 --rw=randread --bs=4k --size=32M --number_ios=50 >fio 2>&1 || cat fio
# STATS_ENDED_NS
sleep 63
tracer_stop "$gone"
# reads_of CONTROLLER: of its rows.
reads_of() {
	tail -n 1 gone | grep -o '{[^{}]*"controller":"'"$1"'"[^{}]*' | grep '"op":"read"' |
		sed -n 's/.*"commands":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { printf "%.0f\n", n }'
}
equal "reads of the disk that was pulled out are among those that are gone" "$(reads_of '(gone)')" 100
# The kernel looks for partitions, too.
within "and those of the other controller are its own" "$(reads_of nvme0)" 50 70
host_disconnect nvme0
target_remove
finish
