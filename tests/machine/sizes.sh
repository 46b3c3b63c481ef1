#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 4,maxcpus=255 --mem 2048
# takes: 200
# What a machine does not have costs it nothing, many queues lose nothing, nor does the deepest one that Linux connects, and
# what has gone leaves nothing taken.
set -u
. /lib/machine.sh

CONTROLLERS=12
ROUNDS=20
nqn=nqn.2024-01.io.ntprof:many

disk=$(target_setup_null a size=256)
target_subsystem "$disk"
for ((i = 0; i < CONTROLLERS; i++)); do
	target_subsystem "$nqn$i" "$disk"
done
target_subsystem "${nqn}deep" "$disk"
target_port
ctrl=$(host_connect -i 4)
dev=$(host_device "$ctrl")

tracer_start /tmp/host --host -i 1 -v
host=$tracer_pid
tracer_start /tmp/target --target -i 1 -v
target=$tracer_pid

# 8 MiB, and one for CPUs that are only possible: as many as this machine of qemu can have.
for side in host target; do
	mib=$(sed -n 's/^locked memory of all maps: \([0-9.]*\) MiB$/\1/p' /tmp/$side.err | head -n 1)
	within "locked memory of the $side, MiB" "$mib" 1 9
done

job() {
	fio --name=a --filename="$1" --direct=1 --ioengine=libaio --rw=randrw --bs=4k --iodepth=16 --size=200M \
		--number_ios="$2" >/dev/null
}
job "$dev" 500

# Each has queues of its own, all of which come and go.
for ((i = 0; i < CONTROLLERS; i++)); do
	many[i]=$(host_connect "$nqn$i" -i 4)
done
equal "there are as many controllers" "$(printf '%s\n' "$ctrl" "${many[@]}" | sort -u | wc -l)" $((CONTROLLERS + 1))
for c in "${many[@]}"; do
	job "$(host_device "$c")" 50
done
for c in "${many[@]}"; do
	host_disconnect "$c"
done
for ((i = 0; i < ROUNDS; i++)); do
	host_disconnect "$(host_connect "$nqn$((i % CONTROLLERS))" -i 4)"
done
# A queue of as many tags as Linux gives to one, as many commands at a time. No two are neighbours, which
# the block layer would make one. It comes last: a minute after it has gone its row is a part of (gone).
deep=$(host_connect "${nqn}deep" -i 1 -Q 1024)
equal "depth of the deep queue" "$(<"/sys/class/nvme/$deep/sqsize")" 1023
disk=$(host_device "$deep")
fio --name=a --filename="$disk" --direct=1 --ioengine=libaio --rw=write:8k --bs=4k --iodepth=1024 --size=200M \
	--number_ios=2048 >/dev/null
host_disconnect "$deep"
# Ten intervals until a histogram goes back, ten until a bank does, and a few for the rest.
sleep 26
tracer_stop "$host"
equal "host exits with 0" $? 0
tracer_stop "$target"
equal "target exits with 0" $? 0
for op in read write; do
	equal "$op: both sides have the same commands" "$(commands /tmp/target $op)" "$(commands /tmp/host $op)"
done
# Its controller has gone, and another one has its name: then both have a number behind that.
equal "the deep queue has its row" \
	"$(awk 'on && $2 == 1 && $3 == "write" && $4 == 2048 { n++ } /^summary/ { on = 1 } END { print n + 0 }' /tmp/host)" 1
# What fio has read and written, and little else: what looks at new disks reads some.
within "all of fio's are counted" $(($(commands /tmp/host read) + $(commands /tmp/host write))) 3148 6000
for side in host target; do
	for what in no_slot hist_full; do
		equal "$side: $what" "$(awk -v w=$what '$1 == "loss" && $2 == w { n += $3 } END { print n + 0 }' \
			/tmp/$side)" 0
	done
	# What the connection that stays has, and its admin queue.
	taken=$(sed -n 's/^pool states .*, \([0-9]*\) of [0-9]* taken$/\1/p' /tmp/$side.err | tail -n 1)
	within "pieces that are taken in the end, $side" "$taken" 1 12
	# A pool keeps its second bank, and each of the four may have got one: pool_shrink().
	mib=$(awk '/^locked memory of all maps: / { if (!n++) begin = $6 } END { print $6 - begin }' /tmp/$side.err)
	within "what the $side has locked in the end more than in the beginning, MiB" "$mib" 0 2.8
	grep '^pool ' /tmp/$side.err | tail -n 4 | sed 's/^/# /'
done

# Who connects and sends nothing takes no more than the queues of two CPUs, which are 1,024.
for cpu in 2 3; do
	echo 0 >/sys/devices/system/cpu/cpu$cpu/online
done
ulimit -n 4096
idle=0
while ((idle < 2000)) && exec {socket}<>/dev/tcp/127.0.0.1/4420; do
	((++idle))
done
equal "idle connections" $idle 2000
tracer_start /tmp/idle --target -i 1 -v
tracer_stop "$tracer_pid"
mib=$(sed -n 's/^locked memory of all maps: \([0-9.]*\) MiB$/\1/p' /tmp/idle.err | head -n 1)
within "locked memory beside idle connections, MiB" "$mib" 1 55
finish
