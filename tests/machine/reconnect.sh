#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 110
# run with: --cpus 4
# Connections come and go, each time with other numbers of queues and in another order, so that the kernel
# gives the addresses of old queues to new ones. Stock probes find queues by their addresses. Controllers that are reset
# get another id: both sides name it, and each connection once. Controllers of several subsystems that get the same name one
# after the other keep their commands apart.
set -u
. /lib/machine.sh

cd /tmp || exit 1
modprobe nvme-tcp # else the first commands come before the host is traced
target_subsystem "$(target_setup_null a size=256)"
target_subsystem nqn.2024-01.io.ntprof:second "$(target_setup_null b size=256)"
target_port
addresses_again() {
	local host target a b i reads ctrl

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
}
# Where queues are found by them, and once is enough.
[[ $VM_KIND$VM_KERNEL != stock6.1 ]] || addresses_again

# connections FILE: "QID CNTLID SLOT GENERATION" of each connection that a stream tells of (docs/stream-format.md), in order;
# last what was told of it last
connections() {
	od -An -v -tu1 "$1" | awk '
		{ for (i = 1; i <= NF; i++) byte[n++] = $i }
		function number(at, bytes) { return bytes ? byte[at] + 256 * number(at + 1, bytes - 1) : 0 }
		END {
			for (at = 12; at < n; at += 20 + number(at, 4))
				if (number(at + 4, 2) == 3) {
					key = number(at + 20, 4) " " number(at + 24, 4)
					if (!(key in told))
						order[++nr] = key
					told[key] = number(at + 34, 2) " " number(at + 32, 2)
				}
			for (i = 1; i <= nr; i++)
				print told[order[i]], order[i]
		}'
}

# controllers FILE QID: the ids of the controllers that a queue was of, one after the other
controllers() {
	awk -v qid="$2" '$1 == qid { print $2 }' "$1" | paste -sd' '
}

read_all() { # 256 reads, each with an address of its own
	fio --name=r --filename="$1" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=1M --iodepth=4 \
		>fio 2>&1 || cat fio
}

for side in host target; do
	tracer_start $side.log record --$side -o $side.ntp
	declare "$side=$tracer_pid"
done
ctrl=$(host_connect -i 1)
for i in 1 2 3 4; do
	read_all "$(host_device "$ctrl")"
	((i == 4)) || nvme reset "/dev/$ctrl"
done
for i in 1 2 3; do
	host_disconnect "$ctrl"
	ctrl=$(host_connect -i 1)
	read_all "$(host_device "$ctrl")"
done
host_disconnect "$ctrl"
tracer_stop "$target" "$host"
for side in host target; do
	connections $side.ntp >$side.queues
	echo "# $side: $(paste -sd, $side.queues)"
done
for qid in 0 1; do
	equal "queue $qid: seven connections" "$(controllers target.queues $qid | wc -w)" 7
	equal "queue $qid: the host names them and their controllers as the target does" \
		"$(controllers host.queues $qid)" "$(controllers target.queues $qid)"
done
ntprof-bpf report --commands host.ntp target.ntp | grep ' op=read ' >reads
merged=$(grep -c ' merged ' reads)
check "all reads are merged ($merged)" test "$merged" -ge $((7 * 256))
equal "with nothing left" "$(grep -vc ' merged ' reads)" 0

# reads_of NQN FILE: how many reads a summary tells of the controllers of a subsystem
reads_of() {
	awk -v nqn="$1" '$2 == nqn && /subsystem NQN/ { sub(/:$/, "", $1); mine[$1] = 1 }
		$1 == "controller" { summary = $4 == "commands"; delete n }
		summary && $3 == "read" && $1 ~ /^nvme/ { n[$1] += $4 }
		END { for (c in mine) sum += n[c]; printf "%.0f\n", sum }' "$2"
}

