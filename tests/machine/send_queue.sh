#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 60
# --points fine: time that is put on the wire is told as wire, by what fio saw, to 10 %, and neither sender's queue nor any
# other stage grows; what waits for a small congestion window is told as the sender's queue. Every command is split.
# Where there are no points of send queues, it says so.
set -u
. /lib/machine.sh

cd /tmp || exit 1
commands=600
modprobe sch_netem
target_port
nqn=nqn.2024-01.io.ntprof:base
target_subsystem "$nqn" "$(target_setup_null base size=256)"
ctrl=$(host_connect "$nqn" -i 1)

if ! finer_points; then
	for side in host target; do
		tracer_start $side.log record --$side --points fine --force -o $side.ntp
		fio --filename="$(host_device "$ctrl")" --direct=1 --rw=randread --size=64m --number_ios=8 --name=x >/dev/null
		tracer_stop "$tracer_pid"
		check "$side: it says that there are no points of send queues, and why" \
			grep -q "no finer points of send queues: with stock drivers the verifier of this kernel may crash" $side.log.err
		check "$side: commands are recorded all the same" test "$(ntprof-bpf report --format csv --commands $side.ntp | wc -l)" -gt 8
	done
	host_disconnect "$ctrl"
	target_remove
	finish
fi

# load RUN OP: fio's mean latency is in ${fio[RUN]}.
declare -A fio=() stage=()
load() {
	local side pids=()

	for side in host target; do
		tracer_start "$1.$side.log" record --$side --points fine --force -o "$1.$side.ntp"
		pids+=("$tracer_pid")
	done
	fio[$1]=$(fio --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --iodepth=16 --bs=512 \
		--size=64m --number_ios=$commands --name=x --rw="rand$2" --output-format=terse --terse-version=3 |
		awk -F\; -v f="$([[ $2 == read ]] && echo 40 || echo 81)" '{ printf "%.0f", $f * 1000 }')
	tracer_stop "${pids[@]}"
	ntprof-bpf report "$1.host.ntp" "$1.target.ntp" >"$1.report"
	while read -r _ _ name mean _; do
		stage[$1.$name]=$mean
	done < <(grep "^merged_stage $2 " "$1.report")
	for name in $stages; do
		check "$1: $name has a row" test -n "${stage[$1.$name]:-}"
	done
	equal "$1: no command is left whole" "$(grep -c "^merged_stage $2 network_transmission" "$1.report")" 0
	equal "$1: every command is merged" "$(awk -v op="$2" '$1 == "merged" && $2 == op { print $3 }' "$1.report")" \
		$commands
	equal "$1: no stage is negative" "$(grep ^negative_stages "$1.report")" "negative_stages 0 worst 0"
}

stages=$(printf '%s\n' blk_submission host_send_wakeup host_send_worker target_stack target_wakeup target_worker \
	nvmet_tcp_submission target_block_layer device target_block_done target_send_wakeup target_send_worker host_send_queue wire target_send_queue \
	host_stack host_wakeup host_worker nvme_tcp_completion blk_completion)

# grown RUN BASE STAGE: it has grown by what fio saw, and no other by more than a tenth of that.
grown() {
	local by put=$((fio[$1] - fio[$2])) s

	for s in $stages; do
		by=$((${stage[$1.$s]} - ${stage[$2.$s]}))
		if [[ $s == "$3" ]]; then
			within "$1: $s grows by what fio saw" $by $((put * 9 / 10)) $((put * 11 / 10))
		else
			within "$1: $s does not" $by $((-put / 10)) $((put / 10))
		fi
	done
}

tc qdisc add dev lo root netem delay 2ms limit 10000
load base read
load write write
tc qdisc change dev lo root netem delay 4ms limit 10000
load slow read
grown slow base wire
within "slow: the wire has both delays in ns" $((${stage[slow.wire]} - ${stage[base.wire]})) 3600000 4400000
host_disconnect "$ctrl"

# The network says of each packet of the target with data that it is congested, so its window becomes two segments, and nothing is
# lost. The host's commands are not marked. A segment has two whole answers: 512 bytes of data, 24 before and 24 behind them.
modprobe -a sch_prio cls_u32
echo 1 >/proc/sys/net/ipv4/tcp_ecn
ip link set lo mtu $((2 * (24 + 512 + 24) + 20 + 32))
tc qdisc replace dev lo root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
tc qdisc add dev lo parent 1:1 handle 10: netem delay 2ms limit 10000
tc qdisc add dev lo parent 1:2 handle 20: netem delay 2ms limit 10000
tc filter add dev lo parent 1: protocol ip u32 match ip sport 4420 0xffff flowid 1:1
ctrl=$(host_connect "$nqn" -i 1)
load wide read
tc qdisc change dev lo parent 1:1 handle 10: netem delay 2ms loss 90% ecn limit 10000
load small read
grown small wide target_send_queue
within "small: it has more round trips than one, of 4 ms" $((${stage[small.target_send_queue]} - ${stage[wide.target_send_queue]})) 4000000 100000000
tc qdisc del dev lo root
host_disconnect "$ctrl"
target_remove
finish
