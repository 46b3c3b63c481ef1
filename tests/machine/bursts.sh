#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# Bursts: nothing is attached and no packet is stamped between them, what is cut by their edges is counted and in
# no figure, and all else is as whole as without.
set -u
. /lib/machine.sh

cd /tmp || exit 1
# A burst has to outlast the attaching of four tracers, which takes seconds here, and many on a busy machine.
schedule=12s/24s

target_subsystem "$(target_setup_null a size=256 delay=200000000)"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")

has_socket() {
	local fd

	for fd in "/proc/$1/fd/"*; do
		[[ $(readlink "$fd") != socket:* ]] || return 0
	done
	return 1
}
# at_rest PID: it has no link to a program, and no socket, such as asks for stamps.
at_rest() {
	! has_link "$1" && ! has_socket "$1"
}
# traces PID: it has both.
traces() {
	has_link "$1" && has_socket "$1"
}
# bursts FILE N: so many have ended.
bursts() {
	[[ $(grep -c '^ntprof-bpf --.* burst [1-9]' "$1") -ge $2 ]]
}

# Commands take 200 ms, and eight of them are always under way.
fio --name=load --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randread --bs=4k --iodepth=8 \
	--time_based --runtime=600 >fio 2>&1 &
load=$!
declare -A pid
for side in host target; do
	ntprof-bpf -v --$side --burst $schedule >$side 2>$side.err &
	pid[$side]=$!
	ntprof-bpf record --$side --burst $schedule --force -o $side.ntp >/dev/null 2>$side.record.err &
	pid[$side.record]=$!
done
for side in host target; do
	check "$side: a burst begins" wait_for traces "${pid[$side]}"
	check "$side: and ends" wait_for bursts $side 1
	check "$side: nothing is attached then, and no packet stamped" wait_for at_rest "${pid[$side]}"
	check "$side: another one begins" wait_for traces "${pid[$side]}"
	check "$side: and ends as well" wait_for bursts $side 2
done
tracer_stop "${pid[@]}"
equal "tracers end well" $? 0
kill -INT "$load"
wait "$load"

for side in host target; do
	echo "# $side: $(grep -m 1 '^summary' $side); burst_edge $(loss $side burst_edge), reads $(commands $side read)"
	sed -n 's/^\(attached\|detached\) /# '$side': &/p' $side.err
	check "$side: reads are measured" test "$(commands $side read)" -gt 0
	# How many depends on how long attaching and detaching take: most end while programs still look.
	check "$side: what edges cut is counted" test "$(loss $side burst_edge)" -gt 0
	no_losses "$side: nothing is lost" $side '^(async_event|burst_edge|probe_missed)$'
	# Buckets are 3 % wide.
	check "$side: reads take as long as the device does" \
		awk '$1 == "percentiles" && $2 == "read" { ok = $3 + 0 >= 190000000 } END { exit !ok }' $side
	check "$side: the summary says how long it was measured" \
		grep -qE "^summary of [1-9][0-9]* bursts? of 12\.0 s every 24\.0 s, measured [0-9.]+ s of [0-9.]+ s" $side
done

ntprof-bpf report host.ntp target.ntp >report 2>report.err
sed -n '1,/^$/s/^/# /p' report
for side in host target; do
	check "$side.ntp tells of its bursts" grep -qE "^$side\.ntp: .* in [1-9][0-9]* bursts? of together " report
	# Programs are skipped that would have had nothing to do: they sit on functions of others, too.
	equal "$side.ntp has lost nothing" "$(grep "^$side\.ntp: loss " report | grep -cvE ' (async_event|burst_edge|in_flight|probe_missed) ')" 0
done
check "commands of both are matched" test "$(total report 3 merged read)" -gt 0
cut=$(sed -n 's/^records of one side only that no burst .*: //p' report)
single=$(awk '/^connection / { for (i = 1; i < NF; i++) if ($i == "only") n += $(i + 1) } END { print n + 0 }' report)
# A command that one side's edge cut on its way from or to the other one was whole for the other's clock: no more
# than are under way at the four edges.
within "what only one side has is what the edges of the other's bursts have cut" "${cut:-0}" $((single - 32)) "$single"
host_disconnect
target_remove
finish
