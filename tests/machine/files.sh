#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# with programs: burst_reader
# takes: 75
# --points fine: what target_subsystem is made of where a namespace is a file, or a disk with buffered I/O. Reads that the page
# cache did not answer are as many as the disk saw, whether nvmet asked the file system at once or in its worker alone. What
# waits for a worker that is busy shows as target_file_wait. What a command had adds up to its execution to the nanosecond.
# Direct I/O has no parts and is counted. live and serve with a peer have the same, from either end.
set -u
. /lib/machine.sh

cd /tmp || exit 1
commands=100
modprobe brd rd_nr=2 rd_size=65536
modprobe -a dm-delay ext4
mke2fs -b 4096 /dev/ram1 >/dev/null
mkdir files
mount -t ext4 /dev/ram1 files
dd if=/dev/zero of=files/buffered bs=1M count=16 status=none
cp files/buffered files/direct
umount files
# Each read of these takes 5 ms. ${disk[NSID]} is the disk that sees the reads of a namespace.
echo "0 131072 delay /dev/ram0 0 5" | dmsetup create --noudevsync plain
echo "0 131072 delay /dev/ram1 0 5" | dmsetup create --noudevsync system
# Linux 6.1 lets nvmet ask the first one at once, later ones do not; all do so with the second one, and none with memory.
path=()
disk=([1]=/dev/dm-0 [2]=/dev/dm-1)
mount -t ext4 "${disk[2]}" files
path[1]=${disk[1]}
path[2]=$PWD/files/buffered
path[3]=$(target_setup_file memory 16)
path[4]=$PWD/files/direct
path[5]=$(target_setup_null quick size=64 irqmode=2 completion_nsec=1000000)
path[6]=$(target_setup_file busy 16)
target_port
nqn=nqn.2024-01.io.ntprof:base
target_subsystem "$nqn" "${path[@]}"
# buffered NSID 0|1
buffered() {
	local dir=/sys/kernel/config/nvmet/subsystems/$nqn/namespaces/$1

	echo 0 >"$dir/enable"
	echo "$2" >"$dir/buffered_io"
	echo 1 >"$dir/enable"
}
buffered 1 1
buffered 4 0
ctrl=$(host_connect "$nqn" -i 1)
wait_for host_device "$ctrl" 6 >/dev/null

for side in host target; do
	tracer_start $side.log record --$side --points fine --force -o $side.ntp
	pids+=("$tracer_pid")
done

# load NSID NAME read|write: 4 KiB each, so far from each other that nothing is read ahead. What fio saw is in ${fio[NAME]}, how
# many reads the disk saw in ${saw[NAME]}.
declare -A fio=() saw=()
disk_reads() {
	[[ -z ${disk[$1]:-} ]] || awk '{ print $1 }' "/sys/block/${disk[$1]##*/}/stat"
}
load() {
	local before

	before=$(disk_reads "$1")
	fio[$2]=$(fio --filename="$(host_device "$ctrl" "$1")" --direct=1 --ioengine=libaio --iodepth=1 --bs=4k --size=16m \
		--rw="$3:124k" --number_ios=$commands --name=x --output-format=terse --terse-version=3 |
		awk -F\; '{ printf "%.0f", ($40 + $81) * 1000 }')
	saw[$2]=$(($(disk_reads "$1") - before))
}
sync
echo 3 >/proc/sys/vm/drop_caches
for nsid in 1 2; do
	load $nsid $nsid.cold read
	load $nsid $nsid.warm read
done
load 3 memory read
load 4 direct read
load 5 disk read
load 2 write write
# A busy loop of 3 ms that keeps the processor: of some of these it comes between nvmet and its worker.
for ((us = 10; us < 90; us += 2)); do
	burst_reader "$(host_device "$ctrl" 6)" 2 0 $us 3000 >/dev/null
done
tracer_stop "${pids[@]}"
cat target.log.err
echo "# fio $(for name in "${!fio[@]}"; do echo "$name ${fio[$name]}"; done | xargs)"

