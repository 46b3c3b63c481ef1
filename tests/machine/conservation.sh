#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 90
# The stages of every command add up to its latency, and histograms tell the percentiles of the same
# commands' records.
set -u
. /lib/machine.sh

# percentile FILE OP PERCENT: exact, nearest rank, from the records; "-" where there are too few of them.
percentile() {
	sed -n "s/.* op=$2 .* latency=\([0-9]*\) .*/\1/p" "$1" | sort -n |
		awk -v p="$3" '{ v[NR] = $1 } END { r = p / 100 * NR; k = int(r); if (k < r) k++
			print p < 100 && NR * (100 - p) < 99.999 ? "-" : v[k] }'
}

disk=$(target_setup_null a size=256 discard=1)
target_subsystem "$disk"
target_port

run() {
	local name=$1

	shift
	ctrl=$(host_connect -i 2 "$@")
	dev=$(host_device "$ctrl")
	for side in host target; do
		tracer_start /tmp/$side trace --$side --summary
		declare "$side=$tracer_pid"
	done
	fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/40:16k/20:64k/30:1M/10 --iodepth=4 --number_ios=600 --fsync=50 \
		>/tmp/fio 2>&1 || cat /tmp/fio
	# shellcheck disable=SC2154 # set by declare above
	tracer_stop "$host" "$target"
	for side in host target; do
		n=$(wc -l </tmp/$side)
		check "$name: $side has a record of each command ($n)" test "$n" -ge 600
		unconserved /tmp/$side 5 >/tmp/bad
		equal "$name: every $side command's stages add up to its latency" "$(wc -l </tmp/bad)" 0
		head -n 3 /tmp/bad | sed 's/^/#   /'
		no_losses "$name: $side loses nothing" /tmp/$side.err
		for op in read write; do
			equal "$name: $side histogram and records agree on the number of ${op}s" \
				"$(commands /tmp/$side.err $op)" "$(grep -c " op=$op " /tmp/$side)"
			equal "$name: $side stages of ${op}s, as the kernel summed them, add up to all latencies" \
				"$(total /tmp/$side.err 8 stage $op)" "$(latencies /tmp/$side $op)"
		done
	done
	check "$name: R2T writes were among them" grep -q 'shape=r2t_write' /tmp/host
	check "$name: inline writes were among them" grep -q 'shape=inline_write' /tmp/target
	host_disconnect "$ctrl"
}

run "plain"
# The percentile lines: percentile OP P50 P90 P99 P99.9 MAX in nanoseconds, of all queues together.
for side in host target; do
	for op in read write; do
		i=3
		for p in 50 90 99 99.9 100; do
			exact=$(percentile /tmp/$side $op $p)
			told=$(awk -v op=$op -v i=$i '$1 == "percentiles" && $2 == op { print $i }' /tmp/$side.err)
			[[ $p != 100 ]] ||
				equal "$side: the longest of the ${op}s is exact" "$told" "$exact"
			[[ $exact != - ]] ||
				equal "$side: there are too few ${op}s for p$p" "$told" -
			[[ $exact == - ]] || within "$side: p$p of ${op}s is within 1/64 of the exact one" "$told" \
				"$(awk -v e="$exact" 'BEGIN { printf "%.0f", e * 63 / 64 - 1 }')" \
				"$(awk -v e="$exact" 'BEGIN { printf "%.0f", e * 65 / 64 + 1 }')"
			i=$((i + 1))
		done
	done
done
run "header and data digests" --hdr-digest --data-digest
run "no SQ flow control" --disable-sqflow
check "reads without CQE were among them" grep -q ' no_cqe ' /tmp/host
check "the target knows them too" grep -q ' no_cqe ' /tmp/target
target_remove
finish
