#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 90
# Of machines that lack points, report and --peer join the stages beside them, whichever side lacks one.
set -u
. /lib/machine.sh

cd /tmp || exit 1

# Points that part two stages each: the host's send_cmd and send_data, the target's done.
host_hides='^(nvme_tcp_try_send|kernel_sendpage|sock_no_sendpage|sock_sendmsg)'
target_hides='^nvmet_tcp_queue_response'
host_stage=nvme_tcp_submission+network_transmission
target_stage=target_subsystem+nvmet_tcp_completion

target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")

load() {
	fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/60:64k/40 --iodepth=4 --number_ios=200 >/tmp/fio 2>&1 || cat /tmp/fio
}

# joined NAME FILE STAGE...: every merged command is split, and these stages are one.
joined() {
	local name=$1 file=$2 stage op

	shift 2
	equal "$name: every command has its stages" "$(awk '$1 == "unsplit" { print $2 }' "$file")" 0
	for op in read write; do
		check "$name: ${op}s are merged" grep -q "^merged $op [1-9]" "$file"
		equal "$name: the stages of ${op}s add up" \
			"$(total "$file" 0 merged_stage $op)" "$(total "$file" 0 merged $op)"
		for stage; do
			check "$name: $stage of ${op}s is one" grep -qF "merged_stage $op $stage " "$file"
			check "$name: and neither is told alone" sh -c \
				"! grep -qE '^merged_stage $op (${stage%+*}|${stage#*+}) ' $file"
		done
	done
}

# record NAME HOST-HIDES TARGET-HIDES: what both sides see of a load, each without some functions.
record() {
	hide ${2:+"$2"}
	tracer_start host.log record --host --source stock --force -o "$1.host.ntp"
	host=$tracer_pid
	hide ${3:+"$3"}
	tracer_start target.log record --target --source stock --force -o "$1.target.ntp"
	hide
	load
	tracer_stop "$host" "$tracer_pid"
	ntprof-bpf report "$1.host.ntp" "$1.target.ntp" >"$1"
	equal "$1: report ends with 0" $? 0
	grep -E 'lacks the points|^stages of|^read' "$1" | sed 's/^/# /'
}

record the_host "$host_hides" ''
joined the_host the_host $host_stage
check "the_host: it is said which points it lacks" grep -q 'host.ntp: its kernel lacks the points send_cmd' the_host
record the_target '' "$target_hides"
joined the_target the_target $target_stage
check "the_target: it is said which points it lacks" grep -q 'target.ntp: its kernel lacks the points done$' the_target
record both "$host_hides" "$target_hides"
joined both both $host_stage $target_stage

# The same live: each tracer looks at what there is when it begins. Linux 6.1 has one function for what both sides
# send, and there the host lacks nothing.
live_stages=("$target_stage")
if [[ $VM_KERNEL == 6.1 ]]; then
	hide "$target_hides"
else
	hide "$host_hides|$target_hides"
	live_stages+=("$host_stage")
fi
tracer_start live --host --source stock -i 1 --peer 'ntprof-bpf record --target --source stock -o -'
wait_for grep -q '^peer 1: running' live
wait_for tracer_ready "$(pgrep -fo '^ntprof-bpf record --target')"
hide
load
wait_for grep -qF "$target_stage" live
tracer_stop "$tracer_pid"
equal "live: the run ends well" $? 0
joined live live "${live_stages[@]}"
check "live: it is said which points the peer lacks" grep -q '^peer 1: .*lacks the points done' live

host_disconnect "$ctrl"
target_remove
finish
