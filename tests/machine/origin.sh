#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 125
# Where commands come from and go to: cgroup, CPU, process, disk, path and size, in a live view, in lines and recorded, against what
# fio did in each cgroup and with each process; and a selection by a cgroup has the very commands that a recording of all has under it.
set -u
. /lib/machine.sh

cd /tmp || exit 1
cgroup_make a b a/deep
mkdir "$VM_CGROUPS/b/bare"

disk=$(target_setup_null disk size=256)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# io CGROUP CPU FIO-ARGS...: with a process that is in the cgroup.
io() {
	sh -c "echo \$\$ >$VM_CGROUPS$1/cgroup.procs && exec fio --name=io --direct=1 --ioengine=libaio --iodepth=4 --size=64m \
		--filename=$dev --cpus_allowed=$2 ${*:3}" >fio 2>&1 || cat fio
}

tracer_start all.out record --host --origin -o all.ntp
pids=("$tracer_pid")
tracer_start a.out record --host --cgroup a --op read,write -o a.ntp
pids+=("$tracer_pid")
tracer_start origins.csv --host --by cgroup,cpu,op --format csv
pids+=("$tracer_pid")
tracer_start places.csv --host --by device,path,size --op read,write --format csv
pids+=("$tracer_pid")
tracer_start served.csv --target --by device,size,nsid,status --op read,write --format csv
pids+=("$tracer_pid")
tracer_start deep --host --cgroup "$VM_CGROUPS/a/deep"
pids+=("$tracer_pid")
io /a/deep 0 --rw=randread --bs=4k --number_ios=300
io /b 1 --rw=randwrite --bs=8k --number_ios=200
io "" 1 --rw=randread --bs=16k --number_ios=100
tracer_stop "${pids[@]}"
equal "all tracers end well" $? 0

