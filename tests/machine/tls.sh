#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# with programs: tls_agent
# takes: 25
# NVMe/TCP with TLS: the driver reads what has been decrypted, whose packets are not those that arrived. Commands are counted
# as ever, and no arrival is told: their stages are those of the network and its stack together. A connection without TLS that comes after it has all of its points.
set -u
. /lib/machine.sh

cd /tmp || exit 1
tls_begin || { check "keys are given to connections" false; finish; }
target_subsystem "$(target_setup_null a size=256 cache_size=64)"
target_port 127.0.0.1 4420 addr_tsas=tls1.3
target_port 127.0.0.1 4421

# tls_stat NAME: a counter of /proc/net/tls_stat
tls_stat() {
	awk -v name="$1" '$1 == name { print $2 }' /proc/net/tls_stat
}

start() {
	local side

	for side in host target; do
		tracer_start $side trace --$side --summary --format json
		declare -g "$side=$tracer_pid"
	done
}

load() { # DEVICE
	fio --filename="$1" --direct=1 --ioengine=libaio --size=60M --iodepth=4 \
		--name=reads --rw=randread --bs=4k --number_ios=300 \
		--name=large --rw=randread --bs=128k --number_ios=60 \
		--name=inline --rw=randwrite --bs=4k --number_ios=200 --fsync=20 \
		--name=r2t --rw=randwrite --bs=64k --number_ios=100 >fio 2>&1 || cat fio
}

# with FILE POINT: how many of its commands have that point
with() {
	grep '"type":"command"' "$1" | grep -Ec "\"$2\":[0-9]"
}

# counted_all SIDE: of what is in reads and writes
counted_all() {
	counted "$1: every read is counted" "$(commands "$1.err" read)" $reads "$1.err"
	counted "$1: every write is counted" "$(commands "$1.err" write)" $writes "$1.err"
}

# traced CTRL: loads its device while both sides trace; counts what the block layer did.
traced() {
	local path

	path=$(host_path "$1")
	start
	reads=$(block_stat "$path" 1) writes=$(($(block_stat "$path" 5) - $(block_stat "$path" 16)))
	load "$(host_device "$1")"
	reads=$(($(block_stat "$path" 1) - reads))
	writes=$(($(block_stat "$path" 5) - $(block_stat "$path" 16) - writes))
	tracer_stop "$host" "$target"
	equal "tracers exit with 0" $? 0
}

ctrl=$(tls_connect 2)
[[ -n $ctrl ]] || { cat /tmp/tls; check "a controller is connected" false; finish; }
equal "three connections, of two ends each" "$(grep -cxE 'client|server' /tmp/tls)" 6
equal "the kernel encrypts all of them" "$(tls_stat TlsCurrTxSw) $(tls_stat TlsCurrRxSw)" "6 6"
traced "$ctrl"
equal "all that came could be decrypted" "$(tls_stat TlsDecryptError)" 0
check "there were reads and writes ($reads, $writes)" test $reads -ge 360 -a $writes -ge 300
for side in host target; do
	counted_all $side
	for point in rx r2t_rx data_rx; do
		equal "$side: no command has $point" "$(with $side $point)" 0
	done
	equal "$side: nor is one thought to be joined" "$(loss $side.err arrival_joined)" 0
	check "$side: their commands are in stages all the same" test \
		"$(loss $side.err arrival_missing)" -ge $((reads + writes - $(missed $side.err)))
	no_losses "$side: nothing is lost but that" $side.err arrival_missing
done
equal "the target's other points are there" "$(with target sent)" "$(with target cmd)"
equal "and the host's" "$(with host cqe)" "$(with host queue_rq)"
check "those of writes that are asked for, too" test \
	"$(with host r2t)" -ge $((100 - $(missed host.err))) -a "$(with target send_r2t)" -ge $((100 - $(missed target.err)))

host_disconnect "$ctrl"
ctrl=$(host_connect -s 4421 -i 2)
traced "$ctrl"
for side in host target; do
	counted_all $side
	equal "$side: without TLS every command has its arrival" "$(with $side rx)" "$(grep -c '"type":"command"' $side)"
	no_losses "$side: and nothing is lost" $side.err
done
host_disconnect "$ctrl"
kill "$tls_agent"
target_remove
finish
