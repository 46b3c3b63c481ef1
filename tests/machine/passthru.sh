#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --nvme 2000000
# takes: 40
# A passthru target: with --points fine the controller that it hands its commands on to is the device below it, and with --disks
# the requests there are the host's.
set -u
. /lib/machine.sh

cd /tmp || exit 1
commands=100
modprobe -a nvme nvmet-tcp
wait_for test -b /dev/nvme0n2
target_port
nqn=nqn.2024-01.io.ntprof:passthru
dir=/sys/kernel/config/nvmet/subsystems/$nqn
mkdir "$dir"
echo 1 >"$dir/attr_allow_any_host"
echo -n /dev/nvme0 >"$dir/passthru/device_path"
echo 1 >"$dir/passthru/enable"
ln -s "$dir" /sys/kernel/config/nvmet/ports/1/subsystems/
ctrl=$(host_connect "$nqn" -i 1)
wait_for host_device "$ctrl" 2 >/dev/null
for side in host target; do
	tracer_start $side.log record --$side --points fine --force -o $side.ntp
	pids+=("$tracer_pid")
done
# Who uses the controller's second namespace: the host, and a process of the target.
tracer_start live.json --target --disks --format json
live=$tracer_pid
for op in read write; do
	fio --filename="$(host_device "$ctrl" 2)" --direct=1 --ioengine=libaio --iodepth=4 --bs=4k --rw="rand$op" --size=32m \
		--number_ios=$commands --name=x >/dev/null
done
nvme flush "$(host_device "$ctrl" 2)"
fio --filename="$(host_device nvme0 2)" --direct=1 --ioengine=libaio --iodepth=4 --bs=16k --rw=randread --size=32m --number_ios=$((commands / 2)) \
	--name=x >/dev/null
tracer_stop "${pids[@]}" "$live"
cat target.log.err live.json.err

# used BY NAME: a figure of its row in the summary of who uses the disk, which is a path where there is multipath.
path=$(host_path nvme0 2)
used() {
	tail -n 1 live.json | sed 's/.*"disks":\[//; s/\].*//' | tr '{' '\n' | grep "\"disk\":\"${path##*/}\"" | grep "\"by\":\"$1\"" |
		sed "s/.*\"$2\":\"*\([^\",}]*\).*/\1/"
}
equal "--disks: the host's requests" "$(used host requests)" $((2 * commands + 1))
equal "their bytes" "$(used host bytes)" $((2 * commands * 4096))
equal "the host is the one that is connected" "$(used host who)" "$(</etc/nvme/hostnqn)"
equal "requests of the target's own processes" "$(used cgroup requests)" $((commands / 2))
equal "their bytes" "$(used cgroup bytes)" $((commands * 16384 / 2))
within "each request of the host takes what the controller takes" "$(used host in_device)" 2000000 40000000
within "shares are of the whole" "$(used '[a-z]*' share | awk '{ n += $1 } END { print n }')" 0.9999 1.0001

for op in read write; do
	declare -A stage=()
	ntprof-bpf report --op "$op" host.ntp target.ntp >report
	while read -r _ _ name mean _; do
		stage[$name]=$mean
	done < <(grep "^merged_stage $op " report)
	echo "# $op:$(for name in target_block_layer device target_block_done target_subsystem; do printf ' %s %s' "$name" "${stage[$name]:--}"; done)"
	equal "$op: every command is merged" "$(awk '$1 == "merged" { print $3 }' report)" $commands
	equal "$op: no execution is left whole" "${stage[target_subsystem]:-}" ""
	# What the emulated controller takes, and what the machine that emulates it takes, which may be busy.
	within "$op: the device is the controller" "${stage[device]:-0}" 2000000 40000000
	equal "$op: stages add up" "$(awk '$1 == "merged_stage" { n += $NF } END { printf "%.0f", n }' report)" \
		"$(awk '$1 == "merged" { printf "%.0f", $NF }' report)"
	unset stage
done
# A flush has no data.
equal "of a command without data, too" "$(ntprof-bpf report --op flush --commands target.ntp | grep -c ' op=flush .* disk_rq=.* disk_end=')" 1
equal "it has the name of the controller" "$(ntprof-bpf report --by device target.ntp 2>&1 | grep -c /dev/nvme0)" 1
host_disconnect "$ctrl"
rm "/sys/kernel/config/nvmet/ports/1/subsystems/$nqn"
echo 0 >"$dir/passthru/enable"
finish
