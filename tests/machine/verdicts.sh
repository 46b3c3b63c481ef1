#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 120
# One fault at a time is put into a machine that is host and target: report --why names it, and blames nothing where there is
# none (docs/verdict.md). One processor does it all, on which an instruction takes a nanosecond, so that no other load of this
# computer is a fault. A disk takes 3 ms, which is much beside what the machine itself does meanwhile.
#
# Arguments: the number of runs of each fault (default 1), and the faults (default: five with stock drivers, else all). The last
# lines are a table: faults down, verdicts across.
set -um
. /lib/machine.sh
cd /tmp || exit 1

runs=${1:-1}
faults=("${@:2}")
seconds=12
twin_nqn=nqn.2024-01.io.ntprof:twin
far_nqn=nqn.2024-01.io.ntprof:far
other_nqn=nqn.2024-01.io.ntprof:other
modprobe sch_netem

# io NAME DISK FIO_OPTION...: random reads of 4 KiB, unless options say otherwise.
io() {
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=200m --norandommap \
		--randrepeat=0 --randseed=$((run * 1000 + ${#1})) --time_based --runtime=3600 --thread "${@:3}" >"fio.$1" 2>&1
}

# wire NETEM_ARGUMENT...: what the loopback device does, between both sides.
wire() {
	tc qdisc replace dev lo root netem limit 10000 rate 1gbit "$@"
}

# now_and_then SECONDS COMMAND...: until it is killed.
now_and_then() {
	while sleep "$1"; do "${@:2}"; done
}

# Each fault is a function that runs while the usual load does, and is then killed.
healthy() { :; }
# Now and then packets take longer.
network() {
	burst() {
		wire delay 30ms
		sleep 0.1
		wire delay 50us
	}
	now_and_then 0.7 burst
}
loss() { wire delay 50us loss 0.4%; }
# Somebody else on the target reads from the disk of one array, which carries 4 MB/s: then it is busy with that for 60 ms.
disk() { io local "$backing" --iodepth=64 --thinktime=600ms --thinktime_blocks=64; }
one_array() { io far "$far" --rate_iops=12; }
# Bursts come to both, of disks that carry 4 MB/s.
depth() {
	io bursts "$twin" --iodepth=64 --thinktime=600ms --thinktime_blocks=64 &
	io bursts2 "$dev" --iodepth=64 --thinktime=600ms --thinktime_blocks=64
}
# The answers that writes without room in a capsule wait for come from further away.
r2t() {
	wire delay 5ms
	io writes "$twin" --rw=randwrite --bssplit=4k/90:16k/10 --rate_iops=140
}
# Another host's commands, which the first one does not see, keep the disk.
neighbour() { io other "$other" --iodepth=64 --thinktime=600ms --thinktime_blocks=64; }

# What a verdict may be, if not the fault's own name.
declare -A also=([healthy]="mixed not_known" [disk]="one_array")

# The load is there before the recording begins, and when it ends.
usual_load() {
	local disk

	load=()
	for disk in "$dev" "$twin"; do
		io "usual${disk##*/}" "$disk" --iodepth=4 --rate_iops=140 --rate_process=poisson &
		load+=($!)
	done
}

# verdict NAME: as report has it: of operations with enough commands the expected one, or else the first one that blames
# something.
verdict() {
	local all

	all=$(ntprof-bpf report "$1".{host,target}.ntp --why --format json |
		sed 's/"rules":\[[^]]*\]//g' | grep -o '"verdict":"[a-z_]*","cause":[^,}]*' | tr -d '"' |
		sed 's/verdict:named,cause://; s/verdict:\([a-z_]*\),.*/\1/')
	[[ $all != *"$1"* ]] || all=$1
	all=$(grep -vx 'healthy\|not_known' <<<"$all" || echo "$all")
	got=${all%%$'\n'*}
}

# one FAULT: a run; its verdict is in $got.
one() {
	local pid side pids=()

	wire delay 50us
	usual_load
	sleep 1
	for side in host target; do
		tracer_start "$1.$side.log" record --$side ${mine[$side]:+--hostnqn "${mine[$side]}"} --tcp --force -o "$1.$side.ntp"
		pids+=("$tracer_pid")
	done
	"$1" >/dev/null 2>&1 &
	pid=$!
	sleep $seconds
	tracer_stop "${pids[@]}"
	kill -- -$pid "${load[@]/#/-}" 2>/dev/null
	wait $pid "${load[@]}" 2>/dev/null
	verdict "$1"
	[[ ! -d /out ]] || for side in host target; do cp "$1.$side.ntp" "/out/$1.$run.$side.ntp"; done
}

backing=$(target_setup_null plain size=256 delay=3000000 mbps=4)
target_subsystem "$backing"
target_subsystem "$twin_nqn" "$(target_setup_null twin size=256 delay=3000000 mbps=4)"
target_subsystem "$far_nqn" "$(target_setup_null far size=256 delay=60000000)"
target_subsystem "$other_nqn" "$backing"
target_port inline_data_size=8192
dev=$(host_device "$(host_connect -i 1)")
twin=$(host_device "$(host_connect "$twin_nqn" -i 1)")
far=$(host_device "$(host_connect "$far_nqn" -i 1)")
declare -A mine=([host]=$(cat /sys/class/nvme/nvme0/hostnqn) [target]="")
uuid=5a1c0f6e-2b7d-4c1a-9f60-1d2e3f405162
other=$(host_device "$(host_connect "$other_nqn" -i 1 --hostnqn "nqn.2014-08.org.nvmexpress:uuid:$uuid" --hostid $uuid)")
all=(healthy network loss disk one_array)
[[ $VM_KIND == stock ]] || all+=(depth r2t neighbour)
((${#faults[@]})) || faults=("${all[@]}")
table=()
for fault in "${faults[@]}"; do
	declare -A count=()
	right=0
	for ((run = 0; run < runs; run++)); do
		one "$fault"
		count[$got]=$((${count[$got]:-0} + 1))
		if [[ " $fault ${also[$fault]:-} " == *" $got "* ]]; then
			right=$((right + 1))
		else
			ntprof-bpf report "$fault".{host,target}.ntp --why --format text | sed 's/^/# /' | head -20
		fi
	done
	table+=("$fault:$(for v in "${!count[@]}"; do echo " $v ${count[$v]}"; done | tr -d '\n')")
	within "$fault is named in nine of ten runs" $right $(((runs * 9 + 9) / 10)) "$runs"
done
printf '# %s\n' "${table[@]}"
tc qdisc del dev lo root
host_disconnect
target_remove
finish
