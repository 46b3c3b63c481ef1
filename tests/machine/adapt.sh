#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs that only some connections need are there when such a connection is, and else cost nobody.
# takes: 30
set -u
. /lib/machine.sh

cd /tmp || exit 1
# Which of them there is differs from kernel to kernel.
declare -A data=([patched]=recv_data [stock]="stock_in_short stock_end")
declare -A last=([patched]=try_send_data [stock]="stock_sendpage_end stock_sendmsg_end stock_send_data_end")

# attached PROGRAMS PID: one of them, and its contrary.
attached() {
	local program

	for program in $1; do
		! tracer_attached "$program" "$2" || { kill -0 "$2"; return; }
	done
	return 1
}
detached() {
	! attached "$1" "$2" && kill -0 "$2"
}

# start_stopped SIDE ARGS...: like tracer_start, but the tracer is stopped as soon as all is attached, before it
# looks at the connections and detaches some. From its first link on it runs for a tenth of a second at a time,
# and is looked at in between.
exec {never}<> <(:)
start_stopped() {
	local begins=queue_rq

	[[ $1 == host ]] || begins=done_recv_pdu
	ntprof-bpf "${@:2}" >"$1" 2>"$1.err" &
	tracer_pid=$!
	wait_for has_link "$tracer_pid"
	until kill -STOP "$tracer_pid" && tracer_attached "$begins" "$tracer_pid"; do
		kill -CONT "$tracer_pid" || return
		read -rt 0.1 -u "$never"
	done
}

# reads DEV: 200 of them
reads() {
	fio --name=r --filename="$1" --direct=1 --ioengine=libaio --rw=randread --bs=128k --size=200M \
		--iodepth=4 --number_ios=200 >fio 2>&1 || cat fio
}

# missing FILE: how many could not be split so far, as the last block says.
missing() {
	sed -n 's/^losses:.* point_missing=\([0-9]*\).*/\1/p' "$1" | tail -n 1
}

target_subsystem "$(target_setup_null a size=256)"
target_subsystem nqn.2024-01.io.ntprof:second "$(target_setup_null b size=256)"
target_port
own=$(host_connect -i "$(nproc)")
start_stopped host --host -i 0.5
host=$tracer_pid
check "at first the stand-in is attached" attached rq_complete_nested "$host"
check "and the host's for reads without CQE" attached "${data[$VM_KIND]}" "$host"
kill -CONT "$host"
start_stopped target --target -i 0.5
target=$tracer_pid
check "and the target's" attached "${last[$VM_KIND]}" "$target"
kill -CONT "$target"

reads "$(host_device "$own")"
check "no I/O ends in an interrupt: no stand-in for what that interrupts" \
	wait_for -t 60 detached rq_complete_nested "$host"
check "with SQ flow control no host program for every piece of data" \
	wait_for -t 60 detached "${data[$VM_KIND]}" "$host"
check "nor one on the target" wait_for -t 60 detached "${last[$VM_KIND]}" "$target"

# One queue for all CPUs, and reads that end without CQE.
shared=$(host_connect nqn.2024-01.io.ntprof:second -i 1 --disable-sqflow)
dev=$(host_device "$shared")
reads "$dev"
check "a queue that CPUs share brings the stand-in back" wait_for -t 60 attached rq_complete_nested "$host"
check "reads without CQE bring the host's program back" wait_for -t 60 attached "${data[$VM_KIND]}" "$host"
check "and that of the target" wait_for -t 60 attached "${last[$VM_KIND]}" "$target"
check "no command begins in an interrupt: no stand-in for what that interrupts stays" \
	wait_for -t 60 detached stock_queue_rq_nested "$host"
check "where the one for ends does" attached rq_complete_nested "$host"
sleep 1
declare -A before=([host]="$(missing host)" [target]="$(missing target)")
reads "$dev"
tracer_stop "$target" "$host"
for side in host target; do
	reads=$(commands $side read)
	within "$side: every read is counted, those of the partition scan as well" "$reads" 600 700
	echo "# $side: ${before[$side]} of $reads could not be split"
	equal "$side: from then on each has its stages" "$(loss $side point_missing)" "${before[$side]}"
	# A keep alive may have been under way when the tracer began.
	within "$side: at most one command had begun before" "$(loss $side no_start)" 0 1
	no_losses "$side: nothing else is lost" $side '^(async_event|point_missing|no_start)$'
done
equal "both sides have seen the same" "$(commands host read)" "$(commands target read)"
host_disconnect "$shared"
host_disconnect "$own"
target_remove
finish
