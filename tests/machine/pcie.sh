#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host's disks of PCIe: every command is counted once, as what it is, on its namespace, and its three stages add up;
# polled queues, passthrough, zones, errors, timeouts, resets and a disk that is pulled out lose none; controllers of TCP beside them.
# run with: --nvme 2000000,iops=12,zones --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12
# takes: 100
set -u
. /lib/machine.sh

disk_ns=2000000 # what a disk takes for each command, at least
modprobe nvme poll_queues=1
# Linux 6.12 looks at namespaces side by side: the first disk may be that of the second one. ${disk[NSID]} is that of each.
disk=()
have_disks() {
	local nsid

	disk=()
	for nsid in 1 2 3; do
		disk[nsid]=$(host_device nvme0 $nsid) || return
	done
	path=$(host_path nvme0 1)
}
wait_for have_disks

job() {
	fio --name=x --filename="${disk[1]}" --direct=1 --ioengine=libaio --size=100M "$@" >/tmp/fio 2>&1 || cat /tmp/fio
}

# Nothing is said of a transport: there is no nvme-tcp.
check "nvme-tcp is not loaded" test ! -e /sys/module/nvme_tcp
# A service waits for it all the same, but says how it would not.
ntprof-bpf serve --host --listen 127.0.0.1:0 2>/tmp/waits.err &
waits=$!
wait_for grep -q '^waiting for module nvme_tcp: ' /tmp/waits.err
check "serve says which controllers it need not wait for" wait_for -t 5 \
	grep -qx 'this machine has other controllers, which need no waiting: --transport pcie' /tmp/waits.err
kill -INT $waits
wait $waits
ntprof-bpf probes --host >/tmp/probes
check "probes says what is seen of other transports" \
	grep -q '^  other transports: submit, queue_rq, cqe and complete' /tmp/probes
check "and of the submission queue's head" grep -q '^  sq_head of PCIe: tracepoint nvme_sq' /tmp/probes
check "and which functions beside the doorbells it lets a program see" \
	grep -q '^  doorbells of PCIe: .* nvme_queue_rq()' /tmp/probes
grep 'of PCIe' /tmp/probes
tracer_start /tmp/host trace --host --summary
host=$tracer_pid
declare -A before
for f in 1 5 16; do
	before[$f]=$(block_stat "$path" $f)
done
job --rw=randrw --bssplit=4k/60:64k/30:512k/10 --iodepth=8 --number_ios=600
job --rw=write --bs=4k --number_ios=64 --fsync=8
tracer_stop "$host"
equal "trace exits with 0" $? 0
for f in 1 5 16; do
	did[f]=$(($(block_stat "$path" $f) - ${before[$f]}))
done
did[5]=$((did[5] - did[16]))
echo "# block layer: ${did[1]} reads, ${did[5]} writes, ${did[16]} flushes"
check "there were enough" test "${did[1]}" -ge 250 -a "${did[5]}" -ge 250 -a "${did[16]}" -ge 7
counted "every read is counted" "$(commands /tmp/host.err read)" "${did[1]}" /tmp/host.err
counted "every write is counted" "$(commands /tmp/host.err write)" "${did[5]}" /tmp/host.err
counted "every flush is counted" "$(commands /tmp/host.err flush)" "${did[16]}" /tmp/host.err
no_losses "nothing is lost" /tmp/host.err
grep -E ' host nvme0 q[1-9]' /tmp/host >/tmp/records
equal "there is a record of each" "$(grep -cE ' op=(read|write|flush) ' /tmp/records)" $((did[1] + did[5] + did[16]))
unconserved /tmp/records 3 >/tmp/bad
equal "the stages of every command add up to its latency" "$(wc -l </tmp/bad)" 0
head -n 3 /tmp/bad
check "they have the shape of what nvme_core sees" grep -q ' shape=nvme_core ' /tmp/records
equal "no stage of TCP is in them" "$(grep -c 'nvme_tcp_submission\|network_and_target' /tmp/records)" 0
for op in read write; do
	equal "the kernel's sums of the stages of ${op}s are their latencies" \
		"$(total /tmp/host.err 8 stage $op)" "$(latencies /tmp/host $op)"
done
# What the disk takes is in the device's stage.
check "each read took the disk's time in transport_and_device" awk -v least=$disk_ns '
	/ op=read / { n++; if (match($0, /transport_and_device=[0-9]+/) && substr($0, RSTART + 21, RLENGTH - 21) + 0 >= least) ok++ }
	END { print "# " ok + 0 " of " n + 0 " reads"; exit !(n && ok == n) }' /tmp/records

