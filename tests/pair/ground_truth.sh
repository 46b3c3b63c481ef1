#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 0
# A delay is told in the stage that it was put into, as long as it is, and nowhere else: 5 ms in the
# target's device, 5 ms each way on the wire, and a deep queue before a slow wire.
#
# Both machines record all of it once. Each case has a region of addresses for itself, by which its
# commands are known again. Cases that are compared run side by side, so that whatever else slows the
# machines down slows all of them. What is compared are first deciles: other load makes a command slower, never
# faster, and not all of them; of the deep queue, which is filled at first, medians.
# shellcheck disable=SC1091,SC2154 # ctrl, dev and pair_target are set by it
set -u
. /lib/pair.sh
cd /tmp || exit 1

count=150 # commands of a shape
region=64 # MiB
far_nqn=nqn.2024-01.io.ntprof:far
far_port=4421
deep_nqn=nqn.2024-01.io.ntprof:deep
# Not the first one: a new disk is searched for partitions.
declare -A region_of=([plain]=1 [device]=2 [wire]=3 [shallow]=4 [deep]=5)

# job CASE DEV SHAPE: adds to the array jobs what one fio job needs, in the case's region. What fio
# saw is in CASE.SHAPE_lat.N.log.
job() {
	jobs+=("--name=$1" --filename="$2" --offset=$((region_of[$1] * region))m
		--size="${region}m" --write_lat_log="$1.$3")
}

# load ARGS...: the jobs at once.
load() {
	fio --direct=1 --ioengine=libaio "$@" "${jobs[@]}" >fio.out 2>&1 || cat fio.out
	jobs=()
}

# delayed SIDE PORT: what leaves this machine for that port (SIDE is dport) or from it (sport) does so
# 5 ms later.
delayed() {
	echo "tc qdisc add dev eth0 root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		tc qdisc add dev eth0 parent 1:3 handle 30: netem delay 5ms
		tc filter add dev eth0 parent 1: protocol ip u32 match ip $1 $2 0xffff flowid 1:3"
}

# values: "CASE SHAPE NAME NANOSECONDS" of every command: its stages, "latency", and "fio".
values() {
	awk -v size=$((region * 2048)) '
		BEGIN { split("plain device wire shallow deep", name, " ") }
		$2 == "merged" {
			split("", f)
			for (i = 4; i <= NF && $i != "stages"; i++)
				if (at = index($i, "="))
					f[substr($i, 1, at - 1)] = substr($i, at + 1)
			if (f["op"] != "read" && f["op"] != "write")
				next
			region = int(f["slba"] / size)
			if (!region)
				next
			key = name[region] " " f["shape"]
			print key, "latency", f["latency"]
			for (i++; i <= NF; i++) {
				at = index($i, "=")
				print key, substr($i, 1, at - 1), substr($i, at + 1)
			}
		}' commands
	awk -F', ' '
		FNR == 1 { split(substr(FILENAME, 3), name, /[.]|_lat/) }
		{ print name[1], name[2], "fio", $2 }' ./*_lat.*.log
}

# quantile Q: "CASE SHAPE NAME NANOSECONDS" of what is in "sorted".
quantile() {
	awk -v q="$1" '
		function tell() { if (n) print last, v[int((n - 1) * q) + 1]; n = 0 }
		{ key = $1 " " $2 " " $3 }
		key != last { tell(); last = key }
		{ v[++n] = $4 }
		END { tell() }' sorted
}

# growth BEFORE AFTER SHAPE Q: lines "NAME BEFORE AFTER GROWTH" in nanoseconds.
growth() {
	quantile "$4" | awk -v a="$1" -v b="$2" -v shape="$3" '
		$2 == shape && $1 == a { before[$3] = $4 }
		$2 == shape && $1 == b { after[$3] = $4; order[++n] = $3 }
		END {
			for (i = 1; i <= n; i++) {
				s = order[i]
				printf "%s %s %s %.0f\n", s, before[s], after[s], after[s] - before[s]
			}
		}'
}

# as_fio_saw NAME GOT EXPECTED: by a tenth, or by the millisecond for which fio may wait for its only processor.
as_fio_saw() {
	local by=$(($3 / 10 > 1000000 ? $3 / 10 : 1000000))

	within "$1" "$2" $(($3 - by)) $(($3 + by))
}

