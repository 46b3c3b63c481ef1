#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 40
# The stages of every command add up to its latency, and histograms tell the percentiles of the same
# commands' records.
set -u
. /lib/machine.sh

# percentiles FILE OP: p50, p90, p99, p99.9 and the longest, exact, nearest rank, from the records; "-" where there are too
# few of them.
percentiles() {
	sed -n "s/.* op=$2 .* latency=\([0-9]*\) .*/\1/p" "$1" | sort -n |
		awk '{ v[NR] = $1 } END { n = split("50 90 99 99.9 100", p, " ")
			for (i = 1; i <= n; i++) {
				r = p[i] / 100 * NR; k = int(r); if (k < r) k++
				print p[i] < 100 && NR * (100 - p[i]) < 99.999 ? "-" : v[k]
			} }'
}

connect_ways 2
for side in host target; do
	tracer_start /tmp/$side trace --$side --summary
	declare "$side=$tracer_pid"
done
for ctrl in "${way_ctrls[@]}"; do
	fio --name=mix --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/40:16k/20:64k/30:1M/10 --iodepth=4 --number_ios=600 --fsync=50 \
		>/tmp/fio 2>&1 || cat /tmp/fio
done
# shellcheck disable=SC2154 # set by declare above
tracer_stop "$host" "$target"

for side in host target; do
	for i in 0 1 2; do
		connection=${way_ctrls[i]}
		[[ $side == host ]] || connection="cntlid ?$(<"/sys/class/nvme/$connection/cntlid")"
		grep -E "^[0-9.]+ $side $connection q" /tmp/$side >/tmp/records
		n=$(wc -l </tmp/records)
		check "${way_names[i]}: $side has a record of each command ($n)" test "$n" -ge 600
		unconserved /tmp/records 5 >/tmp/bad
		equal "${way_names[i]}: every $side command's stages add up to its latency" "$(wc -l </tmp/bad)" 0
		head -n 3 /tmp/bad | sed 's/^/#   /'
		check "${way_names[i]}: R2T writes were among them" grep -q 'shape=r2t_write' /tmp/records
		check "${way_names[i]}: inline writes were among them" grep -q 'shape=inline_write' /tmp/records
	done
	check "$side: reads without CQE were among the last ones" grep -q ' no_cqe ' /tmp/records
	no_losses "$side loses nothing" /tmp/$side.err
	for op in read write; do
		equal "$side: histograms and records agree on the number of ${op}s" \
			"$(commands /tmp/$side.err $op)" "$(grep -c " op=$op " /tmp/$side)"
		equal "$side: stages of ${op}s, as the kernel summed them, add up to all latencies" \
			"$(total /tmp/$side.err 8 stage $op)" "$(latencies /tmp/$side $op)"
		# The percentile lines: percentiles OP P50 P90 P99 P99.9 MAX in nanoseconds, of all queues together.
		mapfile -t exact < <(percentiles /tmp/$side $op)
		read -r _ _ told < <(grep "^percentiles $op " /tmp/$side.err)
		read -ra told <<<"$told"
		equal "$side: the longest of the ${op}s is exact" "${told[4]}" "${exact[4]}"
		i=0
		for p in 50 90 99 99.9; do
			if [[ ${exact[i]} == - ]]; then
				equal "$side: there are too few ${op}s for p$p" "${told[i]}" -
			else
				within "$side: p$p of ${op}s is within 1/64 of the exact one" "${told[i]}" \
					$((exact[i] * 63 / 64 - 1)) $((exact[i] * 65 / 64 + 1))
			fi
			i=$((i + 1))
		done
	done
done
for ctrl in "${way_ctrls[@]}"; do
	host_disconnect "$ctrl"
done
target_remove
finish