# Polled, and passthrough, with data and without, which has no bio; with what tells where each came from.
ntprof-bpf stacks --host >/tmp/stacks 2>/tmp/stacks.err &
stacks=$!
wait_for grep -q '^counting the stacks of nvme_setup_cmd()' /tmp/stacks.err
tracer_start /tmp/ways trace --host --events --summary
ways=$tracer_pid
job --ioengine=io_uring --hipri --rw=randread --bs=4k --iodepth=4 --number_ios=100
polled=$(nvme list-ns /dev/nvme0 >/dev/null; awk '/read/ && / end /' /tmp/ways | wc -l)
fio --name=x --filename="${disk[1]/nvme/ng}" --ioengine=io_uring_cmd --cmd_type=nvme --rw=randwrite --bs=4k --iodepth=4 --size=100M \
	--number_ios=100 >/tmp/fio 2>&1 || cat /tmp/fio
for ((i = 0; i < 3; i++)); do
	nvme flush "${disk[1]}" >/dev/null
	nvme set-feature /dev/nvme0 -f 4 -v 0x150 >/dev/null
done
tracer_stop "$ways"
equal "events end with 0" $? 0
kill -INT $stacks
wait $stacks
equal "polled reads are counted" "$(commands /tmp/ways.err read)" 100
equal "reads and writes past the block layer are counted" "$(commands /tmp/ways.err write)" 100
equal "commands without data are counted" "$(commands /tmp/ways.err flush)" 3
equal "admin commands are decoded" "$(grep -c ' begin .* set_features .* fid=temperature_threshold .*value=336' /tmp/ways)" 3
equal "all have ended" "$(loss /tmp/ways.err in_flight)$(loss /tmp/ways.err overwritten)$(loss /tmp/ways.err no_start)" 000
equal "ends have the head of their submission queue" "$(grep -c ' end .* write .* sq_head=[0-9]* ' /tmp/ways)" 100
head -n 20 /tmp/stacks
check "stacks end in the driver of PCIe" grep -q 'nvme_queue_rqs\?' /tmp/stacks

# Zones: appends to them and what manages them have names and histograms of their own, and are as many as the kernel has prepared.
tracing=/sys/kernel/tracing
echo 'nsid == 3' >$tracing/events/nvme/nvme_setup_cmd/filter
echo 1 >$tracing/events/nvme/nvme_setup_cmd/enable
tracer_start /tmp/zone_events trace --host --nsid 3 --events
zone_tracers=("$tracer_pid")
tracer_start /tmp/zones --host --nsid 3 --by opcode --bucket-shift 4
zone_tracers+=("$tracer_pid")
head -c 4096 /dev/zero >/tmp/data
for ((i = 0; i < 5; i++)); do
	nvme zns zone-append "${disk[3]}" --zslba=0 -z 4096 -d /tmp/data >/dev/null
done
for ((i = 0; i < 3; i++)); do
	nvme zns open-zone "${disk[3]}" --start-lba=0x8000 >/dev/null
	nvme zns reset-zone "${disk[3]}" --start-lba=0x8000 >/dev/null
done
nvme zns report-zones "${disk[3]}" -d 2 >/dev/null
fio --name=x --filename="${disk[3]}" --direct=1 --ioengine=psync --zonemode=zbd --rw=randrw --bs=4k --number_ios=100 --offset=64m --size=64m \
	>/tmp/fio 2>&1 || cat /tmp/fio
tracer_stop "${zone_tracers[@]}"
echo 0 >$tracing/events/nvme/nvme_setup_cmd/enable
sed -n '/^summary/,$p' /tmp/zones | grep '^opcode ' | sed 's/^/# /'
while read -r name kernel least; do
	prepared=$(grep -c "cmd=(nvme_cmd_$kernel " $tracing/trace)
	check "there were enough of $name ($prepared)" test "$prepared" -ge "$least"
	equal "each $name has a line when it begins" "$(grep -c " begin .* $name opcode=" /tmp/zone_events)" "$prepared"
	equal "and one when it ends" "$(grep -c " end .* $name opcode=.* success " /tmp/zone_events)" "$prepared"
	equal "they have a histogram of their own" "$(sed -n "/^summary/,\$ s/^opcode $name: \([0-9]*\) commands\$/\1/p" /tmp/zones)" "$prepared"
done <<-END
	zone_append zone_append 5
	zone_management_send zone_mgmt_send 6
	zone_management_receive zone_mgmt_recv 1
	read read 20
	write write 20