# figures NSID OP [REPORT'S OPTION...]: lines of the report are in "report", means of stages in ${stage[NAME]}.
declare -A stage=()
figures() {
	local name mean _

	stage=()
	ntprof-bpf report --nsid "$1" --op "$2" "${@:3}" host.ntp target.ntp >report
	while read -r _ _ name mean _; do
		stage[$name]=$mean
	done < <(grep "^merged_stage $2 " report)
	echo "# $1, $2:$(for name in target_{block_layer,file_wait,file_io,page_cache,subsystem} device; do
		printf ' %s %s' "$name" "${stage[$name]:--}"
	done)"
	equal "$1, $2: no stage is negative" "$(grep ^negative_stages report)" "negative_stages 0 worst 0"
	equal "$1, $2: stages add up" "$(awk -v op="$2" '$1 == "merged_stage" && $2 == op { n += $NF } END { printf "%.0f", n }' report)" \
		"$(awk -v op="$2" '$1 == "merged" && $2 == op { printf "%.0f", $NF }' report)"
}
merged() {
	awk -v op="$1" '$1 == "merged" && $2 == op { n = $3 } END { printf "%.0f", n }' report
}

for nsid in 1 2; do
	figures $nsid read
	equal "$nsid: every read is merged" "$(merged read)" $((2 * commands))
	equal "$nsid: as many are in the page cache as were read before" "$(grep ^file_reads report)" \
		"file_reads $((2 * commands)) page_cache $commands"
	equal "$nsid: an execution is in parts" "${stage[target_subsystem]:-none}" none
	equal "$nsid: files have no device" "${stage[device]:-none}" none
	equal "$nsid: the disk saw none that the page cache had" "${saw[$nsid.warm]}" 0
	within "$nsid: the others took what the disk takes" "${stage[target_file_io]}" 5000000 15000000
	within "$nsid: those of the page cache did not" "${stage[target_page_cache]}" 1 200000
	# The first half is cold, the second one warm.
	equal "$nsid: the right ones are" "$(ntprof-bpf report --nsid $nsid --op read --commands host.ntp target.ntp |
		awk '/ op=read / { n[++nr <= '$commands', / page_cache /]++ } END { print n[1, 0] + 0, n[0, 1] + 0 }')" \
		"$commands $commands"
	figures $nsid read --where 'target_page_cache>0ns'
	equal "$nsid: they are selected" "$(merged read)" $commands
	figures $nsid read --where 'target_file_io>0ns'
	equal "$nsid: and the others" "$(merged read)" $commands
done
equal "the disk saw each of the others once" "${saw[1.cold]}" $commands
# It reads where the blocks of a file are as well.
within "the file's disk saw them, too" "${saw[2.cold]}" $commands $((2 * commands))

figures 3 read
equal "a file in memory is in the page cache" "$(grep ^file_reads report)" "file_reads $commands page_cache $commands"
base=${stage[target_file_wait]}
base_latency=$(awk '$1 == "merged" && $2 == "read" { print $4 }' report)
figures 4 read
check "direct I/O has no parts" test -n "${stage[target_subsystem]:-}"
equal "its reads are none of the page cache" "$(grep -c ^file_reads report)" 0
figures 5 read
within "a disk has its parts beside files" "${stage[device]}" 900000 1150000
equal "its reads are none of a file" "$(grep -c ^file_reads report)" 0
figures 2 write
equal "every write is merged" "$(merged write)" $commands
equal "writes are no reads" "$(grep -c ^file_reads report)" 0
check "a write has been in the worker" test -n "${stage[target_file_io]:-}"
equal "direct I/O alone is counted as unseen" \
	"$(ntprof-bpf report target.ntp | awk '$2 == "loss" && $3 == "disk_unseen" { print $4 }')" $commands

# Of each command of files: the worker begins between exec and done.
for nsid in 1 2 3 6; do
	equal "$nsid: the worker begins within the execution" "$(ntprof-bpf report --nsid $nsid --commands target.ntp | awk '
		/ file_work=/ {
			delete at
			for (i = 1; i <= NF; i++)
				if (split($i, of, "=") == 2)
					at[of[1]] = of[2]
			wrong += !(at["exec"] + 0 <= at["file_work"] + 0 && at["file_work"] + 0 <= at["done"] + 0)
		}
		END { print wrong + 0 }')" 0
