#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# run with: --add build/unit/spoiled:/usr/bin/ntprof-spoiled
# What a kernel offers is told before tracing; what it lacks is missing, and never shown as zero.
set -u
. /lib/machine.sh

# status CMD...: its exit status, its output in /tmp/out.
status() {
	"$@" >/tmp/out 2>/tmp/err
	echo $?
}

equal "without the module too little is there" "$(status ntprof-bpf probes --host)" 3
check "and it is said why" grep -q "missing: module nvme_tcp is not loaded" /tmp/out
check "and what to do" grep -q "to do: .*modprobe nvme-tcp" /tmp/out

equal "doctor ends as probes does" "$(status ntprof-bpf doctor --host)" 3
check "and says that the driver is missing" grep -q "^wrong  driver  *nvme_tcp is not loaded: modprobe nvme-tcp$" /tmp/out

disk=$(target_setup_null a size=256)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
equal "doctor finds nothing that keeps it from tracing" "$(status ntprof-bpf doctor)" 0
check "and the controller" grep -q "^ok     controllers  ${ctrl##*/} is live$" /tmp/out
for source in stock $([[ $VM_KIND == stock ]] || echo tracepoints); do
	equal "$source gives every point of both sides" "$(status ntprof-bpf probes --source "$source")" 0
	check "of the host" grep -q "^host, nvme_tcp: coverage is full, source $source, loaded\$" /tmp/out
	check "of the target" grep -q "^target, nvmet_tcp: coverage is full, source $source, loaded\$" /tmp/out
done
equal "each point has one line" "$(grep -cE '^  [a-z0-9_]+  +[a-z]' /tmp/out)" 22
equal "who is not root is told what types promise" \
	"$(status setpriv --reuid 65534 --clear-groups ntprof-bpf probes --host --source stock)" 0
check "and that it was not tried" \
	grep -q "^host, nvme_tcp: coverage is full, source stock, not tried: that takes root\$" /tmp/out
equal "as JSON as well" "$(status ntprof-bpf probes --format json)" 0
equal "with all points" "$(grep -o '{"point":"' /tmp/out | wc -l)" 22
if [[ $VM_KIND == stock ]]; then
	equal "tracepoints are not there" "$(status ntprof-bpf probes --target --source tracepoints)" 3
	check "and it is said why" grep -q "the driver is not patched" /tmp/out
fi

# A program that the verifier refuses gives way to the next that sees the same; see SPOILED in the Makefile.
equal "without what is refused there is what others give" "$(status ntprof-spoiled probes --host -v)" 0
check "the stock probes of a driver of which a tracepoint is refused" \
	grep -q "^host, nvme_tcp: coverage is full, source stock, loaded\$" /tmp/out
check "the point is told with its next way" \
	grep -q "^  cqe        .* entry of blk_mq_complete_request_remote()" /tmp/out
# A kernel without that function has nothing that is passed over.
short=$(grep -c ' nvme_tcp_data_in_short' /proc/kallsyms)
((short == 0)) || check "and why the first was passed over" \
	grep -q "^  *not stock .*: the kernel refuses stock_in_short: .*stack" /tmp/out
if [[ $VM_KIND == patched ]]; then
	equal "of the target as well" "$(status ntprof-spoiled probes --target)" 0
	check "and it is said that they do" grep -q "^target, nvmet_tcp: coverage is full, source stock, loaded\$" /tmp/out
	equal "tracepoints asked for are then not enough" "$(status ntprof-spoiled probes --target --source tracepoints)" 3
	check "and the refused one is named" grep -q "the kernel refuses done_recv_pdu: .*stack" /tmp/out
fi
ntprof-spoiled trace --host -v --summary >/tmp/host 2>/tmp/host.err &
spoiled=$!
wait_for tracer_ready $spoiled
dd if="$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
tracer_stop $spoiled
equal "what is left traces" "$(commands /tmp/host.err read)" 20
((short == 0)) || check "and says with -v what was refused" \
	grep -q "^the kernel refuses fentry/nvme_tcp_data_in_short: .*stack" /tmp/host.err
no_losses "and loses nothing" /tmp/host.err
unconserved /tmp/host 5 >/tmp/bad
equal "every command has its stages" "$(wc -l </tmp/bad)" 0

# Points that part two stages each: the host's send_cmd and send_data, the target's done.
declare -A hidden=(
	[host]='^(nvme_tcp_try_send|kernel_sendpage|sock_no_sendpage|sock_sendmsg)'
	[target]='^nvmet_tcp_queue_response'
)
host_stage=nvme_tcp_submission+network_and_target
target_stage=target_subsystem+nvmet_tcp_completion
for side in host target; do
	stage=${side}_stage
	hide "${hidden[$side]}"
	equal "$side: with a point missing coverage is partial" \
		"$(status ntprof-bpf probes --$side --source stock)" 2
	check "$side: it is said why" grep -qE "ftrace cannot trace (${hidden[$side]#^})" /tmp/out
	check "$side: and which stages become one" grep -qF "${!stage}" /tmp/out
	tracer_start /tmp/$side trace --$side --source stock --summary
	declare "$side=$tracer_pid"
done
fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw --bssplit=4k/60:64k/40 \
	--iodepth=4 --number_ios=200 >/tmp/fio 2>&1 || cat /tmp/fio
# shellcheck disable=SC2154 # set by declare above
tracer_stop "$host" "$target"
hide
for side in host target; do
	stage=${side}_stage
	check "$side: commands are seen" test "$(wc -l </tmp/$side)" -ge 200
	no_losses "$side: nothing is lost" /tmp/$side.err
	unconserved /tmp/$side 4 >/tmp/bad
	equal "$side: every command's stages add up to its latency" "$(wc -l </tmp/bad)" 0
	head -n 2 /tmp/bad | sed 's/^/#   /'
	for op in read write; do
		check "$side: the joined stage of ${op}s is told under both names" \
			grep -qF "stage $op ${!stage} " /tmp/$side.err
		check "$side: and under neither alone" \
			awk -v op=$op -v a="${!stage%+*}" -v b="${!stage#*+}" \
			'$1 == "stage" && $2 == op && ($3 == a || $3 == b) { bad = 1 } END { exit bad }' /tmp/$side.err
		equal "$side: the stages of ${op}s add up to all latencies" \
			"$(total /tmp/$side.err 8 stage $op)" "$(latencies /tmp/$side $op)"
	done
done

# A stage that begins with a missing point is not known at all.
hide '^skb_copy_datagram_iter( |$)'
equal "target: without arrivals coverage is partial" "$(status ntprof-bpf probes --target --source stock)" 2
tracer_start /tmp/target trace --target --source stock --summary
dd if="$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
tracer_stop "$tracer_pid"
equal "target: commands are seen without arrivals" "$(commands /tmp/target.err read)" 20
check "target: what the stack takes is not told" sh -c '! grep -q "^stage read nstack_submission" /tmp/target.err'
check "target: what the device takes is" grep -q '^stage read target_subsystem [1-9]' /tmp/target.err

hide '^skb_copy_bits( |$)'
equal "host: without responses too little is there" "$(status ntprof-bpf probes --host --source stock)" 3
check "host: then it does not trace" test "$(status ntprof-bpf --host --source stock)" -eq 1
check "host: and says why" grep -q "ftrace cannot trace skb_copy_bits()" /tmp/err
hide
host_disconnect "$ctrl"
target_remove
finish
