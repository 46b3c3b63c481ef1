#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run on: stock
# run with: --cpus 4
# Connections come and go, each time with other numbers of queues and in another order, so that the kernel
# gives the addresses of old queues to new ones. Stock probes find queues by their addresses.
set -u
. /lib/machine.sh

cd /tmp || exit 1
modprobe nvme-tcp # else the first commands come before the host is traced
target_subsystem "$(target_setup_null a size=256)"
target_subsystem nqn.2024-01.io.ntprof:second "$(target_setup_null b size=256)"
target_port
tracer_start host --host -i 0.5
host=$tracer_pid
tracer_start target --target -i 0.5
target=$tracer_pid
for i in 1 2 3 4 5 6; do
	a=$(host_connect -i $((1 + i % 4)))
	b=$(host_connect nqn.2024-01.io.ntprof:second -i $((4 - i % 3)))
	for ctrl in "$a" "$b"; do
		fio --name=r --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --rw=randread \
			--bs=4k --size=100M --numjobs=4 --iodepth=4 --number_ios=100 >fio 2>&1 || cat fio
	done
	((i % 2)) || host_disconnect "$b"
	host_disconnect "$a"
	((i % 2 == 0)) || host_disconnect "$b"
done
tracer_stop "$target" "$host"
reads=$(commands target read)
check "all reads are seen ($reads)" test "$reads" -ge 4800
equal "by both sides" "$(commands host read)" "$reads"
no_losses "the host loses nothing" host
no_losses "the target loses nothing" target '^async_event$'
target_remove
finish
