#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a verb that traces holds once it does, and that programs come and go without the rest. That room is made without it is
# what machine/sizes sees.
# takes: 25
set -u
. /lib/machine.sh

disk=$(target_setup_null a size=64)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")

nothing=0000000000000000 bpf=0000008000000000
# held PID: permitted, effective, bounding set, inheritable, ambient, no new privileges, filter; of the first thread, and of others.
held() {
	local task

	for task in /proc/"$1"/task/*; do
		awk -v main="$1" '{ sub(":", "", $1); v[$1] = $2 }
			END { print (v["Pid"] == main ? "main" : "thread"), v["CapPrm"], v["CapEff"], v["CapBnd"], v["CapInh"], v["CapAmb"],
				v["NoNewPrivs"], v["Seccomp"] }' "$task/status"
	done | sort -u
}
# given_up NAME KEPT: by $tracer_pid
given_up() {
	equal "$1 holds $2, its threads nothing" "$(held "$tracer_pid")" \
		"main $2 $2 $2 $nothing $nothing 1 2
thread $nothing $nothing $nothing $nothing $nothing 1 2"
}
read_some() {
	dd if="$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
}

tracer_start /tmp/live --host -v
given_up live $bpf
check "-v tells it" grep -q '^held from now on: CAP_BPF, ' /tmp/live.err
read_some
tracer_stop "$tracer_pid"
equal "live ends well" $? 0
counted "and counts" "$(commands /tmp/live read)" 20 /tmp/live

tracer_start /tmp/trace trace --host
given_up trace $bpf
read_some
tracer_stop "$tracer_pid"
equal "trace ends well" $? 0
tracer_start /tmp/record record --host -o /tmp/host.ntp
given_up record 0000008000000002
read_some
tracer_stop "$tracer_pid"
equal "record ends well" $? 0
ntprof-bpf report --commands /tmp/host.ntp >/tmp/commands 2>&1
within "and writes" "$(grep -c ' op=read ' /tmp/commands)" 18 20

# Programs are attached again for each burst, which takes a busy machine seconds.
ntprof-bpf --host --burst 12s/24s -n 2 >/tmp/burst 2>/tmp/burst.err
equal "bursts come again" $? 0
sed 's/^/# /' /tmp/burst.err
host_disconnect "$VM_NQN"
target_remove
finish
