#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount
# takes: 50
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

# differences SIDE: for each command of /tmp/SIDE.tracepoints its partner in /tmp/SIDE.stock by connection, queue,
# command id, address and the order of those; prints, behind the connection, "command" and what they differ in, or
# "POINT NS".
differences() {
	awk '
	function connection(line) { # "host nvme0" or "target cntlid 1", in one word
		sub(/^[0-9.]+ [a-z]+ /, "", line)
		sub(/ q[0-9]+ cid=.*/, "", line)
		gsub(/ /, "", line)
		return line
	}
	function key(line,    k) {
		k = connection(line)
		match(line, / q[0-9]+ cid=[^ ]+/)
		k = k substr(line, RSTART, RLENGTH)
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
		c = connection($0)
		if (!((k, nr) in stock)) {
			print c, "command only-tracepoints", k
			next
		}
		other = stock[k, nr]
		delete stock[k, nr]
		if (said($0) != said(other))
			print c, "command differs:", said($0), "--", said(other)
		points($0, a)
		points(other, b)
		for (p in a)
			print c, p, (p in b) ? sprintf("%.0f", b[p] - a[p]) : "missing"
		for (p in b)
			if (!(p in a))
				print c, p, "missing"
	}
	END {
		for (k in stock) {
			$0 = stock[k]
			if (!outside($0))
				print connection($0), "command only-stock", $0
		}
	}
	' "/tmp/$1.stock" "/tmp/$1.tracepoints" >"/tmp/$1.differences"
}

# table SIDE: what there is of each point of each connection, "CONNECTION POINT COMPARED MEAN LOW HIGH MISSING P99", the
# last of which is of how far apart.
table() {
	awk '$2 != "command" { print $1, $2, $3, $3 < 0 ? -$3 : $3 }' "/tmp/$1.differences" | sort -k1,2 -k4,4n | awk '
		function row(    k) {
			if (point) {
				k = int(n * 0.99)
				if (k < n * 0.99) k++
				printf "%s %d %.0f %.0f %.0f %d %s\n", point, n, n ? sum / n : 0, low, high, missing, n ? v[k] : "-"
			}
		}
		point != $1 " " $2 {
			row()
			point = $1 " " $2
			n = missing = sum = low = high = 0
		}
		$3 == "missing" { missing++; next }
		{
			v[++n] = $4
			sum += $3
			if (n == 1 || $3 + 0 < low) low = $3 + 0
			if (n == 1 || $3 + 0 > high) high = $3 + 0
		}
		END { row() }' >"/tmp/$1.table"
	awk -v side="$1" '{ printf "# %s %s %s: %d compared, mean %s ns, from %s to %s, %d not seen by both\n",
		side, $1, $2, $3, $4, $5, $6, $7 }' "/tmp/$1.table"
}

# compare SIDE NAME CONNECTION
compare() {
	local side=$1 name="$2: $1" connection=$3 _ point n missing p99 most only=

	check "$name has commands to compare" test "$(awk -v c="$connection" '$1 == c { if ($3 > n) n = $3 }
		END { print n + 0 }' "/tmp/$side.table")" -ge 500
	equal "$name sees the same commands, none more or less, by both" "$(grep -c "^$connection command" "/tmp/$side.differences")" 0
	grep "^$connection command" "/tmp/$side.differences" | head -n 3 | sed 's/^/#   /'
	while read -r _ point n _ _ _ missing p99; do
		most=$limit
		[[ $last_points != *" $point "* ]] || most=$limit_last
		((!n)) || within "$name $point is the same to $most ns (p99)" "$p99" 0 $most
		((!missing)) || only+="$point "
	done < <(grep "^$connection " "/tmp/$side.table")
	# It bounds no stage, and nothing but a tracepoint shows it.
	equal "$name points that only one of them sees" "$only" "$([[ $side == host ]] || echo "data_done ")"
	[[ $side == target ]] || equal "$name submit is equal" \
		"$(awk -v c="$connection" '$1 == c && $2 == "submit" && $3 != 0' /tmp/host.differences | wc -l)" 0
}

connect_ways 1
pids=()
for side in host target; do
	for source in tracepoints stock; do
		tracer_start /tmp/$side.$source trace --$side --source $source --summary
		pids+=("$tracer_pid")
	done
done
for ctrl in "${way_ctrls[@]}"; do
	fio --name=mix --filename="$(host_device "$ctrl")" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/35:16k/10:64k/50:1M/5 --iodepth=4 --number_ios=500 --fsync=50 >/tmp/fio 2>&1 ||
		cat /tmp/fio
	nvme id-ctrl "/dev/$ctrl" >/dev/null
done
tracer_stop "${pids[@]}"
for side in host target; do
	for source in tracepoints stock; do
		no_losses "$side loses nothing with $source" /tmp/$side.$source.err
	done
	differences $side
	table $side
	for i in 0 1 2; do
		connection=${way_ctrls[i]}
		[[ $side == host ]] || connection=cntlid$(<"/sys/class/nvme/$connection/cntlid")
		compare $side "${way_names[i]}" "$connection"
	done
done
for ctrl in "${way_ctrls[@]}"; do
	host_disconnect "$ctrl"
done
target_remove
finish
