#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# choice.sh - tests/check runs the tests that are chosen, and refuses a choice of none.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

err=$(mktemp) || exit 1
trap 'rm -f "$err"' EXIT

# chosen ARG...: the tests that they choose, on one line, and the status.
chosen() {
	tests/check --list "$@" 2>"$err" | paste -sd' '
	return "${PIPESTATUS[0]}"
}

# refused ARG...: with a message and nothing else, before anything runs.
refused() {
	local out status

	out=$(tests/check "$@" 2>"$err")
	status=$?
	check "refused: $*" test $status -eq 2 -a -z "$out" -a "$(wc -l <"$err")" -eq 1
}

for room in build static unit fuzz formats vm patches machine pair harness package; do
	check "there are tests called $room" test -n "$(chosen $room)"
done
everything=(build static truth faults unit harness package compilers distro fuzz live formats vm patches bench machine pair)
equal "with --all everything is chosen" "$(chosen --all)" "$(chosen --all "${everything[@]}")"
check "without names fewer are" test "$(chosen | wc -w)" -lt "$(chosen --all | wc -w)"
equal "what is not chosen then is by its name" "$(chosen unit/core/test_stats vm patches/reload)" \
	"unit/core/test_stats vm vm/types patches/reload"
equal "a test by its name, on each kind of machine" "$(chosen machine/counts)" \
	"machine/counts, patched machine/counts, stock machine/counts, stock-newest machine/counts, patched-newest"
equal "on seldom kinds as well, with --all" "$(chosen --all machine/counts)" \
	"$(chosen machine/counts) machine/counts, stock-6.12 machine/counts, patched-6.12 machine/counts, stock-6.12-rt machine/counts, stock-6.8 machine/counts, patched-5.15 machine/counts, stock-5.15 machine/counts, patched-6.8 machine/counts, stock-6.12-arm64"
equal "on a seldom one, with --on" "$(chosen --on stock-6.8 machine/counts)" "machine/counts, stock-6.8"
equal "on a seldom one, by the name that is printed" "$(chosen 'machine/counts, stock-6.8')" "machine/counts, stock-6.8"
equal "on one kind, by the name that is printed" "$(chosen 'machine/counts, stock')" "machine/counts, stock"
equal "on one kind, with --on" "$(chosen --on stock machine/counts)" "machine/counts, stock"
equal "--on is for the names behind it" "$(chosen --on stock machine/counts --on patched machine/life unit/core/test_stats)" \
	"unit/core/test_stats machine/counts, stock machine/life, patched"
equal "--on without a name is all on that kind" "$(chosen --on stock-6.12)" "$(chosen --on stock-6.12 machine pair)"
equal "a pattern of kinds" "$(chosen --on '*-6.12*' machine/counts)" \
	"machine/counts, stock-6.12 machine/counts, patched-6.12 machine/counts, stock-6.12-rt machine/counts, stock-6.12-arm64"
equal "a part of a name is none" "$(chosen machine/ground_truth)" \
	"machine/ground_truth, stock-6.12"
equal "a test of seldom kinds alone runs on the first of them" "$(chosen machine/loads)" "machine/loads, stock-newest"
refused nonsense
refused unit nonsense
refused machine/count
refused --on nonsense
refused --on stock machine/peer
refused --on
finish