done
# Of the reads for which the busy loop came between: how many, what they waited for the worker, and what the host saw.
read -r nr wait latency < <(ntprof-bpf report --nsid 6 --commands host.ntp target.ntp | awk '
	/ file_work=/ {
		delete at
		for (i = 1; i <= NF; i++)
			if (split($i, of, "=") == 2)
				at[of[1]] = of[2]
		if (at["file_work"] - at["exec"] < 2000000)
			next
		nr++
		wait += at["file_work"] - at["exec"]
		latency += at["latency"]
	}
	END { printf "%.0f %.0f %.0f\n", nr, wait / (nr ? nr : 1), latency / (nr ? nr : 1) }')
echo "# $nr reads waited $wait for the worker, without it $base; the host saw $latency, without it $base_latency"
within "the busy loop has come between" "$nr" 1 1000
within "the wait grows by what was put in" $((wait - base)) 2700000 3300000
within "and by what the host saw" $((wait - base)) $(((latency - base_latency) * 9 / 10)) $(((latency - base_latency) * 11 / 10))

ntprof-bpf report --nsid 1 --op read --detail target.ntp >detail
grep -E "^(shape|read .*(exec|file_work))" detail | sed 's/^/# /'
equal "the intervals of a target alone: reads that the page cache answered" \
	"$(awk '$4 == "page_cache" { n += $5 } END { printf "%.0f", n }' detail)" $commands
equal "and others" "$(awk '$3 == "file_work" && $4 == "done" { n += $5 } END { printf "%.0f", n }' detail)" $commands
# The same while it runs: each side once, with the other one as its peer. Half of the reads find their page in the cache.
# both_halves PID: when that recorder is ready.
both_halves() {
	wait_for -t 60 tracer_ready "$1"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	load 1 live.cold read
	load 1 live.warm read
}
tracer_start live --target --points fine -i 1 --peer 'ntprof-bpf record --host --points fine -o -'
wait_for -t 60 grep -q '^peer 1: running' live
both_halves "$(pgrep -fo '^ntprof-bpf record --host')"
tracer_stop "$tracer_pid"
equal "live: as many are in the page cache as were read before" "$(grep ^file_reads live)" \
	"file_reads $((2 * commands)) page_cache $commands"
grep '^merged_stage read target_' live | sed 's/^/# /'
for name in target_file_wait target_file_io target_page_cache; do
	check "live: $name is a stage" grep -q "^merged_stage read $name " live
	check "live: also while it runs" grep -q "^read  *$name " live
done
equal "live: stages add up" "$(total live 0 merged_stage read)" "$(total live 0 merged read)"

# What serve starts holds no right to trace.
mkfifo target.fifo
ntprof-bpf record --target --points fine -o - >target.fifo 2>recorder.err &
recorder=$!
tracer_start serve.out serve --host --points fine --listen 127.0.0.1:9998 -i 200ms --peer "$PWD/target.fifo"
both_halves $recorder
merged_stage=ntprof_merged_stage_duration_seconds
sample() {
	sed -n "s/^$1{.*operation=\"read\",stage=\"$2\"} //p" page
}
# The last commands of a queue may wait for later ones.
told() {
	dd if="$(host_device "$ctrl" 5)" of=/dev/null bs=4k count=1 iflag=direct status=none
	curl -sS --fail http://127.0.0.1:9998/metrics >page && [[ $(sample ${merged_stage}_count target_page_cache) == "$commands" ]]
}
check "serve: as many are in the page cache as were read before" wait_for -t 30 told
grep "^${merged_stage}_\(count\|sum\){.*\"target_" page | sed 's/^/# /'
equal "serve: and the others had to be read" "$(sample ${merged_stage}_count target_file_io)" $commands
within "serve: these took what the disk takes" "$(sample ${merged_stage}_sum target_file_io | awk '{ printf "%.0f", $1 * 1000 }')" \
	$((commands * 5)) $((commands * 15))
check "serve: their wait for the worker" test -n "$(sample ${merged_stage}_count target_file_wait)"
tracer_stop "$tracer_pid" $recorder
host_disconnect "$ctrl"
target_remove
umount files
dmsetup remove --noudevsync plain
dmsetup remove --noudevsync system
finish
