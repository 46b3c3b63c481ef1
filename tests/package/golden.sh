#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# golden.sh - what others rely on (verbs and options, JSON, metrics, format of recordings) is that of the last release, which
# tests/golden has, or VERSION in the Makefile says by semantic versioning what became of it; and recordings of each release
# since 1.0.0, or of the last one before, with each kind of frame, are read as that release read them. docs/upgrading.md has the
# rules.
#
#   tests/package/golden.sh              compares
#   tests/package/golden.sh --refresh    writes tests/golden, for a release of VERSION, whose recordings have to be there:
#                                        OUT=tests/golden/recordings/VERSION docs/examples/record everything bursts
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
program=$(realpath "${BUILD:-build}/ntprof-bpf")
version=$(sed -n 's/^VERSION := //p' Makefile)
golden=tests/golden
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# options: a line for each verb, and one for each of its options, with what that takes.
options() {
	local verb

	for verb in $("$program" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p; /^Short forms:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		echo "$verb"
		[[ $verb == @(help|version|host|target|doctor) ]] ||
			"$program" help "$verb" | sed -nE "s/^ {2,6}(-.*)/\1/; T; s/  .*//; s/, /,/g; s/^/$verb /p"
	done
}

# json: a line for each key that the schema has, with its type.
json() {
	python3 - <<-'END'
		import json

		def kind(node):
		    if "enum" in node:
		        return "one of " + ",".join(sorted(map(str, node["enum"])))
		    named = node["type"] if "type" in node else node.get("const", node.get("$ref", "").split("/")[-1])
		    return "|".join(named) if isinstance(named, list) else str(named)

		def walk(node, at):
		    for key, value in node.get("properties", {}).items():
		        print(at + "." + key, kind(value), *(["always"] if key in node.get("required", []) else []))
		        walk(value, at + "." + key)
		    for key, end in (("items", "[]"), ("additionalProperties", "{}")):
		        if isinstance(node.get(key), dict):
		            print(at + end, kind(node[key]))
		            walk(node[key], at + end)
		    for key in "oneOf", "anyOf", "allOf":
		        for nr, value in enumerate(node.get(key, [])):
		            name = value.get("properties", {}).get("type", {}).get("const")
		            walk(value, at + "/" + name if name else at)
		    for name, value in node.get("$defs", {}).items():
		        walk(value, name)

		with open("docs/output.schema.json") as schema:
		    walk(json.load(schema), "")
	END
}

# metrics: as docs/metrics.md has them, which tests/unit/serve/test_page.c holds to what is served.
metrics() {
	sed -n 's/^| `\(ntprof_[a-z_]*\)` | \([^|]*\)| \([^|]*\)|.*/\1 \2\3/; T; s/ *$//p' docs/metrics.md
}

# formats: numbers of versions, and kinds of frames.
formats() {
	sed -n '/^| type |/,/^$/s/^| \([0-9]*\) | \([^|]*\) | .*/frame \1 \2/p' docs/stream-format.md
	echo "stream $(sed -n 's/^#define STREAM_VERSION //p' src/stream/codec.h)"
	echo "json $(sed -n 's/.*"schema_version": {"const": \([0-9]*\)}.*/\1/p' docs/output.schema.json | sort -u | paste -sd,)"
}

# read_recordings FOLDER: what is in a release's recordings, as far as no better estimate changes it, and with the keys of
# that release: commands with their points and origins, stages, matches, connections, events.
read_recordings() {
	local host

	for host in "$1"/*.host.ntp; do
		(cd "$1" && "$program" report "${host##*/}" "$(basename "${host/.host./.target.}")" --format json --by comm,cpu --slowest 4 --tcp) | jq -S '{
			inputs: [.inputs[] | {side, hostname, kernel, source, commands, began, ended, bursts, error, unknown_frames, longer_frames,
				losses: (.losses | with_entries(select(.value != 0))), alone: (.alone | if . then [.operations, .stages | map({op, stage, commands, sum, max})] else . end)}],
			operations: [.merged.operations[]? | {op, commands, sum, max}],
			stages: [.merged.stages[]? | {op, stage, where, commands, sum, max}],
			connections: [.connections[] | {subsystem, cntlid, queue, matched, host_only, target_only, ambiguous}],
			groups: [.groups.rows[]? | {comm, cpu, commands, max}],
			slowest: [.slowest[]? | {op, opcode, shape, cntlid, queue, cid, nsid, slba, length, status, latency, origin, queued, send_mutex, retransmitted, points,
				cpus: [.story[] | {side, point, cpu}] | sort}],
			tcp: [.tcp[]?[] | {controller, queue, local, remote, congestion, cwnd, mss, srtt, rttvar, sent, retransmitted, queued, peer_window}],
			path_events: [.path_events[]? | {at, controller, subsysnqn, event, state, attempts, queues, ana_group}]}'
	done
}

