#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 90
# The three commands of the guide (docs/guides/find-the-slow-layer.md, one of two disks is slow): on the host, they find
# that one of two disks behind a target is slow, that it is the disk, and who else uses it. What each of them shows is
# in the files first, second and third of /out, from which docs/examples/record takes what the guide quotes.
# shellcheck disable=SC1091,SC2154 # ctrl and pair_target are set by it
set -u
. /lib/pair.sh
mkdir -p /out && cd /tmp || exit 1

# Both disks do 8 MB a second, whoever asks for them, and have as many requests at a time as they get. One of them has
# a backup to read.
on_target "cgroup_make backup
	modprobe loop
	for name in quiet busy; do
		disk+=(\$(losetup --find --show --direct-io=on \$(target_setup_null \$name size=256 queue_mode=2 mbps=8)))
	done
	target_subsystem \${disk[*]}
	target_port $pair_target
	echo \${disk[1]} >busy
	(echo \$BASHPID >\$VM_CGROUPS/backup/cgroup.procs && exec fio --name=backup --filename=\${disk[1]} --direct=1 \
		--ioengine=libaio --rw=read --bs=128k --iodepth=8 --size=256m --time_based --runtime=3000 >backup.out 2>&1) </dev/null &"
pair_connect -i 2
wait_for host_device "$ctrl" 2 >/dev/null
declare -a device=()
for nsid in 1 2; do
	device[nsid]=$(host_device "$ctrl" $nsid)
	fio --name=load --filename="${device[nsid]}" --direct=1 --ioengine=libaio --rw=randread --bs=4k --iodepth=2 --size=256m \
		--rate_iops=50 --time_based --runtime=3000 >"load.$nsid" 2>&1 &
	loads+=($!)
done

ntprof-bpf --host --by device,op -d 10s >first 2>first.err
ntprof-bpf --host --nsid 2 -d 10s --points fine --peer 'ssh root@target ntprof-bpf record --target --nsid 2 --points fine -o -' \
	>second 2>second.err
ssh root@target ntprof-bpf --target --disks -d 10s >third 2>third.err
for file in first second third; do
	sed -n '/^summary/,$p' $file >"/out/busy-disk.$file"
	cat $file.err
	sed 's/^/# /' "/out/busy-disk.$file"
done
kill "${loads[@]}"
on_target "pkill fio" 2>/dev/null

# row FILE DEVICE FIELD-NAME: of the summary's table; a duration in microseconds.
row() {
	awk -v device="${2#/dev/}" -v name="$3" '
		/^summary/ { summary = 1 }
		summary && $1 == "device" { for (i = 1; i <= NF; i++) at[$i] = i }
		summary && $1 == device && $2 == "read" && !done++ {
			n = $at[name]
			unit["ns"] = 0.001; unit["us"] = 1; unit["ms"] = 1000; unit["s"] = 1000000
			match(n, /[a-z]+$/)
			printf "%.0f\n", n * unit[substr(n, RSTART)]
		}' "$1"
}
quiet=$(row first "${device[1]}" mean)
busy=$(row first "${device[2]}" mean)
within "first: reads of one disk take more than three times as long as those of the other" "$busy" $((3 * ${quiet:-1})) 100000000
check "first: a host alone sees the network and the target as one" grep -qE '^read +network_and_target ' first
equal "second: the slow disk has most of the time in device" \
	"$(awk '$1 == "merged_stage" && $2 == "read" && $NF > most { most = $NF; name = $3 } END { print name }' second)" device
disk=$(on_target "cat busy")
share=$(awk -v disk="${disk#/dev/}" '/^summary/ { summary = 1 }
	summary && $1 == disk && /cgroup +\/backup *$/ { print $2 }' third)
within "third: the backup has most of the disk's time, per cent" "${share:-0}" 60 100
check "third: the host has the rest" awk -v disk="${disk#/dev/}" '/^summary/ { summary = 1 }
	summary && $1 == disk && /host +nqn\./ && $2 > 0 { found = 1 } END { exit !found }' third
equal "third: the other disk is the host's alone" "$(awk -v disk="${disk#/dev/}" '/^summary/ { summary = 1 }
	summary && $3 == "%" && $1 != disk { print $(NF - 1), $2 }' third)" "host 100.0"
host_disconnect "$ctrl"
finish
