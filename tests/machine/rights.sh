#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a verb that traces holds before and once it does, and that programs come and go without the rest. That room is made
# without it is what machine/sizes sees. The command of a peer, which is root without capabilities, reaches no process of ours.
# run with: --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# takes: 30
set -u
. /lib/machine.sh

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

# What a process of our user may look into, and write to, of each thread of ours: those that hold less than it does, or as little.
cat >/tmp/attack <<-'END'
	#!/bin/bash
	echo "capabilities: $(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status), user: $EUID"
	for task in /proc/[0-9]*/task/*; do
		read -r name <"$task/comm" && [[ $name == ntprof-* ]] || continue
		echo "tried: $name $([[ $(<"$task/status") == *CapEff:*00000000000000$'\n'* ]] && echo without capabilities)"
		for file in mem maps environ pagemap; do
			{ exec 3<"$task/$file"; } 2>/dev/null && echo "reached: $name $file"
		done
		{ exec 3<>"$task/mem"; } 2>/dev/null && echo "reached: $name mem, to write"
		{ ls "$task/fd" && echo "reached: $name fd"; } >/dev/null 2>&1
		{ cd "$task/cwd" && echo "reached: $name cwd"; } 2>/dev/null
	done
	echo over
END
chmod 755 /tmp/attack
# attacked NAME: by the peer of $serve, from now on.
attacked() {
	rm -f /tmp/attacked
	check "a peer's command looks around $1" wait_for -t 60 grep -qsx over /tmp/attacked
	check "it has no capability" grep -qx "capabilities: $nothing, user: 0" /tmp/attacked
	for name in ntprof-bpf ntprof-peers ntprof-peer; do
		check "it has tried $name" grep -q "^tried: $name" /tmp/attacked
	done
	check "...and a thread without capabilities" grep -qx 'tried: ntprof-bpf without capabilities' /tmp/attacked
	equal "it reaches none of them" "$(grep ^reached /tmp/attacked)" ""
}
ntprof-bpf serve --host --peer 'while sleep 0.5; do /tmp/attack >/tmp/attacked.new; mv /tmp/attacked.new /tmp/attacked; done' 2>/tmp/serve.err &
serve=$!
wait_for grep -qs ' meanwhile$' /tmp/serve.err
# What CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN are.
loading=000000c000200000
equal "serve that waits for a module holds what loading takes" "$(held $serve)" \
	"main $loading $loading $bpf $nothing $nothing 1 2
thread $nothing $nothing $nothing $nothing $nothing 1 2"
attacked "while the module is waited for"

disk=$(target_setup_null a size=64)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")

wait_for -t 60 tracer_ready $serve
tracer_pid=$serve
given_up serve $bpf
attacked "while it traces"
kill -TERM $serve
wait $serve
equal "serve ends well" $? 0

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
