#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every command is counted once, on both sides, and as what it is.
# takes: 45
set -u
. /lib/machine.sh

# Newer targets say of a device without a cache that it needs no flushes.
disk=$(target_setup_null a size=256 discard=1 cache_size=64)
target_subsystem "$disk"
target_port
tracing=/sys/kernel/tracing
[[ $VM_KIND != patched ]] || echo 1 >$tracing/events/nvmet_tcp/nvmet_tcp_done_recv_pdu/enable
ctrl=$(host_connect -i 2)
if [[ $VM_KIND == patched ]]; then
	echo 0 >$tracing/events/nvmet_tcp/nvmet_tcp_done_recv_pdu/enable
	# As the text of the target's own events has it.
	check "the text of an event says that its controller is not known yet" \
		grep -q ' nvmet_: qid=0, .*, cmd=nvme_fabrics_type_connect,' $tracing/trace
	check "or which it is" grep -q ' nvmet[1-9][0-9]*: qid=0, .*, cmd=nvme_admin_identify,' $tracing/trace
fi
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

# With the two above, all BPF programs that this kernel is given: this test runs on each kernel of make check.
ntprof-bpf stacks --host -d 0.1 >/tmp/stacks 2>&1
equal "stacks are traced, too" $? 0
echo "# commands traced: $((did[1] + did[5] + did[12] + did[16])) on each side"
host_disconnect
target_remove
finish