# in_row FILE FIELDS...: of lines of CSV that have all of these fields, the sum of the column "commands".
in_row() {
	awk -F, -v wanted="${*:2}" '
		{ sub("\r", "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "commands") column = i; n = split(wanted, w, " "); next }
		{ all = 1; for (k = 1; k <= n; k++) { any = 0; for (i = 1; i <= NF; i++) any = any || $i == w[k]; all = all && any } }
		all { sum += $column }
		END { print sum + 0 }' "$1"
}

equal "live: reads of a cgroup, from its CPU" "$(in_row origins.csv summary /a/deep 0 read)" 300
equal "live: writes of another" "$(in_row origins.csv summary /b 1 write)" 200
equal "live: reads of none" "$(in_row origins.csv summary / 1 read)" 100
equal "live: of no other one" "$(in_row origins.csv summary read) $(in_row origins.csv summary write)" "400 200"
path=$(awk -F, '$2 == "summary" { print $4; exit }' places.csv)
equal "live: a disk has all" "$(in_row places.csv summary "$(basename "$dev")")" 600
check "live: and its path, $path" test "${path##*>}" = 127.0.0.1:4420
for size in 4096:300 8192:200 16384:100; do
	equal "live: commands of ${size%:*} bytes" "$(in_row places.csv summary "${size%:*}")" "${size#*:}"
	equal "live: the target has as many, of its disk" "$(in_row served.csv summary "${size%:*}" "$disk" success)" "${size#*:}"
done
equal "live: a cgroup alone" "$(commands deep read) $(commands deep write)" "300 0"
no_losses "and loses nothing" deep

ntprof-bpf report all.ntp --by cgroup,cpu,op --format csv >origins.csv
equal "recorded: reads of a cgroup, from its CPU" "$(in_row origins.csv group /a/deep 0 read)" 300
equal "recorded: writes of another" "$(in_row origins.csv group /b 1 write)" 200
equal "recorded: reads of none" "$(in_row origins.csv group / 1 read)" 100
ntprof-bpf report all.ntp --by device,path,size --op read,write --format csv >places.csv
equal "recorded: a disk alone, by its name" "$(ntprof-bpf report all.ntp --device "$dev" --op read,write --commands | grep -cE ' op=(read|write) ')" 600
check "recorded: another one is refused, with those that there are" \
	sh -c "! ntprof-bpf report all.ntp --device nvme99n1 2>err; grep -q 'there are $(basename "$dev")' err"
equal "recorded: a disk, its path and a size" "$(in_row places.csv group "$(basename "$dev")" "$path" 8192)" 200

# commands_of FILE...: as tests/machine/select.sh has them, without what each tracer measures by itself.
commands_of() {
	ntprof-bpf report "$@" --commands | grep -E ' op=(read|write) ' | sed -E 's/^[0-9.]* //; s/ latency=.*//' | LC_ALL=C sort
}
commands_of all.ntp --cgroup a >expected
commands_of a.ntp >got
equal "a selection by a cgroup has those below it" "$(wc -l <got)" 300
check "and the very commands" cmp -s expected got
equal "a report of one that was recorded beside others" "$(commands_of all.ntp --cgroup "$VM_CGROUPS/b" | wc -l)" 200
equal "the root has all" "$(commands_of all.ntp --cgroup / | wc -l)" 600
check "a recording says what it was made of" sh -c 'ntprof-bpf report a.ntp | grep -q "only commands of --cgroup a --op read,write"'
check "one without origins says how to have them" sh -c '! ntprof-bpf report a.ntp --by cgroup 2>err; grep -q "record --host --origin" err'

# A cgroup that is gone when the first record of it is read, and, with another tracer, one that is not to be seen.
mkdir "$VM_CGROUPS/gone"
gone=$(stat -c %i "$VM_CGROUPS/gone")
tracer_start gone.out record --host --origin -o gone.ntp
pids=("$tracer_pid")
unshare -m sh -c "mount -t tmpfs none $VM_CGROUPS && exec ntprof-bpf --host --by cgroup,op --format csv" >unseen.csv 2>unseen.err &
pids+=($!)
wait_for tracer_ready "${pids[1]}"
kill -STOP "${pids[0]}"
io /gone 0 --rw=randread --bs=4k --number_ios=50
check "a cgroup goes" wait_for rmdir "$VM_CGROUPS/gone"
kill -CONT "${pids[0]}"
tracer_stop "${pids[@]}"
equal "and who recorded it ends well" $? 0
ntprof-bpf report gone.ntp --by cgroup,op --format csv >gone.csv
# in_row() takes words.
equal "recorded: a cgroup that is gone has its number" "$(in_row <(tr ' ' - <gone.csv) group "cgroup-$gone" read)" 50
equal "live: one that is not to be seen as well" "$(in_row <(tr ' ' - <unseen.csv) summary "cgroup-$gone" read)" 50
equal "the root has those without a name" "$(commands_of gone.ntp --cgroup / | wc -l)" 50

# Who submitted a command: two fio under two names, of which one is hostile, first at once, and then behind an I/O scheduler, where
# whoever runs the queue hands over what others have put there; and what the page cache writes later.
fio=$(command -v fio)
hostile=$'=\e[2J"\nx y'
cp "$fio" ./loader
cp "$fio" "./$hostile"

# run_as NAME OUT FIO-ARGS...: the file OUT has what fio says, with the number of its job's process.
run_as() {
	"./$1" --name=io --direct=1 --ioengine=libaio --iodepth=8 --size=64m --filename="$dev" --bs=4k "${@:3}" >"$2" 2>&1 || cat "$2"
}
process() { grep -oE ' pid=[0-9]+' "$1" | tr -dc 0-9; }

scheduled=0
for scheduler in none mq-deadline; do
	for queue in /sys/block/nvme*/queue/scheduler; do
		grep -q "$scheduler" "$queue" || continue
		{ echo $scheduler >"$queue"; } 2>/dev/null
		grep -qF '[mq-deadline]' "$queue" && scheduled=1
	done
	tracer_start who.out record --host --origin -o $scheduler.ntp
	pids=("$tracer_pid")
	tracer_start who-$scheduler.csv --host --by pid,comm,op --op read --format csv
	pids+=("$tracer_pid")
	tracer_start lines-$scheduler trace --host --origin --op read
	pids+=("$tracer_pid")
	run_as loader loader.out --rw=randread --number_ios=400 &
	loads=($!)
	run_as "$hostile" hostile.out --rw=randread --number_ios=300 &
	loads+=($!)
	wait "${loads[@]}"
	# The disk stays open, so that its last close does not write.
	exec 9<"$dev"
	echo 10 >/proc/sys/vm/dirty_expire_centisecs
	echo 10 >/proc/sys/vm/dirty_writeback_centisecs
	dd if=/dev/zero of="$dev" bs=64k count=4 2>/dev/null
	sleep 2
	exec 9<&-
	tracer_stop "${pids[@]}"
	equal "$scheduler: all tracers end well" $? 0

	loader=$(process loader.out)
	other=$(process hostile.out)
	ntprof-bpf report $scheduler.ntp --by pid,comm,op --format csv >groups.csv
	ntprof-bpf report $scheduler.ntp --by comm --format json >groups.json
	ntprof-bpf report $scheduler.ntp --by comm >groups.text
	ntprof-bpf report $scheduler.ntp --commands >commands.text
	equal "$scheduler: recorded: a process, and its name" "$(in_row groups.csv group "$loader" loader read)" 400
	equal "$scheduler: recorded: another one" "$(in_row groups.csv group "$other" read)" 300
	equal "$scheduler: recorded: a process alone" "$(ntprof-bpf report $scheduler.ntp --pid "$loader" --commands | grep -c ' op=read ')" 400
	equal "$scheduler: recorded: a name alone" "$(ntprof-bpf report $scheduler.ntp --comm "$hostile" --commands | grep -c ' op=read ')" 300
	equal "$scheduler: live: a process, and its name" "$(in_row who-$scheduler.csv summary "$loader" loader read)" 400
	equal "$scheduler: live: another one" "$(in_row who-$scheduler.csv summary "$other" read)" 300
	equal "$scheduler: lines name it" "$(grep -c " pid=$loader comm=loader cgroup=/\$" lines-$scheduler)" 400
	equal "$scheduler: lines keep the words apart" \
		"$(grep -cF " pid=$other comm==\\x1b[2J\"\\x0ax\\x20y cgroup=/" lines-$scheduler)" 300
	equal "$scheduler: and so do those of a recording" "$(grep -cF "comm==\\x1b[2J\"\\x0ax\\x20y " commands.text)" 300
	check "$scheduler: JSON has the name as it is" grep -qF '"comm":"=\u001b[2J\"\nx y"' groups.json
	check "$scheduler: nothing reaches the terminal" \
		sh -c "! grep -lF '$(printf '\033')' groups.csv groups.json groups.text commands.text lines-$scheduler who-$scheduler.csv"
	check "$scheduler: what is written later is of a kernel thread" grep -qE ',\[kworker/[^,]*\],write,' groups.csv
	((tap_failed == 0)) || head -n 20 groups.csv loader.out hostile.out
done
equal "one of them was behind an I/O scheduler" $scheduled 1

# Without iostats and a scheduler a request has no start time, or since Linux 6.18 an earlier one. Where a queue is full, who submits goes to
# sleep, and what is left to do is put into a queue of the block layer. Those commands are left out, and the next ones are not theirs.
host_disconnect "$ctrl"
ctrl=$(host_connect -i 1 --queue-size=16)
dev=$(host_device "$ctrl")
for queue in /sys/block/nvme*/queue; do
	{ echo none >"$queue/scheduler"; } 2>/dev/null
	echo 0 >"$queue/iostats"
done
tracer_start left trace --host --origin --op read
run_as loader loader.out --rw=randwrite --number_ios=2000 --iodepth=64 --iodepth_batch_submit=64
run_as "$hostile" hostile.out --rw=randread --number_ios=300 --iodepth=1
tracer_stop "$tracer_pid"
equal "without iostats: the tracer ends well" $? 0
equal "reads are of who submitted them" "$(grep -c " pid=$(process hostile.out) " left)" 300
equal "and of nobody whose writes are left out" "$(grep -c " pid=$(process loader.out) " left)" 0

check "what is no cgroup is refused" sh -c '! ntprof-bpf --host --cgroup nowhere 2>err; grep -q "no such cgroup" err'
check "one whose I/O is its parent's, too" sh -c '! ntprof-bpf --host --cgroup b/bare 2>err; grep -q "write +io" err'
check "a target knows none" sh -c '! ntprof-bpf --target --by cgroup 2>err; grep -q "only the host knows" err'
check "nor who submitted a command" sh -c '! ntprof-bpf trace --target --origin 2>err; grep -q "only the host knows" err'

((tap_failed == 0)) || head -n 30 served.csv places.csv origins.csv
host_disconnect "$ctrl"
target_remove
finish
