#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 40
# The three laws of merged commands, for every command of a mixed run: its ten stages add up to its
# latency, none is negative, and it was brought together with nothing but itself.
set -u
. /lib/machine.sh

cd /tmp || exit 1
connect_ways 2
# One more of the first kind.
target_subsystem nqn.2024-01.io.ntprof:3 "$(target_setup_null second size=256 discard=1 cache_size=64)"
way_names+=(second)
way_ctrls+=("$(host_connect nqn.2024-01.io.ntprof:3 -i 2)")
devs=()
for ctrl in "${way_ctrls[@]}"; do
	devs+=("$(host_device "$ctrl")")
done
for side in host target; do
	tracer_start $side.log record --$side --force -o "$side.ntp"
	declare "$side=$tracer_pid"
done
mix "${devs[0]}" "${devs[3]}"
mix "${devs[1]}"
mix "${devs[2]}"
# shellcheck disable=SC2154 # set by declare above
tracer_stop "$host" "$target"
ntprof-bpf report target.ntp host.ntp --commands >report 2>report.err
equal "report ends with 0" $? 0
sed 's/^/# /' report.err
laws report >laws
sed "s/^#* */# /" laws
grep -E '^connection ' report | sed 's/^/# /'
# All I/O came and went while both were recording; admin commands may be older or younger. As "missed" in lib.sh: what a
# stock program was skipped for is of one side only.
may=0
[[ $VM_KIND != stock ]] || may=$(awk '$2 == "loss" && $3 == "probe_missed" { n += $4 } END { print n + 0 }' report)
only=$(awk '/^connection .* queue [1-9]/ { for (i = 2; i < NF; i++) if ($i == "only") n += $(i + 1) } END { print n + 0 }' report)
within "every command that both have recorded is matched, but for what was missed" "$only" 0 "$may"
equal "none is ambiguous" "$(grep -c ' ambiguous [1-9]' report)" 0
equal "every law holds for every command" "$(field laws broken)" 0
within "all have their stages" "$(field laws unsplit)" 0 "$may"
awk '$2 == "merged" && match($0, /ntprof:[0-9]/) {
	way = substr($0, RSTART + 7, 1)
	match($0, / shape=[a-z0-9_]+/)
	print way, substr($0, RSTART + 7, RLENGTH - 7)
}' report | sort | uniq -c >shapes
for i in "${!way_names[@]}"; do
	for shape in read inline_write r2t_write no_data; do
		check "${way_names[i]}: there are commands of shape $shape" \
			test "$(awk -v way="$i" -v shape="$shape" '$2 == way && $3 == shape { print $1 }' shapes)" -ge 10
	done
done
equal "the figures agree with the lines" "$(total report 3 merged)" "$(field laws merged)"
equal "the sums of the stages add up" "$(total report 0 merged_stage)" "$(total report 0 merged)"
# Both sides are this machine: their clocks are the same one.
offsets=$(sed -n 's/^connection .* queue 1: .* clock offset \(-*[0-9]*\) ns +- \([0-9]*\) ns.*/\1 \2/p' report)
check "the clock offset of each is 0 within its bounds ($(paste -sd, - <<<"$offsets"))" awk '
	NF != 2 || $1 > $2 || $1 < -$2 { wrong = 1 }
	END { exit wrong || NR != 4 }' <<<"$offsets"
equal "queues of equal ids are kept apart" "$(grep -c '^connection .* queue [12]: matched [1-9]' report)" 8
for ctrl in "${way_ctrls[@]}"; do
	host_disconnect "$ctrl"
done
target_remove

ntprof-bpf report host.ntp target.ntp --slowest 2 >story 2>&1
equal "report --slowest ends with 0" $? 0
for point in submit send_cmd rx exec "done" complete; do
	check "the story of the slowest has $point" grep -qw "$point" story
done
ntprof-bpf report host.ntp >alone 2>&1
equal "one side alone is reported too" $? 0
check "with its own stages" grep -q '^stage read network_and_target ' alone
# Near the end: a frame may hold hundreds of commands, and those of one that is not whole are lost.
at=$(($(stat -c %s host.ntp) - 200))
head -c $at host.ntp >cut.ntp
ntprof-bpf report cut.ntp target.ntp >cut.out 2>cut.err
equal "a stream that breaks off is used as far as it goes" $? 0
check "and that is said" grep -q 'cut.ntp: byte [0-9]*: ' cut.err
check "and its commands are merged" grep -q '^merged read [1-9]' cut.out
cp host.ntp flipped.ntp
printf 'x' | dd of=flipped.ntp bs=1 seek=$at conv=notrunc 2>/dev/null
check "a damaged one is refused" sh -c '! ntprof-bpf report flipped.ntp target.ntp >flipped 2>flipped.err'
check "with what and where" grep -q 'flipped.ntp: byte [0-9]*: ' flipped.err
check "and what was whole before is used" grep -q '^merged read [1-9]' flipped
check "what is no stream is refused" sh -c '! ntprof-bpf report /lib/machine.sh 2>err; grep -q machine.sh err'
check "the same file twice is refused" sh -c '! ntprof-bpf report cut.ntp cut.ntp 2>err; grep -q "the same file" err'
check "a file that is not there is refused" sh -c '! ntprof-bpf report nothing.ntp 2>err; grep -q nothing.ntp err'
finish
