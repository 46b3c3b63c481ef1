#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Controllers of loop, RDMA (rdma_rxe) and Fibre Channel (fcloop), as far as the kernel has them: every command is counted once,
# its three stages add up, and a reset leaves none behind. Two of them are the paths of one namespace.
# run with: --add /usr/bin/rdma:/usr/bin/rdma
# takes: 60
set -u
. /lib/machine.sh

cd /tmp || exit 1
local_wwn=0x10001100aa000001 local_wwpn=0x20001100aa000001
target_wwn=0x10001100ab000001 target_wwpn=0x20001100ab000001
target_subsystem "$(target_setup_null a size=64 delay=2000000)"
disk_ns=2000000

declare -A module=([loop]=nvme-loop [rdma]=rdma_rxe [fc]=nvme-fcloop)
with_loop() { modprobe nvme-loop; }
with_rdma() {
	modprobe -a nvmet-rdma nvme-rdma rdma_rxe &&
		ip link add rdma type dummy && ip address add 192.168.78.1/24 dev rdma && ip link set rdma up &&
		rdma link add rxe0 type rxe netdev rdma
}
with_fc() {
	modprobe -a nvme-fcloop nvme-fc &&
		echo "wwnn=$local_wwn,wwpn=$local_wwpn" >/sys/class/fcloop/ctl/add_local_port &&
		echo "wwnn=$target_wwn,wwpn=$target_wwpn" >/sys/class/fcloop/ctl/add_target_port
}
declare -A port=(
	[loop]=addr_trtype=loop
	[rdma]="addr_trtype=rdma addr_traddr=192.168.78.1"
	[fc]="addr_trtype=fc addr_adrfam=fc addr_traddr=nn-$target_wwn:pn-$target_wwpn"
)
declare -A connect=(
	[loop]=""
	[rdma]="-a 192.168.78.1 -s 4420"
	[fc]="-a nn-$target_wwn:pn-$target_wwpn --host-traddr=nn-$local_wwn:pn-$local_wwpn"
)

# over TRANSPORT: sets ctrl to the controller that it connects.
over() {
	# shellcheck disable=SC2086 # options
	nvme connect -t "$1" -n "$VM_NQN" ${connect[$1]} -i 1 --keep-alive-tmo=600 &&
		wait_for found "$1"
}
found() {
	for ctrl in $(vm_controllers "$VM_NQN"); do
		[[ $(<"/sys/class/nvme/$ctrl/transport") != "$1" ]] || ! host_device "$ctrl" >/dev/null || return 0
	done
	return 1
}
job() {
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --iodepth=4 --bs=4k --size=32M "$@" >fio 2>&1 || cat fio
}

known=()
for transport in loop rdma fc; do
	modinfo "${module[$transport]}" >/dev/null 2>&1 || continue
	check "$transport can be had" "with_$transport"
	# shellcheck disable=SC2086 # settings
	check "it has a port" target_port ${port[$transport]}
	[[ $transport != fc ]] || echo "wwnn=$target_wwn,wwpn=$target_wwpn,lpwwnn=$local_wwn,lpwwpn=$local_wwpn,roles=0x60" \
		>/sys/class/fcloop/ctl/add_remote_port # a target, and discovery
	known+=("$transport")
	tracer_start trace trace --host --transport "$transport" --summary
	trace=$tracer_pid
	tracer_start live --host --transport "$transport" -i 1 --format json
	live=$tracer_pid
	check "$transport connects" over "$transport"
	dev=$(host_device "$ctrl")
	job --rw=randrw --number_ios=300
	job --rw=randread --time_based --runtime=3 &
	loader=$!
	sleep 1
	nvme reset "/dev/$ctrl"
	wait $loader
	check "reads over $transport went on after a reset" grep -q 'err= 0' fio
	# The kernel's, for partitions, as well
	reads=$(block_stat "$(host_path "$ctrl")" 1) writes=$(block_stat "$(host_path "$ctrl")" 5)
	nvme disconnect -d "$ctrl" >/dev/null
	tracer_stop "$trace"
	equal "trace of $transport exits with 0" $? 0
	tracer_stop "$live"
	equal "live exits with 0" $? 0
	check "there were enough commands of $transport" test "$reads" -ge 150 -a "$writes" -ge 100
	grep -E " host $ctrl q[1-9].* op=(read|write) " trace >records
	equal "every write is counted, and has a record" "$(commands trace.err write) $(grep -c ' op=write ' records)" "$writes $writes"
	# What the reset cuts off is sent again.
	grep -v ' cancelled ' records >answered
	cut=$(grep -c ' cancelled ' records)
	within "every read is counted, with $cut that were cancelled" $(($(commands trace.err read) + cut)) "$reads" $((reads + 8))
	unconserved answered 3 >bad
	equal "the stages of every command that got an answer add up to its latency" "$(wc -l <bad)" 0
	head -n 3 bad
	check "each took the disk's time in transport_and_device" awk -v least=$disk_ns '
		{ n++; if (match($0, /transport_and_device=[0-9]+/) && substr($0, RSTART + 21, RLENGTH - 21) + 0 >= least) ok++ }
		END { print "# " ok + 0 " of " n + 0; exit !(n && ok == n) }' answered
	check "Connects are counted" test "$(commands trace.err fabrics)" -ge 4
	for name in in_flight overwritten no_start point_missing no_slot; do
		equal "no command of $transport is $name" "$(loss trace.err $name)" 0
	done
	check "rows say the transport" grep -q '"transport":"'"$transport"'"' live
	check "its reset is an event" grep -q '"event":"state","state":"resetting"' live
done
echo "# transports: ${known[*]}"
check "the kernel has at least one of them" test ${#known[@]} -gt 0

# Two paths of one namespace.
if ((${#known[@]} > 1)); then
	tracer_start both trace --host --transport "${known[0]},${known[1]}" --summary
	both=$tracer_pid did=() of=()
	for transport in "${known[@]:0:2}"; do
		over "$transport"
	done
	dev=$(host_device "$ctrl")
	for policy in /sys/class/nvme-subsystem/*/iopolicy; do
		echo round-robin >"$policy"
	done
	job --rw=randread --number_ios=200
	for ctrl in $(vm_controllers "$VM_NQN"); do
		did[${#did[@]}]=$(block_stat "$(host_path "$ctrl")" 1)
		of[${#of[@]}]=$ctrl
	done
	nvme disconnect -n "$VM_NQN" >/dev/null
	tracer_stop "$both"
	for i in "${!of[@]}"; do
		equal "reads of path ${of[i]}" "$(grep -cE " host ${of[i]} q[1-9].* op=read " both)" "${did[i]}"
		check "there were some" test "${did[i]}" -gt 50
	done
fi
target_remove
finish
