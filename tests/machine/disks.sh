#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# takes: 40
# --disks: who uses the disks behind a target. Two hosts and two cgroups of the target itself use one disk, and each has
# the requests, bytes and time there that fio says it had; all of them together are what the kernel counts of the disk.
# A disk that no host uses is not there. serve has the same, also between bursts of all points.
set -u
. /lib/machine.sh

cd /tmp || exit 1
cgroup_make backup scrub
shared=$(target_setup_null shared size=256 queue_mode=2 irqmode=2 completion_nsec=2000000)
own=$(target_setup_null own size=256 queue_mode=2 irqmode=2 completion_nsec=1000000)
outside=$(target_setup_null outside size=256 queue_mode=2)
target_port
nqn=nqn.2024-01.io.ntprof
target_subsystem $nqn:a "$shared" "$own"
target_subsystem $nqn:b "$shared"
declare -A ctrl=()
for name in a b; do
	ctrl[$name]=$(host_connect $nqn:$name -i 1 --hostnqn $nqn:host-$name --hostid "0000000$name-0000-0000-0000-000000000000")
done
wait_for host_device "${ctrl[a]}" 2 >/dev/null
# The schedulers of both machines may merge what follows each other.
for disk in "$shared" "$own"; do
	echo 2 >"/sys/block/${disk#/dev/}/queue/nomerges"
done

# load WHO DEVICE COUNT DEPTH [ARG...]: with a process that is in the cgroup WHO.
load() {
	sh -c "echo \$\$ >$VM_CGROUPS$1/cgroup.procs && exec fio --filename=$2 --direct=1 --ioengine=libaio --number_ios=$3 \
		--iodepth=$4 --size=64m --name=x --output-format=terse ${*:5}" >/dev/null
}
# all: each of them at the same time as the others.
all() {
	local loads=()

	load / "$(host_device "${ctrl[a]}" 1)" 300 4 --rw=randread --bs=4k &
	loads+=($!)
	load / "$(host_device "${ctrl[b]}" 1)" 200 2 --rw=randwrite --bs=8k &
	loads+=($!)
	load /backup "$shared" 400 8 --rw=randread --bs=16k &
	loads+=($!)
	load /scrub "$shared" 100 1 --rw=randread --bs=4k &
	loads+=($!)
	load / "$(host_device "${ctrl[a]}" 2)" 50 1 --rw=randread --bs=4k &
	loads+=($!)
	load /backup "$outside" 100 1 --rw=randread --bs=4k &
	loads+=($!)
	wait "${loads[@]}"
}
# ended DISK: requests that the kernel counts.
ended() {
	awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/${1#/dev/}/stat"
}
# in_summary FILE DISK WHO NAME: a figure of the last block.
in_summary() {
	local who="\"who\":\"$3\""

	[[ $3 != all ]] || who=.
	tail -n 1 "$1" | sed 's/.*"disks":\[//; s/\].*//' | tr '{' '\n' | grep "\"disk\":\"${2#/dev/}\"" |
		grep "$who" | sed "s/.*\"$4\":\([0-9.]*\).*/\1/"
}
sum() {
	awk '{ n += $1 } END { printf "%.0f\n", n }'
}

tracer_start live.json --target --disks --format json -i 200ms
before=$(ended "$shared")
all
# A summary has what came after the last interval as well.
sleep 1
tracer_stop "$tracer_pid"
cat live.json.err
while read -r disk who requests kib; do
	equal "$who: requests to $disk" "$(in_summary live.json "$disk" "$who" requests)" "$requests"
	equal "$who: bytes" "$(in_summary live.json "$disk" "$who" bytes)" $((requests * kib * 1024))
	each=$(in_summary live.json "$disk" "$who" in_device)
	[[ $disk == "$shared" ]] && takes=2000000 || takes=1000000
	within "$who: each takes what the disk is made to" "$each" $((takes * 95 / 100)) $((takes * 115 / 100))
	share=$(in_summary live.json "$disk" "$who" share)
	[[ $disk == "$shared" ]] && of=1000 || of=50
	within "$who: its share of the disk's time" "$share" "$(awk "BEGIN { print $requests / $of * 0.95 }")" \
		"$(awk "BEGIN { print $requests / $of * 1.05 }")"
done <<-END
	$shared $nqn:host-a 300 4
	$shared $nqn:host-b 200 8
	$shared /backup 400 16
	$shared /scrub 100 4
	$own $nqn:host-a 50 4
END
equal "all requests are those that the kernel counts" "$(in_summary live.json "$shared" all requests | sum)" \
	$(($(ended "$shared") - before))
within "shares are of the whole" "$(in_summary live.json "$shared" all share | awk '{ n += $1 } END { print n }')" 0.9999 1.0001
equal "a disk that no host uses is not there" "$(in_summary live.json "$outside" all requests)" ""
equal "nothing found no room" "$(tail -n 1 live.json | sed 's/.*"disks_full":\([0-9]*\).*/\1/')" 0
# Intervals add up to the summary.
equal "intervals add up" "$(sed '$d' live.json | while read -r line; do
	in_summary <(echo "$line") "$shared" all requests
done | sum)" 1000

