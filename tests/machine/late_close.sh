#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# with programs: tls_agent
# takes: 20
# A target's socket that closes when its queue has long gone ends nothing of the connection that has its slot, and often its
# memory, by then. From Linux 6.8 on a target gives its sockets back as files, which close when the last one who has them
# does: here that is who made the handshake of a connection with TLS.
set -u
. /lib/machine.sh

cd /tmp || exit 1
tls_begin -k || { check "keys are given to connections" false; finish; }
# A host that disconnects shuts its socket down and then resets the connection, which would close the target's at once. The
# fourth band is nobody else's; 20 bytes of IP, and 13 of TCP up to its flags.
modprobe -a sch_prio sch_netem cls_u32
tc qdisc add dev lo root handle 1: prio bands 4
tc qdisc add dev lo parent 1:4 handle 40: netem loss 100%
tc filter add dev lo parent 1: protocol ip prio 1 u32 match ip dport 4420 0xffff match u8 0x04 0x04 at 33 flowid 1:4
# Slow, so that commands are in flight when a socket closes, and still when the tracer looks, which it does twice a second.
target_subsystem "$(target_setup_null a size=256 delay=1000000000)"
target_port 127.0.0.1 4420 addr_tsas=tls1.3
target_port 127.0.0.1 4421

# open_sockets NUMBER: so many sockets of the target's first port (4420) are open that the host has closed (CLOSE_WAIT)
open_sockets() {
	[[ $(awk '$2 ~ /:1144$/ && $4 == "08"' /proc/net/tcp | wc -l) -eq $1 ]]
}

for side in host target; do
	tracer_start $side --$side -i 0.5
	declare "$side=$tracer_pid"
done
# The second connection is one of as many queues as the first.
queues=2
ctrl=$(tls_connect $queues)
[[ -n $ctrl ]] || { cat /tmp/tls; check "a controller is connected" false; finish; }
fio --name=first --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=100M \
	--iodepth=16 --number_ios=16 >fio 2>&1 || cat fio
host_disconnect "$ctrl"
check "the sockets of all of its queues stay" wait_for -t 60 open_sockets $((queues + 1))
open_sockets $((queues + 1)) || sed 's/^/# /' /proc/net/tcp
# Their queues go meanwhile.
sleep 1

ctrl=$(host_connect -s 4421 -i $queues)
path=$(host_path "$ctrl")
fio --name=second --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=100M \
	--numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split --iodepth=8 --time_based --runtime=10000 >fio 2>&1 &
load=$!

passed() { # NUMBER: so many reads have, of the second connection
	(($(block_stat "$path" 1) >= $1))
}
check "reads of the second connection pass" wait_for passed 48
check "and the sockets are there still" open_sockets $((queues + 1))
kill -USR1 "$tls_agent"
wait_for grep -qx closed /tmp/tls
check "they close under load" wait_for open_sockets 0
check "and reads pass after it" wait_for passed $(($(block_stat "$path" 1) + 48))
kill -INT $load
wait $load
reads=$(block_stat "$path" 1)
tracer_stop "$host" "$target"
echo "# $reads reads of the second connection; target: $(commands target read) reads of both, died $(loss target died), no_start $(loss target no_start)"
equal "no command has died" "$(loss target died)" 0
equal "none was answered whose beginning was not seen" "$(loss target no_start)" 0
for side in host target; do
	no_losses "$side: nothing is lost but arrivals with TLS" $side '^(async_event|arrival_missing)$'
done
counted "both sides count the same reads" "$(commands target read)" "$(commands host read)" target
check "of both connections" test "$(commands host read)" -ge $((16 + reads))
host_disconnect "$ctrl"
kill "$tls_agent"
tc qdisc del dev lo root
target_remove
finish