# frames FILE...: the numbers of the kinds of frames in them, as docs/stream-format.md has them.
frames() {
	python3 - "$@" <<-'END'
		import struct, sys

		kinds = set()
		for name in sys.argv[1:]:
		    with open(name, "rb") as file:
		        data = file.read()
		    at = 12
		    while at < len(data):
		        length, kind = struct.unpack_from("<IH", data, at)
		        kinds.add(kind)
		        at += 20 + length
		print(*sorted(kinds), sep="\n")
	END
}

# above VERSION LAST PART: VERSION is above LAST in that part of the number, major, minor or patch, or in one before it.
above() {
	awk -v now="$1" -v last="$2" -v part="$3" 'BEGIN {
		split(now, n, "."); split(last, l, ".")
		for (i = 1; i <= part; i++) if (n[i] != l[i]) exit !(n[i] + 0 > l[i] + 0)
		exit 1 }'
}

# is_enough LOST ADDED: VERSION says so. Before 1.0.0 the second number is what the first one is later.
is_enough() {
	local part=2

	(($1 == 0)) || part=1
	[[ $last != 0.* ]] || part=$((part + 1))
	above "$version" "$last" $part || (($1 == 0 && $2 == 0))
}

for kind in options json metrics formats; do
	$kind | LC_ALL=C sort >"$work/$kind"
done
echo "$version" >"$work/version"
if [[ ${1:-} == --refresh ]]; then
	# Those of before 1.0.0 need not be read by later ones.
	find $golden/recordings -mindepth 1 -maxdepth 1 -name '0.*' ! -name "$version" -exec rm -r {} +
	for name in everything bursts; do
		[[ -s $golden/recordings/$version/$name.host.ntp && -s $golden/recordings/$version/$name.target.ntp ]] || {
			echo "first: OUT=$golden/recordings/$version docs/examples/record everything bursts" >&2
			exit 1
		}
	done
	cp "$work"/* $golden
	read_recordings "$golden/recordings/$version" >"$golden/recordings/$version/report.json"
	exit
fi
last=$(<$golden/version)
declare -A least=([options]=230 [json]=200 [metrics]=60 [formats]=17)
for kind in options json metrics formats; do
	check "there are $kind ($(wc -l <"$work/$kind"))" test "$(wc -l <"$work/$kind")" -ge "${least[$kind]}"
	lost=$(LC_ALL=C comm -23 $golden/$kind "$work/$kind")
	added=$(LC_ALL=C comm -13 $golden/$kind "$work/$kind")
	[[ -z $lost ]] || sed "s/^/# lost or changed since $last, for which VERSION has to be that of an incompatible release: /" <<<"$lost"
	[[ -z $added ]] || sed "s/^/# new since $last, for which VERSION has to be above that: /" <<<"$added"
	check "$kind are those of $last, or VERSION $version says so" is_enough "${#lost}" "${#added}"
done
for folder in "$golden"/recordings/*/; do
	read_recordings "$folder" >"$work/report" 2>&1
	diff -u "$folder/report.json" "$work/report" | head -n 20 | sed 's/^/# /'
	check "recordings of $(basename "$folder") are read as that read them" cmp -s "$folder/report.json" "$work/report"
done
check "there are some" test -e "$golden/recordings/$last/report.json"
equal "they have each kind of frame" "$(frames "$golden/recordings/$last"/*.ntp)" \
	"$(sed -n 's/^frame \([0-9]*\) .*/\1/p' $golden/formats | sort -n)"
# Of the rules themselves.
last=1.2.3
for rule in '1.2.3 0 0 yes' '1.2.4 0 0 yes' '1.2.4 0 1 no' '1.3.0 0 1 yes' '1.3.0 1 0 no' '2.0.0 1 1 yes' '1.1.0 0 1 no' '1.10.0 0 1 yes'; do
	read -r version lost added wanted <<<"$rule"
	equal "$version after $last, lost $lost, added $added" "$(is_enough "$lost" "$added" && echo yes || echo no)" "$wanted"
done
last=0.1.0
for rule in '0.1.0 0 1 no' '0.1.1 0 1 yes' '0.1.1 1 0 no' '0.2.0 1 0 yes' '1.0.0 1 1 yes'; do
	read -r version lost added wanted <<<"$rule"
	equal "$version after $last, lost $lost, added $added" "$(is_enough "$lost" "$added" && echo yes || echo no)" "$wanted"
done
finish
