#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# openmetrics.sh - a page of serve, of made-up statistics, is what parsers take that are not ours: those of
# prometheus_client, and promtool; and the pages that rules.sh reads are still what serve tells.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
build=${BUILD:-build}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

NTPROF_PAGES=$out "$build/unit/serve/test_page" >"$out/log" 2>&1 || cat "$out/log"
verdicts=0
while IFS=$'\t' read -r name verdict; do
	equal "$name" "$verdict" yes
	verdicts=$((verdicts + 1))
done < <(/usr/bin/python3 tests/formats/openmetrics.py "$out/openmetrics" "$out/prometheus" "$out/target")
equal "the parser has read them" $verdicts 8
# It may have to be fetched, about which there is something to say.
tests/formats/promtool --version >/dev/null
equal "promtool has nothing to say of it" "$(tests/formats/promtool check metrics <"$out/prometheus" 2>&1)" ""
finish
