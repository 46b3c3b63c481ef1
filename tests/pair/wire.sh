#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# with programs: wire_capture wire_compare wire_find
# takes: 110
# What both machines say of arrivals and of the network is what passed on the wire, while those who read have more to do
# than they can, and while packets come twice: they are captured on both, and the PDUs in them compared with what was recorded.
# shellcheck disable=SC1091,SC2154 # ctrl, dev and pair_target are set by it
set -u
. /lib/pair.sh
cd /tmp || exit 1

arrivals=("host rx" "host r2t_rx" "target rx" "target data_rx")

# capturing FILE: the capture that writes its messages to FILE is under way.
capturing() {
	grep -qs '^capturing' "$1"
}

capture_begin() {
	wire_capture eth0 host.packets >host.capture &
	capture=$!
	on_target "wire_capture eth0 target.packets >target.capture & echo \$! >capture
		wait_for grep -qs ^capturing target.capture"
	wait_for capturing host.capture
}

capture_end() {
	kill "$capture"
	wait "$capture"
	# shellcheck disable=SC2016 # for the other machine's shell
	on_target 'pid=$(<capture); kill $pid; while [ -e /proc/$pid ]; do sleep 0.05; done'
	on_target "cat target.capture" >target.capture
	on_target "cat target.packets" >target.packets
}

# told FILE WORD FIELD: the number behind FIELD in the line that begins with WORD.
told() {
	awk -v word="$2" -v name="$3" 'index($0, word " ") == 1 {
		for (i = 1; i < NF; i++)
			if ($i == name)
				n = $(i + 1)
	} END { print n }' "$1"
}

on_target "target_subsystem \$(target_setup_null wire size=256)
	target_port $pair_target"
modprobe nvme-tcp && capture_begin
record_begin wire --points fine
pair_connect -i 1
# Behind the connection is the network card, whose interrupt goes where the kernel says.
irq=$(sed -n "s/^ *\([0-9]*\):.* $(basename "$(readlink /sys/class/net/eth0/device)")-input\.0\$/\1/p" /proc/interrupts)
equal "paths: the card, its queue and the CPU of its interrupt" \
	"$(ntprof-bpf paths --format csv | tr -d '\r' | awk -F, '$2 == 1 { print $7, $8, $9 }')" \
	"eth0 0 $(<"/proc/irq/$irq/effective_affinity_list")"
job=(--filename="$dev" --direct=1 --ioengine=libaio --size=60m)
fio "${job[@]}" --name=few --rw=randread --bs=4k --iodepth=3 --number_ios=300 >fio.out 2>&1 || cat fio.out
mixed() {
	fio "${job[@]}" --name=reads --rw=randread --bs=4k --iodepth=64 --number_ios=500 \
		--name=inline --rw=randwrite --bs=4k --offset=60m --iodepth=32 --number_ios=300 \
		--name=r2t --rw=randwrite --bs=32k --offset=120m --iodepth=8 --number_ios=150 >fio.out 2>&1 || cat fio.out
}
mixed
# As where a sender has not heard in time that its packets have come.
again="modprobe sch_netem; tc qdisc add dev eth0 root netem duplicate 20% limit 100000"
eval "$again"
on_target "$again"
mixed
record_end wire
capture_end
# A side's commands are told by themselves, and so with their times, where nothing of the other side is matched.
ntprof-bpf record --host -o none.host.ntp -d 0.1 2>none.err || cat none.err
on_target "ntprof-bpf record --target -o - -d 0.1 2>none.err" >none.target.ntp
ntprof-bpf report --commands wire.host.ntp none.target.ntp >host.txt 2>host.err || cat host.err
ntprof-bpf report --commands none.host.ntp wire.target.ntp >target.txt 2>target.err || cat target.err
for side in host target; do
	sed "s/^/# $side: /" $side.capture
	equal "$side: every packet was captured" "$(told $side.capture captured lost)" 0
