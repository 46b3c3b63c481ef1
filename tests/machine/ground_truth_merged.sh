#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 30
# 300 microseconds that we put into the device, or into the network, are told as such, to 5 %: by the
# right one of the ten stages, and by no other.
set -u
. /lib/machine.sh

cd /tmp || exit 1
injected=300000
commands=250 # of each shape

# fio_median OP FIO-OPTIONS...: median latency that fio saw, nanoseconds (terse format 3 has microseconds).
# Not the mean: with one CPU fio now and then has to wait for it, after the command has ended.
fio_median() {
	local field=18

	[[ $1 = read ]] || field=59
	shift
	fio --filename="$dev" --direct=1 --ioengine=libaio --iodepth=1 --output-format=terse \
		--terse-version=3 --lat_percentiles=1 --clat_percentiles=0 --percentile_list=50 \
		"$@" 2>/tmp/fio.err | awk -F\; -v f=$field '{ sub(/.*=/, "", $f); printf "%.0f", $f * 1000 }'
}

# run_all NAME: reads, writes inside the command, and writes that the target asks for, one after the other; fio's median
# is in NAME.OP.fio.
run_all() {
	local name=$1 op rw

	dev=$(host_device "${ctrl_of[$name]}")
	for op in read inline r2t; do
		rw=randwrite
		[[ $op != read ]] || rw=randread
		case $op in
		r2t) set -- --bs=64k --size=128m ;;
		*) set -- --bs=4k --size=64m ;;
		esac
		fio_median "${rw#rand}" --name=$op --rw=$rw "$@" --number_ios=$commands >"$name.$op.fio"
	done
}

declare -A mean=()
declare -A shape_of=([read]=read [inline]=inline_write [r2t]=r2t_write)

stages=$(printf '%s\n' blk_submission nvme_tcp_submission nstack_submission nvmet_tcp_submission \
	target_subsystem nvmet_tcp_completion network_transmission nstack_completion \
	nvme_tcp_completion blk_completion)

# grown NAME OP STAGE TIMES: from the base to NAME, STAGE has grown by so many times what was injected, and
# by what fio saw; no other by more than a twentieth of that.
grown() {
	local name=$1 op=$2 stage=$3 expected=$(($4 * injected)) s by fio bucket

	fio=$(($(<"$name.$op.fio") - $(<"base.$op.fio")))
	# Of a median fio tells the middle of its bucket, of which there are 64 to a power of two.
	bucket=$((($(<"$name.$op.fio") + $(<"base.$op.fio")) / 128))
	for s in $stages; do
		by=$((${mean[$name.$op.$s]:-0} - ${mean[base.$op.$s]:-0}))
		echo "# $name, $op: $s grew by $by ns (injected $expected, fio saw $fio)"
		if [[ $s = "$stage" ]]; then
			within "$name, $op: $s grows by what was injected" $by \
				$((expected * 95 / 100)) $((expected * 105 / 100))
			within "$name, $op: $s grows by what fio saw" $by $((fio * 95 / 100 - bucket)) $((fio * 105 / 100 + bucket))
		else
			within "$name, $op: $s does not" $by $((-expected / 20)) $((expected / 20))
		fi
	done
}

# A subsystem for each: all are recorded at once, as a tracer is dear to start.
declare -A device_ns=([base]=50000 [network]=50000 [device]=$((50000 + injected))) ctrl_of=()
modprobe sch_netem
target_port
for name in base network device; do
	nqn=nqn.2024-01.io.ntprof:$name
	target_subsystem "$nqn" "$(target_setup_null $name size=256 irqmode=2 completion_nsec="${device_ns[$name]}")"
	ctrl_of[$name]=$(host_connect "$nqn" -i 1)
done
for side in host target; do
	tracer_start $side.log record --$side --force -o $side.ntp
	declare "$side=$tracer_pid"
done
run_all base
tc qdisc add dev lo root netem delay 300us limit 10000
run_all network
tc qdisc del dev lo root
run_all device
# shellcheck disable=SC2154 # set by declare above
tracer_stop "$host" "$target" || cat host.log.err target.log.err

# Lines "NAME SHAPE STAGE COUNT MEAN".
ntprof-bpf report host.ntp target.ntp --commands | awk '
	$2 == "merged" && / op=(read|write) / {
		match($0, /ntprof:[a-z]+/)
		name = substr($0, RSTART + 7, RLENGTH - 7)
		match($0, / shape=[a-z0-9_]+/)
		shape = substr($0, RSTART + 7, RLENGTH - 7)
		for (i = NF; $i != "stages" && i > 3; i--) {
			at = index($i, "=")
			key = name " " shape " " substr($i, 1, at - 1)
			sum[key] += substr($i, at + 1)
			n[key]++
		}
	}
	END { for (key in n) printf "%s %d %.0f\n", key, n[key], sum[key] / n[key] }' >means
declare -A counts=()
for op in read inline r2t; do
	while read -r name shape stage n ns; do
		[[ $shape == "${shape_of[$op]}" ]] || continue
		mean[$name.$op.$stage]=$ns
		counts[$name.$op]+="$n "
	done <means
	for name in base network device; do
		equal "$name, $op: every command is merged, and in ten stages" "${counts[$name.$op]:-}" \
			"$(printf "$commands %.0s" {1..10})"
	done
done

for op in read inline r2t; do
	grown device $op target_subsystem 1
done
grown network read network_transmission 2
grown network inline network_transmission 2
grown network r2t network_transmission 4
for name in base network device; do
	host_disconnect "${ctrl_of[$name]}"
done
target_remove
finish
