#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 40
# The state of the queues' TCP connections, by the machine's own figures: addresses as the kernel lists them, the round
# trip time by a delay that is put in, and segments that were sent again as the kernel counts them for all sockets.
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
tc qdisc change dev lo root netem delay 1ms loss 3% limit 10000
load lossy --rw=randrw --time_based --runtime=8
tc qdisc del dev lo root
sleep 3
again=$(($(cells host.json retransmitted | awk '{ n += $2 } END { print n + 0 }') + \
	$(cells target.json retransmitted | awk '{ n += $2 } END { print n + 0 }')))
within "segments were sent again" "$again" 5 1000000
equal "as many as the kernel counts" "$again" "$(($(retransmitted) - before))"
tracer_stop "${started[@]}"
equal "both tracers end well" $? 0

load text --rw=randread --time_based --runtime=600 &
loading=$!
ntprof-bpf --host --tcp -i 1 -d 4 >text
kill $loading
wait $loading
grep -E -A3 '^ ?(controller|ctrl) +(queue|qid) +srtt' text | tail -n 4 | sed 's/^/# /'
check "text has them" grep -qE '^ ?(controller|ctrl) +(queue|qid) +srtt' text
finish