# Two subsystems in turn, whose controllers have the same name and often the same memory: some within an interval, and all.
in_turn() {
	local live=() host target side nqn ctrl i other=nqn.2024-01.io.ntprof:second
	local -A reads=([$VM_NQN]=0 [$other]=0) names=()

	tracer_start live --host -i 0.5
	live+=("$tracer_pid")
	for side in host target; do
		tracer_start "live.$side" --$side -i 1h
		live+=("$tracer_pid")
	done
	for side in host target; do
		tracer_start $side.log record --$side -o $side.turn.ntp
		declare "$side=$tracer_pid"
	done
	# Neither has every second one.
	for ((i = 0; i < 10; i++)); do
		for nqn in "$VM_NQN" "$other" "$other"; do
			ctrl=$(host_connect "$nqn" -i 1)
			names[$ctrl]=1
			dd if="$(host_device "$ctrl")" of=/dev/null bs=4k count=4 iflag=direct 2>/dev/null
			# With those that look for partitions.
			reads[$nqn]=$((${reads[$nqn]} + $(block_stat "$(host_path "$ctrl")" 1)))
			host_disconnect "$ctrl"
		done
	done
	tracer_stop "$target" "$host" "${live[@]}"
	equal "all of them had one name" "${#names[@]}" 1
	ntprof-bpf report host.turn.ntp >host.alone
	ntprof-bpf report --commands host.turn.ntp target.turn.ntp | grep ' op=read ' >merged
	for nqn in "$VM_NQN" "$other"; do
		equal "live, reads are under the name of their subsystem" "$(reads_of "$nqn" live)" "${reads[$nqn]}"
		equal "also where no interval ends" "$(reads_of "$nqn" live.host)" "${reads[$nqn]}"
		equal "so they are in records" "$(reads_of "$nqn" host.alone)" "${reads[$nqn]}"
		equal "and merged" "$(grep -c " merged $nqn " merged)" "${reads[$nqn]}"
	done
	for side in host target; do
		equal "no read of the $side is lost" "$(commands live.$side read)" $((${reads[$VM_NQN]} + ${reads[$other]}))
		equal "nor of its rows or stages" "$(uneven live.$side)" ""
	done
}
# What user space makes of it is the same with patched drivers.
[[ $VM_KIND == patched ]] || in_turn

# states FILE: the states of controllers in the path frames of a stream (docs/stream-format.md), in order
states() {
	od -An -v -tu1 "$1" | awk '
		{ for (i = 1; i <= NF; i++) byte[n++] = $i }
		function number(at, bytes) { return bytes ? byte[at] + 256 * number(at + 1, bytes - 1) : 0 }
		END {
			split("new live resetting connecting deleting deleting_noio dead", name, " ")
			for (at = 12; at < n; at += 20 + number(at, 4))
				if (number(at + 4, 2) == 10 && number(at + 32, 2) == 0)
					print name[number(at + 34, 2) + 1]
		}'
}

# The events of a controller are what was done to it: connected, reset twice, cut off, back again, deleted.
path_events() {
	local host ctrl

	tracer_start host.log record --host -o path.ntp
	host=$tracer_pid
	ctrl=$(host_connect -i 1 --reconnect-delay=1 --keep-alive-tmo=2)
	for _ in 1 2; do
		nvme reset "/dev/$ctrl"
	done
	ip link set lo down
	# Recovery waits for a command that the reset has sent, such as that for the ANA log: up to 60 s, admin_timeout of nvme_core.
	wait_for -t 120 grep -q connecting "/sys/class/nvme/$ctrl/state"
	sleep 3
	ip link set lo up
	wait_for -t 120 grep -q live "/sys/class/nvme/$ctrl/state"
	host_disconnect "$ctrl"
	tracer_stop "$host"
	states path.ntp >states
	# Connected, reset twice, cut off, deleted.
	equal "each state is there once, in order" "$(paste -sd' ' states)" \
		"connecting live resetting connecting live resetting connecting live resetting connecting live deleting deleting_noio"
	ntprof-bpf report path.ntp >report
	check "a report has them" grep -q "at .* s: $ctrl connecting" report
	check "a failed attempt as well" grep -q "attempt . to reconnect failed" report
	check "and the Keep Alive that had no answer" grep -q "at .* s: $ctrl timeout of Keep Alive" report
}
path_events