done
# In the order of their times, as commands that have one id are told apart by it.
ntprof-bpf report --commands wire.host.ntp wire.target.ntp 2>merged.err | sort -s -n -k 1,1 >merged.txt
cat merged.err
sed -n 's/^connection/# &/p' merged.txt
grep -h ' loss ' host.txt target.txt | sed 's/^/# /'
wire_compare host.packets target.packets host.txt target.txt merged.txt >compared
equal "what passed on the wire can be read" $? 0
sed 's/^/# /' compared
for arrival in "${arrivals[@]}"; do
	n=$(told compared "arrival $arrival" of)
	within "$arrival: commands were compared" "$n" 300 3000
	equal "$arrival: none is told to be another packet's" "$(told compared "arrival $arrival" wrong)" 0
	# Where a machine is slow enough, more packets wait than are noted, and of some that came twice it cannot be told with
	# which they came; such an arrival says that it is not known. On a quiet machine nearly all are known, on a busy one half.
	within "$arrival: it is known" "$(told compared "arrival $arrival" right)" $((n / 4)) "$n"
done
n=$(told compared network of)
within "network: commands were compared" "$n" 2150 3000
equal "network: none is shorter than on the wire" "$(told compared network below)" 0
equal "network: none is longer than on the wire and from the senders to it" "$(told compared network above)" 0
# It is taken before the packet passes the queueing discipline and comes to the card, as the capture sees it.
for left in "host out" "host data_out" "target out" "target r2t_out"; do
	if ! finer_points; then
		equal "$left: no command has it, as this kernel has no finer points" "$(told compared "left $left" of)" 0
		continue
	fi
	within "$left: commands were compared" "$(told compared "left $left" of)" 250 3000
	equal "$left: none is after the packet" "$(told compared "left $left" after)" 0
	within "$left: it is the packet's time, in ns" "$(told compared "left $left" tenth)" -20000 300000
	within "$left: commands with the number of that byte were compared" "$(told compared "number $left" of)" 250 3000
	equal "$left: the number is that on the wire" "$(told compared "number $left" wrong)" 0
done

# The filters of the slowest commands show these commands in the captures.
ntprof-bpf report wire.host.ntp wire.target.ntp --pcap-filter 8 --format text 2>/dev/null | awk '
	/^packets of / && match($0, /cid 0x[0-9a-f]+/) { cid = substr($0, RSTART + 4, RLENGTH - 4) }
	$1 == "host" || $1 == "target" { side = $1 }
	$1 == "tcpdump" {
		port = $8 == 4420 ? $14 + 0 : $8
		ranges = ""
		for (rest = $0; match(rest, /src port [0-9]+|tcp\[4:4\] - [0-9]+ < [0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
			split(substr(rest, RSTART, RLENGTH), word, " ")
			if (word[1] == "src")
				to = word[3] == 4420 ? "host" : "target"
			else
				ranges = ranges " " to " " word[3] " " word[5]
		}
	}
	$1 == "Wireshark" && match($0, /time_epoch>=[0-9.]+/) {
		from = substr($0, RSTART + 12, RLENGTH - 12)
		match($0, /time_epoch<=[0-9.]+/)
		until = substr($0, RSTART + 12, RLENGTH - 12)
		gsub(/[.]/, "", from)
		gsub(/[.]/, "", until)
		print side, port, from, until, cid ranges
	}' >filters
sed 's/^/# /' filters
equal "there is a filter for each side of each command" "$(wc -l <filters)" 16
equal "each has numbers of both directions, or none without finer points" "$(grep ' target ' filters | grep -c ' host ')" \
	"$(finer_points && echo 16 || echo 0)"
while read -r side port from to cid ranges; do
	# shellcheck disable=SC2086 # several words
	wire_find "$side.packets" "$port" "$from" "$to" "$cid" $ranges
done <filters >found
sed 's/^/# /' found
equal "each filter shows the capsule of its command, and its response" \
	"$(grep -c '^capsules [1-9][0-9]* responses [1-9]' found)" 16
host_disconnect "$ctrl"
finish
