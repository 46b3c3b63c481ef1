#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 70
# A selection has exactly those commands that the same run has under that condition: what was recorded of all,
# reported with the selection, against tracers that have it, all of them beside each other during one load.
set -u
. /lib/machine.sh

cd /tmp || exit 1
hostnqn=nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555
second=nqn.2024-01.io.ntprof:second

for name in a b; do
	disk=$(target_setup_null $name size=256 discard=1)
	[[ $name = a ]] && target_subsystem "$disk"
	[[ $name = b ]] && target_subsystem "$second" "$disk"
done
target_port
target_port 127.0.0.1 4421
# connect_a: queues 1 and 2 are for writes, 3 and 4 for reads.
connect_a() {
	host_connect -i 2 --nr-write-queues=2 --hostnqn=$hostnqn --hostid="${hostnqn##*:}"
}
a=$(connect_a)
# A disk that two controllers lead to, which take turns.
b=$(host_connect "$second" -i 2)
path=$(host_connect "$second" -i 2 -s 4421)
dev_b=$(host_device "$b")
for subsystem in /sys/class/nvme-subsystem/*; do
	[[ $(<"$subsystem/subsysnqn") != "$second" ]] || echo round-robin >"$subsystem/iopolicy"
done

# missed_in RECORDING...: how many commands, as "missed" in lib.sh.
missed_in() {
	local file

	may_miss || { echo 0; return; }
	for file; do
		ntprof-bpf report "$file"
	done | awk '$2 == "loss" && $3 == "probe_missed" { n += $4 } END { print n + 0 }'
}

# near NAME GOT EXPECTED MISSED MISSED_THERE: two counts of the same, but for what the one and the other missed.
near() {
	if (($4 + $5)); then
		within "$1, but for what was missed" "$2" $(($3 - $4)) $(($3 + $5))
	else
		equal "$1" "$2" "$3"
	fi
}

# commands_of FILE...: all I/O commands of a recording, one a line: what they were. Each tracer has looked at its own
# clock, so that times differ.
commands_of() {
	ntprof-bpf report "$@" --commands |
		sed -nE '/ op=(read|write|flush|discard) /{ s/^[0-9.]* //; s/ latency=.*//; p }' | LC_ALL=C sort
}

declare -A selections=(
	[size]="--size 4k-8k,256KiB --lba 0-400000"
	[cntlid]="--ctrl 2 --nsid 1 --queue 1"
	[nqn]="--nqn $second --op write"
	[hostnqn]="--hostnqn $hostnqn --op read,write"
	[slower]="--op read --slower 1ms"
	[disk]="--device $dev_b"
	[path]="--device $(basename "$(host_path "$path")")"
	[again]="--ctrl $a --hostnqn $hostnqn --op read,write,flush,fabrics"
)
pids=()

# begin FILE ARGS...
begin() {
	tracer_start "$@"
	pids+=("$tracer_pid")
}

# record SIDE NAME...: each selection into SIDE.NAME.ntp
record() {
	local side=$1 name args

	shift
	for name; do
		read -ra args <<<"${selections[$name]:-}"
		begin "$side.$name.out" record --"$side" --force -o "$side.$name.ntp" "${args[@]}"
	done
}

# One controller comes while it is watched, the others are there already.
host_disconnect "$a"
record host whole size nqn slower disk path again
record target whole size cntlid hostnqn
begin live --host --op write --size 64k-1M --ctrl "$a"
begin trace trace --host --queue 4 --op read
begin sampled --host --op read --queue 3-4 --sample 4
equal "a controller is connected as before" "$(connect_a)" "$a"
# Several operations, sizes, queues and controllers.
mix "$(host_device "$a")"
# On each CPU, as each has its queue.
fio --direct=1 --ioengine=libaio --name=b --filename="$dev_b" --rw=randrw --bssplit=4k/50:16k/50 --size=64m \
	--offset_increment=64m --numjobs="$(nproc)" --cpus_allowed=0-$(($(nproc) - 1)) --cpus_allowed_policy=split \
	--iodepth=4 --number_ios=$((400 / $(nproc))) >/tmp/fio 2>&1 || cat /tmp/fio
host_disconnect "$a"
tracer_stop "${pids[@]}"
equal "all tracers end well" $? 0
declare -A whole_missed=([host]=$(missed_in host.whole.ntp) [target]=$(missed_in target.whole.ntp))