END
equal "what is done to a zone is told" "$(grep -c ' begin .* zone_management_send .* slba=32768 zsa=reset selall=0$' /tmp/zone_events)" 3
equal "and where an append has written to" "$(sed -n 's/.* end .* zone_append .* alba=\([0-9]*\) .*/\1/p' /tmp/zone_events | xargs)" "0 8 16 24 32"

# Rows, errors, passthrough, admin commands, a reset under load, and both namespaces.
tracer_start /tmp/live --host -i 1 --format json
live=$tracer_pid
for ((i = 0; i < 5; i++)); do
	nvme read "${disk[1]}" -s 999999999 -z 4096 >/dev/null 2>&1
	nvme read "${disk[2]}" -s 0 -z 4096 >/dev/null 2>&1
done
nvme id-ctrl /dev/nvme0 >/dev/null
job --rw=randread --bs=4k --iodepth=4 --time_based --runtime=3 &
sleep 1
nvme reset /dev/nvme0
wait $!
check "reads went on after a reset" grep -q 'err= 0' /tmp/fio
tracer_stop "$live"
equal "live exits with 0" $? 0
check "rows say the transport" grep -q '"transport":"pcie"' /tmp/live
check "errors are counted by status" grep -q '"op":"read","name":"lba_out_of_range","total":[1-5]' /tmp/live
for state in resetting live; do
	check "it is an event that the controller is $state" \
		grep -q '"event":"state","state":"'$state'"' /tmp/live
done
tail -n 1 /tmp/live >/tmp/summary
for name in overwritten no_start point_missing no_slot probe_missed; do
	equal "a reset leaves no $name" "$(grep -o "\"$name\":[0-9]*" /tmp/summary | head -n 1)" "\"$name\":0"
done

# Recorded, selected by the disk, and reported.
tracer_start /tmp/record record --host --device "${disk[2]}" -o /tmp/r.ntp
recorder=$tracer_pid
tracer_start /tmp/serve.out serve --host --transport pcie -i 200ms --points all --listen 127.0.0.1:9998
server=$tracer_pid
job --rw=randread --bs=4k --number_ios=100
fio --name=x --filename="${disk[2]}" --direct=1 --rw=randread --bs=4k --size=100M --number_ios=20 >/tmp/fio 2>&1 || cat /tmp/fio
tracer_stop "$recorder"
on_page() {
	grep "^$1{" /tmp/page | grep 'operation="read"' | grep "$2" | awk '{ n += $NF } END { printf "%.0f\n", n }'
}
page_has() {
	curl -sS --fail -o /tmp/page http://127.0.0.1:9998/metrics && [[ $(on_page ntprof_commands_total 'controller="nvme0"') == "$1" ]]
}
check "serve has all reads" wait_for -t 20 page_has 120
tracer_stop "$server"
cat /tmp/serve.out.err
grep '^ntprof_stage_duration_seconds_count.*read' /tmp/page | sed 's/^/# /'
equal "and their stage of the device" "$(on_page ntprof_stage_duration_seconds_count 'stage="transport_and_device"')" 120
ntprof-bpf report /tmp/r.ntp >/tmp/report
equal "the page has the transport of its controller" \
	"$(sed -n 's/^ntprof_controller_info{.*controller="nvme0".*transport="\(.*\)"} 1$/\1/p' /tmp/page)" pcie
equal "a recording has the commands of its disk only" "$(commands /tmp/report read)" 20
check "the report has the stages of its transport" grep -q transport_and_device /tmp/report
equal "and no others" "$(grep -c nvme_tcp_submission /tmp/report)" 0

# What is of TCP alone is refused.
for wrong in '--points fine' --tcp '--source stock'; do
	# shellcheck disable=SC2086 # an option and its argument
	ntprof-bpf --host --transport pcie $wrong -d 1 >/tmp/wrong 2>&1
	check "$wrong is refused" grep -q 'is for NVMe/TCP' /tmp/wrong
done

ntprof-bpf record --host --transport pcie --force -o /tmp/r.ntp -d 1 2>/tmp/record.err
equal "a recording without a command says so" "$? $(grep -o 'nothing was sent over .*, or' /tmp/record.err)" \
	'3 nothing was sent over NVMe (pcie), or'

