#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# serve --peer: what both sides told of is what fio did, in stages that add up to the latencies; a peer that never begins, and one
# that dies, change nothing of the rest; when there is another recorder, its stream is read.
# run with: --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# takes: 25
set -u
. /lib/machine.sh

# Newer targets say of a device without a cache that it needs no flushes.
disk=$(target_setup_null a size=256 delay=1000000 memory_backed=1 cache_size=64)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")
mkfifo /tmp/target.fifo

# With what the unit of systemd lets it have, see contrib/systemd.
ntprof-bpf() {
	exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+bpf,+perfmon,+sys_admin ntprof-bpf "$@"
}
env ntprof-bpf record --target -o - >/tmp/target.fifo 2>/tmp/target.err &
record=$!
tracer_start /tmp/host.out serve --host -i 200ms --peer /tmp/target.fifo --peer 'sleep 2003; true'
host=$tracer_pid
scrape() {
	curl -sS --fail -o /tmp/page http://127.0.0.1:10998/metrics
}

# sum SAMPLE [LABEL...]: the values of a sample of the last scrape in which all of these labels are; seconds in nanoseconds.
sum() {
	awk -v name="$1" -v labels="${*:2}" 'BEGIN { nr = split(labels, wanted, " ") }
		index($0, name "{") != 1 { next }
		{ for (i = 1; i <= nr; i++) if (!index($0, wanted[i])) next
		  split($NF, part, "."); n += part[1] * (name ~ /seconds_sum$/ ? 1e9 : 1)
		  if (name ~ /seconds_sum$/) n += substr(part[2] "000000000", 1, 9) }
		END { printf "%.0f\n", n }' /tmp/page
}

# tells WANTED SAMPLE [LABEL...]: a scrape does, now or with the next collection.
tells() {
	scrape && [[ $(sum "${@:2}") == "$1" ]]
}
state() {
	tells 1 ntprof_peer_state "peer=\"$1\"" "state=\"$2\""
}

latency=ntprof_merged_command_duration_seconds
stage=ntprof_merged_stage_duration_seconds
check "the peer's stream comes" wait_for -t 60 state 1 running
check "the other one has not begun" state 2 starting
wait_for -t 60 tracer_ready $record
did=$(block_stat "$path" 1)
fio --direct=1 --ioengine=libaio --size=200M --group_reporting --name=read --filename="$dev" --rw=randread --bs=4k \
	--iodepth=8 --number_ios=800 --name=write --stonewall --filename="$dev" --rw=randwrite --bs=16k --iodepth=2 \
	--number_ios=200 >/tmp/fio 2>&1 || cat /tmp/fio
equal "the block layer has seen fio's reads" $(($(block_stat "$path" 1) - did)) 800
# The last commands of a queue may wait for later ones, to be known for what they are: flushes, which fio made none of.
merged() {
	dd if=/dev/null of="$dev" conv=fsync,notrunc 2>/dev/null
	tells "$2" ${latency}_count "operation=\"$1\""
}
wait_for -t 30 merged read 800 2>/dev/null
wait_for -t 30 merged write 200 2>/dev/null
# As "missed": stock programs of either side may be skipped where one was preempted.
may=0
[[ $VM_KIND != stock ]] || may=$(($(sum ntprof_losses_total 'reason="probe_missed"') + $(sum ntprof_peer_losses_total 'reason="probe_missed"')))
for op in read write; do
	want=800
	[[ $op == read ]] || want=200
	within "every $op of fio is merged" "$(sum ${latency}_count "operation=\"$op\"")" $((want - may)) $want
done

grep -E "^(${stage}_(count|sum)|ntprof_merged_(records|losses)_total|ntprof_peer_losses)" /tmp/page | grep -v ' 0$' | sed 's/^/# /'
# Of each operation: whatever stages its points tell, each has all of its commands, and together they take what these took.
negative=$(sum ntprof_merged_losses_total 'reason="negative_stages"')
for op in read write; do
	n=$(sum ${latency}_count "operation=\"$op\"")
	unsplit=$(sum ${stage}_count "operation=\"$op\"" 'stage="unsplit"')
	within "few $op commands are not split" "$unsplit" 0 $((may + n / 50))
	stages=$(grep -c "^${stage}_count{.*operation=\"$op\",stage=\"[^u]" /tmp/page)
	check "$op has several stages" test "$stages" -ge 4
	equal "each has the $op commands" "$(sum ${stage}_count "operation=\"$op\"")" $((stages * (n - unsplit) + unsplit))
	[[ $negative != 0 ]] ||
		equal "the stages of $op add up to the latencies" "$(sum ${stage}_sum "operation=\"$op\"")" "$(sum ${latency}_sum "operation=\"$op\"")"
