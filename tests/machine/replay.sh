#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 35
# What report --fio-iolog makes of a recording asks another disk for the same: every command, with its pauses, and as many
# at a time. fio replays it, and that is recorded and compared.
set -u
. /lib/machine.sh

cd /tmp || exit 1
# Slow enough that a burst is in flight at a time where a busy machine lets fio wait between two commands of it.
for disk in a b; do
	target_subsystem "nqn.2024-01.io.ntprof:$disk" "$(target_setup_null $disk size=256 delay=50000000)"
done
target_port
ctrls=("$(host_connect nqn.2024-01.io.ntprof:a -i 2)" "$(host_connect nqn.2024-01.io.ntprof:b -i 2)")
devs=("$(host_device "${ctrls[0]}")" "$(host_device "${ctrls[1]}")")

# recorded FILE CMD...: what CMD does is recorded; its output is shown if it fails.
recorded() {
	local file=$1

	shift
	tracer_start record.log record --host -o "$file"
	"$@" >fio.out 2>&1 || cat fio.out
	tracer_stop "$tracer_pid"
}

# The halves of the disk distinguish the jobs: one with a pause before each command, one with bursts.
load() {
	fio --filename="${devs[0]}" --direct=1 --ioengine=libaio --rw=randrw --rwmixread=60 --bssplit=4k/40:16k/30:64k/30 \
		--name=paced --size=64m --iodepth=2 --number_ios=10 --thinktime=800ms --thinktime_blocks=1 \
		--name=bursts --offset=128m --size=64m --iodepth=8 --number_ios=80 --thinktime=800ms --thinktime_blocks=8
}

# commands FILE DISK: of each read and write of a disk, in the order of their beginnings: job, operation, LBA, bytes,
# beginning and end in us.
commands_of() {
	ntprof-bpf report "$1" --commands --format csv --device "$2" --op read,write | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			# The last nine digits of the seconds are enough, and exact.
			ns = substr($at["monotonic_ns"], 1, length($at["monotonic_ns"]) - 3) + 0
			printf "%s %s %.0f %d %.0f %.0f\n", $at["slba"] < 262144 ? "paced" : "bursts", $at["op"], $at["slba"],
				$at["length"], ns, ns + $at["latency"] / 1000
		}' | sort -n -k 5,5
}

# pause FILE JOB: the median of the times between two beginnings that are no burst's. They are long, as a busy machine lets
# fio wait 20 ms more.
pause() {
	awk -v job="$2" '$1 == job { if (last && $5 - last > 200000) print $5 - last; last = $5 }' "$1" | sort -n |
		awk '{ us[NR] = $1 } END { printf "%.0f\n", us[int((NR + 1) / 2)] }'
}

# most FILE JOB: the most commands of a job in flight.
most() {
	awk -v job="$2" '$1 == job { print $5, 1; print $6, -1 }' "$1" | sort -k 1,1n -k 2,2n |
		awk '{ n += $2; if (n > most) most = n } END { print most + 0 }'
}

recorded first.ntp load
commands_of first.ntp "${devs[0]}" >first
ntprof-bpf report first.ntp --op read,write --fio-iolog replay --fio-write --fio-device "${devs[1]}" >/dev/null 2>told
equal "the recording becomes a replay" $? 0
sed 's/^/# /' told replay/replay.fio
check "it says that it writes" grep -q WRITES told
check "it knows how large a block is" sh -c '! grep -q fio-block told'
replay() {
	(cd replay && fio replay.fio)
}
recorded second.ntp replay
commands_of second.ntp "${devs[1]}" >second
within "there were commands" "$(wc -l <first)" 90 94
for job in paced bursts; do
	# What fio reads of the disk before its first command is in neither.
	for file in first second; do
		awk -v job=$job '$1 == job { print $2, $3, $4 }' $file >$file.$job
	done
	within "$job: all of a job's are there" "$(wc -l <first.$job)" 10 84
	check "$job: operations, addresses and sizes are the same" \
		cmp <(sort first.$job) <(sort second.$job)
	us=$(pause first $job)
	within "$job: pauses are as long, within 5 %" "$(pause second $job)" $((us - us / 20)) $((us + us / 20))
	n=$(most first $job)
	within "$job: as many are in flight" "$(most second $job)" $((n > 2 ? n - 2 : 1)) $((n + 2))
done
ntprof-bpf report --op read,write --compare first.ntp -- second.ntp >compared
sed 's/^/# /' compared
check "report --compare finds no other sizes, and as many reads" \
	sh -c '! grep -qE "^the loads differ in.*(mean size|reads)" compared'
n=$(awk '$1 == "before" && NF == 9 { print $3 }' compared)
within "and as many commands" "$(awk '$1 == "after" && NF == 9 { print $3 }' compared)" $((n - 4)) $((n + 4))
# fio cuts some at the end of a job's part of the disk.
within "there are three sizes, read and written" "$(cut -d' ' -f2,4 first | sort -u | wc -l)" 6 12
check "bursts are bursts" test "$(most first bursts)" -ge 6

# Without --fio-write nothing is written, whatever fio is asked for.
writes() {
	block_stat "$(host_path "${ctrls[1]}")" 5
}
before=$(writes)
reads=$(block_stat "$(host_path "${ctrls[1]}")" 1)
ntprof-bpf report first.ntp --fio-iolog reads --fio-job mix.fio --fio-pace fast --fio-device "${devs[1]}" >/dev/null 2>&1
(cd reads && fio replay.fio) >fio.out 2>&1 || cat fio.out
check "the recorded reads are read" \
	test $(($(block_stat "$(host_path "${ctrls[1]}")" 1) - reads)) -ge "$(grep -c ' read ' first)"
fio --readonly mix.fio --runtime=1 >fio.out 2>&1 || cat fio.out
check "fio takes the job of the mix" grep -q 'issued rwts: total=[1-9]' fio.out
equal "and nothing is written" "$(writes)" "$before"
for ctrl in "${ctrls[@]}"; do
	host_disconnect "$ctrl"
done
finish
