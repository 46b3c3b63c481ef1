#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 100
# Controllers come, go, and are reset under load; modules come late; what dies is counted.
set -u
. /lib/machine.sh

programs() {
	bpftool prog show 2>/dev/null | grep -c 'tracing.*name [a-z]'
}
at_start=$(programs)

# Before the modules: their drivers come with the first target and the first connection.
ntprof-bpf --host -i 0.2 >/tmp/host 2>/tmp/host.err &
host=$!
ntprof-bpf --target -i 0.2 >/tmp/target 2>/tmp/target.err &
target=$!
wait_for grep -q "waiting for nvme_tcp" /tmp/host
wait_for grep -q "waiting for nvmet_tcp" /tmp/target
check "both wait for their modules" kill -0 $host $target

# bytes_read PID: by all of its system calls
bytes_read() {
	awk '$1 == "rchar:" { printf "%.0f\n", $2 }' "/proc/$1/io"
}
# The kernel's type information, which is some megabytes, is not read before there is something to look up in it.
before=$(($(bytes_read $host) + $(bytes_read $target)))
sleep 1
read_since=$(($(bytes_read $host) + $(bytes_read $target) - before))
check "and read next to nothing meanwhile ($read_since bytes)" test $read_since -lt 1000000

disk=$(target_setup_null a size=256)
target_subsystem "$disk"
target_port
modprobe nvme-tcp
wait_for tracer_ready $host
wait_for tracer_ready $target

load() { # DEV SECONDS [OPTION...]: errors are what this test is about
	fio --name=load --filename="$1" --direct=1 --ioengine=libaio --size=200M --rw=randrw --bs=4k \
		--iodepth=16 --time_based --runtime="$2" --continue_on_error=all "${@:3}" >/tmp/fio.load 2>&1
}

# busy DISK: it is executing half of what one load may have in flight.
busy() {
	wait_for sh -c 'read -r reads writes <"$0" && [ $((reads + writes)) -ge 8 ]' \
		"/sys/block/${1##*/}/inflight"
}

ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
load "$dev" 1
host_disconnect "$ctrl"
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
load "$dev" 1
check "a controller reset under load" bash -c '
	. /lib/vm.sh
	fio --name=load --filename='"$dev"' --direct=1 --ioengine=libaio --size=200M --rw=randrw --bs=4k \
		--iodepth=16 --time_based --runtime=4 >/tmp/fio.reset 2>&1 &
	sleep 1
	nvme reset /dev/'"$ctrl"'
	sleep 1
	nvme reset /dev/'"$ctrl"'
	wait $!
'
path=$(host_path "$ctrl")
# A slow device, so that commands are being executed when their target goes.
host_disconnect "$ctrl"
target_remove
disk=$(target_setup_null slow size=256 delay=300000000)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2 --ctrl-loss-tmo=2 --reconnect-delay=1)
dev=$(host_device "$ctrl")
tracer_start /tmp/host.record record --host -o /tmp/host.ntp
recorders=("$tracer_pid")
tracer_start /tmp/target.record record --target -o /tmp/target.ntp
recorders+=("$tracer_pid")
# Until its target has gone, however long a slow machine takes for that. One command after the other, or all would end at once,
# and none be in flight just when the target goes.
load "$dev" 600 --rate_iops=25 &
loader=$!
busy "$disk"
target_remove
pkill -TERM -x fio
wait $loader
host_disconnect 2>/dev/null
sleep 1
tracer_stop "${recorders[@]}"
equal "recorders exit with 0" $? 0
ntprof-bpf report --slowest 1000 /tmp/host.ntp /tmp/target.ntp >/tmp/stories 2>/tmp/stories.err
# Both sides' halves of a command that was never answered are one story.
check "a command that died is told with what its target had of it" grep -q 'connection closed: it died' /tmp/stories
grep -c 'connection closed: it died' /tmp/stories | sed 's/^/# stories of commands that died: /'
grep -q 'connection closed: it died' /tmp/stories || sed 's/^/# /' /tmp/stories.err /tmp/host.record /tmp/target.record
check "the host's tracer lives" kill -0 $host
check "the target's tracer lives" kill -0 $target

# A new target and connection are seen as before.
disk=$(target_setup_null b size=256)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
load "$dev" 1
sleep 0.5
tracer_stop $host
equal "host exits with 0" $? 0
tracer_stop $target
equal "target exits with 0" $? 0

