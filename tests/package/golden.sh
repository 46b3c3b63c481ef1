#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# golden.sh - what others rely on (verbs, options and their words, JSON, metrics, columns of CSV, format of recordings) is that of
# the last release, which tests/golden has, or VERSION in the Makefile says by semantic versioning what became of it; and
# recordings of each release since 1.0.0, or of the last one before, with each kind of frame, are read as that release read
# them. docs/upgrading.md has the rules. What a release consists of is there, or nothing says that VERSION is released.
#
#   tests/package/golden.sh              compares
#   tests/package/golden.sh --refresh    writes tests/golden, for a release of VERSION, whose recordings have to be there:
#                                        OUT=tests/golden/recordings/VERSION docs/examples/record everything bursts
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
build=$(realpath "${BUILD:-build}")
program=$build/ntprof-bpf
live=$build/unit/cli/live
version=$(sed -n 's/^VERSION := //p' Makefile)
golden=tests/golden
last=$(<$golden/version)
declare -A least=([options]=500 [json]=1800 [metrics]=70 [csv]=150 [formats]=19)
kinds=(options json metrics csv formats)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# words VERB OPTION MESSAGE: what may be an argument: what the message of a wrong one names, and what was one in the last release.
words() {
	tr -s " ('\"" '\n' <<<"$3" | sed 's/[,;:)]*$//; /^$/d'
	sed -n "s/^$1 $2 //p" $golden/options
	case $2 in
	--where)
		printf '%s>1ms\n' device wire
		grep -oE '[a-z]+_[a-z_]+' docs/stages.md | sed 's/$/>1ms/'
		printf 'latency%s1ms\n' '>' '>=' '<' '<=' =
		;;
	--when)
		printf '%s\n' 'latency>5ms' 'p99(read)>2ms over 10s' 'errors>0' 'oldest>1s' \
			state={new,live,resetting,connecting,deleting,dead}
		;;
	esac
}