done
# The device takes a millisecond: its stage is above the bound of 524 us, and in some bucket.
equal "no read was faster than the device" "$(sum ${stage}_bucket 'operation="read"' target_subsystem 'le="0.000524288"')" 0
equal "buckets are cumulative, and the last one is the count" "$(awk '
	$1 !~ /^ntprof_merged_.*_(bucket|count)\{/ { next }
	{ key = $1; sub(/,?le="[^"]*"/, "", key); sub(/_(bucket|count)\{/, "{", key) }
	$1 ~ /_count\{/ { if (last[key] != $2) print "count of", key; next }
	$2 + 0 < last[key] + 0 { print $1 }
	{ last[key] = $2 }' /tmp/page)" ""

# What runs beside it holds nothing at all, see docs/security.md.
descendants() {
	local child

	cat /proc/"$1"/task/*/children | tr ' ' '\n' | while read -r child; do
		echo "$child"
		descendants "$child"
	done
}
nothing=0000000000000000 bpf=0000008000000000
held() {
	sed -n 's/^CapPrm:[[:space:]]*//p' /proc/"$1"/status
}
equal "serve holds CAP_BPF" "$(held "$host")" $bpf
mapfile -t others < <(descendants "$host")
check "its peers run" test ${#others[@]} -ge 4
for pid in "${others[@]}"; do
	equal "process $(cat /proc/"$pid"/comm) of them holds nothing" "$(held "$pid")" $nothing
done

# The recorder dies.
matched=$(sum ntprof_merged_records_total 'result="matched"')
reads=$(sum ntprof_commands_total 'operation="read"')
{
	kill -KILL $record
	wait $record
} 2>/dev/null
# As a state it may be over before it is seen: what reads the FIFO is started again.
check "that is told" wait_for -t 30 grep -q '^ntprof-bpf: peer 1: died' /tmp/host.out.err
check "and that it is started again" wait_for -t 60 grep -q '^ntprof-bpf: peer 1: started again' /tmp/host.out.err
dd if="$dev" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
goes_on() {
	scrape && (($(sum ntprof_commands_total 'operation="read"') > reads))
}
check "the host's own figures go on" wait_for -t 20 goes_on
within "what was merged stays" "$(sum ntprof_merged_records_total 'result="matched"')" "$matched" $((matched + 50))
# The other one may bring it: what waits is given up when the host's records are of 5 s later.
alone() {
	dd if="$dev" of=/dev/null bs=4k count=5 iflag=direct 2>/dev/null
	scrape && (($(sum ntprof_merged_records_total 'result="host_only"') >= 1))
}
check "its commands have no other half" wait_for -t 60 alone
check "the other one never began" state 2 starting

# Another one: of the same queues, though by other numbers.
matched=$(sum ntprof_merged_records_total 'result="matched"')
env ntprof-bpf record --target -o - >/tmp/target.fifo 2>/tmp/target.err &
record=$!
check "another recorder's stream comes" wait_for -t 60 state 1 running
check "which took starting it again" test "$(sum ntprof_peer_restarts_total 'peer="1"')" -ge 1
equal "and nobody else" "$(sum ntprof_peer_restarts_total 'peer="2"')" 0
wait_for -t 60 tracer_ready $record
more() {
	dd if="$dev" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
	scrape && (($(sum ntprof_merged_records_total 'result="matched"') >= matched + 50))
}
check "its commands are merged" wait_for -t 60 more
mapfile -t -O ${#others[@]} others < <(descendants "$host")

kill -TERM "$host"
wait "$host"
equal "serve ends well" $? 0
for pid in "${others[@]}"; do
	check "process $pid of its peers is gone" test ! -e /proc/"$pid"
done
host_disconnect
target_remove
finish
