#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fleet_rules.sh - what the rules for many hosts say of what three hosts and two arrays have served (tests/fleet/record).
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
rules=$PWD/contrib/prometheus/fleet.rules.yml
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# quietly CMD...: shows what it printed only if it failed.
quietly() {
	"$@" >"$out/log" 2>&1 || { sed 's/^/# /' "$out/log"; return 1; }
}

tar -C "$out" -xf tests/fleet/pages.tar.xz
for name in host1 host2 host3 target1 target2; do
	# Of a page what the rules ask for.
	cat "$out/$name"/* | grep -hE '^(# EOF|ntprof_command_duration_seconds_(bucket|sum|count)\{.*operation="(read|write)")' >"$out/of"
	equal "$name has served 12 times" "$(grep -c EOF "$out/of")" 12
	python3 tests/formats/pages_to_series.py "$out/of" $name >>"$out/pages"
done
# As docs/metrics.md has them: what is after the type.
grep -ohE '^# TYPE ntprof_[a-z_]+ [a-z]+' "$out"/host* "$out"/target* -r | awk '{ print $3 ($4 == "counter" ? "_total" : $4 == "info" ? "_info" : "") }' |
	sort -u >"$out/recorded"
sed -nE 's/^\| `(ntprof_[a-z_]+)`.*/\1/p' docs/metrics.md | sort -u >"$out/told"
check "the recorded pages have metrics" test "$(wc -l <"$out/recorded")" -ge 40
equal "what they have is what serve still tells: tests/fleet/record" "$(comm -23 "$out/recorded" "$out/told")" ""
sed -e "s|^  - RULES$|  - $rules|" -e "/^PAGES$/{r $out/pages" -e 'd}' tests/formats/fleet_rules.yml >"$out/test.yml"
check "promtool takes the configuration of an agent" quietly tests/formats/promtool check config --agent contrib/prometheus/agent.yml
check "promtool takes the rules" quietly tests/formats/promtool check rules "$rules"
check "they say of recorded pages what they should" quietly tests/formats/promtool test rules "$out/test.yml"
equal "every rule is named by a test" "$(sed -nE 's/.*- (record|alert): //p' "$rules" | sort | while read -r rule; do
	grep -qw -- "$rule" tests/formats/fleet_rules.yml || echo "$rule"
done)" ""
finish
