#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# examples.sh - "make look" shows what it says it shows: the slow disk of the recordings in docs/examples. Reports of
# them as JSON are what the schema says. What documents quote of the program is what it prints.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# slowest_stage NSID: the stage that has the largest share of that namespace's reads.
slowest_stage() {
	awk -v nsid="$1" '/^\$/ { here = $0 ~ " --nsid " nsid "$" } here && $1 == "read" && $9 == "%" { print $8, $2 }' "$out" |
		sort -rn | sed -n '1s/.* //p'
}

docs/examples/look >"$out"
equal "it ends well" $? 0
equal "the slow namespace spends its time in its disk" "$(slowest_stage 2)" target_subsystem
check "the fast one does not" test "$(slowest_stage 1)" != target_subsystem
check "the slow one has four times the latency" \
	awk '/^ nsid/ { rows = 1 } rows && NF > 8 && $1 ~ /^[12]$/ { p50[$1] = $9 + 0 } END { exit !(p50[2] > 4 * p50[1] && p50[1] > 0) }' "$out"
check "no line for scripts is shown" test -z "$(grep -E '^merged|^group' "$out")"

# validate SCHEMA FILE: prints how many reports FILE has; fails if the schema does not accept a line of it.
validate() {
	/usr/bin/python3 - "$@" <<-'EOF'
		import json, jsonschema, sys

		validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
		lines = [json.loads(line) for line in open(sys.argv[2])]
		reports = [line for line in lines if line["type"] == "report"]
		for line in reports + [line for line in lines if line["type"] == "command"][::20]:
		    validator.validate(line)
		print(len(reports))
	EOF
}

for of in "*" host target; do
	mapfile -t files < <(compgen -G "docs/examples/slow-disk.$of.ntp")
	build/ntprof-bpf report --format json "${files[@]}"
	build/ntprof-bpf report --format json --by ctrl,op,device --every 100ms --stats mean,p99.99 "${files[@]}"
	build/ntprof-bpf report --format json --detail --commands --slowest 5 --op read --nsid 2 "${files[@]}"
done >"$out"
equal "the schema accepts reports of them, together and alone" "$(validate docs/output.schema.json "$out" 2>&1 | tail -n 1)" 9
check "documents quote what the program prints, and draw its stages: docs/refresh" docs/refresh --check

# unknown_messages: those of docs/troubleshooting.md that no string of the source has; "..." is what differs. At last "messages N".
unknown_messages() {
	find src bpf -name '*.[ch]' -exec cat {} + | perl -e '
		my $source = do { local $/; <STDIN> };
		my ($in, $n) = (0, 0);

		# Strings that stand one after the other are one, also with a macro in between.
		$source =~ s/"\s*(?:[A-Z_][A-Z0-9_]*\s*)?"//g;
		open my $f, "<", "docs/troubleshooting.md" or die;
		while (<$f>) {
			$in = /^\| message / if /^\| (?:message|what you see) /;
			next if !$in || !/^\| `([^`]+)`/;
			$n++;
			print "$1\n" if grep { index($source, $_) < 0 } grep { length } split / *\.\.\. */, $1;
		}
		print "messages $n\n";'
}
found=$(unknown_messages)
equal "messages that docs/troubleshooting.md explains and the program does not have" "$(grep -v '^messages ' <<<"$found")" ""
check "there are messages (${found##*messages })" test "${found##*messages }" -ge 40
check "the recordings are below 450 KB" \
	test "$(cat docs/examples/*.ntp | wc -c)" -lt 450000
check "the picture of the live view is below 60 KB" test "$(wc -c <docs/live.svg)" -lt 60000
finish
