#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 75
# With the ends of commands alone every command is counted once, also those that fail, on each kind of connection; its
# stages add up to its latency, and merged it has three of them.
set -u
. /lib/machine.sh

cd /tmp || exit 1
host_rest=nvme_tcp_submission+network_and_target+nstack_completion+nvme_tcp_completion+blk_completion
target_all=nvmet_tcp_submission+network_and_host+target_subsystem
between=nvme_tcp_submission+nstack_submission+nvmet_tcp_completion+network_transmission+nstack_completion+nvme_tcp_completion+blk_completion
of_target=nvmet_tcp_submission+target_subsystem

connect_ways 2
declare -A pid
for side in host target; do
	tracer_start $side -v --$side --points ends
	pid[$side]=$tracer_pid
	tracer_start $side.trace trace --$side --points ends --summary
	pid[$side.trace]=$tracer_pid
	tracer_start $side.record record --$side --points ends --force -o $side.ntp
	pid[$side.record]=$tracer_pid
done
check "no packet is stamped" sh -c '! ls -l /proc/'"${pid[host]}"'/fd | grep -q socket:'

declare -A fio=([read]=0 [write]=0 [trim]=0)
job() {
	local kind n

	fio --name="$1" --direct=1 --ioengine=libaio --randrepeat=1 --group_reporting --size=200M --output-format=json \
		"${@:2}" >fio.json || echo "# fio $1 failed"
	while read -r kind n; do
		fio[$kind]=$((${fio[$kind]} + n))
	done < <(awk '/^ *"(read|write|trim|sync)" : \{/ { gsub(/"/, ""); kind = $1 }
		/"total_ios"/ && kind != "sync" { sub(/,/, ""); print kind, $3 }' fio.json)
}
failed=0
for ctrl in "${way_ctrls[@]}"; do
	dev=$(host_device "$ctrl")
	job mix --filename="$dev" --rw=randrw --bssplit=4k/40:16k/20:64k/30:1M/10 --iodepth=4 --number_ios=400
	job deep --filename="$dev" --rw=randread --bs=4k --iodepth=32 --numjobs=2 --number_ios=300
	job trim --filename="$dev" --rw=trim --bs=1M --number_ios=8
	for ((i = 0; i < 5; i++)); do
		nvme io-passthru "$dev" --opcode=0xee --namespace-id=1 2>/dev/null || failed=$((failed + 1))
	done
done
tracer_stop "${pid[@]}"
equal "tracers end well" $? 0

errors() {
	awk '$1 == "error" && / status=0x001 / { n += $4 } END { printf "%.0f\n", n }' "$1"
}
equal "a target takes no memory for stages" "$(sed -n 's/^pool stages .*, \([0-9]*\) of .* taken$/\1/p' target.err | sort -u)" 0
for side in host target; do
	for file in $side $side.trace.err; do
		for op in read write; do
			counted "$file counts every $op" "$(commands "$file" "$op")" "${fio[$op]}" "$file"
		done
		counted "$file counts every discard" "$(commands "$file" discard)" "${fio[trim]}" "$file"
		no_losses "$file loses nothing" "$file"
	done
	equal "$side counts every command that fails" "$(errors $side)" "$failed"
	check "$side says that it has the ends only" grep -q 'ends of commands only' $side
	grep -E "^[0-9.]+ $side .* op=(read|write) " $side.trace >records
	unconserved records 1 >bad
	equal "$side: every command's stages add up to its latency" "$(wc -l <bad)" 0
	head -n 3 bad | sed 's/^/#   /'
	check "$side: R2T writes were among them" grep -q 'shape=r2t_write' records
	check "$side: inline writes were among them" grep -q 'shape=inline_write' records
	for op in read write; do
		equal "$side: histograms and records agree on the number of ${op}s" \
			"$(commands $side.trace.err $op)" "$(grep -c " op=$op " records)"
		equal "$side: stages of ${op}s add up to all latencies" \
			"$(total $side.trace.err 8 stage $op)" "$(latencies records $op)"
	done
done
for op in read write; do
	check "host: blk_submission of ${op}s is known" grep -q "^stage $op blk_submission " host
	check "host: the rest of ${op}s is one stage" grep -qF "stage $op $host_rest " host
	check "target: what it does for ${op}s is one stage" grep -qF "stage $op $target_all " target
done

ntprof-bpf report host.ntp target.ntp >report
equal "report ends with 0" $? 0
sed -n '1,/^$/s/^/# /p' report
equal "every command has its stages" "$(awk '$1 == "unsplit" { print $2 }' report)" 0
for side in host target; do
	check "$side.ntp is said to have the ends only" grep -q "^$side.ntp: it has only the ends of commands" report
done
for op in read write; do
	counted "all ${op}s are merged" "$(total report 3 merged $op)" "${fio[$op]}" host
	equal "the stages of merged ${op}s add up" "$(total report 0 merged_stage $op)" "$(total report 0 merged $op)"
	for stage in blk_submission $between $of_target; do
		check "merged ${op}s have $stage" grep -qF "merged_stage $op $stage " report
	done
	equal "and no other stage" "$(grep -c "^merged_stage $op " report)" 3
done

for ctrl in "${way_ctrls[@]}"; do
	host_disconnect "$ctrl"
done
target_remove
finish
