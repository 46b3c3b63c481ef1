#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 180
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

# run_all NAME: reads, writes inside the command, and writes that the target asks for, one after the other and
# all of them recorded; fio's median is in NAME.OP.fio, and lines "SHAPE STAGE COUNT MEAN" are in NAME.
run_all() {
	local name=$1 op rw side host target

	for side in host target; do
		tracer_start $side.log record --$side --force -o $side.ntp
		declare "$side=$tracer_pid"
	done
	for op in read inline r2t; do
		rw=randwrite
		[[ $op != read ]] || rw=randread
		case $op in
		r2t) set -- --bs=64k --size=128m ;;
		*) set -- --bs=4k --size=64m ;;
		esac
		fio_median "${rw#rand}" --name=$op --rw=$rw "$@" --number_ios=$commands >"$name.$op.fio"
	done
	tracer_stop "$host" "$target" || cat host.log.err target.log.err
	ntprof-bpf report host.ntp target.ntp --commands | awk '
		$2 == "merged" && / op=(read|write) / {
			match($0, / shape=[a-z0-9_]+/)
			shape = substr($0, RSTART + 7, RLENGTH - 7)
			for (i = NF; $i != "stages" && i > 3; i--) {
				at = index($i, "=")
				key = shape " " substr($i, 1, at - 1)
				sum[key] += substr($i, at + 1)
				n[key]++
			}
		}
		END { for (key in n) printf "%s %d %.0f\n", key, n[key], sum[key] / n[key] }' >"$name"
	for op in read inline r2t; do
		equal "$name, $op: every command is merged, and in ten stages" \
			"$(awk -v shape="${shape_of[$op]}" '$1 == shape { print $3 }' "$name" | xargs)" \
			"$(printf "$commands %.0s" {1..10} | xargs)"
	done
}
declare -A shape_of=([read]=read [inline]=inline_write [r2t]=r2t_write)

# mean NAME OP STAGE: nanoseconds
mean() {
	sed -n "s/^${shape_of[$2]} $3 [0-9]* //p" "$1"
}

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
		by=$(($(mean "$name" "$op" "$s") - $(mean base "$op" "$s")))
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

# machine_with null_blk-option...: connected to it, $dev
machine_with() {
	target_subsystem "$(target_setup_null disk size=256 irqmode=2 "$@")"
	target_port
	dev=$(host_device "$(host_connect -i 1)")
}

modprobe sch_netem
machine_with completion_nsec=50000
run_all base
tc qdisc add dev lo root netem delay 300us limit 10000
run_all network
tc qdisc del dev lo root
host_disconnect
target_remove
machine_with completion_nsec=$((50000 + injected))
run_all device
host_disconnect
target_remove

for op in read inline r2t; do
	grown device $op target_subsystem 1
done
grown network read network_transmission 2
grown network inline network_transmission 2
grown network r2t network_transmission 4
finish
