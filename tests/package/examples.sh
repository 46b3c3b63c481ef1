#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# examples.sh - "make look" shows what it says it shows: the slow disk of the recordings in docs/examples.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# slowest_stage NSID: the stage that has the largest share of that namespace's reads.
slowest_stage() {
	awk -v nsid="$1" '/^\$/ { here = $0 ~ " --nsid " nsid "$" } here && $1 == "read" && $8 == "%" { print $7, $2 }' "$out" |
		sort -rn | sed -n '1s/.* //p'
}

docs/examples/look >"$out"
equal "it ends well" $? 0
equal "the slow namespace spends its time in its disk" "$(slowest_stage 2)" target_subsystem
check "the fast one does not" test "$(slowest_stage 1)" != target_subsystem
check "the slow one has four times the latency" \
	awk '/^ nsid/ { rows = 1 } rows && NF > 8 && $1 ~ /^[12]$/ { p50[$1] = $9 + 0 } END { exit !(p50[2] > 4 * p50[1] && p50[1] > 0) }' "$out"
check "no line for scripts is shown" test -z "$(grep -E '^merged|^group' "$out")"
check "the recordings are below 300 KB" \
	test "$(cat docs/examples/*.ntp | wc -c)" -lt 300000
finish
