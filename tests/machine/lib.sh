# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# lib.sh - what the machine tests share. In the guest: ". /lib/machine.sh", after which the helpers of
# /lib/vm.sh are at hand as well. A test prints "ok N - name" or "not ok N - name"; `finish` ends it.
#
# Figures in awk: mawk prints whole numbers from 2^31 on as 2.66223e+09, and "%d" ends at 2^31 - 1 in mawk and
# wraps around in busybox; what substr() returns is compared as text. So 0 is added to what is compared, and
# what is printed goes through "%.0f", which is exact up to 2^53. tests/harness/large_figures.sh holds the
# functions below to it, outside of a machine.

[[ ! -e /lib/vm.sh ]] || . /lib/vm.sh

tap_nr=0
tap_failed=0

# check NAME CMD...: CMD succeeds.
check() {
	local name=$1

	shift
	tap_nr=$((tap_nr + 1))
	if "$@"; then
		echo "ok $tap_nr - $name"
	else
		echo "not ok $tap_nr - $name"
		tap_failed=$((tap_failed + 1))
	fi
}

# equal NAME GOT EXPECTED
equal() {
	check "$1" test "$2" = "$3"
	[[ $2 == "$3" ]] || echo "#   got '$2', expected '$3'"
}

# within NAME GOT LOW HIGH: whole or decimal numbers
within() {
	local name="$1 ($2 in $3..$4)" whole='^-?[0-9]{1,18}$'

	# Without a process: a test may have a hundred of these.
	if [[ $2 =~ $whole && $3 =~ $whole && $4 =~ $whole ]]; then
		check "$name" test "$2" -ge "$3" -a "$2" -le "$4"
	else
		check "$name" awk -v g="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(g != "" && g >= l && g <= h) }'
	fi
}

# finish: of patched drivers it is the tracepoints that have been tested. Where the kernel refuses a program on one of them,
# ntprof-bpf takes stock probes.
finish() {
	if [[ ${VM_KIND:-} == patched ]]; then
		modprobe -a nvme-tcp nvmet-tcp
		equal "points come from the tracepoints of both drivers" \
			"$(ntprof-bpf probes 2>&1 | grep -c ': coverage is full, source tracepoints, loaded$')" 2
	fi
	echo "1..$tap_nr"
	exit $((tap_failed > 0))
}

# tracer_start FILE ARGS...: run ntprof-bpf in the background with its output in FILE; returns when it has attached all
# that it attaches. The process id is in $tracer_pid.
tracer_start() {
	local file=$1

	shift
	ntprof-bpf "$@" >"$file" 2>"$file.err" &
	tracer_pid=$!
	wait_for tracer_ready "$tracer_pid"
}

# Process $1, which is a tracer, has attached all that it attaches: it holds links and waits for events, in epoll_wait(),
# which it does not do in between. To ask the kernel for each program would take half a second of a processor each time.
tracer_ready() {
	local call _

	kill -0 "$1" 2>/dev/null || return 0 # it has failed: the caller will see
	read -r call _ </proc/"$1"/syscall && [[ $call == @(232|22) ]] && has_link "$1"
} 2>/dev/null

