#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# with programs: burst_reader
# takes: 60
# --points fine: what a command waits for its queue's worker is told apart from the network's stack and from what the worker
# does. A busy loop that keeps the processor is put between a command and the worker that has to go on with it: the right part
# grows by what the reader saw, to 10 %, and no other does. A worker that receives a large read first shows as busy, for as
# long as that took.
set -u
. /lib/machine.sh

cd /tmp || exit 1
commands=100
modprobe -a sch_netem sch_prio cls_u32
target_port
nqn=nqn.2024-01.io.ntprof:base
target_subsystem "$nqn" "$(target_setup_null base size=256)"

# connect: a controller with one queue, to which the reader's task gives its commands by itself.
connect() {
	ctrl=$(host_connect "$nqn" -i 1)
	echo none >"$(host_path "$ctrl")/queue/scheduler"
}
connect

network=(network_transmission)
# Stock drivers of some kernels have no points of send queues (docs/points.md), but these.
if finer_points; then
	network=(host_send_queue wire target_send_queue)
fi
stages=(blk_submission host_send_wakeup host_send_worker target_stack target_wakeup target_worker nvmet_tcp_submission
	target_block_layer device target_block_done target_send_wakeup target_send_worker "${network[@]}" host_stack host_wakeup host_worker
	nvme_tcp_completion blk_completion)

# The namespace whose commands count, if not all do.
nsid=

