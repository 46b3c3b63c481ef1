#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# load.sh - what the drivers do in machine tests, with nobody who traces: what the kernel finds wrong with this, it has by
# itself.
set -u
. /lib/machine.sh

cd /tmp || exit 1
second=nqn.2024-01.io.ntprof:second
target_subsystem "$(target_setup_null a size=400 badblocks=+819000-819199)"
target_subsystem $second "$(target_setup_null b size=256)"
target_port
target_port 127.0.0.1 4421

# hammer DEV SECONDS: errors are expected.
hammer() {
	fio --name=hammer --filename="$1" --direct=1 --ioengine=libaio --size=200M --rw=randrw --bssplit=4k/60:64k/40 \
		--iodepth=16 --time_based --runtime="$2" --continue_on_error=all >hammer 2>&1
}

for options in "-i 2" "-i 2 --hdr-digest --data-digest"; do
	# shellcheck disable=SC2086 # words
	ctrl=$(host_connect $options) || exit
	dev=$(host_device "$ctrl")
	mix "$dev"
	dd if="$dev" of=/dev/null bs=4k count=1 skip=$((819100 / 8)) iflag=direct 2>/dev/null
	nvme io-passthru "$dev" --opcode=0xee --namespace-id=1 2>/dev/null
	nvme get-feature "/dev/$ctrl" --feature-id=0xd0 >/dev/null 2>&1
	host_disconnect "$ctrl"
done
check "all kinds of commands" test -s /tmp/fio

# A queue of their own for writes, and one for polling, as in machine/queues.
ctrl=$(host_connect -i 2 -W 1 -P 1) || exit
dev=$(host_device "$ctrl")
mix "$dev"
fio --name=poll --filename="$dev" --direct=1 --ioengine=io_uring --hipri --size=200M --rw=randread --bs=4k --iodepth=4 \
	--number_ios=200 >poll 2>&1
check "polled reads" grep -q 'read: IOPS' poll
host_disconnect "$ctrl"

for i in 1 2 3; do
	ctrl=$(host_connect -i "$i") || exit
	other=$(host_connect $second -i $((4 - i)) -s 4421) || exit
	hammer "$(host_device "$ctrl")" 6 &
	sleep 2
	nvme reset "/dev/$ctrl"
	wait $!
	((i % 2)) || host_disconnect "$other"
	hammer "$(host_device "$ctrl")" 4 &
	sleep 1
	host_disconnect "$ctrl"
	wait $!
	((i % 2 == 0)) || host_disconnect "$other"
done
check "resets and disconnects under load" test -z "$(vm_controllers "$VM_NQN")"

# A target that goes away under load, and comes again.
ctrl=$(host_connect -i 2 --ctrl-loss-tmo=4 --reconnect-delay=1) || exit
hammer "$(host_device "$ctrl")" 15 &
sleep 2
target_remove
wait $!
host_disconnect
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 1) || exit
mix "$(host_device "$ctrl")"
host_disconnect "$ctrl"
check "a target that goes away under load" test -z "$(vm_controllers "$VM_NQN")"
finish
