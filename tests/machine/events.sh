#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 100
# trace --events has a line for each command that begins and one for each that ends, of both sides, with what the command
# says; --admin those of admin and fabrics commands. What was lost is told where it was.
set -u
. /lib/machine.sh

cd /tmp || exit 1
disk=$(target_setup_null a size=256)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# lines FILE PATTERN: how many.
lines() {
	grep -cE "$2" "$1"
}

# unpaired FILE: how many of its lines are not a begin and, later, an end of the same command id on the same queue.
unpaired() {
	awk '/ lost / { exit } { key = $3 " " $4 " " $6 }
		$5 == "begin" { if (out[key]++) bad++ }
		$5 == "end" { if (out[key]-- != 1) bad++ }
		END { for (key in out) bad += out[key] != 0; print bad + 0 }' "$1"
}

tracer_start host trace --host --events
pids=("$tracer_pid")
tracer_start target trace --target --events
pids+=("$tracer_pid")
tracer_start admin trace --host --admin --format json
pids+=("$tracer_pid")
tracer_start raw trace --host --events --raw --origin
pids+=("$tracer_pid")
tracer_start record.out record --host --force -o host.ntp
pids+=("$tracer_pid")
dd if="$dev" of=/dev/null bs=4k count=1 skip=5 iflag=direct 2>/dev/null
dd if=/dev/zero of="$dev" bs=128k count=1 seek=3 oflag=direct 2>/dev/null
mix "$dev"
nvme id-ctrl "$dev" >/dev/null
nvme get-feature "$dev" -f 7 >/dev/null
nvme smart-log "$dev" >/dev/null
nvme io-passthru "$dev" --opcode=2 --namespace-id=1 --data-len=4096 --read --cdw10=0xfffffff0 --cdw12=7 >/dev/null 2>&1
nvme admin-passthru "$dev" --opcode=0xc1 >/dev/null 2>&1
host_disconnect "$ctrl"
tracer_stop "${pids[@]}"
equal "tracers end well" $? 0

# As "missed" in lib.sh: programs of each of them may have been skipped, and each has programs of its own.
ntprof-bpf report host.ntp --commands >report
all=$(grep -cE ' cid=' report)
declare -A may=([host]=0 [target]=0 [raw]=0)
of_record=0
if may_miss; then
	for name in "${!may[@]}"; do
		may[$name]=$(total "$name.err" 2 probe_missed)
	done
	of_record=$(loss report probe_missed)
fi
echo "# may be missing: of host ${may[host]}, target ${may[target]}, raw ${may[raw]}, record $of_record"
within "a host's command has a line when it ends" "$(lines host ' end ')" $((all - may[host])) $((all + of_record))
within "and one when it begins" "$(lines host ' begin ')" $((all - may[host])) $((all + of_record))
for side in host target; do
	within "on the $side each end is of a command that has begun" "$(unpaired $side)" 0 "${may[$side]}"
	equal "and nothing is lost there" "$(lines $side ' lost ')" 0
	check "a read says where and how long" grep -qE \
		"^[0-9]+[.][0-9]{9} $side .* q[12] begin cid=0x[0-9a-f]{4} read opcode=0x02 nsid=1 slba=40 length=4096 disk=[^ ]+ data=transport_sgl flags=0x40 nlb=7 fua=0 lr=0\$" $side
	check "a write does" grep -qE ' begin .* write opcode=0x01 nsid=1 slba=768 length=131072 .* nlb=255 ' $side
	check "an end has its status and latency" grep -qE \
		' end cid=0x[0-9a-f]{4} read opcode=0x02 nsid=1 slba=40 length=4096 .*status=0x0 success .*latency=[1-9]' $side
	check "one that failed has its name" grep -qE ' end .* read .* slba=4294967280 .* status=0x[1-9a-f][0-9a-f]* [a-z_]*(error|range) ' $side
	check "Identify says of what" grep -qE ' q0 begin .* identify opcode=0x06 .* cns=controller cntid=0 csi=0$' $side
	check "Get Features says which" grep -qE ' q0 begin .* get_features .* fid=number_of_queues sel=current$' $side
	check "Get Log Page says which" grep -qE ' q0 begin .* get_log_page .* lid=health_information .* numd=127 lpo=0$' $side
	check "an opcode without a name is one" grep -qE ' begin .* vendor_specific opcode=0xc1 ' $side
	check "and its status is told" grep -qE ' end .* vendor_specific .* invalid_command_opcode ' $side
	check "a small write lies in its capsule" grep -qE ' begin .* write .* length=8192 .* data=in_capsule ' $side
	check "an answer has a result and a queue's head" grep -qE ' end .* read .* status=0x0 success result=0x0 sq_head=[0-9]+ ' $side
	check "that of Get Features is told" grep -qE ' end .* get_features .* success result=0x[0-9a-f]+ .* value=[0-9]+ ' $side
	check "a shutdown is written into a property" grep -qE ' q0 begin .* property_set opcode=0x7f .* ofst=cc value=[0-9]+$' $side