# load RUN BEFORE WAIT SPIN [OTHER]: as burst_reader does. The mean that it saw is in ${saw[RUN]}, those of the stages in ${stage[RUN.NAME]}.
declare -A saw=() stage=()
load() {
	local side pids=() name mean sum all known within nr=$((commands * ($2 && !${nsid:-0} ? 2 : 1)))

	for side in host target; do
		tracer_start "$1.$side.log" record --$side --points fine --force -o "$1.$side.ntp"
		pids+=("$tracer_pid")
	done
	saw[$1]=$(burst_reader "$(host_device "$ctrl" "${nsid:-1}")" $commands "${@:2}")
	tracer_stop "${pids[@]}"
	ntprof-bpf report "$1.host.ntp" "$1.target.ntp" ${nsid:+--nsid "$nsid"} >"$1.report"
	while read -r _ _ name mean _; do
		stage[$1.$name]=$mean
	done < <(grep "^merged_stage read " "$1.report")
	for name in "${stages[@]}"; do
		check "$1: $name has a row" test -n "${stage[$1.$name]:-}"
	done
	equal "$1: every command is merged" "$(awk '$1 == "merged" && $2 == "read" { print $3 }' "$1.report")" $nr
	equal "$1: no stage is negative" "$(grep ^negative_stages "$1.report")" "negative_stages 0 worst 0"
	# Of each command: the waits lie within their stages.
	for side in host target; do
		ntprof-bpf report --commands "$1.$side.ntp" ${nsid:+--nsid "$nsid"} | awk -v side=$side '
			/ op=read / {
				delete at
				for (i = 1; i <= NF; i++)
					if (split($i, of, "=") == 2)
						at[of[1]] = of[2]
				nr++
				to = side == "host" ? at["c2h"] : at["cmd"]
				known += ("stack_ns" in at) && ("wakeup_ns" in at) && ("send_wakeup_ns" in at)
				within += at["stack_ns"] + at["wakeup_ns"] <= to - at["rx"]
				within += side == "host" ? at["send_wakeup_ns"] <= at["send_cmd"] - at["queue_rq"] \
							 : at["send_wakeup_ns"] <= at["send"] - at["done"]
			}
			END { print nr, known, within }' >"$1.$side.waits"
		read -r all known within <"$1.$side.waits"
		equal "$1, $side: commands" "$all" $nr
		# What came before the first note of a queue is not known.
		within "$1, $side: these have waits" "$known" $((nr - 4 * ($# - 3))) $nr
		equal "$1, $side: all within their stages" "$within" $((2 * nr))
	done
	sum=0
	for name in "${stages[@]}"; do
		sum=$((sum + ${stage[$1.$name]}))
	done
	echo "# $1: saw ${saw[$1]}, stages $sum:$(for name in "${stages[@]}"; do printf ' %s %s' "$name" "${stage[$1.$name]}"; done)"
}

# grown RUN BASE STAGE: it has grown by what the reader saw, and no other by more than a tenth of that.
grown() {
	local by put=$((saw[$1] - saw[$2])) s

	for s in "${stages[@]}"; do
		by=$((${stage[$1.$s]} - ${stage[$2.$s]}))
		if [[ $s == "$3" ]]; then
			within "$1: $s grows by what the reader saw" $by $((put * 9 / 10)) $((put * 11 / 10))
		else
			within "$1: $s does not" $by $((-put / 10)) $((put / 10))
		fi
	done
}

# The reader's task has sent the command, and the target's worker waits for the processor.
load quick 0 0 0
load capsule 0 0 3000
grown capsule quick target_wakeup
within "capsule: it is what was put in" "${stage[capsule.target_wakeup]}" 2700000 3300000

# busy RUN STAGE WAIT: a large read comes before the small one. The host's worker is at that for as long as there is between the
# first data of both, and that is in the WAIT of the small ones, which is a part of STAGE.
busy() {
	local put busy

	ntprof-bpf report --commands "$1.host.ntp" | grep ' op=read ' | sort -n | awk -v wait="$3" '
		{
			delete at
			for (i = 1; i <= NF; i++)
				if (split($i, of, "=") == 2)
					at[of[1]] = of[2]
			handled = $1 * 1e9 + at["c2h"]
			if (at["length"] == 524288) {
				before = handled
				next
			}
			put += handled - before
			at["worker_ns"] = at["c2h"] - at["rx"] - at["stack_ns"] - at["wakeup_ns"]
			busy += at[wait]
		}
		END { printf "%d %d\n", put, busy }' >"$1.busy"
	read -r put busy <"$1.busy"
	within "$1: the small read waits for the large one in $2" $((busy - commands * ${stage[quick.$2]})) \
		$((put * 9 / 10)) $((put * 11 / 10))
	ntprof-bpf report --commands "$1.host.ntp" | grep ' op=read ' | head -n 2 | sed 's/^/# /'
}

# On the same queue its worker is busy. On another one the worker waits for that queue's, as they share a processor.
load large 524288 0 0
busy large host_worker worker_ns
other_nqn=nqn.2024-01.io.ntprof:other
target_subsystem "$other_nqn" "$(target_setup_null other size=256)"
other=$(host_connect "$other_nqn" -i 1)
echo none >"$(host_path "$other")/queue/scheduler"
load other 524288 0 0 "$(host_device "$other")"
busy other host_wakeup wakeup_ns
host_disconnect "$other_nqn"

# The answer arrives in the middle of it.
tc qdisc add dev lo root netem delay 2ms limit 10000
load far 0 0 0
load answer 0 3000 5000
tc qdisc del dev lo root
grown answer far host_wakeup
host_disconnect "$ctrl"
target_remove

# Two answers go one after the other, and the packet with the first of them, which is larger, takes longer: what came of the
# second one waits in TCP.
target_port
target_subsystem "$nqn" "$(target_setup_null first size=256 delay=1000000)" "$(target_setup_null second size=256 delay=2000000)"
connect
echo none >"$(host_path "$ctrl" 2)/queue/scheduler"
nsid=2
tc qdisc add dev lo root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
tc qdisc add dev lo parent 1:1 netem delay 5ms limit 10000
load in_turn 4096 0 0 "$(host_device "$ctrl")"
# IPv4's length (RFC 791): of 4,096 to 8,191 bytes.
tc filter add dev lo parent 1: protocol ip u32 match u16 0x1000 0xf000 at 2 flowid 1:1
load held 4096 0 0 "$(host_device "$ctrl")"
tc qdisc del dev lo root
grown held in_turn host_stack
within "held: it is what was put in" "${stage[held.host_stack]}" 3600000 4400000
host_disconnect "$ctrl"
target_remove
nsid=

# The device answers in the middle of it.
target_port
target_subsystem "$nqn" "$(target_setup_null base size=256 delay=2000000)"
connect
load device 0 0 0
load answered 0 1000 5000
grown answered device target_send_wakeup
host_disconnect "$ctrl"

# From Linux 6.11 on workers need not be bound to a processor, and no task sends by itself then.
if modinfo -p nvme_tcp | grep -q ^wq_unbound; then
	modprobe -r nvme_tcp
	modprobe nvme_tcp wq_unbound=1
	connect
	load unbound 0 0 0
	load queued 0 0 1500
	grown queued unbound host_send_wakeup
	host_disconnect "$ctrl"
fi
target_remove
finish