# The disk reads no entries any more: commands time out, and are sent again after a reset.
tracer_start /tmp/late --host -i 100ms --format json
late=$tracer_pid
echo 1000 >"$path/queue/io_timeout"
has_timed_out() { grep -q '"event":"io_timeout"' /tmp/late; }
job --rw=randread --bs=4k --iodepth=2 --time_based --runtime=60 >/dev/null &
loader=$!
wait_for -t 60 grep -q '"op":"read"' /tmp/late
printf '\x03' | dd of=/sys/class/nvme/nvme0/device/config bs=1 seek=4 conv=notrunc status=none
wait_for -t 120 has_timed_out
kill -INT "$(pgrep -o fio)"
wait $loader
tracer_stop "$late"
check "a timeout is an event" has_timed_out
# At the end of some interval before that.
within "the oldest was in flight for as long as that" \
	"$(grep -o '"oldest":[0-9]*' /tmp/late | sed 's/.*://' | sort -n | tail -n 1)" 700000000 60000000000
grep -o '{[^{}]*"event":"io_timeout"[^{}]*}' /tmp/late | head -n 1

# Beside TCP: each has its stages.
target_subsystem "$(target_setup_null a size=64)"
target_port
tcp=$(host_connect -i 1)
tracer_start /tmp/both trace --host --transport tcp,pcie --summary
both=$tracer_pid
job --rw=randread --bs=4k --iodepth=4 --number_ios=200
fio --name=x --filename="$(host_device "$tcp")" --direct=1 --ioengine=libaio --iodepth=4 --rw=randread --bs=4k --size=32M \
	--number_ios=150 >/tmp/fio 2>&1 || cat /tmp/fio
tracer_stop "$both"
equal "PCIe beside TCP" "$(grep -c ' host nvme0 q[1-9].* op=read .*transport_and_device=' /tmp/both)" 200
equal "TCP beside PCIe" "$(grep -c " host $tcp q[1-9].* op=read .*network_and_target=" /tmp/both)" 150
grep -E ' op=read ' /tmp/both >/tmp/records
unconserved /tmp/records 3 >/tmp/bad
equal "all of them add up" "$(wc -l </tmp/bad)" 0
# Of its stages each kind has but its own.
no_losses "nothing is lost of both" /tmp/both.err '^(async_event|arrival_missing)$'
equal "arrivals included" "$(loss /tmp/both.err arrival_missing)" 0
equal "the kernel's sums of the stages of both are their latencies" \
	"$(total /tmp/both.err 8 stage read)" "$(latencies /tmp/both read)"

# A target whose disks are of PCIe: their commands are in parts, and the target knows what its disk's driver calls each. The first disk
# takes its time for each command; the second one is held back by qemu as well, to so many commands a second, which is in the device's part.
cd /tmp || exit 1
target_subsystem nqn.2024-01.io.ntprof:disk "$(host_device nvme0 1)" "$(host_device nvme0 2)"
below=$(host_connect nqn.2024-01.io.ntprof:disk -i 1)
wait_for host_device "$below" 2 >/dev/null
sides=()
tracer_start host.log record --host --points fine --force -o host.ntp
sides+=("$tracer_pid")
tracer_start target.log record --target --points fine --nqn nqn.2024-01.io.ntprof:disk --force -o target.ntp
sides+=("$tracer_pid")
tracer_start entries trace --host --transport pcie --nsid 2 --op read --events
clat=()
for nsid in 1 2; do
	clat[nsid]=$(fio --name=x --filename="$(host_device "$below" $nsid)" --direct=1 --ioengine=libaio --iodepth=1 --rw=randread --bs=4k \
		--size=32M --number_ios=40 --output-format=terse --terse-version=3 | awk -F\; '{ printf "%.0f", $16 * 1000 }')
done
tracer_stop "${sides[@]}" "$tracer_pid"
cat target.log.err
equal "without --transport it is TCP where there is nvme-tcp" \
	"$(ntprof-bpf report host.ntp | awk '$1 == "commands" && $2 == "read" { print $3 }') $(ntprof-bpf report host.ntp | grep -c transport_and_device)" "80 0"
device=()
for nsid in 1 2; do
	ntprof-bpf report --op read --nsid $nsid host.ntp target.ntp >report
	grep -E '^merged_stage read (target_block|target_sub|device)' report | sed "s/^/# $nsid: /"
	equal "every read of the target's disk $nsid is merged" "$(awk '$1 == "merged" && $2 == "read" { print $3 }' report)" 40
	equal "none is without parts" "$(grep -c '^merged_stage read target_subsystem' report)" 0
	equal "their stages add up" "$(total report 0 merged_stage read)" "$(total report 0 merged read)"
	device[nsid]=$(awk '$1 == "merged_stage" && $3 == "device" { print $4 }' report)
