#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 40
# The state of the queues' TCP connections, by the machine's own figures: addresses as the kernel lists them, the round
# trip time by a delay that is put in, and segments that were sent again as the kernel counts them for all sockets.
# The map of the verb paths by what ss, blk-mq and the workqueue's tracepoint say.
set -u
. /lib/machine.sh

cd /tmp || exit 1
modprobe sch_netem
# retransmitted: of all sockets of this machine.
retransmitted() {
	awk '$1 == "Tcp:" && $2 ~ /[0-9]/ { print $13 }' /proc/net/snmp
}
before=$(retransmitted)
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# cells FILE FIELD: of each connection of the last interval, "QUEUE VALUE".
cells() {
	grep '"type":"interval"' "$1" | tail -n 1 | sed 's/.*"tcp":\[//; s/\].*//' | tr '{' '\n' |
		sed -n "s/.*\"queue\":\([0-9]*\).*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1 \2/p"
}

# No command has been in flight since it is connected but those that look for partitions.
ntprof-bpf paths --format csv | tr -d '\r' >paths
# path QUEUE FIELD: of the map.
path() {
	awk -F, -v queue="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $2 == queue { print $at[name] }' paths
}
equal "paths: ports are those of ss" "$(for queue in 0 1 2; do path $queue local; done | sort)" \
	"$(ss -tn | awk '$5 ~ /:4420$/ { print $4 }' | sort)"
equal "paths: the card is lo" "$(path 1 nic)" lo
equal "paths: CPUs are blk-mq's" "$(path 1 cpus) $(path 2 cpus)" "$(cat "$(host_path "$ctrl")"/mq/{0,1}/cpu_list | paste -sd' ')"
tracing=/sys/kernel/tracing
echo 1 >$tracing/events/workqueue/workqueue_queue_work/enable
for queue in 1 2; do
	echo >$tracing/trace
	taskset -c "$(path $queue cpus)" dd if="$dev" of=/dev/null bs=4k count=200 iflag=direct status=none
	equal "paths: io_cpu of queue $queue is where the kernel queues its work" "$(path $queue io_cpu)" \
		"$(sed -n 's/.*function=nvme_tcp_io_work.* req_cpu=\([0-9]*\).*/\1/p' $tracing/trace | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')"
done
echo 0 >$tracing/events/workqueue/workqueue_queue_work/enable
# Root of another user namespace may not load programs.
unshare -U -r ntprof-bpf paths >lacking 2>lacking.err
equal "paths without rights ends well" $? 0
check "...and says what is missing" grep -q '^ntprof-bpf: sockets, io_cpu and what lies behind them are missing: ' lacking.err
check "...and has what sysfs has" grep -qE "^$ctrl +1 +[01] +- +- +- +- " lacking

started=()
for side in host target; do
	tracer_start $side.json --$side --tcp -i 1 --format json
	started+=("$tracer_pid")
done
# load NAME ARGS...: on both queues.
load() {
	fio --direct=1 --ioengine=libaio --iodepth=4 --numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split --size=64m \
		--name="$1" --filename="$dev" --bs=16k --output="$1.fio" "${@:2}"
}

load plain --rw=randrw --time_based --runtime=3
for side in host target; do
	within "$side: I/O queues are there" "$(cells $side.json srtt | grep -c '^[12] ')" 2 2
	cells $side.json remote | sed 's/^[0-9]* //' | sort >$side.remote
	cells $side.json local | sed 's/^[0-9]* //' | sort >$side.local
done
# State 01 is established (include/net/tcp_states.h).
while read -r _ at _ state _; do
	[[ $state != 01 ]] || echo "127.0.0.1:$((16#${at#*:}))"
done </proc/net/tcp | sort >kernel.local
equal "host: each address is one of the kernel's" "$(comm -23 <(sort -u host.local) <(sort -u kernel.local) | wc -l)" 0
equal "host and target: one's address is the other's" "$(comm -23 host.local target.remote | wc -l)" 0

# Both ways of lo are delayed: a round trip takes 20 ms.
tc qdisc add dev lo root netem delay 10ms limit 10000
load slow --rw=randrw --time_based --runtime=6
for side in host target; do
	within "$side: srtt of queue 1 in ns" "$(cells $side.json srtt | awk '$1 == 1 { print $2 }')" 18000000 60000000
done
recording=()
for side in host target; do
	tracer_start $side.out record --$side --tcp -o $side.ntp
	recording+=("$tracer_pid")
done
# A connection is watched from when its state is read, which is once a second.
load first --rw=randrw --time_based --runtime=2
tc qdisc change dev lo root netem delay 1ms loss 3% limit 10000
load lossy --rw=randrw --time_based --runtime=8
tc qdisc del dev lo root
tracer_stop "${recording[@]}"
sleep 3
again=$(($(cells host.json retransmitted | awk '{ n += $2 } END { print n + 0 }') + \
	$(cells target.json retransmitted | awk '{ n += $2 } END { print n + 0 }')))
within "segments were sent again" "$again" 5 1000000
equal "as many as the kernel counts" "$again" "$(($(retransmitted) - before))"
tracer_stop "${started[@]}"
equal "both tracers end well" $? 0

ntprof-bpf report host.ntp target.ntp --tcp --where retransmitted >resent
waited=$(sed -n 's/^merged commands that waited for what TCP sent again: //p' resent)
within "recordings: commands waited for segments that were sent again" "${waited:-0}" 5 1000000
check "recordings: and took as long as TCP takes to find out" \
	awk '$1 == "merged" && $4 >= 3e6 { ok = 1 } END { exit !ok }' resent
for side in host target; do
	equal "recordings: $side: both I/O queues have a state" \
		"$(ntprof-bpf report $side.ntp --tcp --format json | sed 's/.*"tcp"://' | grep -oE '"queue": *[12],' | sort -u | wc -l)" 2
done

load text --rw=randread --time_based --runtime=600 &
loading=$!
ntprof-bpf --host --tcp -i 1 -d 4 >text
kill $loading
wait $loading
grep -E -A3 '^ ?(controller|ctrl) +(queue|qid) +srtt' text | tail -n 4 | sed 's/^/# /'
check "text has them" grep -qE '^ ?(controller|ctrl) +(queue|qid) +srtt' text
# Linux 7 and later count what happens to a controller.
diag=/sys/class/nvme/$ctrl/diag
if [[ -d $diag ]]; then
	nvme reset "/dev/$ctrl"
	wait_for host_device "$ctrl" >/dev/null
	ntprof-bpf paths --format json >paths
	for name in reset_count reconnect_count command_error_count; do
		equal "paths: $name is the kernel's" "$(grep -o "\"$name\": *[0-9]*" paths | grep -o '[0-9]*$')" "$(<"$diag/$name")"
	done
	check "and the reset is counted" test "$(<"$diag/reset_count")" -ge 1
fi
finish