# A read that the target's disk has for longer than the host gives it: the event names it, as its record does.
io_timeout() {
	local host ctrl path

	target_subsystem nqn.2024-01.io.ntprof:late "$(target_setup_null late size=256 delay=3000000000)"
	tracer_start host.log record --host -o late.ntp
	host=$tracer_pid
	ctrl=$(host_connect nqn.2024-01.io.ntprof:late -i 1 --reconnect-delay=1)
	path=$(host_path "$ctrl")
	echo 1000 >"$path/queue/io_timeout"
	dd if="$(host_device "$ctrl")" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
	wait_for -t 60 grep -q connecting "/sys/class/nvme/$ctrl/state"
	# It is sent again by the next connection.
	echo 30000 >"$path/queue/io_timeout"
	wait $!
	host_disconnect "$ctrl"
	tracer_stop "$host"
	ntprof-bpf report late.ntp >report
	check "a timeout of a read is an event, with its queue and command" \
		grep -q "at .* s: $ctrl timeout: queue 1, command id .*, opcode 0x02" report
	grep timeout: report
}
io_timeout

# The target says that one of two paths is inaccessible: from then on the other one has all commands.
ana_events() {
	local host ctrl path live=() ctrls=() paths=() before=() had

	target_port 127.0.0.1 4421
	for port in 4420 4421; do
		ctrl=$(host_connect -s $port -i 1)
		ctrls+=("$ctrl")
		paths+=("$(host_path "$ctrl")")
	done
	for policy in /sys/class/nvme-subsystem/*/iopolicy; do
		echo round-robin >"$policy"
	done
	tracer_start host.log record --host -o ana.ntp
	host=$tracer_pid
	tracer_start live --host -i 1
	live=("$tracer_pid")
	for path in "${paths[@]}"; do
		before+=("$(block_stat "$path" 1)")
	done
	job=(--filename="$(host_device "${ctrls[0]}")" --direct=1 --rw=randread --bs=4k --size=64M --iodepth=1 --number_ios=200)
	fio --name=both "${job[@]}" >fio || cat fio
	vm_set "$vm_nvmet/ports/2/ana_groups/1" ana_state=inaccessible
	check "the host hears of it" wait_for -t 60 grep -qx inaccessible "/sys/block/${paths[1]##*/}/ana_state"
	had=$(($(block_stat "${paths[1]}" 1) - before[1]))
	within "both paths had reads" "$had" 50 150
	fio --name=one "${job[@]}" >fio || cat fio
	tracer_stop "$host" "${live[@]}"
	ntprof-bpf report ana.ntp >report
	equal "ANA: a report has the change, once" "$(grep -c "at .* s: ${ctrls[1]} ANA group 1 inaccessible" report)" 1
	check "ANA: and so has a live view" grep -q " ago: ${ctrls[1]} ANA group 1 inaccessible" live
	ntprof-bpf report ana.ntp --by ctrl,path,device --op read --format csv | tr -d '\r' >groups
	for i in 0 1; do
		equal "paths: reads of ${ctrls[i]}, and their share of all" "$(awk -F, -v ctrl="${ctrls[i]}" '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$at["ctrl"] == ctrl { printf "%d %.4f", $at["commands"], $at["path_share"] }' groups)" \
			"$((i ? had : 400 - had)) $(awk -v n=$((i ? had : 400 - had)) 'BEGIN { printf "%.4f", n / 400 }')"
	done
	host_disconnect
}
[[ ! -e /sys/module/nvme_core/parameters/multipath || $(</sys/module/nvme_core/parameters/multipath) != Y ]] || ana_events
target_remove
finish
