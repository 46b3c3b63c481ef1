#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perfetto.sh - a trace of report --perfetto is what protoc decodes by perfetto's numbers of fields: slices nest and add up,
# arrows have two ends, and commands are those of --format json.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
program=${BUILD:-build}/ntprof-bpf
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

recordings=(docs/examples/slow-disk.{host,target}.ntp)
decode() {
	protoc --decode=Trace --proto_path=tests/formats perfetto.proto <"$1"
}
"$program" report "${recordings[@]}" --perfetto "$out/trace" --format json >"$out/json"
# A recording with TCP connections and events of controllers.
NTPROF_HTML=$out "${BUILD:-build}/unit/cli/test_report_html" >"$out/log" 2>&1 || cat "$out/log"
for what in trace:json events.trace:events.json; do
	decode "$out/${what%:*}" >"$out/text"
	equal "protoc decodes it" $? 0
	while IFS=$'\t' read -r name verdict; do
		equal "$name" "$verdict" yes
	done < <(/usr/bin/python3 tests/formats/perfetto.py "$out/text" "$out/${what#*:}")
done
check "events and TCP are there" grep -q 'TYPE_INSTANT' "$out/text"

"$program" report "${recordings[@]}" --perfetto "$out/trace" --perfetto-max 100 >/dev/null 2>"$out/log"
decode "$out/trace" >"$out/text"
commands=$(($(grep -c 'name: "cid"' "$out/text") / 2))
check "no more than asked for" test $commands -gt 50 -a $commands -le 100
equal "what found no room is counted" "$(<"$out/log")" \
	"ntprof-bpf: $((2146 - commands)) commands found no room in the trace: see --perfetto-max"
for side in 0 1; do
	"$program" report "${recordings[side]}" --perfetto "$out/side$side" >/dev/null
	equal "side $side alone has its commands" "$(decode "$out/side$side" | grep -c 'name: "cid"')" 2146
done
"$program" report "${recordings[@]}" --perfetto "$out/plain" >/dev/null
for time in first second; do
	"$program" report "${recordings[@]}" --perfetto "$out/trace.gz" >/dev/null
	check "what gzip made of it is the same, the $time time" cmp <(gzip -dc "$out/trace.gz") "$out/plain"
done
check "and is smaller" test "$(stat -c %s "$out/trace.gz")" -lt $(($(stat -c %s "$out/plain") / 2))
echo something | gzip >"$out/other.gz"
"$program" report "${recordings[@]}" --perfetto "$out/other.gz" >/dev/null 2>&1
equal "another compressed file is not replaced" "$(gzip -dc "$out/other.gz")" something
ln -s /dev/full "$out/full.gz"
"$program" report "${recordings[@]}" --perfetto "$out/full.gz" >/dev/null 2>"$out/log"
equal "a full disk is an error" "$? $(<"$out/log")" "1 ntprof-bpf: --perfetto $out/full.gz: No space left on device"
echo something >"$out/other"
"$program" report "${recordings[@]}" --perfetto "$out/other" >/dev/null 2>&1
equal "another file is not replaced" "$(<"$out/other")" something
finish