# compare SIDE NAME...: with what was recorded of all.
compare() {
	local side=$1 name args

	shift
	for name; do
		read -ra args <<<"${selections[$name]}"
		# A recording has no names of paths.
		[[ $name != path ]] || args=(--ctrl "$path")
		commands_of "$side.whole.ntp" "${args[@]}" >expected
		commands_of "$side.$name.ntp" >got
		# One of which a program was skipped is not there, or another.
		[[ $name = slower ]] || within "$side ${selections[$name]}: the very commands, $(wc -l <got) of them" \
			"$(comm -3 expected got | wc -l)" 0 $((2 * (whole_missed[$side] + $(missed_in "$side.$name.ntp"))))
		check "$side: some with ${selections[$name]}" test -s got
		# What the recording says of itself.
		ntprof-bpf report "$side.$name.ntp" | sed -n 's/^[^ ]*: loss /loss /p; /^commands /p' >one
		equal "$side ${selections[$name]}: no losses" "$(losses one)" ""
	done
	check "$side: a selection of nothing says so" sh -c \
		"ntprof-bpf report $side.whole.ntp --nsid 7 | grep -q '^selected: nothing, of [1-9]'"
}

compare host size nqn slower disk path again
compare target size cntlid hostnqn
equal "none is faster" "$(ntprof-bpf report host.slower.ntp --commands | sed -n 's/.* latency=\([0-9]*\) .*/\1/p' |
	awk '$1 < 1000000' | wc -l)" 0
for c in "$b" "$path"; do
	check "some commands of the disk are of $c" test -n "$(commands_of host.disk.ntp --ctrl "$c")"
done
check "a report knows the disk by its name in the recording" cmp -s <(commands_of host.whole.ntp --device "$dev_b") \
	<(commands_of host.whole.ntp --nqn "$second" --nsid 1)

# A controller that comes is selected by its name, and on the target by its host's.
equal "the Connect of each queue is selected, too" \
	"$(ntprof-bpf report host.again.ntp --commands | grep -cE ' q[0-9]+ .* op=fabrics .* length=1024 ')" 5
near "what is selected on both sides is merged" \
	"$(total <(ntprof-bpf report host.again.ntp target.hostnqn.ntp --op read,write) 3 merged)" \
	"$(commands_of host.whole.ntp --hostnqn $hostnqn --op read,write | wc -l)" \
	"$(missed_in host.again.ntp target.hostnqn.ntp)" "${whole_missed[host]}"

# Histograms of live views and lines of trace.
near "a live view counts what a report of the selection does" "$(commands live write)" \
	"$(total <(ntprof-bpf report host.whole.ntp --op write --size 64k-1M --ctrl "$a") 3 commands write)" "$(missed live)" \
	"${whole_missed[host]}"
check "and these are some" test "$(commands live write)" -gt 0
equal "and nothing else" "$(grep '^commands ' live | grep -vc '^commands write ')" 0
check "and says that they are selected" grep -q 'selected commands only' live
no_losses "and loses nothing" live
trace_missed=0
! may_miss || trace_missed=$(awk '$1 == "probe_missed" { n = $2 } END { print n + 0 }' trace.err)
near "trace has the same lines" "$(grep -c ' op=read ' trace)" \
	"$(total <(ntprof-bpf report host.whole.ntp --op read --queue 4) 3 commands read)" "$trace_missed" "${whole_missed[host]}"
check "and these are some" grep -q ' op=read ' trace
equal "and no others" "$(grep ' op=' trace | grep -vc ' op=read ')" 0
near "a sample of a selection counts all of the selection" "$(commands sampled read)" \
	"$(total <(ntprof-bpf report host.whole.ntp --op read --queue 3-4) 3 commands read)" "$(missed sampled)" "${whole_missed[host]}"
within "and measures a part" "$(total sampled 3 measured)" 1 $(($(commands sampled read) - 1))
no_losses "and loses nothing, too" sampled

check "what is no disk is refused" sh -c '! ntprof-bpf --host --device /dev/null 2>err; grep -q "no such block device" err'
check "a target has no nvme0" sh -c '! ntprof-bpf --target --ctrl nvme0 2>err; grep -q "by their ids" err'
host_disconnect "$path"
host_disconnect "$b"
target_remove
finish
