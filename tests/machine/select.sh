#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 4
# takes: 310
# A selection has exactly those commands that the same run has under that condition: what was recorded of all,
# reported with the selection, against tracers that have it, beside each other during one load.
set -u
. /lib/machine.sh

cd /tmp || exit 1
hostnqn=nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555

for name in a b; do
	disk=$(target_setup_null $name size=256 discard=1)
	[[ $name = a ]] && target_subsystem "$disk"
	[[ $name = b ]] && target_subsystem nqn.2024-01.io.ntprof:second "$disk"
done
target_port
hostid=${hostnqn##*:}
a=$(host_connect -i 4 --hostnqn=$hostnqn --hostid="$hostid")
b=$(host_connect nqn.2024-01.io.ntprof:second -i 2)
dev_a=$(host_device "$a")
dev_b=$(host_device "$b")

# load: several operations, sizes, queues and controllers.
load() {
	mix "$dev_a"
	fio --direct=1 --ioengine=libaio --name=b --filename="$dev_b" --rw=randrw --bssplit=4k/50:16k/50 --size=64m \
		--iodepth=8 --number_ios=400 >/tmp/fio 2>&1 || cat /tmp/fio
}

# commands_of FILE...: all I/O commands of a recording, one a line, but when: what they were and what became of them.
commands_of() {
	ntprof-bpf report "$@" --commands | grep -E ' op=(read|write|flush|discard) ' | sed 's/^[0-9.]* //' | LC_ALL=C sort
}

# missed_in RECORDING...: how many commands, as "missed" in lib.sh.
missed_in() {
	local file

	[[ $VM_KIND == stock ]] || { echo 0; return; }
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

declare -A selections=(
	[op]="--op read,flush"
	[size]="--size 4k-8k,256KiB --lba 0-400000"
	[queue]="--queue 1,3-4 --ctrl $a"
	[cntlid]="--ctrl 2 --nsid 1"
	[nqn]="--nqn nqn.2024-01.io.ntprof:second --op write"
	[hostnqn]="--hostnqn $hostnqn --queue 2-3"
	[slower]="--op read --slower 1ms"
)

# compare SIDE NAME...: one load, which is recorded whole and with each of these.
compare() {
	local side=$1 name pids=() args said

	shift
	for name in whole "$@"; do
		args=()
		[[ $name = whole ]] || read -ra args <<<"${selections[$name]}"
		tracer_start "$side.$name.out" record --"$side" --force -o "$side.$name.ntp" "${args[@]}"
		pids+=("$tracer_pid")
	done
	load
	tracer_stop "${pids[@]}"
	equal "$side: tracers of $* end well" $? 0
	for name; do
		read -ra args <<<"${selections[$name]}"
		commands_of "$side.whole.ntp" "${args[@]}" >expected
		commands_of "$side.$name.ntp" >got
		# Each tracer has looked at its own clock; of what they have in common the two are the same.
		for f in expected got; do
			sed -E 's/ latency=.*//' $f | LC_ALL=C sort >$f.what
		done
		# One of which a program was skipped is not there, or another.
		[[ $name = slower ]] || within "$side ${selections[$name]}: the very commands, $(wc -l <got) of them" \
			"$(comm -3 expected.what got.what | wc -l)" 0 $((2 * $(missed_in "$side.whole.ntp" "$side.$name.ntp")))
		check "$side: some with ${selections[$name]}" test -s got
		if [[ $name = slower ]]; then
			equal "$side: none is faster" "$(sed -n 's/.* latency=\([0-9]*\) .*/\1/p' got |
				awk '$1 < 1000000' | wc -l)" 0
		fi
		said=$(ntprof-bpf report "$side.$name.ntp" | grep -E '^.*: loss ' | grep -vE 'async_event|probe_missed')
		equal "$side ${selections[$name]}: no losses" "$said" ""
	done
	check "$side: a selection of nothing says so" sh -c \
		"ntprof-bpf report $side.whole.ntp --nsid 7 | grep -q '^selected: nothing, of [1-9]'"
}

compare host op size queue nqn slower
compare target size cntlid hostnqn

# Histograms of live views and lines of trace beside a recording of all.
tracer_start whole.out record --host --force -o whole.ntp
pids=("$tracer_pid")
tracer_start live --host --op write --size 64k-1M --ctrl "$a"
pids+=("$tracer_pid")
tracer_start trace trace --host --queue 2 --op read
pids+=("$tracer_pid")
tracer_start sampled --host --op read --queue 1-2 --sample 4
pids+=("$tracer_pid")
load
tracer_stop "${pids[@]}"
equal "live views, trace and record end well" $? 0
whole_missed=$(missed_in whole.ntp)
near "a live view counts what a report of the selection does" "$(commands live write)" \
	"$(total <(ntprof-bpf report whole.ntp --op write --size 64k-1M --ctrl "$a") 3 commands write)" "$(missed live)" "$whole_missed"
check "and these are some" test "$(commands live write)" -gt 0
equal "and nothing else" "$(grep '^commands ' live | grep -vc '^commands write ')" 0
check "and says that they are selected" grep -q 'selected commands only' live
no_losses "and loses nothing" live
trace_missed=0
[[ $VM_KIND != stock ]] || trace_missed=$(awk '$1 == "probe_missed" { n = $2 } END { print n + 0 }' trace.err)
near "trace has the same lines" "$(grep -c ' op=read ' trace)" \
	"$(total <(ntprof-bpf report whole.ntp --op read --queue 2) 3 commands read)" "$trace_missed" "$whole_missed"
equal "and no others" "$(grep ' op=' trace | grep -vc ' op=read ')" 0
near "a sample of a selection counts all of the selection" "$(commands sampled read)" \
	"$(total <(ntprof-bpf report whole.ntp --op read --queue 1-2) 3 commands read)" "$(missed sampled)" "$whole_missed"
within "and measures a part" "$(total sampled 3 measured)" 1 $(($(commands sampled read) - 1))
no_losses "and loses nothing, too" sampled

# A disk that two controllers lead to, which take turns.
target_port 127.0.0.1 4421
path=$(host_connect nqn.2024-01.io.ntprof:second -i 2 -s 4421)
second=$(cat "/sys/class/nvme/$b/subsysnqn")
for subsystem in /sys/class/nvme-subsystem/*; do
	[[ $(<"$subsystem/subsysnqn") != "$second" ]] || echo round-robin >"$subsystem/iopolicy"
done
tracer_start whole.out record --host --force -o whole.ntp
pids=("$tracer_pid")
tracer_start disk.out record --host --force -o disk.ntp --device "$dev_b"
pids+=("$tracer_pid")
tracer_start disk.path.out record --host --force -o disk.path.ntp --device "$(basename "$(host_path "$path")")"
pids+=("$tracer_pid")
load
tracer_stop "${pids[@]}"
equal "tracers of a disk end well" $? 0
near "a disk has the commands of all of its paths" "$(commands_of disk.ntp | wc -l)" \
	"$(commands_of whole.ntp --nqn "$second" | wc -l)" "$(missed_in disk.ntp)" "$(missed_in whole.ntp)"
for c in "$b" "$path"; do
	check "and some are of $c" test -n "$(commands_of disk.ntp --ctrl "$c")"
done
near "a path has its own" "$(commands_of disk.path.ntp | wc -l)" "$(commands_of whole.ntp --ctrl "$path" | wc -l)" \
	"$(missed_in disk.path.ntp)" "$(missed_in whole.ntp)"
check "a report knows the disk by its name in the recording" cmp -s <(commands_of whole.ntp --device "$dev_b") \
	<(commands_of whole.ntp --nqn "$second" --nsid 1)
check "what is no disk is refused" sh -c '! ntprof-bpf --host --device /dev/null 2>err; grep -q "no such block device" err'
host_disconnect "$path"

# Queues that are connected while they are watched.
host_disconnect "$a"
tracer_start again.out record --host --force -o again.ntp --ctrl "$a" --hostnqn $hostnqn --op read,write,fabrics
pids=("$tracer_pid")
tracer_start again.target.out record --target --force -o again.target.ntp --hostnqn $hostnqn --op read,write
pids+=("$tracer_pid")
tracer_start whole.out record --host --force -o whole.ntp
pids+=("$tracer_pid")
again=$(host_connect -i 4 --hostnqn=$hostnqn --hostid="$hostid")
equal "it is connected as before" "$again" "$a"
mix "$(host_device "$again")"
host_disconnect "$again"
tracer_stop "${pids[@]}"
whole_missed=$(missed_in whole.ntp)
near "a controller that comes is selected by its name" \
	"$(ntprof-bpf report again.ntp --commands | grep -cE ' op=(read|write|fabrics) ')" \
	"$(ntprof-bpf report whole.ntp --commands | grep -cE ' op=(read|write|fabrics) ')" "$(missed_in again.ntp)" "$whole_missed"
equal "with the Connect of each queue" \
	"$(ntprof-bpf report again.ntp --commands | grep -cE ' q[0-9]+ .* op=fabrics .* length=1024 ')" 5
near "and on the target by its host's" \
	"$(ntprof-bpf report again.target.ntp --commands | grep -cE ' op=(read|write) ')" \
	"$(ntprof-bpf report whole.ntp --commands | grep -cE ' op=(read|write) ')" "$(missed_in again.target.ntp)" "$whole_missed"
near "what is selected on both sides is merged" \
	"$(total <(ntprof-bpf report again.ntp again.target.ntp --op read,write) 3 merged)" \
	"$(ntprof-bpf report whole.ntp --commands | grep -cE ' op=(read|write) ')" "$(missed_in again.ntp again.target.ntp)" "$whole_missed"

host_disconnect "$b"
target_remove
check "a target has no nvme0" sh -c '! ntprof-bpf --target --ctrl nvme0 2>err; grep -q "by their ids" err'
finish
