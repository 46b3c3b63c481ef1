#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# Each way in which commands can come to nvme-tcp is told as what it is, as often as fio sent them that way, with how long
# they took.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)" "$(target_setup_null slow size=64 delay=20000000)"
target_port
ctrl=$(host_connect -i 2 --nr-poll-queues=1)
dev=$(host_device "$ctrl")
slow=$(host_device "$ctrl" 2)
disk=/sys/block/${dev#/dev/}
[[ -d $disk/mq ]] || disk=$(host_path "$ctrl")

# stacks_begin FILE ARGS...; stacks_end: waits until it has printed
stacks_begin() {
	local file=$1

	shift
	ntprof-bpf stacks --host "$@" >"$file" 2>"$file.err" &
	stacks_pid=$!
	wait_for grep -q counting "$file.err"
}

stacks_end() {
	kill -INT "$stacks_pid"
	wait "$stacks_pid"
}

# kind FILE KIND: of the table of kinds
kind() {
	awk -v kind="$2" '$1 == kind && $2 ~ /^[0-9]+$/ { n += $2 } END { printf "%.0f\n", n }' "$1"
}

# io COUNT OPTIONS...: random reads
io() {
	local n=$1

	shift
	fio --name=x --filename="$dev" --direct=1 --rw=randread --bs=4k --size=64M --number_ios="$n" "$@" >fio 2>&1 || cat fio
}

# Linux 6.12 has a plug around each bio that is submitted, for its one request as well.
alone=direct_issue
[[ $VM_KERNEL != 6.12* ]] || alone=plug_flush
stacks_begin direct
io 300 --ioengine=psync
stacks_end
equal "it ends well" $? 0
sed 's/^/# /' direct
equal "what is sent alone is issued at once" "$(kind direct $alone)" 300
check "its stack is there, from the driver to the system call" grep -qE '^    (__x64_sys_|ksys_|__do_sys_)p?read' direct
equal "the driver is innermost" "$(grep -m1 '^    ' direct)" "    nvme_tcp_queue_rq"
check "nothing is lost" grep -q '^no losses' direct

# fio's batches are submitted by one system call, within one plug.
stacks_begin plug
io 320 --ioengine=libaio --iodepth=16 --iodepth_batch_submit=16 --iodepth_batch_complete_min=16
stacks_end
sed 's/^/# /' plug | head -12
equal "all commands of batches are there" $(($(kind plug plug_flush) + $(kind plug direct_issue) + $(kind plug software_queue))) 320
within "and come when the plug is flushed" "$(kind plug plug_flush)" 300 320

modprobe -q mq-deadline || :
if grep -q mq-deadline "$disk/queue/scheduler"; then
	echo mq-deadline >"$disk/queue/scheduler"
	stacks_begin scheduler
	io 300 --ioengine=psync
	stacks_end
	echo none >"$disk/queue/scheduler"
	sed 's/^/# /' scheduler | head -12
	# In newer ones nvme-tcp may block there, so a kernel thread runs the queue.
	case $VM_KERNEL in
	6.1) equal "with a scheduler they come out of it" "$(kind scheduler scheduler)" 300 ;;
	*) equal "with a scheduler a kernel thread sends them" $(($(kind scheduler scheduler) + $(kind scheduler workqueue))) 300 ;;
	esac
	check "whose dispatching is in the stack" grep -q '^    blk_mq_sched_dispatch_requests' scheduler
else
	check "the machine has a scheduler" false
fi

stacks_begin polled
io 100 --ioengine=io_uring --hipri=1
stacks_end
sed 's/^/# /' polled | head -8
equal "polled commands are told as such" "$(kind polled polled)" 100

stacks_begin passthrough
for ((i = 0; i < 20; i++)); do
	nvme io-passthru "$dev" --opcode=2 --namespace-id=1 --read --data-len=512 --cdw10="$i" >/dev/null 2>&1 ||
		echo "# a read by ioctl failed"
done
stacks_end
sed 's/^/# /' passthrough | head -8
# A Keep Alive, too.
within "so are those of an ioctl" "$(kind passthrough passthrough)" 20 25

# 20 ms in the device, for 20 commands.
stacks_begin late --format json
fio --name=x --filename="$slow" --direct=1 --rw=randread --bs=4k --size=32M --number_ios=20 --ioengine=psync >fio || cat fio
stacks_end
mean=$(grep -o '"kind":"'$alone'","commands":20[^}]*' late | grep -o '"mean":[0-9]*' | head -1 | cut -d: -f2)
within "a delay is in the latency" "${mean:-0}" 20000000 20000000000

stacks_begin folded --folded
io 200 --ioengine=psync
stacks_end
equal "folded lines add up" "$(awk '/^'$alone';.*;nvme_tcp_queue_rq [0-9]+$/ { n += $NF } END { printf "%.0f\n", n }' folded)" 200

stacks_begin some --sample 10 --format csv
io 2000 --ioengine=psync
stacks_end
some=$(awk -F, -v kind=$alone '$1 == kind { n += $2 } END { printf "%.0f\n", n }' some)
within "one command in 10 is looked at" "$some" 100 300

ntprof-bpf stacks --host -d 0.5 >idle 2>&1
equal "it ends after its time" $? 0
check "and says that nothing came" grep -q "^no command was given to the driver" idle
! ntprof-bpf stacks --target >refused 2>&1
check "the target has no such stacks" grep -q -- "--target is an option of" refused
ntprof-bpf stacks --host -d 0.5 >/dev/full 2>full
equal "a full disk is an error" $? 1
check "which is told" grep -q "No space left" full

host_disconnect "$ctrl"
target_remove
wait_for modprobe -r nvme-tcp
ntprof-bpf stacks --host -d 0.5 >none 2>&1
equal "without the module it fails" $? 1
check "and says why" grep -q "module nvme_tcp is not loaded" none
equal "nothing stays loaded" "$(bpftool prog show 2>/dev/null | grep -cE 'stack_(begin|end)')" 0
finish
