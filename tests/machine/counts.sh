#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every command is counted once, on both sides, and as what it is. Those that wait are counted, too.
# takes: 45
set -u
. /lib/machine.sh

# Newer targets say of a device without a cache that it needs no flushes.
disk=$(target_setup_null a size=256 discard=1 cache_size=64)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")

tracer_start /tmp/host --host -i 1
host=$tracer_pid
tracer_start /tmp/target --target -i 1
target=$tracer_pid

declare -A before
for f in 1 5 12 16; do
	before[$f]=$(block_stat "$path" $f)
done

# What fio says that it did, summed over jobs.
declare -A fio=([read]=0 [write]=0 [trim]=0)
job() {
	local kind n

	fio --name="$1" --filename="$dev" --direct=1 --ioengine=libaio --randrepeat=1 --group_reporting \
		--size=200M --output-format=json "${@:2}" >/tmp/fio || echo "# fio $1 failed"
	while read -r kind n; do
		fio[$kind]=$((${fio[$kind]} + n))
	done < <(awk '/^ *"(read|write|trim|sync)" : \{/ { gsub(/"/, ""); kind = $1 }
		/"total_ios"/ && kind != "sync" { sub(/,/, ""); print kind, $3 }' /tmp/fio)
}
job read4k --rw=randread --bs=4k --iodepth=16 --number_ios=1000
job write4k --rw=randwrite --bs=4k --iodepth=16 --number_ios=1000
job write64k --rw=randwrite --bs=64k --iodepth=4 --number_ios=200
job write1m --rw=write --bs=1M --iodepth=2 --number_ios=30
job read1m --rw=read --bs=1M --iodepth=2 --number_ios=30
job mixed --rw=randrw --bs=16k --iodepth=8 --numjobs=2 --number_ios=300
job flush --rw=write --bs=4k --number_ios=64 --fsync=8
job trim --rw=trim --bs=1M --number_ios=8

tracer_stop "$host"
equal "host exits with 0" $? 0
tracer_stop "$target"
equal "target exits with 0" $? 0

declare -A did
for f in 1 5 12 16; do
	did[$f]=$(($(block_stat "$path" $f) - ${before[$f]}))
done
# An empty write that only asks for a flush is counted by the block layer as a write as well.
did[5]=$((${did[5]} - ${did[16]}))
echo "# block layer: ${did[1]} reads, ${did[5]} writes, ${did[12]} discards, ${did[16]} flushes"
equal "reads are those that fio did" "${did[1]}" "${fio[read]}"
equal "writes are those that fio did" "${did[5]}" "${fio[write]}"
equal "discards are those that fio did" "${did[12]}" "${fio[trim]}"
check "there were enough of each" test "${did[1]}" -ge 1030 -a "${did[5]}" -ge 1294 -a "${did[12]}" -ge 8
check "there were flushes" test "${did[16]}" -ge 7
for side in host target; do
	counted "$side counts every read" "$(commands /tmp/$side read)" "${did[1]}" "/tmp/$side"
	counted "$side counts every write" "$(commands /tmp/$side write)" "${did[5]}" "/tmp/$side"
	counted "$side counts every discard" "$(commands /tmp/$side discard)" "${did[12]}" "/tmp/$side"
	counted "$side counts every flush" "$(commands /tmp/$side flush)" "${did[16]}" "/tmp/$side"
	no_losses "$side loses nothing" /tmp/$side
	check "$side shows the rows of both I/O queues" \
		awk '$NF && /read/ { q[$0 ~ / 1 +read/ ? 1 : $0 ~ / 2 +read/ ? 2 : 0] = 1 } END { exit !(q[1] && q[2]) }' \
		/tmp/$side
done

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
if [[ $VM_KIND == stock && $VM_KERNEL == 6.1 ]]; then
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
fi
# With the two above, all BPF programs that this kernel is given: this test runs on each kernel of make check.
ntprof-bpf stacks --host -d 0.1 >/tmp/stacks 2>&1
equal "stacks are traced, too" $? 0
echo "# commands traced: $((did[1] + did[5] + did[12] + did[16])) on each side"
host_disconnect
target_remove

# A file system that is frozen keeps writes to its files, and with them a device that lies in one, from
# ending. The host is not to give up meanwhile: a target that is connected to again would wait for them, too.
hanging=16
echo 600 >/sys/module/nvme_core/parameters/io_timeout
mkdir -p /mnt
fs=$(target_setup_file fs 64 loop)
mke2fs "$fs" >/dev/null 2>&1
mount -t ext4 "$fs" /mnt
dd if=/dev/zero of=/mnt/disk bs=1M count=32 2>/dev/null
disk=$(losetup --find --show /mnt/disk)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
tracers=()
# With a sample the others count as well.
declare -A sample=([host]="--sample 1000" [target]="")
for side in host target; do
	# shellcheck disable=SC2086 # two words, or none
	tracer_start /tmp/live.$side --$side -i 0.5 ${sample[$side]}
	tracers+=("$tracer_pid")
	tracer_start /tmp/trace.$side trace --$side --slower 1s
	tracers+=("$tracer_pid")
done
fsfreeze --freeze /mnt
# With gaps, so that no two of them are merged.
fio --name=hang --filename="$dev" --direct=1 --ioengine=libaio --rw=write:4k --bs=4k --number_ios=$hanging \
	--size=$((hanging * 8))k --iodepth=$hanging >/tmp/fio 2>&1 &
load=$!

# waits FILE SECONDS: a block has told that all of them are in flight, the oldest for so long.
waits() {
	awk -v all=$hanging -v least="$2" '{
		for (i = 3; i + 4 <= NF; i++)
			if ($i == "write" && $(i + 3) == all && $(i + 4) ~ /^[0-9.]+s$/ && $(i + 4) + 0 >= least)
				found = 1
	} END { exit !found }' "$1"
}
for side in host target; do
	check "$side shows what waits" wait_for waits /tmp/live.$side 2
	check "$side shows it become older" wait_for waits /tmp/live.$side 3.5
done
check "target tells what its device owes" grep -Eq "write +0 +0 +$hanging +[0-9.]+s +$hanging " /tmp/live.target
fsfreeze --unfreeze /mnt
wait $load
equal "what waited ends well" $? 0
tracer_stop "${tracers[@]}"
declare -A where=([host]=network_and_target [target]=target_subsystem)
for side in host target; do
	grep ' op=write .* still in flight after [1-9][0-9]\{9,\} |' /tmp/trace.$side >/tmp/still
	equal "$side tells each command that is out for long" \
		"$(grep -o ' cid=0x[0-9a-f]* ' /tmp/still | sort -u | wc -l)" $hanging
	equal "$side tells it once" "$(grep -c 'still in flight' /tmp/trace.$side)" $hanging
	equal "$side tells where each of them is" \
		"$(grep 'still in flight' /tmp/trace.$side | grep -c " | in .*${where[$side]}")" $hanging
	equal "$side tells that they ended, and were told before" \
		"$(grep -c ' op=write .* was_overdue latency=[1-9][0-9]\{9,\} ' /tmp/trace.$side)" $hanging
	equal "$side has counted them" "$(commands /tmp/live.$side write)" $hanging
	equal "$side has none left" "$(loss /tmp/live.$side in_flight)" 0
done
host_disconnect
target_remove
losetup -d "$disk"
umount /mnt
finish