check "the host counted commands" test "$(commands /tmp/host read)" -gt 100
check "the target counted commands" test "$(commands /tmp/target read)" -gt 100
check "commands that died were counted as such on the host" test "$(loss /tmp/host cancelled)" -gt 0
check "commands that died were counted as such on the target" test "$(loss /tmp/target died)" -gt 0
equal "the host has none in flight" "$(loss /tmp/host in_flight)" 0
equal "the target has none in flight" "$(loss /tmp/target in_flight)" 0
within "no command of the host ended without a beginning, but for what was missed" "$(loss /tmp/host no_start)" 0 "$(missed /tmp/host)"
within "no tag was taken twice on the host, but for that" "$(loss /tmp/host overwritten)" 0 "$(missed /tmp/host)"
within "nor on the target" "$(loss /tmp/target overwritten)" 0 "$(missed /tmp/target)"
echo "# host: probe_missed $(loss /tmp/host probe_missed), cancelled $(loss /tmp/host cancelled), requeued $(loss /tmp/host requeued), no_start $(loss /tmp/host no_start), never_sent $(loss /tmp/host never_sent), point_missing $(loss /tmp/host point_missing)"
echo "# target: probe_missed $(loss /tmp/target probe_missed), died $(loss /tmp/target died), point_missing $(loss /tmp/target point_missing)"

load "$dev" 4 &
loader=$!
sleep 0.5
tracer_start /tmp/host --host
host=$tracer_pid
tracer_start /tmp/target --target
sleep 1
tracer_stop "$host" "$tracer_pid"
wait $loader
for side in host target; do
	no_losses "under load $side begins and ends with nothing lost but what was in flight" /tmp/$side \
		'^(async_event|no_start|in_flight)$'
	check "under load $side misses no more beginnings than the queues are deep" \
		test "$(loss /tmp/$side no_start)" -le 16
done

path=$(host_path "$ctrl")
echo 0 >"$path/queue/iostats"
tracer_start /tmp/host --host
dd if="$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
tracer_stop "$tracer_pid"
echo 1 >"$path/queue/iostats"
equal "without iostats every command is counted" "$(commands /tmp/host read)" 20
equal "without iostats it is said that the start time is missing" "$(loss /tmp/host submit_missing)" 20
check "without iostats the other stages are told" grep -q '^stage read network_and_target [1-9]' /tmp/host

equal "nothing is left attached" "$(programs)" "$at_start"
tracer_start /tmp/crash --host
kill -KILL "$tracer_pid"
wait "$tracer_pid" 2>/dev/null
wait_for bash -c ". /lib/machine.sh; [[ \$(bpftool prog show | grep -c 'tracing.*name [a-z]') == $at_start ]]"
equal "nothing is left attached after a crash" "$(programs)" "$at_start"
host_disconnect "$ctrl"
target_remove
check "the modules can be unloaded" modprobe -r nvme-tcp nvmet-tcp

# A driver that is unloaded, and loaded again, while a tracer starts is traced by as many programs as one that stays.
programs_after() { # SIDE MODULE [SECONDS before it is unloaded]: in $loaded
	local file=/tmp/$1.again

	ntprof-bpf "--$1" -i 0.2 >"$file" 2>&1 &
	tracer_pid=$!
	wait_for grep -q "waiting for $2" "$file"
	modprobe "$2"
	# Where all programs are loaded by then, they hold it.
	[[ -z ${3:-} ]] || { sleep "$3" && rmmod "$2" 2>/dev/null && modprobe "$2"; }
	wait_for tracer_ready "$tracer_pid"
	loaded=$(($(programs) - at_start))
	tracer_stop "$tracer_pid"
	wait_for rmmod "$2"
}
for side in host target; do
	module=nvme_tcp
	[[ $side == host ]] || module=nvmet_tcp
	programs_after $side $module
	whole=$loaded
	for seconds in 0.05 0.1 0.7; do
		programs_after $side $module $seconds
		equal "$side: a driver that goes ${seconds} s after it came, and comes again, is traced by all programs" \
			"$loaded" "$whole"
		sed 's/^/#   /' /tmp/$side.again | grep "ntprof-bpf: "
	done
done
finish