# The text of a summary, and serve, which has all points in bursts only.
tracer_start live.out --target --disks
all
tracer_stop "$tracer_pid"
sed -n '/^summary/,$p' live.out | grep -A5 '^disk ' | sed 's/^/# /'
check "a table has both hosts and both cgroups" sh -c "sed -n '/^disk  *share/,\$p' live.out | tail -n +2 |
	awk '\$3 == \"%\" { print \$(NF - 1), \$NF }' | sort -u | tr '\n' ' ' | grep -q 'cgroup /backup cgroup /scrub host $nqn:host-a host $nqn:host-b '"
tracer_start serve.out serve --target --disks --listen 127.0.0.1:9998 --stages 200ms/1s
all
sleep 2
curl -sS --fail http://127.0.0.1:9998/metrics >page
tracer_stop "$tracer_pid"
cat serve.out.err
grep ^ntprof_disk page
for who in "host $nqn:host-a 300" "host $nqn:host-b 200" "cgroup /backup 400" "cgroup /scrub 100"; do
	read -r by name requests <<<"$who"
	equal "serve: requests of $name" "$(sed -n "s|^ntprof_disk_requests_total{.*disk=\"${shared#/dev/}\",by=\"$by\",who=\"$name\"} ||p" page)" "$requests"
done

# Recorded, for one slow command: a read that has to wait for what a cgroup of the target has the disk do, and one that has not.
pids=()
tracer_start host.log record --host --force -o host.ntp
pids+=("$tracer_pid")
tracer_start target.log record --target --disks --force -o target.ntp
pids+=("$tracer_pid")
load / "$(host_device "${ctrl[a]}" 2)" 20 1 --rw=randread --bs=4k
load /backup "$shared" 800 8 --rw=randread --bs=16k &
backup=$!
load / "$(host_device "${ctrl[a]}" 1)" 40 1 --rw=randread --bs=4k
wait $backup
tracer_stop "${pids[@]}"
cat target.log.err
# local_of NSID: share in percent, and whose most of it was, of the slowest command.
local_of() {
	ntprof-bpf report --slowest 1 --nsid "$1" --op read host.ntp target.ntp |
		sed -nE "s/.*of its disk's time then, processes of the target itself had ([0-9.]+) %(, most of it (.*))?\$/\1 \3/p"
}
read -r share who < <(local_of 1)
within "a slow command: processes of the target had most of its disk's time" "${share:-none}" 60 100
equal "and whose they were" "$who" /backup
equal "its JSON says it" "$(ntprof-bpf report --slowest 1 --nsid 1 --op read --format json host.ntp target.ntp |
	grep -o '"disk_local": *"[^"]*"' | head -n 1 | tr -d ' ')" '"disk_local":"/backup"'
read -r share who < <(local_of 2)
equal "none of them used the other disk" "${share:-none} $who" "0.0 "

for name in a b; do
	host_disconnect "${ctrl[$name]}"
done
target_remove
finish