# judge CASE BEFORE AFTER SHAPE STAGE [NANOSECONDS]: STAGE has grown by that much, and the latency by what fio saw. A timer
# that is late delays for longer, never for less; fio sees by how much. Where it is not known how much was put in, STAGE has
# grown by what fio saw.
judge() {
	local name="$1, $4: $5" stage=$5 q=0.5 table grown fio others

	[[ -z ${6:-} ]] || q=0.1
	table=$(growth "$2" "$3" "$4" $q)
	echo "# $1, $4 (quantile $q in us: before, after, growth)"
	awk '{ printf "#   %-22s %10.1f %10.1f %+10.1f\n", $1, $2 / 1e3, $3 / 1e3, $4 / 1e3 }' \
		<<<"$table"
	grown=$(awk -v s="$stage" '$1 == s { print $4 }' <<<"$table")
	fio=$(awk '$1 == "fio" { print $4 }' <<<"$table")
	others=$(awk -v s="$stage" '
		$1 != s && $1 != "fio" && $1 != "latency" && $4 > max { max = $4 }
		END { printf "%.0f\n", max }' <<<"$table")
	if [[ -n ${6:-} ]]; then
		within "$name grows by what was put in, and by no more than fio saw" "$grown" \
			$(($6 * 9 / 10)) $(((fio > $6 ? fio : $6) * 11 / 10))
		# Of all stages: what else was slower before or after, fio has seen as well.
		grown=$(awk '$1 == "latency" { print $4 }' <<<"$table")
		as_fio_saw "$name: the latency grows by what fio saw" "$grown" "${fio:-0}"
	else
		as_fio_saw "$name grows by what fio saw" "$grown" "${fio:-0}"
	fi
	within "$name: no other stage by a tenth of that" "$others" 0 $((${6:-${fio:-0}} / 10))
}

# The device is slow in every case: what has not run for long takes longer to run, and more so the
# longer it has not, but only up to some milliseconds.
on_target "target_subsystem \$(target_setup_null plain size=512 delay=10000000) \
	\$(target_setup_null slow size=512 delay=15000000)
	target_subsystem $far_nqn \$(target_setup_null far size=512 delay=10000000)
	target_subsystem $deep_nqn \$(target_setup_null deep size=512 delay=100000)
	target_port $pair_target
	target_port $pair_target $far_port"
pair_connect -i 1
plain=$dev
wait_for host_device "$ctrl" 2 >/dev/null
slow=$(host_device "$ctrl" 2)
pair_connect "$far_nqn" -i 1 -s $far_port
far=$dev
eval "$(delayed dport $far_port)"
on_target "$(delayed sport $far_port)"

equal "the wall clocks are hours apart" \
	$((($(on_target date +%s) - $(date +%s) + 1800) / 3600)) 5

record_begin ground
jobs=()
for shape in "read randread 4k" "inline_write randwrite 4k" "r2t_write randwrite 64k"; do
	read -r shape rw bs <<<"$shape"
	job plain "$plain" "$shape"
	job device "$slow" "$shape"
	job wire "$far" "$shape"
	load --rw="$rw" --bs="$bs" --number_ios=$count --thinktime=25000
done
tc qdisc delete dev eth0 root
# What waits in a socket of either machine does not wait in the queue: let that be little, and the wire
# much slower than the machines. A connection that has been busy before would have large buffers already.
sysctl -q net.ipv4.tcp_wmem='4096 8192 16384'
on_target "sysctl -q net.ipv4.tcp_rmem='4096 16384 32768'"
pair_connect "$deep_nqn" -i 1
tc qdisc add dev eth0 root netem rate 10mbit limit 10000
job shallow "$dev" inline_write
load --rw=randwrite --bs=16k --iodepth=1 --number_ios=150
job deep "$dev" inline_write
load --rw=randwrite --bs=16k --iodepth=120 --number_ios=600
tc qdisc delete dev eth0 root
record_end ground

ntprof-bpf report ground.host.ntp ground.target.ntp --commands >report.txt 2>report.err
equal "report succeeds" $? 0
cat report.err
grep '^[0-9.]* merged' report.txt >commands
sed -n 's/^connection/# &/p' report.txt
values >all
sort -k1,3 -k4,4n all >sorted
for case in plain device wire; do
	for shape in read inline_write r2t_write; do
		equal "$case, $shape: every command is merged" \
			"$(grep -c "^$case $shape latency" all)" $count
		equal "$case, $shape: and every one was seen by fio" \
			"$(grep -c "^$case $shape fio" all)" $count
	done
done
equal "every connection is named, that of a controller that came later as well" \
	"$(grep -c '^connection nqn[^ ]* cntlid [1-9]' report.txt)" "$(grep -c '^connection' report.txt)"
equal "every command could be split" "$(awk '$1 == "unsplit" { print $2 }' report.txt)" 0
equal "no stage is negative" "$(awk '$1 == "negative_stages" { print $2 }' report.txt)" 0

for shape in read inline_write r2t_write; do
	judge "5 ms in the device" plain device $shape target_subsystem 5000000
done
judge "5 ms each way" plain wire read network_transmission 10000000
judge "5 ms each way" plain wire inline_write network_transmission 10000000
judge "5 ms each way" plain wire r2t_write network_transmission 20000000
judge "a deep queue" shallow deep inline_write nvme_tcp_submission
host_disconnect
host_disconnect "$far_nqn"
host_disconnect "$deep_nqn"
finish