# Process $1 holds a link to a BPF program.
has_link() {
	grep -qs '^link_type' /proc/"$1"/fdinfo/*
}

# The program named $1, or the stock probe that has its part, has a link that process $2 holds.
tracer_attached() {
	local id name files stock=stock_$1

	[[ $1 != done_recv_pdu ]] || stock="stock_cmd stock_cmd_no_cq"
	kill -0 "$2" 2>/dev/null || return 0 # it has failed: the caller will see
	# Looking further would only keep the processor from it.
	has_link "$2" || return
	for id in $(for name in "$1" $stock; do
		bpftool -p prog show name "$name" 2>/dev/null | sed -n 's/.*"id": \([0-9]*\),.*/\1/p'
	done); do
		# Other processes may have a program of that name, too.
		mapfile -t files < <(grep -ls "^prog_id:[[:space:]]*$id\$" /proc/"$2"/fdinfo/* 2>/dev/null)
		((${#files[@]} == 0)) || ! grep -qs '^link_type' "${files[@]}" || return 0
	done
	return 1
}

# hide PATTERN: make believe that ftrace cannot trace the functions that match; hide nothing without one.
hide() {
	local functions=/sys/kernel/tracing/available_filter_functions

	! mountpoint -q $functions || umount $functions
	(($# > 0)) || return 0
	grep -vE "$1" $functions >/tmp/functions
	mount --bind /tmp/functions $functions
}

# tracer_stop PID...: end them as Ctrl-C does; the status is that of the last one.
tracer_stop() {
	local pid status=0

	kill -INT "$@"
	for pid; do
		wait "$pid" || status=$?
	done
	return $status
}

# commands FILE OP: how many commands of an operation a summary tells.
commands() {
	awk -v op="$2" '$1 == "commands" && $2 == op { n = $3 } END { printf "%.0f\n", n }' "$1"
}

# loss FILE NAME: a counter of a summary, or of the end of a trace.
loss() {
	awk -v name="$2" '$1 == "loss" && $2 == name { n = $3 } END { printf "%.0f\n", n }' "$1"
}

# may_miss: on a busy machine a task that runs a stock program may be preempted for another one, which the kernel then does
# not run on that CPU (probe_missed). The newest kernel does so with programs on tracepoints, too.
may_miss() {
	[[ ${VM_KIND:-} == stock || ${VM_KERNEL:-} == newest ]]
}

# finer_points: this kernel's drivers have them. With stock ones of Linux 6.12 and later the programs would make the
# kernel panic (docs/points.md).
finer_points() {
	[[ $VM_KIND != stock || $(printf '%s\n' 6.12 "$(uname -r)" | sort -V | head -n 1) != 6.12 ]]
}

# missed FILE: how many commands a summary may have missed, which it tells.
missed() {
	if may_miss; then
		loss "$1" probe_missed
	else
		echo 0
	fi
}

# counted NAME GOT EXPECTED FILE: all commands are there, but those that the summary says it may have missed.
counted() {
	local may

	may=$(missed "$4")
	if ((may)); then
		within "$1, but for what was missed" "$2" $(($3 - may)) "$3"
	else
		equal "$1" "$2" "$3"
	fi
}

# losses FILE [EXCEPT]: NAME=N of each counter of a summary that is not zero, but for those that match EXCEPT. Stock probes sit
# on functions that others call as well: a program that is skipped there need not have missed anything. If it has missed a
# command's point, another counter tells: as many of these are no other losses. Of how many arrivals a busy machine knows
# the packet is a matter of pair/wire.
losses() {
	local known=

	# Linux 6.12 gives commands of admin queues no start time; all others have one.
	if [[ $VM_KERNEL != 6.1 ]] && awk '$1 == "loss" && $2 == "submit_missing" { missing = $3 }
		$1 == "commands" && ($2 == "admin" || $2 == "fabrics") { n += $3 }
		END { exit missing > n }' "$1"; then
		known=submit_missing
	fi
	awk -v except="^arrival_joined\$|${2:-^async_event$}" -v known="$known" \
		-v may="$(missed "$1")" -v stock="$(! may_miss || echo probe_missed)" \
		'$2 == known || $2 == stock || $1 != "loss" || $3 == 0 || $2 ~ except { next }
		$2 ~ /^(no_start|point_missing|arrival_missing|overwritten|in_flight)$/ && $3 <= may + 0 { may -= $3; next }
		{ printf "%s=%s ", $2, $3 }' "$1"
}

# no_losses NAME FILE [EXCEPT]: a summary has no such losses.
no_losses() {
	equal "$1" "$(losses "${@:2}")" ""
	# A command whose arrival is missing may have no stages.
	[[ ${3:-} == *arrival_missing* ]] || equal "$1: rows and stages are of as many commands" "$(uneven "$2")" ""
}

# uneven FILE: OP=ROWS/STAGES of the operations of a summary that have more or fewer commands in rows than in stages, but for
# those that could not be split. The sum of a stage by its mean, which is a whole number, tells of how many it is; that of the
# longest one is the most exact. Commands of admin queues may have no submission. A CPU that is interrupted while it adds may
# lose an addition: one in 10,000 is more than it ever loses, and less than a connection.
uneven() {
	awk '$1 == "commands" || $1 == "measured" { rows[$2] = $3 + 0 }
		$1 == "loss" && $2 ~ /^(point_missing|hist_full)$/ { may += $3 }
		$1 == "stage" { any = 1 }
		$1 == "stage" && $3 !~ /^blk_submission/ && $4 + 0 > mean[$2] { mean[$2] = $4 + 0; stages[$2] = $8 / $4 }
		END {
			for (op in rows) {
				slack = 1 + rows[op] / 10000 + (mean[op] ? stages[op] / mean[op] : 0)
				if (any && (stages[op] > rows[op] + slack || stages[op] < rows[op] - may - slack))
					printf "%s=%.0f/%.0f ", op, rows[op], stages[op]
			}
		}' "$1"
}

# page_adds_up FILE: on a page of serve that was collected while nothing ended, what rows have of each operation is what its
# stages have; of what was not split, stages have nothing. Says what is not so.
page_adds_up() {
	awk '/^ntprof_command_duration_seconds_count\{/ { n = $0; sub(/.*operation="/, "", n); sub(/".*/, "", n); rows[n] += $NF }
		/^ntprof_commands_total\{/ { all += $NF }
		/^ntprof_command_duration_seconds_count\{/ { measured += $NF }
		/^ntprof_stage_duration_seconds_count\{/ { n = $0; sub(/.*operation="/, "", n); sub(/".*/, "", n)
			stage = $0; sub(/.*stage="/, "", stage); sub(/".*/, "", stage); all_of[n, stage] += $NF
			if (all_of[n, stage] > stages[n]) stages[n] = all_of[n, stage] }
		/^ntprof_losses_total\{.*"(point_missing|hist_full)"/ { lost += $NF }
		END {
			if (all != measured) { printf "%d commands, %d measured\n", all, measured; wrong = 1 }
			for (n in rows) {
				off = rows[n] - stages[n]
				if (off < 0 || off > lost) { printf "%s: %d in rows, %d in stages, %d lost\n", n, rows[n], stages[n], lost; wrong = 1 }
			}
			exit wrong || !rows["read"]
		}' "$1"
}

# total FILE FIELD WORD...: the sum of a field (0: the last one) over the lines that begin with the words.
total() {
	awk -v at="$2" -v words="${*:3} " 'index($0, words) == 1 { n += at ? $at : $NF } END { printf "%.0f\n", n }' "$1"
}

# latencies FILE OP: the sum of the latencies of a trace's commands of an operation.
latencies() {
	awk -v op=" op=$2 " 'index($0, op) && match($0, / latency=[0-9]+/) { n += substr($0, RSTART + 9, RLENGTH - 9) }
		END { printf "%.0f\n", n }' "$1"
}

# unconserved FILE STAGES: lines of a trace with fewer stages than that, or whose stages do not add up.
unconserved() {
	awk -F'|' -v least="$2" '{
		match($1, /latency=[0-9]+/); latency = substr($1, RSTART + 8, RLENGTH - 8) + 0
		n = split($3, s, " "); sum = 0
		for (i = 1; i <= n; i++) { sub(/.*=/, "", s[i]); sum += s[i] }
		if (n < least || sum != latency) print
	}' "$1"
}

# block_stat PATH FIELD: a field of Documentation/block/stat.rst, from 1.
block_stat() {
	awk -v f="$2" '{ print $f }' "$1/stat"
}

# mix DEV...: reads, writes inside the command, writes that the target asks for, flushes; every command
# of a device has an address of its own.
mix() {
	local dev args=()

	for dev; do
		args+=(--name="read-${dev##*/}" --filename="$dev" --rw=randread --bs=4k --size=16m
			--offset_increment=16m --numjobs=4 --cpus_allowed_policy=split
			--cpus_allowed=0-$(($(nproc) - 1))
			--iodepth=8 --number_ios=150
			--name="inline-${dev##*/}" --filename="$dev" --rw=randwrite --bs=8k --offset=64m
			--size=32m --iodepth=4 --number_ios=300 --fsync=15
			--name="r2t-${dev##*/}" --filename="$dev" --rw=write --bssplit=64k/60:256k/20:1m/20
			--offset=96m --size=160m --iodepth=4 --number_ios=120)
	done
	fio --direct=1 --ioengine=libaio --group_reporting "${args[@]}" >/tmp/fio 2>&1 || cat /tmp/fio
}

# connect_ways QUEUES: a connection of each kind, each to a subsystem of its own, nqn.2024-01.io.ntprof:0 to :2. They are
# there together, because a tracer is dear to start. $way_names and $way_ctrls tell of each.
connect_ways() {
	local options=("" "--hdr-digest --data-digest" "--disable-sqflow") settings i

	way_names=(plain "header and data digests" "no SQ flow control")
	way_ctrls=()
	target_port || return
	for i in "${!way_names[@]}"; do
		# Newer targets say of a device without a cache that it needs no flushes.
		target_subsystem "nqn.2024-01.io.ntprof:$i" "$(target_setup_null "way$i" size=256 discard=1 cache_size=64)" || return
		read -ra settings <<<"-i $1 ${options[i]}"
		way_ctrls+=("$(host_connect "nqn.2024-01.io.ntprof:$i" "${settings[@]}")") || return
	done
}

# laws FILE: one line for each merged command that breaks a law, at most five, and what there was.
laws() {
	awk '
		$2 == "merged" {
			n++; sum = 0; split_ok = 0
			for (i = 1; i <= NF; i++) {
				if ($i == "stages") { split_ok = 1; at = i }
				if ($i ~ /^latency=/) latency = substr($i, 9) + 0
				if ($i ~ /^op=/) op = substr($i, 4)
				if ($i ~ /^slba=/) slba = substr($i, 6)
				if ($i ~ /^cntlid=/) cntlid = substr($i, 8)
				if ($i ~ /^nsid=/) nsid = substr($i, 6)
				if ($i ~ /^shape=/) shapes[substr($i, 7)]++
			}
			if (!split_ok) { unsplit++; next }
			for (i = at + 1; i <= NF; i++) {
				v = substr($i, index($i, "=") + 1) + 0
				sum += v
				if (v < 0) bad("negative stage " $i)
			}
			if (NF - at != 10) bad("has not ten stages")
			if (sum != latency) bad(sprintf("stages add up to %.0f, not %.0f", sum, latency))
			if ((op == "read" || op == "write") && seen[$3, cntlid, nsid, op, slba]++)
				bad("LBA " slba " twice")
		}
		function bad(what) { if (broken++ < 5) print "# " what ": " $0 }
		END {
			printf "merged %d unsplit %d broken %d", n, unsplit, broken
			for (s in shapes) printf " %s %d", s, shapes[s]
			print ""
		}' "$1"
}

# field FILE NAME: the number after a name in the line of laws.
field() {
	awk -v name="$2" '{ for (i = 1; i < NF; i++) if ($i == name) n = $(i + 1) } END { printf "%.0f\n", n }' "$1"
}

# tls_begin [-k]: from now on connections may have TLS; what tests/machine/tls_agent.c says is in /tmp/tls, and its process id
# in $tls_agent. A test that has this has the line "with programs: tls_agent", and a port with addr_tsas=tls1.3.
tls_begin() {
	modprobe -a nvme-tcp nvmet-tcp tls
	# A retained key (R) of SHA-256 (01), as drivers look for one (NVMe/TCP 1.0, 3.6.1.3).
	tls_agent "$@" "NVMe0R01 $(</etc/nvme/hostnqn) $VM_NQN" >/tmp/tls 2>&1 &
	tls_agent=$!
	wait_for grep -qs . /tmp/tls
	grep -qx ready /tmp/tls || { cat /tmp/tls; return 1; }
}

# tls_connect QUEUES [ADDRESS]: to port 4420 of 127.0.0.1 or ADDRESS, as host_connect; the distribution's nvme-cli has no option for it. Prints the
# controller's name.
tls_connect() {
	local fabrics instance

	exec {fabrics}<>/dev/nvme-fabrics
	printf 'transport=tcp,traddr=%s,trsvcid=4420,nqn=%s,hostnqn=%s,hostid=%s,nr_io_queues=%s,keep_alive_tmo=600,tls' \
		"${2:-127.0.0.1}" "$VM_NQN" "$(</etc/nvme/hostnqn)" "$(</etc/nvme/hostid)" "$1" >&$fabrics || return
	read -r instance <&$fabrics
	exec {fabrics}>&-
	instance=${instance#instance=}
	wait_for vm_host_ready "nvme${instance%%,*}" && echo "nvme${instance%%,*}"
}
