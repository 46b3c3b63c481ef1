#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 70
# A sample: about one command in N, the same ones on both sides, measured as whole as all of them are. The
# others are counted.
set -u
. /lib/machine.sh

cd /tmp || exit 1
n=16
total=4000

target_subsystem "$(target_setup_null a size=256 discard=1)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# tracers NAME=ARGS...: all of them run during one load.
tracers() {
	local t pids=()

	for t; do
		read -ra args <<<"${t#*=}"
		tracer_start "${t%%=*}" "${args[@]}"
		pids+=("$tracer_pid")
	done
	fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/70:16k/20:64k/10 --iodepth=16 --number_ios=$total >fio 2>&1 || cat fio
	tracer_stop "${pids[@]}"
	equal "tracers end well: ${*%%=*}" $? 0
}

# io FILE: how many reads and writes a summary tells of.
io() {
	echo $(($(commands "$1" read) + $(commands "$1" write)))
}

# measured FILE: how many of them were measured.
measured() {
	total "$1" 3 measured
}

# lines FILE...: what a trace says of I/O commands but when, in an order of its own.
lines() {
	grep -hE ' op=(read|write) ' "$@" | sed 's/^[0-9.]* //; s/ latency=.*//' | sort
}

tracers "host=record --host --force -o host.ntp --sample $n" \
	"target=record --target --force -o target.ntp --sample $n" "live=--host --sample $n"
ntprof-bpf report host.ntp target.ntp --commands >report 2>report.err
laws report >laws
sed 's/^#* */# /' laws
merged=$(($(total report 3 merged read) + $(total report 3 merged write)))
# Five standard deviations of the binomial distribution.
off=$(awk -v t=$total -v n=$n 'BEGIN { printf "%d", 5 * sqrt(t / n * (1 - 1 / n)) }')
within "about one command in $n" "$merged" $((total / n - off)) $((total / n + off))
equal "both sides pick the same" "$(grep -E '^connection .* queue [1-9]' report | grep -cE ' (host|target) only [1-9]')" 0
equal "every law holds for each of them" "$(field laws broken)" 0
equal "and each has its stages" "$(field laws unsplit)" 0
equal "the live view picks the same" "$(($(total live 3 measured read) + $(total live 3 measured write)))" "$merged"
equal "and counts all" "$(io live)" $total
check "the sample is large enough" sh -c '! grep -q "sample too small" live'
no_losses "what is left out is no loss" live
check "the view says that it is a sample" grep -q "sample of 1 command in $n" live
check "and so does the report" grep -q "host.ntp: .*, a sample of 1 in $n" report

tracers "all=trace --host --summary" "some=trace --host --sample $n --summary" \
	"few=trace --target --sample $((n * 4)) --summary"
equal "all of them are $total" "$(io all.err)" $total
lines some >some.lines
lines all >all.lines
check "a sample of the same commands" test -s some.lines
equal "is a part of them" "$(comm -23 some.lines all.lines | wc -l)" 0
within "a smaller sample on the other side" "$(measured few.err)" 1 $(($(measured some.err) - 1))
for f in some few; do
	equal "all are counted, also those that are not measured: $f" "$(io $f.err)" $total
	equal "and told from what is: $f" "$(measured $f.err)" "$(grep -c ' latency=' $f)"
done
no_losses "nothing of a sample is lost" some.err
no_losses "nor of the smaller one" few.err

tracers "half=--host --sample 2"
no_losses "nothing of every other command is lost" half

# One block at depth 1: a few distinct commands, sixteen for each tag, of which a sample picks none, or one again
# and again.
hot=8000
tracer_start host --host --sample 100
host=$tracer_pid
tracer_start target --target --sample 100
fio --name=hot --filename="$dev" --direct=1 --ioengine=libaio --size=4k --io_size=$((hot * 4))k --rw=read --bs=4k \
	--iodepth=1 --cpus_allowed=0 --output-format=terse --terse-version=3 >fio 2>&1 || cat fio
tracer_stop "$host" "$tracer_pid"
equal "one hot block: fio reads as often as it shall" "$(awk -F';' '{ printf "%d", $6 / 4 }' fio)" $hot
for side in host target; do
	equal "one hot block: $side counts every read" "$(commands $side read)" $hot
	check "one hot block: $side says that its sample is too small" \
		grep -q 'sample of 1 command in 100  sample too small (too few distinct commands): [0-9]* of ' $side
	no_losses "one hot block: $side loses nothing" $side
	# Commands, measured ones, and IOPS; which of the two queues a CPU has, kernels decide.
	within "one hot block: the rate of $side is that of all commands" \
		"$(awk '/^summary of/ { seconds = $3 }
			{ for (i = 2; i <= NF; i++)
				if (seconds && $i == "read" && $(i - 1) ~ /^[12]$/) n += $(i + 3) * seconds }
			END { printf "%.0f", n }' \
			$side)" $((hot * 95 / 100)) $((hot * 105 / 100))
done
host_disconnect "$ctrl"
target_remove

for wrong in "--host --sample 0" "--host --sample x" "--host --sample -1" "--host --sample 1000001" \
	"report x --sample 2" "probes --sample 2"; do
	# shellcheck disable=SC2086 # several words
	check "refused: $wrong" sh -c '! ntprof-bpf "$@" 2>err; test -s err' sh $wrong
done
finish