done
echo "# device ${device[*]}, fio's clat ${clat[*]}"
within "the device is the disk" "${device[1]}" $disk_ns $((20 * disk_ns))
put=$((clat[2] - clat[1]))
check "the second disk is slower by what it is held back for ($put ns)" test $put -ge $((10 * disk_ns))
within "and so much more is the device's" $((device[2] - device[1])) $((put * 9 / 10)) $((put * 11 / 10))
ntprof-bpf report --op read --nsid 2 --commands target.ntp |
	sed -n 's/.* slba=\([0-9]*\) length=\([0-9]*\) .* disk_queue=\([0-9]*\) disk_cid=\(0x[0-9a-f]*\) .*/q\3 \4 \1 \2/p' | sort >of_target
sed -n 's/.* host nvme0 \(q[0-9]*\) begin cid=\(0x[0-9a-f]*\) read .* slba=\([0-9]*\) length=\([0-9]*\) .*/\1 \2 \3 \4/p' entries | sort >of_disk
equal "each has the disk's own command" "$(wc -l <of_target)" 40
check "which is the one that the disk's driver has sent" cmp of_target of_disk
check "the story of a slow one says it" sh -c "ntprof-bpf report --slowest 1 --nsid 2 --op read host.ntp target.ntp |
	grep -qE '^  at $(host_device nvme0 2) it is the command of queue [0-9]+ with cid 0x[0-9a-f]+$'"
host_disconnect "$below"
# A target that has the disk keeps it from going.
for nsid in 1 2; do
	echo 0 >/sys/kernel/config/nvmet/subsystems/nqn.2024-01.io.ntprof:disk/namespaces/$nsid/enable
done

# A disk that is pulled out, and comes while it is watched: its first commands come before the kernel knows its subsystem.
tracer_start /tmp/gone --host --transport pcie -i 100ms --format json
gone=$tracer_pid
reads=$(block_stat "$path" 1)
have_gone_on() { (($(block_stat "$path" 1) > reads + 100)); }
job --rw=randread --bs=4k --iodepth=8 --time_based --runtime=60 &
wait_for have_gone_on
echo 1 >"/sys/class/nvme/nvme0/device/remove"
wait $!
tracer_start /tmp/admin trace --host --transport pcie --admin
admin=$tracer_pid
echo 1 >/sys/bus/pci/rescan
wait_for have_disks
job --rw=randread --bs=4k --number_ios=50
tracer_stop "$admin" "$gone"
equal "a disk that is pulled out ends nothing else" $? 0
tail -n 1 /tmp/gone >/tmp/summary
check "its reads were counted" test "$(grep -o '{[^{}]*"controller":"nvme0"[^{}]*"op":"read"[^{}]*' /tmp/summary |
	sed -n 's/.*"commands":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { printf "%.0f", n }')" -gt 100
equal "none stays in flight" "$(grep -o '"in_flight":[0-9]*' /tmp/summary | head -n 1)" '"in_flight":0'
equal "a disk that comes has one name" "$(grep -o '"peer":"[^"]*"' /tmp/gone | sort -u)" \
	"\"peer\":\"$(cat /sys/class/nvme/nvme0/subsysnqn)\""
# All of the above was with shadow doorbells, which the driver uses where the controller has them.
check "the doorbells are shadow doorbells" grep -q ' end .* doorbell_buffer_config .* success ' /tmp/admin

# Ejected under load, as qemu's device_del asks for it.
address=$(readlink /sys/class/nvme/nvme0/device)
slot=$(grep -lx "${address:(-12):10}" /sys/bus/pci/slots/*/address)
tracer_start /tmp/ejected --host --transport pcie -i 1
ejected=$tracer_pid
reads=$(block_stat "$path" 1)
job --rw=randread --bs=4k --iodepth=8 --time_based --runtime=60 &
wait_for have_gone_on
echo 0 >"${slot%/*}/power"
wait $!
wait_for test ! -e /sys/class/nvme/nvme0
sleep 2
tracer_stop "$ejected"
equal "an ejected disk ends nothing else" $? 0
check "it is gone" test ! -e "/sys/bus/pci/devices/${address##*/}"
issued=$(sed -n 's/.*issued rwts: total=\([0-9]*\),.*/\1/p' /tmp/fio)
given_up=$(loss /tmp/ejected cancelled)
within "reads that ended and that were given up ($given_up) are those that fio had issued" \
	$(($(commands /tmp/ejected read) + given_up)) $((issued - 8)) "$issued"
equal "none of them stays in flight" "$(loss /tmp/ejected in_flight)" 0
# It is removed by admin commands, which are the first ones that were seen of that queue.
check "its admin queue has a row" grep -q '^nvme0 *pcie *0 *admin' /tmp/ejected
equal "and no queue is one of TCP" "$(grep -c '^nvme0 *tcp ' /tmp/ejected)" 0
host_disconnect
target_remove
finish
