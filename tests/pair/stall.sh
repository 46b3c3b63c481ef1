#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 70
# The answers of one of two I/O queues are lost on their way for some seconds, while the other queue goes on: its
# commands are merged like all others, live and from files, and the network is to blame.
# shellcheck disable=SC1091,SC2154 # ctrl, dev and pair_target are set by it
set -u
. /lib/pair.sh
cd /tmp || exit 1

stall_seconds=3
depth=4

on_target "target_subsystem \$(target_setup_null away size=256)
	target_port $pair_target"
pair_connect -i 2
mapfile -t ports < <(ss -Htn dst "$pair_target:4420" | awk '{ sub(/.*:/, "", $4); print $4 }')
equal "an admin queue and two I/O queues are connected" ${#ports[@]} 3
# A band for what the target sends to each connection. Each counts, so the busiest is that of an I/O queue: the kernel does
# not give ports in the order of connecting.
on_target "tc qdisc add dev eth0 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
for band in 2 3 4; do
	on_target "tc qdisc add dev eth0 parent 1:$band handle ${band}0: netem
		tc filter add dev eth0 parent 1: protocol ip u32 match ip dport ${ports[band - 2]} 0xffff flowid 1:$band"
done

# busiest: the number of that band.
busiest() {
	on_target "tc -s qdisc show dev eth0" |
		awk '$2 == "netem" { band = $3 / 10 } $1 == "Sent" && band { print $2, band }' | sort -n | awk 'END { print $2 }'
}

# lose PERCENT: of what goes to that band.
lose() {
	on_target "tc qdisc change dev eth0 parent 1:$band handle ${band}0: netem loss $1%"
}

# reads_since N: there have been some reads since the disk had N.
reads_since() {
	(($(awk '{ print $1 }' "$(host_path "$ctrl")/stat") > $1 + 20))
}

# stalled NAME: a load on both queues, and the answers of one of them stay away in the middle of it. On a busy machine fio
# and ssh take seconds to begin, so each step waits for the one before.
stalled() {
	local loader before band

	before=$(awk '{ print $1 }' "$(host_path "$ctrl")/stat")
	fio --name="$1" --filename="$dev" --direct=1 --ioengine=libaio --size=100M --rw=randread --bs=4k \
		--iodepth=$depth --numjobs=2 --cpus_allowed=0-1 --cpus_allowed_policy=split --time_based \
		--runtime=300 --rate_iops=50 --offset_increment=100M >/tmp/fio 2>&1 &
	loader=$!
	wait_for reads_since "$before"
	band=$(busiest)
	lose 100
	sleep $stall_seconds
	lose 0
	sleep 2
	kill -INT $loader
	wait $loader
}

# The slowest ones of the merged commands in FILE, slower than the stall was long.
slow() {
	awk -v least=$((stall_seconds * 1000000000)) '$2 == "merged" {
		match($0, / latency=[0-9]+/)
		if (substr($0, RSTART + 9, RLENGTH - 9) + 0 >= least)
			n++
	} END { print n + 0 }' "$1"
}

record_begin both
tracer_start live --host -i 1 --peer "ssh root@target ntprof-bpf record --target -o -"
wait_for grep -q '^peer 1: running' live
stalled both
tracer_stop "$tracer_pid"
equal "live: the run ends well" $? 0
record_end both
ntprof-bpf report --commands --slowest 1 both.host.ntp both.target.ntp >report.txt 2>report.err
equal "report: it ends with 0" $? 0
grep '^connection' report.txt | sed 's/^/# /'
within "commands waited for the answers that were lost" "$(slow report.txt)" 1 $depth
equal "report: no command of an I/O queue has one side only" \
	"$(grep -cE ' (host_only|target_only|ambiguous) .* q[12] ' report.txt)" 0
laws report.txt >laws.txt
sed "s/^#* */# /" laws.txt
equal "report: every law holds for every command" "$(field laws.txt broken)" 0
within "report: the slowest command spent its time in the network, percent" \
	"$(awk '$1 == "network_transmission" && $3 == "us" { print $4 + 0 }' report.txt | tail -n 1)" 90 100
tac live | awk '/^connection/ && !seen[$2, $6]++' >summary
sed 's/^/# /' summary
equal "live: every command of both I/O queues is matched" \
	"$(grep ' queue [12]:' summary | grep -c 'host only 0, target only 0, ambiguous 0,')" 2
within "live: the longest latency is that of the stall" \
	"$(awk '$1 == "merged" && $2 == "read" { print int($7 / 1000000) }' live | tail -n 1)" $((stall_seconds * 1000)) 30000
host_disconnect "$ctrl"
finish
