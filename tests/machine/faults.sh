# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what a test sets, and what it reads
#
# faults.sh - faults that are put into a host, a target and what is between them, and what report --why makes of each:
# machine/verdicts and pair/verdicts. ". /lib/faults.sh" after /lib/machine.sh. A test sets before faults_begin:
#
#   at_target CMD...    a function: a shell command in the target's /tmp
#   record_begin, record_end NAME
#                       functions: both sides record, into NAME.host.ntp and NAME.target.ntp
#   together            a name, if all faults are in one recording: a tracer's start takes a machine seconds
#   address, device     where the target listens, and the network device on the way there
#   connect             options of nvme connect
#   disk                settings of a disk that does what the usual load asks for
#   quick_disk          of one that takes as long, and carries more
#   slow_disk           and of one that is slow
#   rate, near, away    netem's: what the wire carries, its delay, and that of packets that take longer now and then
#   distant             its delay where round trips take long
#   resetting           and where controllers are reset, which takes some twenty of these
#   usual               fio's options for the usual load of each disk
#   writes              and for writes of which some do not fit into a capsule
#   written             the disk for these, if it is another one than the twin
#   patient, usual_tcp  functions: connections that are made from now on do not send again what comes late; or do, as usual.
#                       Only for faults of two machines
#   burst, pause        how many commands come together, and the time between two bursts, as fio has it
#   depth_pause         the same for bursts to both disks, if it is another one
#   mine                options of the host's recording, if it is not to have all
#   seconds             how long a fault is there
#   every               how often something happens, in whole seconds or with decimals
#   cut                 how long a wire is cut then
#   hog_ms, hog_every   how long a processor is kept from all others, in so many ms
#
# Each fault is a function, which runs while the usual load does, and is then killed. What has to be there before is in
# before_FAULT, and what takes that away again in after_FAULT.

twin_nqn=nqn.2024-01.io.ntprof:twin
far_nqn=nqn.2024-01.io.ntprof:far
small_nqn=nqn.2024-01.io.ntprof:small
few_nqn=nqn.2024-01.io.ntprof:few
other_nqn=nqn.2024-01.io.ntprof:other
other_uuid=5a1c0f6e-2b7d-4c1a-9f60-1d2e3f405162
modprobe sch_netem

