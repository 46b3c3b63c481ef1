#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# with programs: wire_capture wire_compare machine/tls_agent
# takes: 80
# Patches change nothing of what passes on the wire: with patched drivers on the host, on the target or on both, one job has the
# PDUs that it has with those of the distribution, of the same types, flags, lengths and in the same order.
# shellcheck disable=SC1091,SC2154 # ctrl, dev and pair_target are set by it
set -u
. /lib/pair.sh
cd /tmp || exit 1

# use KIND MODULE FOLDER: load the distribution's module, or the patched one, which modprobe prefers. Only that has events.
# shellcheck disable=SC2016 # for the other machine's shell, too
use='use() {
	local events=/sys/kernel/tracing/events/${2//-/_}

	modprobe "$2" || return
	if [[ $1 == patched ]]; then
		[[ -d $events ]]
	else
		wait_for rmmod "$2" && insmod /lib/modules/$(uname -r)/kernel/drivers/nvme/"$3"/"$2".ko* && [[ ! -d $events ]]
	fi
}'
eval "$use"

# job DEVICE: one command at a time, of each way that data takes. Before it is a command of which there is no other: what a
# new disk is looked at with may come or not.
job() {
	local fio=(fio --name=a --filename="$1" --direct=1 --ioengine=psync --size=64m)

	nvme io-passthru "$1" --opcode=0x99 --namespace-id=1 >/dev/null 2>&1
	"${fio[@]}" --rw=randread --bs=4k --number_ios=20 &&
		"${fio[@]}" --rw=randwrite --bs=4k --number_ios=20 &&
		"${fio[@]}" --rw=read --bs=128k --number_ios=10 &&
		"${fio[@]}" --rw=write --bs=64k --number_ios=10 --fsync=2 &&
		"${fio[@]}" --rw=trim --bs=1m --number_ios=4 &&
		nvme write-zeroes "$1" --start-block=8 --block-count=7 --namespace-id=1
}

# headers NAME CONNECT...: those of the job's PDUs into the file NAME, of a connection that CONNECT makes.
headers() {
	local name=$1 capture

	shift
	wire_capture eth0 packets >captured &
	capture=$!
	wait_for grep -qs '^capturing' captured
	{ "$@" && job "$dev"; } >job.out 2>&1 || cat job.out
	host_disconnect "$ctrl"
	kill "$capture"
	wait "$capture"
	grep -q ' lost 0$' captured || cat captured
	wire_compare --headers packets >all
	awk '/ to target .* opcode 0x99$/ { sent = 1 } / to host .* status 0x[0-9a-f]*1$/ { got = 1 }
		$4 == "target" ? sent : got' all >"$name"
}

tls_address=192.168.77.3
with_tls() {
	ctrl=$(tls_connect 1 $tls_address) && dev=$(host_device "$ctrl")
}

declare -A connects=(
	[plain]="pair_connect -i 1"
	[digests]="pair_connect -i 1 --hdr-digest --data-digest"
	[no_sqflow]="pair_connect -i 1 --disable-sqflow"
)
# Linux 6.7 is the first with TLS.
if modinfo nvme-keyring >/dev/null 2>&1; then
	connects[tls]=with_tls
	check "keys are given to the host's connections" tls_begin
	check "and to the target's" on_target "ip address add $tls_address/24 dev eth0; tls_begin"
fi
for of_target in stock patched; do
	check "the target has $of_target drivers" on_target "$use; use $of_target nvmet-tcp target"
	on_target "target_subsystem \$(target_setup_null wire size=256 discard=1 cache_size=64)
		target_port $pair_target
		${connects[tls]:+target_port $tls_address 4420 addr_tsas=tls1.3}"
	for of_host in stock patched; do
		check "the host has $of_host drivers" use "$of_host" nvme-tcp host
		for how in "${!connects[@]}"; do
			# shellcheck disable=SC2086 # with options
			headers "$how,$of_host,$of_target" ${connects[$how]}
			[[ $of_host,$of_target != stock,stock ]] || {
				within "$how: PDUs to the target" "$(grep -c ' to target ' "$how,stock,stock")" 70 1000
				within "$how: PDUs to the host" "$(grep -c ' to host ' "$how,stock,stock")" 60 1000
				continue
			}
			check "$how: $of_host host and $of_target target have the PDUs of stock ones" \
				diff "$how,stock,stock" "$how,$of_host,$of_target"
		done
		wait_for rmmod nvme-tcp
	done
	on_target "target_remove; wait_for rmmod nvmet-tcp"
done
cut -d' ' -f3-5,9- plain,stock,stock | sort | uniq -c | sed 's/^/# /'
finish
