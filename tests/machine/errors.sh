#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# Commands that fail are counted by status, on both sides, as often as those who sent them saw it, and are in no
# histogram. Paths that go under reads without CQE leave none of them as done.
set -u
. /lib/machine.sh

cd /tmp || exit 1
# A device of 16 MiB that fails beyond the first 8: null_blk's list of bad blocks. Linux 6.1 puts a range that takes several
# entries into its list in the wrong order, and does not find them then; an entry has 512 sectors.
disk=$(target_setup_null a size=16 badblocks=+16384-16895) || exit 1
for ((sector = 16896; sector < 32768; sector += 512)); do
	echo "+$sector-$((sector + 511))" >/sys/kernel/config/nullb/a/badblocks
done
! dd if="$disk" of=/dev/null bs=4k count=1 skip=2048 iflag=direct 2>/dev/null ||
	echo "# $disk does not fail: badblocks $(cat /sys/kernel/config/nullb/a/badblocks)"
target_subsystem "$disk"
target_port
target_port 127.0.0.1 4421
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")

# count FILE WORD OP STATUS: how many a summary's, or a report's, lines "WORD OP NAME COUNT" have
count() {
	awk -v word="$2" -v op="$3" -v name="$4" '$1 == word && $2 == op && $3 == name { n += $4 } END { printf "%.0f\n", n }' "$1"
}

begin() {
	tracer_start host --host
	host=$tracer_pid
	tracer_start target --target
	target=$tracer_pid
}

# Good and bad reads, bad writes, an opcode and a feature that nobody knows.
good=0 bad_reads=0 bad_writes=0 bad_opcodes=0 bad_features=0
fail_some() {
	local i

	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=8M --iodepth=1 \
		--number_ios=300 >fio || cat fio
	good=$((good + 300))
	for ((i = 0; i < 20; i++)); do
		dd if="$dev" of=/dev/null bs=4k count=1 skip=$((2048 + i)) iflag=direct 2>/dev/null || bad_reads=$((bad_reads + 1))
		dd if=/dev/zero of="$dev" bs=4k count=1 seek=$((2048 + i)) oflag=direct 2>/dev/null || bad_writes=$((bad_writes + 1))
	done
	for ((i = 0; i < 5; i++)); do
		nvme io-passthru "$dev" --opcode=0xee --namespace-id=1 2>/dev/null || bad_opcodes=$((bad_opcodes + 1))
		nvme get-feature "/dev/$ctrl" --feature-id=0xd0 >/dev/null 2>&1 || bad_features=$((bad_features + 1))
	done
}

begin
fail_some
tracer_stop "$target" "$host"
echo "# seen: $bad_reads reads, $bad_writes writes, $bad_opcodes opcodes, $bad_features features"
equal "reads failed" $bad_reads 20
equal "writes failed" $bad_writes 20
equal "unknown opcodes failed" $bad_opcodes 5
equal "unknown features failed" $bad_features 5
for side in host target; do
	grep -E '^error ' $side | sed "s/^/# $side: /"
	equal "$side: reads that failed" "$(total $side 4 error read)" $bad_reads
	equal "$side: writes that failed" "$(total $side 4 error write)" $bad_writes
	equal "$side: by the name of their status" "$(count $side error other invalid_command_opcode)" $bad_opcodes
	equal "$side: and those of the admin queue" "$(count $side error admin invalid_field_in_command)" $bad_features
	equal "$side: none of them is a latency" "$(commands $side read)" $good
	equal "$side: nor are writes" "$(commands $side write)" 0
	no_losses "$side loses nothing" $side
done

good=0 bad_reads=0 bad_writes=0 bad_opcodes=0 bad_features=0
tracer_start host.log record --host -o host.ntp
host=$tracer_pid
tracer_start target.log record --target -o target.ntp
target=$tracer_pid
failed=()
for side in host target; do
	tracer_start $side.failed.log record --$side --failed -o $side.failed.ntp
	failed+=("$tracer_pid")
