#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 60
# --points fine: what target_subsystem is made of. A disk that takes longer shows as device, commands that wait for a disk with
# one place as target_block_layer, by what fio saw, to 10 %, and no other stage grows. Requests that were merged, and
# commands that were split, have their parts; a disk that is made of others, and one without requests, are counted. What a
# command had adds up to its execution to the nanosecond.
set -u
. /lib/machine.sh

cd /tmp || exit 1
commands=200
# disk NAME NSID [KEY=VALUE...]: a disk with requests.
disk() {
	path[$2]=$(target_setup_null "$1" size=256 queue_mode=2 irqmode=2 "${@:3}")
	queue[$2]=/sys/block/${path[$2]#/dev/}/queue
}
path=()
queue=()
disk quick 1 completion_nsec=1000000
disk slow 2 completion_nsec=3000000
disk narrow 3 completion_nsec=1000000 hw_queue_depth=1
# The scheduler has room for what the disk has not.
echo mq-deadline >"${queue[3]}/scheduler"
echo 64 >"${queue[3]}/nr_requests"
disk split 4 completion_nsec=1000000
echo 64 >"${queue[4]}/max_sectors_kb"
modprobe brd rd_nr=2 rd_size=65536
modprobe dm-delay
path[5]=/dev/mapper/$(echo "0 131072 delay /dev/ram0 0 2" | dmsetup create --noudevsync stacked && echo stacked)
[[ -b ${path[5]} ]] || path[5]=/dev/dm-0
path[6]=/dev/ram1
target_port
nqn=nqn.2024-01.io.ntprof:base
target_subsystem "$nqn" "${path[@]}"
# A target whose disks are none of NVMe: the kernel knows no struct nvme_request, unless nvmet itself needs nvme_core.
if [[ ! -e /sys/module/nvme_core/holders/nvmet ]]; then
	check "nvme_core is not loaded" test ! -e /sys/module/nvme_core
	ntprof-bpf record --target --points fine -d 0.1 -o first.ntp >first 2>&1
	equal "nor is it needed" "$(grep '^no parts' first)" ""
fi
ctrl=$(host_connect "$nqn" -i 1)
wait_for host_device "$ctrl" 6 >/dev/null

for side in host target; do
	tracer_start $side.log record --$side --points fine --force -o $side.ntp
	pids+=("$tracer_pid")
done

# load NSID DEPTH ARG...: what fio saw is in ${fio[NSID]}.
fio=()
load() {
	fio[$1]=$(fio --filename="$(host_device "$ctrl" "$1")" --direct=1 --ioengine=libaio --iodepth="$2" --size=32m \
		--number_ios=$commands --name=x --output-format=terse --terse-version=3 "${@:3}" |
		awk -F\; '{ printf "%.0f", $40 * 1000 }')
}
# The target's scheduler merges what follows each other, and the host's, which may on the newest kernel, does not.
for nsid in 3 4; do
	echo 2 >"$(host_path "$ctrl" $nsid)/queue/nomerges"
done
# The first one has what only the first commands wait for, so it is none that others are compared with.
load 4 2 --rw=read --bs=128k
load 1 4 --rw=randread --bs=512
load 2 4 --rw=randread --bs=512
load 3 4 --rw=randread --bs=512
saw=${fio[3]}
load 5 1 --rw=randread --bs=4k
load 6 1 --rw=randread --bs=4k
load 3 8 --rw=write --bs=4k
fio[3]=$saw
tracer_stop "${pids[@]}"
cat target.log.err

# figures NSID OP: the report's lines are in NSID.OP, and means of stages in ${stage[NSID.NAME]}.
declare -A stage=()
figures() {
	local name mean _

	ntprof-bpf report --nsid "$1" --op "$2" host.ntp target.ntp >"$1.$2"
	while read -r _ _ name mean _; do
		stage[$1.$name]=$mean
	done < <(grep "^merged_stage $2 " "$1.$2")
	equal "$1, $2: every command is merged" "$(awk -v op="$2" '$1 == "merged" && $2 == op { print $3 }' "$1.$2")" $commands
	equal "$1, $2: no stage is negative" "$(grep ^negative_stages "$1.$2")" "negative_stages 0 worst 0"
	# What all stages had is what all commands took.
	equal "$1, $2: stages add up" "$(awk -v op="$2" '$1 == "merged_stage" && $2 == op { n += $NF } END { printf "%.0f", n }' "$1.$2")" \
		"$(awk -v op="$2" '$1 == "merged" && $2 == op { printf "%.0f", $NF }' "$1.$2")"
}

# points NSID OP: how many commands have points of a disk, in their order, and how many different times of issue there are.
points() {
	ntprof-bpf report --nsid "$1" --op "$2" --commands target.ntp | awk '
		/ disk_rq=/ {
			delete at
			for (i = 1; i <= NF; i++)
				if (split($i, of, "=") == 2)
					at[of[1]] = of[2]
			ordered += at["exec"] + 0 <= at["disk_rq"] + 0 && at["disk_rq"] + 0 <= at["disk_end"] + 0 &&
				at["disk_end"] + 0 <= at["done"] + 0
			issue = $1 * 1e6 + at["disk_rq"] / 1000
			issues += !(sprintf("%.0f", issue) in seen)
			seen[sprintf("%.0f", issue)] = 1
		}
		END { print ordered + 0, issues + 0 }'
}

ntprof-bpf report target.ntp >all
# lost NAME: a loss of the recording.
lost() {
	awk -v name="$1" '$2 == "loss" && $3 == name { n = $4 } END { print n + 0 }' all
}
# A program that was skipped has not seen a request go to its disk, or come back.
may=0
! may_miss || may=$(lost probe_missed)
parts="target_block_layer device target_block_done"
for nsid in 1 2 3 4; do
	figures $nsid read
	for name in $parts; do
		check "$nsid: $name has a row" test -n "${stage[$nsid.$name]:-}"
	done
	((may)) || equal "$nsid: no execution is left whole" "${stage[$nsid.target_subsystem]:-}" ""
	read -r ordered issues < <(points $nsid read)
	within "$nsid: every command has its disk between exec and done" "$ordered" $((commands - may)) $commands
	echo "# $nsid: fio ${fio[$nsid]}$(for name in $parts; do printf ' %s %s' "$name" "${stage[$nsid.$name]}"; done)"
done
for nsid in 1 3 4; do
	within "$nsid: the device takes what it is made to" "${stage[$nsid.device]}" 900000 1150000
done

# grown NSID STAGE: it has grown by what fio saw, and no other by more than a tenth of that.
grown() {
	local by put=$((fio[$1] - fio[1])) key name

	for key in "${!stage[@]}"; do
		name=${key#*.}
		[[ $key == "$1".* && -n ${stage[1.$name]:-} ]] || continue
		by=$((${stage[$key]} - ${stage[1.$name]}))
		if [[ $name == "$2" ]]; then
			within "$1: $name grows by what fio saw" $by $((put * 9 / 10)) $((put * 11 / 10))
		else
			within "$1: $name does not" $by $((-put / 10)) $((put / 10))
		fi
	done
}
grown 2 device
within "2: it is what the device takes more" $((${stage[2.device]} - ${stage[1.device]})) 1800000 2200000
grown 3 target_block_layer

figures 3 write
read -r ordered issues < <(points 3 write)
within "every write has its disk between exec and done" "$ordered" $((commands - may)) $commands
# Linux 6.12 was seen to merge none of these.
[[ $VM_KERNEL != 6.1 ]] || within "requests have been merged" "$issues" 1 $((commands - 10))

for nsid in 5 6; do
	figures $nsid read
	equal "$nsid: an execution is a whole" "${stage[$nsid.device]:-none}" none
	read -r ordered issues < <(points $nsid read)
	equal "$nsid: no command has points of a disk" "$ordered" 0
done
within "5: it takes what its disk is made to" "${stage[5.target_subsystem]}" 2000000 12000000
equal "commands of the disk that is made of others are counted" "$(lost disk_stacked)" $commands
within "commands of the disk without requests are counted" "$(lost disk_unseen)" $commands $((commands + may))
within "commands are selected by the device's time" \
	"$(ntprof-bpf report --where 'device>2ms' host.ntp target.ntp | awk '$1 == "merged" && $2 == "read" { print $3 }')" $((commands - may)) $commands
ntprof-bpf report --nsid 2 --detail target.ntp | grep -E "^(shape|read)"
host_disconnect "$ctrl"
target_remove
dmsetup remove --noudevsync stacked
finish
