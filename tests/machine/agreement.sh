#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 200
# Stock probes and tracepoints, on the same commands at once, see the same commands and the same points.
set -u
. /lib/machine.sh

# Nanoseconds. The programs of both sources run one after the other at nearly the same place, so a point
# of one is late by what the other's program takes; that is in this figure.
limit=2000
# The last point of a command is followed by all that is done with the command, its record included.
# Whose program comes second is late by that; send is the last point as well where no data are sent.
limit_last=8000
last_points=" complete send sent "

# differences SIDE: for each command of /tmp/SIDE.tracepoints its partner in /tmp/SIDE.stock by queue,
# command id, address and the order of those; prints "command" and what they differ in, or "POINT NS".
differences() {
	awk '
	function key(line,    k) {
		match(line, / q[0-9]+ cid=[^ ]+/)
		k = substr(line, RSTART, RLENGTH)
		match(line, / slba=[0-9]+ length=[0-9]+/)
		return k substr(line, RSTART, RLENGTH)
	}
	function said(line,    k) { # all that is no time
		k = line
		sub(/ latency=.*/, "", k)
		sub(/^[0-9.]+ /, "", k)
		return k
	}
	# Nanoseconds of a day or so are exact in a double.
	function points(line, at,    part, p, n, i, s) {
		split(line, part, "|")
		split(line, s, /[ .]/)
		n = split(part[2], p, " ")
		split("", at)
		for (i = 1; i <= n; i++) {
			split(p[i], s2, "=")
			at[s2[1]] = s[1] * 1000000000 + s[2] + s2[2]
		}
	}
	# Commands of the admin queue come at any time, also while only one of both traces.
	function outside(line) {
		return line ~ / q0 / && ($1 < first || $1 > last)
	}
	FNR == NR {
		if ($0 !~ / q0 /) {
			if (!first || $1 < first)
				first = $1
			if ($1 > last)
				last = $1
		}
		k = key($0)
		stock[k, ++have[k]] = $0
		next
	}
	outside($0) { next }
	{
		k = key($0)
		nr = ++used[k]
		if (!((k, nr) in stock)) {
			print "command only-tracepoints" k
			next
		}
		other = stock[k, nr]
		delete stock[k, nr]
		if (said($0) != said(other))
			print "command differs:", said($0), "--", said(other)
		points($0, a)
		points(other, b)
		for (p in a)
			print p, (p in b) ? sprintf("%.0f", b[p] - a[p]) : "missing"
		for (p in b)
			if (!(p in a))
				print p, "missing"
	}
	END {
		for (k in stock) {
			$0 = stock[k]
			if (!outside($0))
				print "command only-stock", $0
		}
	}
	' "/tmp/$1.stock" "/tmp/$1.tracepoints" >"/tmp/$1.differences"
}

# absolute_percentile POINT SIDE: p99 of how far apart.
absolute_percentile() {
	awk -v p="$1" '$1 == p && $2 != "missing" { printf "%.0f\n", $2 < 0 ? -$2 : $2 }' "/tmp/$2.differences" | sort -n |
		awk '{ v[NR] = $1 } END { k = int(NR * 0.99); if (k < NR * 0.99) k++; print v[k] }'
}

table() {
	awk -v side="$1" '$1 != "command" {
		if ($2 == "missing") missing[$1]++
		else { n[$1]++; sum[$1] += $2; if (n[$1] == 1 || $2 < low[$1]) low[$1] = $2; if (n[$1] == 1 || $2 > high[$1]) high[$1] = $2 }
		seen[$1] = 1
	} END { for (p in seen) printf "# %s %s: %d compared, mean %.0f ns, from %.0f to %.0f, %d not seen by both\n",
		side, p, n[p], n[p] ? sum[p] / n[p] : 0, low[p], high[p], missing[p] }' "/tmp/$1.differences" | sort
}

# compare NAME: runs the load on connection options in the rest of the arguments.
compare() {
	local name=$1 side source pids=() point p99 most

	shift
	ctrl=$(host_connect "$@")
	dev=$(host_device "$ctrl")
	for side in host target; do
		for source in tracepoints stock; do
			tracer_start /tmp/$side.$source trace --$side --source $source --summary
			pids+=("$tracer_pid")
		done
	done
	fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/35:16k/10:64k/50:1M/5 --iodepth=4 --number_ios=900 --fsync=50 >/tmp/fio 2>&1 ||
		cat /tmp/fio
	nvme id-ctrl "/dev/$ctrl" >/dev/null
	tracer_stop "${pids[@]}"
	for side in host target; do
		for source in tracepoints stock; do
			no_losses "$name: $side loses nothing with $source" /tmp/$side.$source.err
		done
		differences $side
		check "$name: $side has commands to compare" test "$(wc -l </tmp/$side.stock)" -ge 500
		equal "$name: $side sees the same commands, none more or less, by both" \
			"$(grep -c '^command' /tmp/$side.differences)" 0
		grep '^command' /tmp/$side.differences | head -n 3 | sed 's/^/#   /'
		table $side
		while read -r point; do
			p99=$(absolute_percentile "$point" $side)
			most=$limit
			[[ $last_points != *" $point "* ]] || most=$limit_last
			within "$name: $side $point is the same to $most ns (p99)" "$p99" 0 $most
		done < <(awk '$1 != "command" && $2 != "missing" { print $1 }' /tmp/$side.differences | sort -u)
		# It bounds no stage, and nothing but a tracepoint shows it.
		equal "$name: $side points that only one of them sees" \
			"$(awk '$2 == "missing" { print $1 }' /tmp/$side.differences | sort -u | xargs)" \
			"$([[ $side == host ]] || echo data_done)"
	done
	equal "$name: submit is equal" "$(awk '$1 == "submit" && $2 != 0' /tmp/host.differences | wc -l)" 0
	host_disconnect "$ctrl"
}

disk=$(target_setup_null a size=256 discard=1)
target_subsystem "$disk"
target_port
compare plain -i 1
compare digests -i 1 --hdr-digest --data-digest
compare "no SQ flow control" -i 1 --disable-sqflow
target_remove
finish