done
tracer_start trace trace --host --failed
failed+=("$tracer_pid")
fail_some
tracer_stop "$target" "$host" "${failed[@]}"
equal "those of failed commands alone end well" $? 0
ntprof-bpf report --commands host.ntp target.ntp >merged
ntprof-bpf report host.ntp >host.alone
ntprof-bpf report target.ntp >target.alone
grep -hE '^(merged_)?error ' merged host.alone target.alone | sed 's/^/# /'
grep ' op=read ' merged | grep -v ' merged ' | sed 's/^/# not merged: /'
equal "merged: reads that failed" "$(total merged 4 merged_error read)" $bad_reads
equal "merged: writes that failed" "$(total merged 4 merged_error write)" $bad_writes
equal "merged: unknown opcodes" "$(count merged merged_error other invalid_command_opcode)" $bad_opcodes
equal "merged: none of them is a latency" "$(awk '$1 == "merged" && $2 == "read" { print $3 }' merged)" $good
equal "a host alone: unknown opcodes" "$(count host.alone error other invalid_command_opcode)" $bad_opcodes
equal "a target alone: writes that failed" "$(total target.alone 4 error write)" $bad_writes
equal "a command says its error" "$(grep -c ' merged .* op=other .* error=invalid_command_opcode' merged)" $bad_opcodes
# Of the same commands each tracer has read the clock for itself.
what_failed() {
	ntprof-bpf report "$@" --commands | grep ' op=' | sed -E 's/^[0-9.]* //; s/ latency=.*//' | LC_ALL=C sort
}
for side in host target; do
	what_failed $side.ntp --failed >expected
	what_failed $side.failed.ntp >got
	check "$side: --failed has those that a report of all has, $(wc -l <got) of them" cmp -s expected got
	diff expected got | sed 's/^/# /' | head -n 6
	equal "$side: and as many as failed" "$(grep -cE ' op=(read|write|other) ' got)" $((bad_reads + bad_writes + bad_opcodes))
done
equal "trace --failed has them, too" "$(grep -cE ' op=(read|write|other) ' trace)" $((bad_reads + bad_writes + bad_opcodes))
equal "and no others" "$(grep ' op=' trace | grep -vc ' error=')" 0
host_disconnect "$ctrl"

# more PATH THAN: more reads than that have ended on it
more() {
	[[ $(block_stat "$1" 1) -gt $2 ]]
}

# Two paths to one namespace, of which one goes while reads without CQE are answered.
target_remove
disk=$(target_setup_null b size=64)
target_subsystem "$disk"
target_port
target_port 127.0.0.1 4421
first=$(host_connect -i 1 --disable-sqflow --ctrl-loss-tmo=2 --reconnect-delay=1)
second=$(host_connect -s 4421 -i 1 --disable-sqflow)
if [[ -n $first && -n $second && $(host_device "$first") == "$(host_device "$second")" ]]; then
	dev=$(host_device "$first")
	for policy in /sys/class/nvme-subsystem/*/iopolicy; do
		echo round-robin >"$policy"
	done
	begin
	# Reads of 1 MiB that come slowly, so that some are cut in the middle.
	modprobe sch_netem
	tc qdisc add dev lo root netem rate 200mbit limit 100000
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --rw=randread --bs=1M --size=64M --iodepth=16 \
		--time_based --runtime=3600 --output-format=json >fio.cut 2>fio.err &
	load=$!
	wait_for more "$(host_path "$first")" 8
	for i in 1 2 3; do
		nvme reset "/dev/$first"
		wait_for host_device "$first" >/dev/null
		wait_for more "$(host_path "$first")" $(($(block_stat "$(host_path "$first")" 1) + 8))
	done
	kill -INT "$load"
	wait "$load"
	tc qdisc del dev lo root
	tracer_stop "$target" "$host"
	echo "# host: $(commands host read) reads, cancelled $(loss host cancelled), failovers $(loss host failovers), requeued $(loss host requeued), point_missing $(loss host point_missing)"
	check "reads fail over" test "$(loss host failovers)" -gt 0
	check "those are cancelled" test "$(loss host cancelled)" -ge "$(loss host failovers)"
	check "no read is done that the target did not answer" \
		test "$(commands host read)" -le "$(commands target read)"
	host_disconnect "$first"
	host_disconnect "$second"
else
	echo "# this kernel has no multipath: $first $second"
fi
target_remove
finish
