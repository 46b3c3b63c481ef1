#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rules.sh - the rules in contrib/prometheus are what Prometheus takes, ask for metrics that there are, and say of made-up
# scrapes what they should.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
rules=$PWD/contrib/prometheus/ntprof-bpf.rules.yml
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# quietly CMD...: shows what it printed only if it failed.
quietly() {
	"$@" >"$out/log" 2>&1 || { sed 's/^/# /' "$out/log"; return 1; }
}

for side in host target; do
	python3 tests/formats/pages_to_series.py tests/formats/pages.$side
done >"$out/pages"
equal "the recorded pages have errors" "$(grep -c errors_total "$out/pages")" 16
# The query is that of the document.
join=$(sed -n '/^## Beside node_exporter/,/^## Rules/s/^    *//p' docs/metrics.md | paste -sd' ')
check "docs/metrics.md has a query of both exporters" test "${join%%(*}" = label_replace
sed -e "s|^        - expr: JOIN$|        - expr: '${join//&/\\&}'|" -e "s|^  - RULES$|  - $rules|" -e "/^PAGES$/{r $out/pages" -e 'd}' tests/formats/prometheus_rules.yml >"$out/test.yml"
check "promtool takes the rules" quietly tests/formats/promtool check rules "$rules"
check "they say of scrapes what they should" quietly tests/formats/promtool test rules "$out/test.yml"
grep -oE '\bntprof_[a-z_]+' "$rules" | grep -vE '_duration_seconds$|^ntprof_commands$|^ntprof_command_bytes$' |
	sed -E 's/_(bucket|sum|count)$//' | sort -u >"$out/asked"
sed -nE 's/^\| `(ntprof_[a-z_]+)`.*/\1/p' docs/metrics.md | sort -u >"$out/told"
equal "every metric that they ask for is in docs/metrics.md" "$(comm -23 "$out/asked" "$out/told")" ""
check "they ask for some" test "$(wc -l <"$out/asked")" -ge 8
# An alert that no test of scrapes names may be one that never comes.
equal "every alert has a test" "$(sed -n 's/.*alert: //p' "$rules" | sort)" \
	"$(sed -n 's/.*alertname: //p' tests/formats/prometheus_rules.yml | sort -u)"
finish
