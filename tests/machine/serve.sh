#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What serve tells of both sides is what fio did, scraped by curl: with all points, and by default, which has stages of a part.
# run with: --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# takes: 75
set -u
. /lib/machine.sh

disk=$(target_setup_null a size=256 delay=1000000)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")

# With what the unit of systemd lets it have, see contrib/systemd.
ntprof-bpf() {
	exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+bpf,+perfmon,+sys_admin ntprof-bpf "$@"
}
tracer_start /tmp/host.out serve --host -i 200ms --points all
host=$tracer_pid
tracer_start /tmp/target.out serve --target --by queue --listen unix:/run/target.sock -i 200ms --points all
target=$tracer_pid

declare -A options=([host]=http://127.0.0.1:10998/metrics [target]="--unix-socket /run/target.sock http://localhost/metrics")
scrape() {
	# shellcheck disable=SC2086 # words
	curl -sS --fail -o "/tmp/$1" ${options[$1]}
}

# sum SIDE SAMPLE [LABEL...]: the values of a sample of the last scrape in which all of these labels are.
sum() {
	awk -v name="$2" -v labels="${*:3}" 'BEGIN { nr = split(labels, wanted, " ") }
		index($0, name "{") != 1 { next }
		{ for (i = 1; i <= nr; i++) if (!index($0, wanted[i])) next; n += $NF }
		END { printf "%.0f\n", n }' "/tmp/$1"
}

# tells SIDE WANTED SAMPLE [LABEL...]: a scrape does, now or with the next collection.
tells() {
	scrape "$1" && [[ $(sum "$1" "${@:3}") == "$2" ]]
}

for side in host target; do
	check "$side serves" wait_for scrape $side
	equal "$side ends its page" "$(tail -n 1 /tmp/$side)" "# EOF"
done
check "host knows the controller" wait_for tells host 1 ntprof_controllers
check "host knows its queues" wait_for tells host 3 ntprof_queues

declare -A reads writes
for side in host target; do
	reads[$side]=$(sum $side ntprof_commands_total 'operation="read"')
	writes[$side]=$(sum $side ntprof_commands_total 'operation="write"')
done
before=$(block_stat "$path" 1)
fio --direct=1 --ioengine=libaio --size=200M --group_reporting --name=read --filename="$dev" --rw=randread --bs=4k \
	--iodepth=8 --number_ios=800 --name=write --stonewall --filename="$dev" --rw=write --bs=16k --iodepth=2 \
	--number_ios=200 >/tmp/fio 2>&1 || cat /tmp/fio
equal "the block layer has seen fio's reads" $(($(block_stat "$path" 1) - before)) 800

# As "missed": stock programs may be skipped where one was preempted.
for side in host target; do
	wait_for -t 20 tells $side $((reads[$side] + 800)) ntprof_commands_total 'operation="read"' 2>/dev/null
	wait_for -t 20 tells $side $((writes[$side] + 200)) ntprof_commands_total 'operation="write"' 2>/dev/null
	may=0
	[[ $VM_KIND != stock ]] || may=$(sum $side ntprof_losses_total 'reason="probe_missed"')
	for op in read write; do
		before=${reads[$side]} did=800
		[[ $op == read ]] || before=${writes[$side]} did=200
		got=$(($(sum $side ntprof_commands_total "operation=\"$op\"") - before))
		within "$side counts every $op of fio" $got $((did - may)) $did
	done
	# A target comes to know of connections that were there before by their commands.
	equal "$side knows one controller" "$(sum $side ntprof_controllers)" 1
	equal "$side has a latency of each" "$(sum $side ntprof_command_duration_seconds_count)" \
		"$(sum $side ntprof_commands_total)"
	equal "$side has as many in its last bucket" "$(sum $side ntprof_command_duration_seconds_bucket 'le="+Inf"')" \
		"$(sum $side ntprof_commands_total)"
	equal "$side knows of no error" "$(sum $side ntprof_command_errors_total)" 0
	equal "$side has none in flight" "$(sum $side ntprof_commands_in_flight 'operation="read"')" 0
	check "$side tells the memory of its maps" test "$(sum $side ntprof_bpf_map_bytes)" -gt 1000000
done
# The device takes a millisecond: its stage is above the bound of 524 us, and in some bucket.
equal "no read was faster than the device" \
	"$(sum target ntprof_stage_duration_seconds_bucket 'operation="read"' 'stage="target_subsystem"' 'le="0.000524288"')" 0
check "the stages of the target name the subsystem" \
	grep -q "^ntprof_stage_duration_seconds_count{side=\"target\",subsysnqn=\"$VM_NQN\",operation=\"read\",stage=\"target_subsystem\"}" /tmp/target
check "those of the host its controller, too" \
	grep -q "^ntprof_stage_duration_seconds_count{side=\"host\",controller=\"$ctrl\",subsysnqn=\"$VM_NQN\",operation=\"read\",stage=\"blk_submission\"}" /tmp/host
equal "the target has a series for each queue" \
	"$(grep -c '^ntprof_commands_total{.*queue="[12]",operation="read"' /tmp/target)" 2
check "a target's controller is no label" bash -c '! grep -q cntlid /tmp/target'
check "the target names the subsystem" grep -q "^ntprof_commands_total{.*subsysnqn=\"$VM_NQN\"" /tmp/target
check "the host has one for its controller" \
	grep -q "^ntprof_commands_total{side=\"host\",controller=\"$ctrl\",subsysnqn=\"$VM_NQN\",operation=\"read\"}" /tmp/host

check "runs are not told without statistics" test "$(sum host ntprof_bpf_runs_total)" = 0
echo 1 >/proc/sys/kernel/bpf_stats_enabled
dd if="$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
runs() {
	scrape host && [[ $(sum host ntprof_bpf_runs_total) -gt 20 ]]
}
check "runs are told with them" wait_for runs

# What they hold: one capability to make room by, in the thread that traces; nothing in those that write.
held() {
	local task

	for task in /proc/"$1"/task/*; do
		awk -v main="$1" '{ sub(":", "", $1); v[$1] = $2 }
			END { print (v["Pid"] == main ? "main" : "thread"), v["CapPrm"], v["CapEff"], v["CapInh"], v["CapAmb"],
				v["NoNewPrivs"], v["Seccomp"] }' "$task/status"
	done | sort -u
}
nothing=0000000000000000 bpf=0000008000000000
for side in host target; do
	equal "$side holds CAP_BPF, its threads nothing, all are filtered" "$(held "${!side}")" \
		"main $bpf $bpf $nothing $nothing 1 2
thread $nothing $nothing $nothing $nothing 1 2"
done

# Locked memory of all maps there are, as the kernel tells it: nobody holds a descriptor of a bank of a pool.
maps() {
	bpftool -j map show | grep -o '"bytes_memlock":[0-9]*' | awk -F: '{ n += $2 } END { printf "%.0f\n", n }'
}
for side in host target; do
	scrape $side
done
bytes=$(maps)
within "both tell the memory that the kernel does" $(($(sum host ntprof_bpf_map_bytes) + $(sum target ntprof_bpf_map_bytes))) \
	$((bytes * 95 / 100)) $((bytes * 105 / 100))

# points SIDE POINTS RATIO: what each command has, and for which part of the time there are stages.
points() {
	equal "$1 says which points commands have" "$(sum "$1" ntprof_points_info "points=\"$2\"")" 1
	equal "$1 says how much of the time has stages" "$(sed -n 's/^ntprof_stages_ratio{.*} //p' "/tmp/$1")" "$3"
}
ended() {
	kill -TERM "$host" "$target"
	wait "$host"
	equal "host ends well" $? 0
	wait "$target"
	equal "target ends well" $? 0
}
points host all 1
points target all 1
host_disconnect
check "the host tells that nobody is connected" wait_for tells host 0 ntprof_controllers
ended
check "its socket is gone" test ! -e /run/target.sock

# As the units start it. A busy machine may miss a burst, or most of it.
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
tracer_start /tmp/host.out serve --host -i 200ms
host=$tracer_pid
tracer_start /tmp/target.out serve --target --listen unix:/run/target.sock -i 200ms
target=$tracer_pid
staged() {
	sum "$1" ntprof_stage_duration_seconds_count "operation=\"$2\"" "stage=\"$3\""
}
both_staged() {
	scrape host && scrape target && (($(staged host read network_and_target) > 0 && $(staged target read target_subsystem) > 0))
}
for side in host target; do
	check "$side serves by default" wait_for scrape $side
	reads[$side]=$(sum $side ntprof_commands_total 'operation="read"')
done
did=0
for ((i = 0; i < 8; i++)); do
	fio --direct=1 --ioengine=libaio --size=200M --name=read --filename="$dev" --rw=randread --bs=4k --iodepth=8 \
		--time_based --runtime=16 --output-format=json >/tmp/fio || cat /tmp/fio
	did=$((did + $(awk '/^ *"read" : \{/ { on = 1 } on && /"total_ios"/ { sub(/,/, ""); print $3; exit }' /tmp/fio)))
	((i == 0)) || ! both_staged || break
done
for side in host target; do
	wait_for -t 20 tells $side $((reads[$side] + did)) ntprof_commands_total 'operation="read"' 2>/dev/null
	may=0
	[[ $VM_KIND != stock ]] || may=$(sum $side ntprof_losses_total 'reason="probe_missed"')
	within "$side counts every read of fio by default" \
		$(($(sum $side ntprof_commands_total 'operation="read"') - reads[$side])) $((did - may)) $did
	equal "$side has a latency of each by default" "$(sum $side ntprof_command_duration_seconds_count)" \
		"$(sum $side ntprof_commands_total)"
	points $side ends 0.0666666667
done
# A fifteenth where nothing else runs; a busy machine ends bursts late.
for stage in blk_submission nvme_tcp_submission network_and_target nstack_completion blk_completion; do
	within "host has $stage of a part of the reads" "$(staged host read $stage)" 1 $((did * 9 / 10))
done
for stage in nstack_submission nvmet_tcp_submission target_subsystem nvmet_tcp_completion; do
	within "target has $stage of a part of the reads" "$(staged target read $stage)" 1 $((did * 9 / 10))
done
equal "no read was faster than the device" \
	"$(sum target ntprof_stage_duration_seconds_bucket 'operation="read"' 'stage="target_subsystem"' 'le="0.000524288"')" 0
equal "it is not known how many commands are at the device" "$(grep -c '^ntprof_commands_at_device{' /tmp/target)" 0
host_disconnect
ended
target_remove
finish