# io NAME DISK FIO_OPTION...: random reads of 4 KiB, unless options say otherwise. On another machine it has to end by itself.
io() {
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=200m --norandommap \
		--randrepeat=0 --randseed=$((run * 1000 + ${#1})) --time_based --runtime=$((seconds + 1)) --thread "${@:3}" \
		>"fio.$1" 2>&1
}

# io_bursts COMMANDS NAME DISK FIO_OPTION...: so many come together.
io_bursts() {
	io "$2" "$3" --iodepth="$1" --thinktime="$pause" --thinktime_blocks="$1" "${@:4}"
}

# wire NETEM_ARGUMENT...: what the network does.
wire() {
	tc qdisc replace dev "$device" root netem limit 10000 rate "$rate" "$@"
}

# now_and_then SECONDS COMMAND...: until it is killed.
now_and_then() {
	while sleep "$1"; do "${@:2}"; done
}

# hog [CPU...]: no worker and no process runs for hog_ms, at the same time on all CPUs of a machine or on these. Packets are
# taken and acknowledged, or else the other side would send them again.
hog() {
	local cpu cpus=("$@")

	for cpu in $(pgrep '^ksoftirqd/'); do
		chrt -f -p 60 "$cpu"
	done

	(($#)) || mapfile -t cpus < <(seq 0 $(($(nproc) - 1)))
	for cpu in "${cpus[@]}"; do
		# shellcheck disable=SC2016 # for that shell
		taskset -c "$cpu" chrt -f 50 timeout $((seconds + 1)) bash -c 'while :; do
			t=$(('"$hog_every"' - ${EPOCHREALTIME/./} / 1000 % '"$hog_every"'))
			sleep $((t / 1000)).$(printf %03d $((t % 1000)))
			t=$((${EPOCHREALTIME/./} + '"$hog_ms"'000))
			while ((${EPOCHREALTIME/./} < t)); do :; done
		done' &
	done
	wait
}

# on_its_side COMMAND...: one of the above, on the target.
on_its_side() {
	at_target "$(declare -f io io_bursts hog); run=$run seconds=$seconds pause=$pause hog_ms=$hog_ms hog_every=$hog_every; $*"
}

healthy() { :; }
# Now and then packets take longer.
network() {
	longer() {
		wire delay "$away"
		sleep 0.1
		wire delay "$near"
	}
	now_and_then "$every" longer
}
# So few are lost that no segment is lost several times.
loss() { wire delay "$near" loss 0.4%; }
# The wire is cut, and mended.
outage() {
	cut_off() {
		wire delay "$near" loss 100%
		sleep "$cut"
		wire delay "$near"
	}
	now_and_then "$every" cut_off
}
# Somebody else on the target reads from the disk of one array, which is busy with that for a while. The block layer takes requests
# of each CPU in turn, so they come from all.
disk() {
	on_its_side "cpus=\$(nproc); io_bursts $burst local $backing --numjobs=\$cpus --cpus_allowed=0-\$((cpus - 1)) \
		--cpus_allowed_policy=split"
}
one_array() { io slow "$far" --iodepth=4 --rate_iops=12; }
# Bursts come to both disks.
depth() {
	io_bursts "$burst" bursts "$twin" --thinktime="${depth_pause:-$pause}" &
	io_bursts "$burst" bursts2 "$dev" --thinktime="${depth_pause:-$pause}"
}
# All commands of an array are of one CPU, and so of one of its queues. More queues would not make its disk faster.
before_depth_one_cpu() { pinned=(--cpus_allowed=0); }
# A quarter of all commands would be as many as slow ones of a disk whose times are spread.
depth_one_cpu() { io_bursts "$burst" bursts "$dev" "${pinned[@]}" --thinktime=$((seconds / 2))s; }
after_depth_one_cpu() { pinned=(); }
# Writes without room in a capsule wait for an answer.
r2t() {
	wire delay "$distant"
	io writes "${written:-$twin}" --rw=randwrite "${writes[@]}"
}
# Another host's commands, which the first one does not see, keep the disk.
neighbour() { io_bursts "$burst" other "$other"; }
host_worker() { hog; }
target_worker() { on_its_side hog; }
# A queue's worker has one CPU. Each array has a queue on it, so one array alone has a load, from both CPUs. It takes longer than
# what holds up the other queue, and than the kernel lets a real-time process run at a time.
before_one_queue() {
	loaded=("$dev")
	pinned=(--numjobs=2 --cpus_allowed=0-1 --cpus_allowed_policy=split --iodepth=16)
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
}
one_queue() { hog_ms=2000 hog 0; }
after_one_queue() {
	loaded=() pinned=()
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
}
# A reset holds up the few commands that are in flight: one alone is less than one command in a hundred.
reset() {
	wire delay "$resetting"
	while sleep "$reset_every"; do
		echo 1 >"/sys/class/nvme/$ctrl/reset_controller"
		wait_for grep -qx live "/sys/class/nvme/$ctrl/state"
	done
}
# What does not fit into the tags of a small queue waits in the scheduler.
before_block_layer() {
	small=$(host_connect "$small_nqn" -a "$address" -i 1 --queue-size=16)
	echo mq-deadline >"$(host_path "$small")/queue/scheduler"
	echo 256 >"$(host_path "$small")/queue/nr_requests"
	small=$(host_device "$small")
}
block_layer() { io_bursts "$burst" small "$small"; }
after_block_layer() { host_disconnect "$small_nqn"; }
# One queue of four has all commands of an array whose disk is quick: many at once now and then, but fewer than at other times.
before_few_queues() {
	patient
	few=$(host_device "$(host_connect "$few_nqn" -a "$address" "${connect[@]}" --queue-size=1024)")
	loaded=("$few")
	pinned=(--cpus_allowed=0 --iodepth=2 --rate_iops=150)
}
few_queues() { io_bursts 512 bursts "$few" --cpus_allowed=0 --thinktime=8s; }
after_few_queues() {
	loaded=() pinned=()
	host_disconnect "$few_nqn"
	usual_tcp
}

# connected_anew: the connections of both disks have what was set before.
connected_anew() {
	local at

	for at in "$dev" "$twin"; do
		at=${at##*/}
		at=/sys/class/nvme/${at%n*}
		echo 1 >"$at/reset_controller"
		wait_for grep -qx live "$at/state"
	done
}
# limited: a round trip carries few reads of a connection, which does for the usual load, and not for a burst. It comes once, so
# that commands near the median are from other times. The disk has all of it at once.
limited_load() {
	small=$(host_device "$(host_connect "$small_nqn" -a "$address" "${connect[@]}")")
	loaded=("$small")
	pinned=(--numjobs=2 --cpus_allowed=0-1 --cpus_allowed_policy=split --iodepth=6)
}
limited() {
	wire delay 30ms
	io_bursts $((burst / 2)) bursts "$small" --numjobs=2 --cpus_allowed=0-1 --cpus_allowed_policy=split --thinktime="${seconds}s"
}
not_limited() {
	loaded=() pinned=()
	host_disconnect "$small_nqn"
}
# It is the host's receive window that has room for no more,
before_window() {
	usual_rmem=$(</proc/sys/net/ipv4/tcp_rmem)
	echo 4096 16384 16384 >/proc/sys/net/ipv4/tcp_rmem
	limited_load
}
window() { limited; }
after_window() {
	echo "$usual_rmem" >/proc/sys/net/ipv4/tcp_rmem
	not_limited
}
# the target's send buffer, which a segment of 64 KiB would exceed,
before_buffer() {
	usual_wmem=$(at_target cat /proc/sys/net/ipv4/tcp_wmem)
	at_target "echo 4096 16384 16384 >/proc/sys/net/ipv4/tcp_wmem; ip link set $device gso_max_size 2048"
	limited_load
}
buffer() { limited; }
after_buffer() {
	at_target "echo $usual_wmem >/proc/sys/net/ipv4/tcp_wmem; ip link set $device gso_max_size 65536"
	not_limited
}
# or its congestion window, which its route to the host has locked. A connection takes that from what the kernel keeps of an
# address, and that has it from the route of the first connection that ends: of ssh's.
locked_window() {
	at_target "route=\$(ip route show dev $device scope link | sed -E 's/ (rto_min|initcwnd|cwnd) .*//')
		ip route change \$route dev $device ${1:-}; ip tcp_metrics flush"
}
before_cwnd() {
	locked_window "cwnd lock 6"
	limited_load
}
cwnd() { limited; }
after_cwnd() {
	locked_window
	not_limited
}

# What a verdict may be, if not the fault's own name.
declare -A also=([healthy]="mixed not_known" [disk]="one_array" [depth_one_cpu]="depth" [outage]="loss")

# The load is there before the recording begins, and when it ends.
pinned=() loaded=()
usual_load() {
	local disk disks=("$dev" "$twin")

	((${#loaded[@]} == 0)) || disks=("${loaded[@]}")
	load=()
	for disk in "${disks[@]}"; do
		io "usual${disk##*/}" "$disk" "${usual[@]}" --runtime=3600 "${pinned[@]}" &
		load+=($!)
	done
}

# now: the host's wall clock, as --time has it.
now() {
	local at=$EPOCHREALTIME

	TZ=UTC printf '%(%FT%T)T.%sZ' "${at%.*}" "${at#*.}"
}

# verdict NAME FAULT TIME: as report has it for this time of a recording: of operations with enough commands the expected one, or
# else the first one that blames something.
verdict() {
	local all

	all=$(ntprof-bpf report "$1".{host,target}.ntp --time "$3" --why --format json |
		sed 's/"rules":\[[^]]*\]//g' | grep -o '"verdict":"[a-z_]*","cause":[^,}]*' | tr -d '"' |
		sed 's/verdict:named,cause://; s/verdict:\([a-z_]*\),.*/\1/')
	[[ $all != *"$2"* ]] || all=$2
	all=$(grep -vx 'healthy\|not_known' <<<"$all" || echo "$all")
	got=${all%%$'\n'*}
	# Nothing ended in that time.
	got=${got:-nothing}
}

# inject FAULT RUNS: so many runs. When each was is in the lines of FAULT.times.
inject() {
	local pid from run=0

	wire delay "$near"
	! declare -F "before_$1" >/dev/null || "before_$1" >/dev/null
	usual_load
	sleep 1
	[[ -n $together ]] || record_begin "$1"
	for ((run = 0; run < $2; run++)); do
		from=$(now)
		"$1" >"fault.$1" 2>&1 &
		pid=$!
		sleep "$seconds"
		echo "$from..$(now)"
		kill -- -$pid 2>/dev/null
		wait $pid 2>/dev/null
		wire delay "$near"
		# What was begun has ended, and so has what the target was given.
		sleep 2
	done >"$1.times"
	kill -- "${load[@]/#/-}"
	wait "${load[@]}" 2>/dev/null
	[[ -n $together ]] || record_end "$1"
	[[ ! -d /out ]] || cp "$1".* /out
	! declare -F "after_$1" >/dev/null || "after_$1" >/dev/null
}

# faults_begin: the target's disks, and the host's connections.
faults_begin() {
	backing=$(at_target "target_setup_null plain $disk")
	at_target "target_subsystem $backing
		target_subsystem $twin_nqn \$(target_setup_null twin $disk)
		target_subsystem $far_nqn \$(target_setup_null far $slow_disk)
		target_subsystem $other_nqn $backing
		target_subsystem $small_nqn \$(target_setup_null small $quick_disk)
		target_subsystem $few_nqn \$(target_setup_null few size=256 delay=2000000 hw_queue_depth=1024)
		target_port $address inline_data_size=8192"
	ctrl=$(host_connect -a "$address" "${connect[@]}")
	dev=$(host_device "$ctrl")
	twin=$(host_device "$(host_connect "$twin_nqn" -a "$address" "${connect[@]}")")
	far=$(host_device "$(host_connect "$far_nqn" -a "$address" "${connect[@]}")")
	mine=(--hostnqn "$(</sys/class/nvme/"$ctrl"/hostnqn)")
	other=$(host_device "$(host_connect "$other_nqn" -a "$address" "${connect[@]}" \
		--hostnqn "nqn.2014-08.org.nvmexpress:uuid:$other_uuid" --hostid $other_uuid)")
}

# faults_run RUNS FAULT...: so many of each. Prints a table: faults down, verdicts across.
faults_run() {
	local fault name v at right table=()
	local -A count

	[[ -z $together ]] || record_begin "$together"
	for fault in "${@:2}"; do
		inject "$fault" "$1"
	done
	[[ -z $together ]] || record_end "$together"
	[[ ! -d /out || -z $together ]] || cp "$together".* /out
	for fault in "${@:2}"; do
		name=${together:-$fault}
		count=()
		right=0
		while read -r at; do
			verdict "$name" "$fault" "$at"
			count[$got]=$((${count[$got]:-0} + 1))
			if [[ " $fault ${also[$fault]:-} " == *" $got "* ]]; then
				right=$((right + 1))
			else
				ntprof-bpf report "$name".{host,target}.ntp --time "$at" --why --format text | sed 's/^/# /' | head -n 20
			fi
		done <"$fault.times"
		table+=("$fault:$(for v in "${!count[@]}"; do echo " $v ${count[$v]}"; done | tr -d '\n')")
		within "$fault is named in nine of ten runs" $right $((($1 * 9 + 9) / 10)) "$1"
	done
	printf '# %s\n' "${table[@]}"
	tc qdisc del dev "$device" root
}
