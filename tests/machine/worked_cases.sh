#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 4
# takes: 100
# The two cases that ntprof works out for its users, with configuration files as these have them: a disk that somebody
# else loads as well, on the target, and many jobs on too few queues. The stage that takes over is that of the cause, and
# grows by what fio saw.
set -u
. /lib/machine.sh

cd /tmp || exit 1

# config FILE TYPE SIZE [LINE...]: as ntprof has it; the disk is $dev.
config() {
	local file=$1 type=$2 size=$3

	shift 3
	mkdir -p "/tmp/data.$file"
	cat >"$file" <<-END
		; ntprof_config.ini
		[Workload]
		SESSION_NAME = "${dev##*/}"
		IO_TYPE = "$type"
		IO_SIZE = "$size"       # of this size only

		[Execution]
		NETWORK_BANDWIDTH_LIMIT = INF
		NVME_DRIVE_BANDWIDTH_LIMIT = ${drive:-INF}

		[Profiling]
		IS_ONLINE = ${online:-false}
		DATA_DIR = "/tmp/data.$file"
		TIME_INTERVAL = 1
		FREQUENCY = 1
		BUFFER_SIZE = 64

		[Report]
		ENABLE_THROUGHPUT = true
		ENABLE_LATENCY_BREAKDOWN = true
		ENABLE_QUEUE_LENGTH = true
	END
}

# recorded NAME OP BS fio-options...: both sides record the load; NAME.stages has "STAGE MEAN" of the ten stages, and "fio
# MEAN" of what fio saw, in nanoseconds. Means add up, whatever the two loads do to each other.
recorded() {
	local name=$1 op=$2 bs=$3 field=40 host target

	shift 3
	[[ $op = read ]] || field=81
	config "$name" "$op" "$bs"
	tracer_start "$name.host" record --host --config "$name"
	host=$tracer_pid
	tracer_start "$name.target" record --target --force -o "data.$name/target.ntp"
	target=$tracer_pid
	fio --name="$name" --filename="$dev" --direct=1 --ioengine=libaio --bs="${bs,,}" --rw="rand$op" --norandommap \
		--size=128m --thread --group_reporting --output-format=terse --terse-version=3 \
		"$@" 2>fio.err |
		awk -F\; -v f=$field '{ printf "fio %.0f\n", $f * 1000 }' >"$name.stages"
	tracer_stop "$host" "$target" || cat "$name".*.err
	ntprof-bpf report "data.$name/host.ntp" "data.$name/target.ntp" --op "$op" --size "$bs" --commands >"$name.report"
	awk '$2 == "merged" {
		for (i = NF; $i != "stages" && i > 3; i--) {
			at = index($i, "=")
			sum[substr($i, 1, at - 1)] += substr($i, at + 1)
			n[substr($i, 1, at - 1)]++
		}
	}
	END { for (s in n) printf "%s %.0f\n", s, sum[s] / n[s] }' "$name.report" >>"$name.stages"
}

# judge CASE BEFORE AFTER STAGE: it is the one that grows, by what fio saw.
judge() {
	local table most grown fio

	table=$(awk 'NR == FNR { before[$1] = $2; next } { printf "%s %.0f %.0f %.0f\n", $1, before[$1], $2, $2 - before[$1] }' \
		"$2.stages" "$3.stages")
	awk '{ printf "#   %-22s %10.1f %10.1f %+10.1f us\n", $1, $2 / 1e3, $3 / 1e3, $4 / 1e3 }' <<<"$table"
	most=$(awk '$1 != "fio" && $4 > max { max = $4; name = $1 } END { print name }' <<<"$table")
	grown=$(awk -v s="$4" '$1 == s { print $4 }' <<<"$table")
	fio=$(awk '$1 == "fio" { print $4 }' <<<"$table")
	equal "$1: no stage grows as much as $4" "$most" "$4"
	check "$1: fio sees that it is slower" test "${fio:-0}" -gt 1000000
	within "$1: it grows by what fio saw" "$grown" $((fio * 8 / 10)) $((fio * 12 / 10))
	within "$1: it is most of what fio sees then" "$(awk -v s="$4" '$1 == s { print $2 }' "$3.stages")" \
		$(($(awk '$1 == "fio" { print $2 }' "$3.stages") / 2)) "$(awk '$1 == "fio" { printf "%.0f\n", $2 * 1.2 }' "$3.stages")"
}

# What the target sends is not what waits: its sockets have room.
sysctl -q net.ipv4.tcp_wmem='4096 4194304 4194304' net.ipv4.tcp_rmem='4096 4194304 6291456'
disk=$(target_setup_null a size=256 queue_mode=2 mbps=10)
quick=$(target_setup_null b size=256)
target_subsystem "$disk"
target_subsystem nqn.2024-01.io.ntprof:second "$quick"
target_port

# A disk that does one command of 128 KiB each 20 ms, whoever gives it.
ctrl=$(host_connect -i 4)
dev=$(host_device "$ctrl")
drive=6.6 online=true config live write 128K
tracer_start live.out --host --config live
live=$tracer_pid
recorded alone write 128K --iodepth=8 --number_ios=200
tracer_stop "$live"
check "the drive is at its limit, in words" grep -qE '^limit drive .* # within 90 % of its limit ' live.out
fio --name=other --filename="$disk" --direct=1 --ioengine=libaio --bs=128k --rw=randwrite --iodepth=8 --size=128m \
	--offset=128m --time_based --runtime=600 >other.out 2>&1 &
other=$!
sleep 2
recorded congested write 128K --iodepth=8 --number_ios=200
kill "$other"
wait "$other"
judge "a congested disk" alone congested target_subsystem
host_disconnect "$ctrl"

# A far target, 100 ms each way, and connections that have no more under way than a socket of 4 KiB takes: some 36
# commands. 96 of them wait before one queue and, 24 each, not before four. What machines take is little beside that.
modprobe sch_netem
sysctl -q net.ipv4.tcp_wmem='4096 4096 4096'
for queues in 4 1; do
	ctrl=$(host_connect nqn.2024-01.io.ntprof:second -i $queues)
	dev=$(host_device "$ctrl")
	tc qdisc add dev lo root netem delay 100ms limit 100000
	recorded "queues$queues" read 4K --numjobs=32 --iodepth=3 --number_ios=30
	tc qdisc delete dev lo root
	host_disconnect "$ctrl"
done
judge "too few queues" queues4 queues1 nvme_tcp_submission

target_remove
finish
