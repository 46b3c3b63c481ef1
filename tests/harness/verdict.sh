#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# verdict.sh - what tests/check makes of what a test prints and of how it ends. Programs of its own stand in for
# unit tests.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/unit/core"
first=unit/core/test_points
second=unit/core/test_stats

# stand_in NAME SHELL-COMMANDS
stand_in() {
	printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
}

# run NAME...: the output is in $work/out.
run() {
	CHECK_SLOWEST="" CHECK_BUILT=1 BUILD=$work tests/check "$@" >"$work/out" 2>&1
	status=$?
}

# ends NAME STATUS LAST_LINE
ends() {
	equal "$1: the status" $status "$2"
	equal "$1: the last line" "$(tail -n 1 "$work/out")" "$3"
}

stand_in $first 'echo "ok 1 - a"; echo "ok 2 - b"; sleep 1; echo "7 passed, 0 failed"'
run $first
ends "two that are ok, and a closing line of its own" 0 "2 passed, 0 failed"
check "its own closing line is shown as a comment" grep -qx '# 7 passed, 0 failed' "$work/out"
check "it is told how long it took" grep -qx "# $first: 2 ok, 0 not ok, [1-9][0-9]* s, [0-9]* s of a processor" "$work/out"
check "and so it is in the end" grep -qE "^#   [1-9][0-9]* s, [0-9]+ s of a processor: $first$" "$work/out"
check "and how long all of it took" grep -qE '^# [1-9][0-9]* s in all' "$work/out"

stand_in $second 'echo "ok 1 - a"; sleep 601 & wait'
CHECK_LIMIT=1 run $first $second
ends "one that hangs, beside another test" 1 "3 passed, 1 failed"
check "the processes that it had are shown" grep -q '^# .* sleep 601$' "$work/out"
check "they are gone" sh -c '! pgrep -x -f "sleep 601"'

stand_in $second 'echo "not ok 1 - a"; echo "ok 2 - b"'
run $first $second
ends "one that is not ok, beside another test" 1 "3 passed, 1 failed"
check "which one is told" grep -qx "# failed: $second" "$work/out"
equal "and no other" "$(grep -c '^# failed' "$work/out")" 1

stand_in $second 'echo "ok 1 - a # SKIP there is no b"; echo "ok 2 - c"'
run $first $second
ends "one that is skipped has not passed" 0 "3 passed, 0 failed, 1 skipped"
check "it is listed with its reason" grep -qx "# skipped: $second: a # SKIP there is no b" "$work/out"
stand_in $second 'echo "ok 1 - a # SKIP there is no b"'
run $second
ends "all that are skipped" 0 "0 passed, 0 failed, 1 skipped"
stand_in $second 'echo "not ok 1 # SKIP a_test_of_cmocka"; echo "ok 2 - c"'
run $second
ends "one that Cmocka skips" 0 "1 passed, 0 failed, 1 skipped"
stand_in $second 'echo "ok 1 - a # SKIP there is no b"; exit 1'
run $second
ends "one that ends badly after a skip" 1 "0 passed, 1 failed, 1 skipped"

stand_in $second 'echo "ok 1 - a"; exit 3'
run $second
ends "one that ends badly without a not ok" 1 "1 passed, 1 failed"
stand_in $second 'echo "ok 1 - a"; kill -SEGV $$'
run $first $second
ends "one that is killed" 1 "3 passed, 1 failed"
stand_in $second ':'
run $second
ends "one that says nothing" 1 "0 passed, 1 failed"
rm "$work/$second"
run $second
ends "one that is not there" 1 "0 passed, 1 failed"

for t in tests/unit/*/test_*.c; do
	t=unit/${t#tests/unit/}
	mkdir -p "$work/${t%/*}"
	stand_in "${t%.c}" 'echo "ok 1 - a"'
done
n=$(tests/check --list unit | wc -l)
CHECK_JOBS=3 run unit
ends "all unit tests, three at a time" 0 "$n passed, 0 failed"
equal "each is told once" "$(grep -c '^# unit/.*: 1 ok, 0 not ok, [0-9]* s, [0-9]* s of a processor$' "$work/out")" "$n"
check "no more than ten are among the slowest" test "$(grep -c ' s of a processor: ' "$work/out")" -le 10
finish
