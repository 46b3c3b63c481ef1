#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 4
# takes: 80
# The three laws of merged commands, for every command of a mixed run: its ten stages add up to its
# latency, none is negative, and it was brought together with nothing but itself.
set -u
. /lib/machine.sh

cd /tmp || exit 1

# record_and_report NAME DEV...: all of it for one way of being connected.
record_and_report() {
	local name=$1 side host target n offset

	shift
	for side in host target; do
		tracer_start $side.log record --$side --force -o "$name.$side.ntp"
		declare "$side=$tracer_pid"
	done
	mix "$@"
	tracer_stop "$host" "$target"
	ntprof-bpf report "$name.target.ntp" "$name.host.ntp" --commands >report 2>report.err
	equal "$name: report ends with 0" $? 0
	sed 's/^/# /' report.err
	laws report >laws
	sed "s/^#* */# /" laws
	grep -E '^connection ' report | sed 's/^/# /'
	# All I/O came and went while both were recording; admin commands may be older or younger. As "missed" in lib.sh: what a
	# stock program was skipped for is of one side only.
	n=$(field laws merged)
	may=0
	[[ $VM_KIND != stock ]] || may=$(awk '$2 == "loss" && $3 == "probe_missed" { n += $4 } END { print n + 0 }' report)
	only=$(awk '/^connection .* queue [1-9]/ { for (i = 2; i < NF; i++) if ($i == "only") n += $(i + 1) } END { print n + 0 }' report)
	within "$name: every command that both have recorded is matched, but for what was missed" "$only" 0 "$may"
	equal "$name: none is ambiguous" "$(grep -c ' ambiguous [1-9]' report)" 0
	equal "$name: every law holds for every command" "$(field laws broken)" 0
	within "$name: all have their stages" "$(field laws unsplit)" 0 "$may"
	for shape in read inline_write r2t_write no_data; do
		check "$name: there are commands of shape $shape" test "$(field laws $shape)" -ge 10
	done
	equal "$name: the figures agree with the lines" \
		"$(total report 3 merged)" "$n"
	equal "$name: the sums of the stages add up" "$(total report 0 merged_stage)" "$(total report 0 merged)"
	# Both sides are this machine: their clocks are the same one.
	offset=$(sed -n 's/^connection .* queue 1: .* clock offset \(-*[0-9]*\) ns +- \([0-9]*\) ns.*/\1 \2/p' report | head -n 1)
	check "$name: the clock offset is 0 within its bounds ($offset)" awk -v o="$offset" \
		'BEGIN { n = split(o, a, " "); exit !(n == 2 && a[1] <= a[2] && a[1] >= -a[2]) }'
}

for name in a b; do
	# Newer targets say of a device without a cache that it needs no flushes.
	disk=$(target_setup_null $name size=256 discard=1 cache_size=64)
	[[ $name = a ]] && target_subsystem "$disk"
	[[ $name = b ]] && target_subsystem nqn.2024-01.io.ntprof:second "$disk"
done
target_port

a=$(host_connect -i 4)
b=$(host_connect nqn.2024-01.io.ntprof:second -i 4)
record_and_report two_controllers "$(host_device "$a")" "$(host_device "$b")"
equal "queues of equal ids are kept apart" "$(grep -c '^connection .* queue [1-4]: matched [1-9]' report)" 8
host_disconnect "$b"
host_disconnect "$a"

a=$(host_connect -i 4 --hdr-digest --data-digest)
record_and_report digests "$(host_device "$a")"
host_disconnect "$a"

a=$(host_connect -i 4 --disable-sqflow)
record_and_report no_sq_flow_control "$(host_device "$a")"
host_disconnect "$a"
target_remove

ntprof-bpf report no_sq_flow_control.host.ntp no_sq_flow_control.target.ntp --slowest 2 >story 2>&1
equal "report --slowest ends with 0" $? 0
for point in submit send_cmd rx exec "done" complete; do
	check "the story of the slowest has $point" grep -qw "$point" story
done
ntprof-bpf report no_sq_flow_control.host.ntp >alone 2>&1
equal "one side alone is reported too" $? 0
check "with its own stages" grep -q '^stage read network_and_target ' alone
# Near the end: a frame may hold hundreds of commands, and those of one that is not whole are lost.
at=$(($(stat -c %s digests.host.ntp) - 200))
head -c $at digests.host.ntp >cut.ntp
ntprof-bpf report cut.ntp digests.target.ntp >cut.out 2>cut.err
equal "a stream that breaks off is used as far as it goes" $? 0
check "and that is said" grep -q 'cut.ntp: byte [0-9]*: ' cut.err
check "and its commands are merged" grep -q '^merged read [1-9]' cut.out
cp digests.host.ntp flipped.ntp
printf 'x' | dd of=flipped.ntp bs=1 seek=$at conv=notrunc 2>/dev/null
check "a damaged one is refused" sh -c '! ntprof-bpf report flipped.ntp digests.target.ntp >flipped 2>flipped.err'
check "with what and where" grep -q 'flipped.ntp: byte [0-9]*: ' flipped.err
check "and what was whole before is used" grep -q '^merged read [1-9]' flipped
check "what is no stream is refused" sh -c '! ntprof-bpf report /lib/machine.sh 2>err; grep -q machine.sh err'
check "the same file twice is refused" sh -c '! ntprof-bpf report cut.ntp cut.ntp 2>err; grep -q "the same file" err'
check "a file that is not there is refused" sh -c '! ntprof-bpf report nothing.ntp 2>err; grep -q nothing.ntp err'
finish
