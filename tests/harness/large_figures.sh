#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# large_figures.sh - what the machine tests compute of nanoseconds and counts is right from 2^31 on, with the awk
# of the test machine and with busybox's. Needs no machine.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
merged='1.000000000 merged nqn.test cntlid=1 q1 cid=0x0001 nsid=1 op=read shape=read'

# Ten stages; the largest is what is left of the latency.
merged_line() { # SLBA LATENCY SUM
	echo "$merged slba=$1 length=4096 latency=$2 stages a=1 b=2 c=3 d=4 e=$(($3 - 45)) f=5 g=6 h=7 i=8 j=9"
}

trace_line() { # LATENCY SUM
	echo "1.0 nqn.test q1 cid=0x0001 op=read shape=read latency=$1 | submit=0 complete=$1 | a=1 b=2 c=3 d=4 e=$(($2 - 10))"
}

# Nanoseconds below 2^31, above, and far above.
for n in 1000 2147483647 2147483648 2662230001 5000000000 900719925474099; do
	merged_line $n $n $n
done >"$work/lawful"
merged_line 1 2662230001 2662230002 >"$work/off_by_one"
for n in 1000 2147483648 5000000000; do
	trace_line $n $n
done >"$work/trace"
trace_line 5000000000 5000000001 >"$work/trace_off_by_one"
cat >"$work/summary" <<'END'
commands read 5000000001
loss ring_full 5000000002
merged read 3000000000 1 2 3 4 9000000001
merged write 3000000000 1 2 3 4 1
stage read a 1 2 3 4 3000000000
stage read b 1 2 3 4 3000000001
stage readahead b 1 2 3 4 7
merged_stage read a 1 2 3 4 9000000001
END

cat >"$work/even" <<'END'
commands read 101
commands write 3000000
measured write 30000
commands fabrics 2
loss point_missing 1
stage read blk_submission 90000 1 2 3 900000
stage read network_and_target 25001 1 2 3 2525101
stage read blk_completion 10 1 2 3 1010
stage write network_and_target 2662230001 1 2 3 79866900030000
stage fabrics network_and_target 1000 1 2 3 1000
END
sed 's/^commands read.*/commands read 111/' "$work/even" >"$work/uneven"
sed '/^stage fabrics/d; s/2525101/2775111/' "$work/even" >"$work/unstaged"

for program in mawk "busybox awk"; do
	awk() { $program "$@"; }
	laws "$work/lawful" >"$work/laws"
	equal "$program: stages that add up to more than 2^31 ns do add up" "$(field "$work/laws" broken)" 0
	equal "$program: all of them were looked at" "$(field "$work/laws" read)" 6
	laws "$work/off_by_one" >"$work/laws"
	equal "$program: one that is off by 1 ns does not" "$(field "$work/laws" broken)" 1
	check "$program: and is told with all its digits" \
		grep -q '^# stages add up to 2662230002, not 2662230001: ' "$work/laws"
	unconserved "$work/trace" 5 >"$work/bad"
	equal "$program: the same of a trace's lines" "$(wc -l <"$work/bad")" 0
	unconserved "$work/trace_off_by_one" 5 >"$work/bad"
	equal "$program: and of one that is off by 1 ns" "$(wc -l <"$work/bad")" 1
	unconserved "$work/trace" 6 >"$work/bad"
	equal "$program: and of those with too few stages" "$(wc -l <"$work/bad")" 3
	equal "$program: rows and stages of as many commands are even" "$(uneven "$work/even")" ""
	equal "$program: rows that have more are not" "$(uneven "$work/uneven")" "read=111/101 "
	equal "$program: nor are stages that have more" "$(uneven "$work/unstaged")" "read=101/111 "
	equal "$program: latencies are summed exactly" "$(latencies "$work/trace" read)" 7147484648
	equal "$program: and stages" "$(total "$work/summary" 8 stage read)" 6000000001
	equal "$program: and last fields" "$(total "$work/summary" 0 merged)" 9000000002
	equal "$program: of nothing but the lines asked for" "$(total "$work/summary" 0 merged_stage read)" 9000000001
	equal "$program: commands are exact" "$(commands "$work/summary" read)" 5000000001
	equal "$program: and losses" "$(loss "$work/summary" ring_full)" 5000000002
	equal "$program: what is not there is 0" "$(loss "$work/summary" nothing)" 0
	within "$program: within compares numbers" 5000000000 4999999999 5000000001
	check "$program: and sees what is outside" test "$(within x 5000000002 4999999999 5000000001 | grep -c '^not ok')" = 1
done
finish
