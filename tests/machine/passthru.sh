#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --nvme 2000000
# takes: 40
# --points fine of a passthru target: the controller that it hands its commands on to is the device below it.
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
for op in read write; do
	fio --filename="$(host_device "$ctrl" 2)" --direct=1 --ioengine=libaio --iodepth=4 --bs=4k --rw="rand$op" --size=32m \
		--number_ios=$commands --name=x >/dev/null
done
nvme flush "$(host_device "$ctrl" 2)"
tracer_stop "${pids[@]}"
cat target.log.err

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
