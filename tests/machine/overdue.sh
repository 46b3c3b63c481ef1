#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands that wait, on a target that has lost its disk, are told with where they are, and counted when they end.
# takes: 45
set -u
. /lib/machine.sh

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