# options [VERB...]: a line for each verb, one for each of its options with what that takes, and one for each word that an
# option takes which does not take any.
options() {
	local verb option said word
	local verbs=("$@")

	(($#)) || mapfile -t verbs < <("$program" help |
		sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p; /^Short forms:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	for verb in "${verbs[@]}"; do
		echo "$verb"
		[[ $verb != @(help|version|host|target|doctor) ]] || continue
		"$program" help "$verb" | sed -nE "s/^ {2,6}((-., )?--[^ ]*).*/\1/; T; s/, /,/g; s/^/$verb /p" | tee "$work/of_verb"
		while IFS= read -r option; do
			said=$("$program" "$verb" "$option=nonsense" --help 2>&1 >/dev/null) && continue
			while IFS= read -r word; do
				! "$program" "$verb" "$option=$word" --help >/dev/null 2>&1 || echo "$verb $option $word"
			done < <(words "$verb" "$option" "${said%%$'\n'*}" | sort -u)
		done < <(sed -nE 's/.*(--[a-z-]*)\[?=.*/\1/p' "$work/of_verb")
	done
}

# json: of each key that the schema has a line with its type, one if it is always there, one with its unit, and one for each
# value that it may have. A keyword that is not known here ends it.
json() {
	python3 - <<-'END'
		import json, re

		known = {"$schema", "title", "description", "format", "type", "const", "enum", "required", "unevaluatedProperties", "$defs", "$ref",
		         "properties", "patternProperties", "items", "additionalProperties", "oneOf", "anyOf", "allOf"}
		unit = re.compile("(?:.*: )?(bytes_per_second|per_second|bytes|nanoseconds|seconds|instant|share|ppm|count|code|number|flag|text|name)\\b")
		lines = []

		def kind(node):
		    named = "enum" if "enum" in node else node["type"] if "type" in node else node.get("const", node.get("$ref", "").split("/")[-1])
		    return "|".join(named) if isinstance(named, list) else str(named)

		def tell(at, node):
		    lines.append(at + " " + kind(node))
		    lines.extend(at + " may be " + str(value) for value in node.get("enum", []))
		    found = unit.match(node.get("description", ""))
		    if found:
		        lines.append(at + " in " + found[1])
		    walk(node, at)

		def walk(node, at):
		    if node.keys() - known:
		        raise SystemExit("golden.sh: does not know %s of the schema" % sorted(node.keys() - known))
		    for key, value in (node.get("properties", {}) | node.get("patternProperties", {})).items():
		        tell(at + "." + key, value)
		        if key in node.get("required", []):
		            lines.append(at + "." + key + " always")
		    for key, end in (("items", "[]"), ("additionalProperties", "{}")):
		        if isinstance(node.get(key), dict):
		            tell(at + end, node[key])
		    for key in "oneOf", "anyOf", "allOf":
		        for nr, value in enumerate(node.get(key, [])):
		            name = value.get("properties", {}).get("type", {}).get("const")
		            walk(value, at + "/" + name if name else at)
		    for name, value in node.get("$defs", {}).items():
		        tell(name, value)

		with open("docs/output.schema.json") as schema:
		    walk(json.load(schema), "")
		print(*lines, sep="\n")
	END
}

# metrics: as docs/metrics.md has them, which tests/unit/serve/test_page.c holds to what is served.
metrics() {
	sed -n 's/^| `\([a-z]*_[a-z_]*\)` | \([a-z]*\) | \([^|]*\)|.*/\1 \2 \3/; T; s/ *$//p' docs/metrics.md
	sed -n '/^QUEUE stands for/,/\. /p' docs/metrics.md | sed 's/\. .*//' | grep -o '`[a-z]*`' | sed 's/^/QUEUE /'
}

# csv: a line for each column of what CSV can be had of without tracing; that of trace has the columns of report --commands.
csv() {
	local folders=("$golden"/recordings/*/) pair keys line command

	pair=("${folders[-1]}"everything.{host,target}.ntp)
	keys=$("$program" live --by=nonsense 2>&1 | sed -n 's/.*several: //p' | tr ' ' ',')
	while IFS='|' read -r line command; do
		# shellcheck disable=SC2086 # words
		$command --format csv 2>"$work/csv.log" | sed -n '1{s/\r$//; s/,/\n/g; p}' | sed "s/^/$line /"
		sed "s/^/$line: /" "$work/csv.log" >&2
	done <<-END
		report|$program report ${pair[*]}
		report --commands|$program report ${pair[*]} --commands
		report --detail|$program report ${pair[*]} --detail
		report --by|$program report ${pair[*]} --by $keys --every 1s --stats mean,min,max,p50,p99.9,iops-p1
		report (one side)|$program report ${pair[0]}
		live|$live --host -i 100ms -n 1
		live --by|$live --host -i 100ms -n 1 --by $keys
		paths|$program paths
	END
}

# formats: kinds of frames, and numbers of versions: of the stream each up to the one that is written, as a higher one loses nothing.
formats() {
	sed -n '/^| type |/,/^$/s/^| \([0-9]*\) | \([^|]*\) | .*/frame \1 \2/p' docs/stream-format.md
	seq -f 'stream %.0f' "$(sed -n 's/^#define STREAM_VERSION //p' src/stream/codec.h)"
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

# changes OLD NEW: what is in OLD alone is lost, and what is in NEW alone is added.
changes() {
	lost=$(LC_ALL=C comm -23 "$1" "$2")
	added=$(LC_ALL=C comm -13 "$1" "$2")
}

# recorded_by FILE: the program that its header names.
recorded_by() {
	head -c 512 "$1" | grep -aoE 'ntprof-bpf [0-9]+\.[0-9]+\.[0-9]+'
}

# has_recordings VERSION: those that the program of that version made, which are what a release of it needs.
has_recordings() {
	local name

	for name in $golden/recordings/"$1"/{everything,bursts}.{host,target}.ntp; do
		[[ $(recorded_by "$name" 2>&1) == "ntprof-bpf $1" ]] || return
	done
}

# says NAME GOT WANTED: prints it, if it is not what is wanted.
says() {
	[[ $2 == "$3" ]] || echo "$1: '$2', not '$3'"
}

# disagreements: of the files here, what does not say the version of the Makefile, or not whether it is released, as the top of
# CHANGELOG.md says; and what a release lacks.
disagreements() {
	local version release releases state newest fuzzed

	version=$(sed -n 's/^VERSION := //p' Makefile)
	mapfile -t releases < <(sed -nE 's/^## ([0-9.]+)$/\1/p' CHANGELOG.md)
	newest=${releases[0]:-}
	state=$(sed -nE '/^## /{s/^## (unreleased) .*/\1/; s/^## .*//; p; q}' CHANGELOG.md)
	says "top of CHANGELOG.md" "$(sed -n '/^## /{s/^## //; p; q}' CHANGELOG.md)" "${state:+$state }$version"
	says "top of debian/changelog" "$(sed -n '1{s/;.*//; s/ UNRELEASED$/, unreleased/; s/) [a-z-]*$/), released/; p}' debian/changelog)" \
		"ntprof-bpf ($version), ${state:-released}"
	says "image of contrib/kubernetes" "$(sed -n 's/^ *image: *//p' contrib/kubernetes/ntprof-bpf.yaml)" "ntprof-bpf:$version"
	[[ -z $newest ]] || says "versions of tests/golden" "$(<$golden/version)" "$newest"
	says "SECURITY.md that says that there is no release yet" "$(grep -c 'There is no release yet' SECURITY.md)" $((${#releases[@]} == 0))
	[[ -z $state || -z $newest ]] || above "$version" "$newest" 3 || echo "VERSION: $version is not above $newest, which is released"
	for release in "${releases[@]}" "$(<$golden/version)"; do
		[[ $release != 0.* || $release == "$(<$golden/version)" ]] || continue
		has_recordings "$release" && [[ -s $golden/recordings/$release/report.json ]] || echo "recordings of $release: not there, or of another program"
	done
	fuzzed=$(awk '/^#/ { sub(/.*10\^/, ""); wanted = 10 ^ $0 } $1 == "all" { print (wanted > 1 && $2 >= wanted) }' tests/fuzz/executions)
	[[ -n $state ]] || says "as many inputs as tests/fuzz/executions asks for" "$fuzzed" 1
}

# may_refresh: tests/golden is not that of a release that VERSION is not above.
may_refresh() {
	above "$version" "$last" 3 || { [[ $version == "$last" ]] && ! grep -qx "## $version" CHANGELOG.md; }
}

for kind in "${kinds[@]}"; do
	$kind | LC_ALL=C sort -u >"$work/$kind"
	check "there are $kind ($(wc -l <"$work/$kind"))" test "$(wc -l <"$work/$kind")" -ge "${least[$kind]}"
done
if [[ ${1:-} != --refresh || $version != "$last" ]]; then
	for kind in "${kinds[@]}"; do
		changes "$golden/$kind" "$work/$kind"
		[[ -z $lost ]] || sed "s/^/# lost or changed since $last, for which VERSION has to be that of an incompatible release: /; 20q" <<<"$lost"
		[[ -z $added ]] || sed "s/^/# new since $last, for which VERSION has to be above that: /; 20q" <<<"$added"
		check "$kind are those of $last, or VERSION $version says so" is_enough "${#lost}" "${#added}"
	done
fi
if [[ ${1:-} == --refresh ]]; then
	check "VERSION $version is above $last, or nothing says yet that it is released" may_refresh
	check "the program is that of VERSION: make" test "$("$program" --version)" = "ntprof-bpf $version"
	check "so are its recordings: OUT=$golden/recordings/$version docs/examples/record everything bursts" has_recordings "$version"
	((tap_failed == 0)) || { echo "golden.sh: $golden stays as it is" >&2; exit 1; }
	# Those of before 1.0.0 need not be read by later ones.
	find $golden/recordings -mindepth 1 -maxdepth 1 -name '0.*' ! -name "$version" -exec rm -r {} +
	for kind in "${kinds[@]}"; do
		cp "$work/$kind" $golden || exit
	done
	echo "$version" >$golden/version
	read_recordings "$golden/recordings/$version" >"$golden/recordings/$version/report.json"
	exit
fi
for folder in "$golden"/recordings/*/; do
	read_recordings "$folder" >"$work/report" 2>&1
	diff -u "$folder/report.json" "$work/report" | head -n 20 | sed 's/^/# /'
	check "recordings of $(basename "$folder") are read as that read them" cmp -s "$folder/report.json" "$work/report"
done
equal "they have each kind of frame" "$(frames "$golden/recordings/$last"/*.ntp)" \
	"$(sed -n 's/^frame \([0-9]*\) .*/\1/p' $golden/formats | sort -n)"
disagreements >"$work/disagreements"
sed 's/^/# /' "$work/disagreements"
check "what a release consists of says the same version, and the same of whether it is released" test ! -s "$work/disagreements"

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

# copy FOLDER: what is compared, and what a release consists of, in another folder.
copy() {
	mkdir "$1" && cp --parents Makefile CHANGELOG.md SECURITY.md debian/changelog contrib/kubernetes/ntprof-bpf.yaml tests/fuzz/executions \
		docs/{metrics,stages,stream-format}.md docs/output.schema.json src/stream/codec.h "$1" && cp -r --parents $golden "$1"
}

# What a change does: KIND, the file, how it is changed, and what becomes of it.
while IFS='|' read -r kind file change wanted; do
	rm -rf "$work/copy" && copy "$work/copy" && sed -i "$change" "$work/copy/$file"
	(cd "$work/copy" && $kind) | LC_ALL=C sort -u >"$work/changed"
	changes "$work/$kind" "$work/changed"
	equal "$kind, after $change" "${lost:+lost}${added:+added}" "$wanted"
done <<-'END'
	formats|src/stream/codec.h|s/^#define STREAM_VERSION /&1/|added
	formats|src/stream/codec.h|s/^\(#define STREAM_VERSION\) .*/\1 1/|lost
	formats|docs/stream-format.md|/^. 15 . CPUs/d|lost
	json|docs/output.schema.json|s/"regression".},/"regression", "worse"]},/|added
	json|docs/output.schema.json|s/, "regression".},/]},/|lost
	json|docs/output.schema.json|/"patternProperties": {.*}/d|lost
	json|docs/output.schema.json|s/latency: nanoseconds/latency: seconds/|lostadded
	json|docs/output.schema.json|s/"required": ."functions".,/"required": [],/|lost
	metrics|docs/metrics.md|/process_start_time_seconds/d|lost
	metrics|docs/metrics.md|s/^\(QUEUE .*\)`hostnqn`/\1/|lost
END

# without WORD: a program that does not take the word, and has no such column.
without() {
	printf '#!/bin/bash\nset -o pipefail\n[[ "$*" != *%s* ]] && "%s" "$@" | sed "s/,%s\\b//"\n' "$1" "$program" "$1" >"$work/without"
	chmod +x "$work/without"
	echo "$work/without"
}
changes <(grep '^probes' "$work/options") <(program=$(without stock) && options probes | LC_ALL=C sort -u)
equal "a word that is no longer taken is lost" "$lost$added" "probes --source stock"
changes <(grep '^paths' "$work/csv") <(program=$(without rx_cpu) && csv 2>/dev/null | grep '^paths' | LC_ALL=C sort -u)
equal "a column that is not there is lost" "$lost$added" "paths rx_cpu"

# A release, as CONTRIBUTING.md has it, lacks each of its parts in turn.
copy "$work/release"
(
	cd "$work/release" && sed -i 's/^VERSION := .*/VERSION := 9.0.0/' Makefile &&
		sed -i '/^## /{s/.*/## 9.0.0/; :rest; n; b rest}' CHANGELOG.md && echo '## 0.0.1' >>CHANGELOG.md &&
		sed -i '1s/.*/ntprof-bpf (9.0.0) unstable; urgency=medium/' debian/changelog &&
		sed -i 's/ntprof-bpf:.*/ntprof-bpf:9.0.0/' contrib/kubernetes/ntprof-bpf.yaml &&
		sed -i '/There is no release yet/d' SECURITY.md && sed -i 's/^all .*/all 2000000000/' tests/fuzz/executions &&
		mkdir -p $golden/recordings/9.0.0 && cp $golden/recordings/"$(<$golden/version)"/* $golden/recordings/9.0.0 &&
		sed -i 's/ntprof-bpf [0-9.]*/ntprof-bpf 9.0.0/' $golden/recordings/9.0.0/*.ntp && echo 9.0.0 >$golden/version
)
equal "a whole release" "$(cd "$work/release" && disagreements)" ""
while IFS='|' read -r file change; do
	rm -rf "$work/copy" && cp -r "$work/release" "$work/copy" && sed -i "$change" "$work/copy/$file"
	check "one with $file, $change, is none" test "$(cd "$work/copy" && disagreements)"
done <<-END
	Makefile|s/^VERSION := .*/VERSION := 9.0.1/
	CHANGELOG.md|s/^## 9/## unreleased 9/
	CHANGELOG.md|s/^## 9.*/## 8.0.0/
	CHANGELOG.md|s/^## 9.*/& 2030-01-01/
	debian/changelog|1s/unstable/UNRELEASED/
	debian/changelog|1s/9.0.0/9.0.1/
	contrib/kubernetes/ntprof-bpf.yaml|s/ntprof-bpf:9.0.0/ntprof-bpf:8.0.0/
	SECURITY.md|1s/\$/There is no release yet/
	tests/fuzz/executions|s/^all .*/all 1000/
	$golden/version|s/9/8/
	$golden/recordings/9.0.0/bursts.host.ntp|s/ntprof-bpf 9.0.0/ntprof-bpf 8.0.0/
	$golden/recordings/9.0.0/report.json|d
END
for rule in '9.0.0 9.0.0 no' '9.0.1 9.0.0 yes' '8.9.9 9.0.0 no' '9.1.0 9.1.0 yes'; do
	read -r version last wanted <<<"$rule"
	equal "with $version, tests/golden of $last may be written" "$(cd "$work/release" && may_refresh && echo yes || echo no)" "$wanted"
done
equal "what comes after it" "$(cd "$work/release" && sed -i 's/^VERSION := .*/VERSION := 9.1.0/' Makefile &&
	sed -i '0,/^## /s/^## /## unreleased 9.1.0\n\n&/' CHANGELOG.md &&
	sed -i '1s/.*/ntprof-bpf (9.1.0) UNRELEASED; urgency=medium/' debian/changelog &&
	sed -i 's/ntprof-bpf:.*/ntprof-bpf:9.1.0/' contrib/kubernetes/ntprof-bpf.yaml && disagreements)" ""
check "where tests/golden stays that of the release" test "$(cd "$work/release" && echo 9.1.0 >$golden/version && disagreements)"
finish