done
check "the host's disk is told" grep -qE " begin .* read .* disk=${dev#/dev/} " host
check "the target's is" grep -qE " begin .* read .* disk=$disk " target
# What nvme sent it has asked for: opcode 2 with cdw10 and cdw12 of its own.
check "a whole entry is what was sent" grep -qE \
	' begin .* nsid=1 slba=4294967280 .* [|] cdw2=0x0 cdw3=0x0 mptr=0x0 dptr=0x0 dptr2=0x5a00000000001000 cdw10=0xfffffff0 cdw11=0x0 cdw12=0x7 cdw13=0x0 cdw14=0x0 cdw15=0x0 [|] from ' raw
for what in begin end; do
	check "who sent a command is told at its $what" \
		grep -qE " $what .* read .* slba=40 .* [|] from cpu=[01] pid=[0-9]+ comm=dd " raw
done
all=$(lines host ' (begin|end) ')
within "they are as many" "$(lines raw ' (begin|end) ')" $((all - 2 * may[raw])) $((all + 2 * may[host]))
check "a host has tried as often as is told" grep -qE ' end .* retries=0 ' host
equal "admin commands have all lines that they have among others" "$(wc -l <./admin)" \
	"$(($(lines host ' q0 ') + 1))"
check "as JSON, too" grep -qE '"type":"submission".*"command":"identify".*"fields":\{"cns":"controller"' admin

# A tracer that stands still while more happens than the ring buffer holds; what it has lost is between what it has not.
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")
tracer_start stopped trace --host --events --op read
before=$(block_stat "$path" 1)
kill -STOP "$tracer_pid"
fio --name=a --filename="$dev" --direct=1 --ioengine=libaio --rw=randread --bs=4k --iodepth=32 --numjobs=2 \
	--number_ios=15000 --norandommap --size=200M >/tmp/fio 2>&1 || cat /tmp/fio
kill -CONT "$tracer_pid"
sleep 1
dd if="$dev" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
reads=$(($(block_stat "$path" 1) - before))
tracer_stop "$tracer_pid"
lost=$(awk '/ lost / { n += $3 } END { printf "%.0f\n", n }' stopped)
check "events are lost ($lost)" test "$lost" -gt 0
equal "and told before what comes next" "$(awk '/ lost /{ at = NR } END { print (NR - at > 1) }' stopped)" 1
equal "lines and losses are all that there was" $(($(lines stopped ' (begin|end) ') + lost)) $((2 * reads))
equal "the end tells of as many" "$(awk '$1 == "ring_full" { print $2 }' stopped.err)" "$lost"
check "an end has its stages" grep -qE ' end .* latency=[0-9]+ [|] blk_submission=[0-9]+ ' stopped

host_disconnect "$ctrl"
target_remove
finish
