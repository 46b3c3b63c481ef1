#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lines.sh - every example of the manual pages, the documents and --help runs, as it is written.
#
# Lines that trace nothing are run, pipes and all, with the recordings of docs/examples. Those that trace are run with a word
# too many, so that their options are read and nothing is traced: machine tests trace. Lines with [ or FILE are syntax.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

program=$(realpath "${BUILD:-build}/ntprof-bpf")
examples=$(realpath docs/examples)
mapfile -t pages < <(realpath "${BUILD:-build}"/man/*.8)
mapfile -t documents < <(realpath README.md docs/*.md docs/guides/*.md)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for side in host target; do
	cp "$examples/slow-disk.$side.ntp" $side.ntp
done
cp host.ntp host1.ntp
cp host.ntp host2.ntp
cp target.ntp target2.ntp
for when in before after; do
	cp host.ntp $when.ntp
	cp host.ntp $when.host.ntp
	cp target.ntp $when.target.ntp
done
cp "$examples"/{lossy-link,few-queues,hang}.{host,target}.ntp .
printf '[all]\nverbose = true\n[report]\nslowest = 3\n' >ntprof-bpf.ini
printf '[Workload]\nIO_TYPE = read\n' >ntprof_config.ini

# Lines of pages end where they end; those of documents and --help where words follow, or go on behind a pipe.
of_pages() {
	sed -n 's/^\.Dl //p' "${pages[@]}" | sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\&//g'
}
of_documents() {
	sed -n '/^    .*ntprof-bpf .*|$/{N; s/\n */ /}; s/^    //p' "${documents[@]}" | sed 's/   *[^ ].*//'
}
of_help() {
	local verb

	for verb in help live trace record report serve stacks paths probes; do
		"$program" help $verb | sed -n '/^Examples:/,/^$/s/^  \([^ ].*\)/\1/p' | sed 's/   *[^ ].*//'
	done
}

# What lines call instead. verb_of WORD...: "none" where a line traces nothing, whatever its verb.
verb_of() {
	local word

	for word; do
		case $word in
		--help | -\? | --usage | --version | -V | --json-schema | report | paths | probes | help) echo none && return ;;
		esac
	done
	for word; do
		case $word in
		live | trace | record | serve | stacks | doctor) echo "$word" && return ;;
		esac
	done
}
ntprof-bpf() {
	local verb status at

	# What record is to run is not run here.
	for ((at = 1; at <= $#; at++)); do
		[[ ${!at} != -- || " $* " == *" report "* ]] || set -- "${@:1:at-1}"
	done
	verb=$(verb_of "$@")
	if [[ $verb == none ]]; then
		"$program" "$@" 2>>said
		status=$?
	else
		# Without a verb the word would be one.
		[[ $verb ]] || set -- live "$@"
		"$program" "$@" more 2>more.err >/dev/null
		grep -q "too many arguments: 'more'" more.err
		status=$?
		cat more.err >>said
	fi
	# What probes finds is no matter of the line.
	[[ $1 != probes ]] || ((status == 1)) || status=0
	echo "$status" >>statuses
	return "$status"
}
sudo() { "$@"; }
# Elsewhere.
zstd() { cat >/dev/null; }
zstdcat() { cat host.ntp; }
curl() { :; }

# runs LINE: its commands of ours end well, and so does what reads them, but where nothing is traced for them to read.
runs() (
	set -o pipefail
	: >said
	: >statuses
	eval "$1" >out 2>err </dev/null
	status=$?
	((!status)) && [[ -s statuses ]] && ! grep -qv '^0$' statuses && exit
	# These recordings do not have it.
	[[ $1 =~ report.*--(cgroup|comm|pid)" " ]] && exec grep -q 'record it with .* --origin' said
	sed 's/^/# /' said err
	exit 1
)

n=0
while IFS= read -r line; do
	[[ $line =~ ^(sudo )?ntprof-bpf && $line != *[[]* && $line != *" FILE"* && $line != *"  kernel "* ]] || continue
	[[ $line != *jq* ]] || command -v jq >/dev/null || continue
	line=${line//"/var/lib/ntprof-bpf/host-000001-20260301T120000Z.ntp"/host.ntp}
	n=$((n + 1))
	check "$line" runs "$line"
done < <({ of_pages; of_documents; of_help; } | sort -u)
check "there are lines ($n)" test "$n" -ge 180
finish
