#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 50
# Of two arrays one takes 100 us and the other one 8 ms: each has stages of its own, on both sides, which count what fio
# itself says that it has done there, take as long, and add up to the stages of the machine.
set -u
. /lib/machine.sh

cd /tmp || exit 1
second=nqn.2024-01.io.ntprof:second
target_subsystem "$(target_setup_null a size=256 delay=100000)"
target_subsystem "$second" "$(target_setup_null b size=256 delay=8000000)"
target_port
a=$(host_connect -i 2)
b=$(host_connect "$second" -i 2)

started=()
for side in host target; do
	tracer_start $side.json --$side --format json --stats min,mean
	started+=("$tracer_pid")
done
tracer_start groups.csv --host --by ctrl,op --format csv
started+=("$tracer_pid")
tracer_start filtered.json --host --ctrl "$b" --format json
started+=("$tracer_pid")
for dev in "$(host_device "$a")" "$(host_device "$b")"; do
	fio --direct=1 --ioengine=libaio --iodepth=2 --numjobs=2 --size=64m --output-format=json --output="${dev##*/}.fio" \
		--name=r --filename="$dev" --rw=randread --bs=4k --number_ios=300 --group_reporting
done
tracer_stop "${started[@]}"
equal "all tracers end well" $? 0

# fio_of DEVICE FIELD: of reads, "total_ios" or the mean of "lat_ns".
fio_of() {
	awk -v field="\"$2\"" '
		$1 == "\"read\"" { at = 1 }
		$1 == "\"lat_ns\"" { lat = at }
		at && $1 == field && (field != "\"mean\"" || lat) { sub(",", "", $3); printf "%.0f\n", $3; exit }' "$1.fio"
}

# members FILE PART: lines "STAGE COMMANDS SUM MIN" of reads in a member of the summary, which ends with PART.
members() {
	grep '"type":"summary"' "$1" | sed "s/.*$2//; s/\\].*//" | tr '{' '\n' | awk -F'[:,]' '
		/"op":"read"/ {
			for (i = 1; i < NF; i++) {
				gsub(/[" }]/, "", $i); gsub(/[" }]/, "", $(i + 1))
				v[$i] = $(i + 1)
			}
			print v["stage"], v["commands"], v["sum"], v["min"]
		}'
}

machine() {
	members "$1" '"operations":[^]]*\],"stages":\['
}

controller() {
	members "$1" "\"controller\":\"$2\"[^[]*\"stages\":\\["
}

# lost FILE NAME: a counter of the summary.
lost() {
	grep '"type":"summary"' "$1" | sed "s/.*\"losses\":{[^}]*\"$2\":\([0-9]*\).*/\1/"
}

for side in host target; do
	first=$a other=$b stage=network_and_target lacks=$(lost $side.json probe_missed)
	if [[ $side == target ]]; then
		first="cntlid $(<"/sys/class/nvme/$a/cntlid")" other="cntlid $(<"/sys/class/nvme/$b/cntlid")"
		stage=target_subsystem
	fi
	machine $side.json >all
	controller $side.json "$first" >fast
	controller $side.json "$other" >slow
	check "$side: both arrays have stages, and the machine" test -s fast -a -s slow -a -s all
	equal "$side: the stages of the two add up to the machine's" \
		"$(awk '{ n[$1] += $2; sum[$1] += $3 } END { for (s in n) printf "%s %d %.0f\n", s, n[s], sum[s] }' fast slow | sort)" \
		"$(cut -d" " -f1-3 all | sort)"
	fio_a=$(fio_of "$(basename "$(host_device "$a")")" total_ios)
	fio_b=$(fio_of "$(basename "$(host_device "$b")")" total_ios)
	# Connecting reads a few blocks, before the tracers were there.
	within "$side: the fast one's are fio's" "$(awk -v s=$stage '$1 == s { print $2 }' fast)" $((fio_a - lacks)) $((fio_a + 20))
	within "$side: the slow one's are fio's" "$(awk -v s=$stage '$1 == s { print $2 }' slow)" $((fio_b - lacks)) $((fio_b + 20))
	check "$side: $stage of the slow one takes 8 ms" awk -v s=$stage '$1 == s { ok = $3 / $2 >= 8000000 } END { exit !ok }' slow
	equal "$side: none is without a histogram" "$(lost $side.json hist_full)" 0
	# A busy machine may let most of them wait.
	check "$side: $stage of the fast one is shorter than that" awk -v s=$stage '$1 == s { ok = $4 < 4000000 } END { exit !ok }' fast
done

# The stages of reads on the host are all of the latency, which fio sees a little longer.
for which in "$a" "$b"; do
	file=$(basename "$(host_device "$which")")
	mean=$(controller host.json "$which" | awk '{ sum += $3; if ($2 > n) n = $2 } END { printf "%.0f\n", sum / n }')
	within "$which: its stages take as long as fio's reads" "$mean" $(($(fio_of "$file" mean) / 4)) "$(fio_of "$file" mean)"
done
equal "a selection has the slow one's stages alone" "$(machine filtered.json | cut -d' ' -f1,2 | sort)" \
	"$(controller host.json "$b" | cut -d' ' -f1,2 | sort)"
check "a group names the stage of its own" grep -q "^[^,]*,summary,$b,read,.*,network_and_target," groups.csv
finish
