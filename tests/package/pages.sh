#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pages.sh - the manual pages say what the program's --help says: every verb has one, with each of its options,
# an example of each, and no other.
#
# The pages in BUILD are compared with the program there. What differs is named with its option, verb and file.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

export LC_ALL=C.UTF-8
program=${BUILD:-build}/ntprof-bpf
pages=${PAGES:-${BUILD:-build}/man}

# Verbs of the program, in its order. What help does is in the page of the program.
mapfile -t verbs < <("$program" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)

# The options of each verb as "-d, --duration=TIME" or "--host", one a line, sorted.
declare -A rows=()
for verb in "${verbs[@]}"; do
	rows[$verb]=$("$program" "$verb" --help | sed -nE 's/^ {2}( {4}|-., )(--[^ ]+).*/\1\2/p' | sed 's/^ *//' | sort)
done

# of_section PAGE SECTION: its lines.
of_section() {
	awk -v name="$2" '/^\.Sh / { there = substr($0, 5) == name; next } there' "$1"
}

# rows_of_page PAGE: the options that section OPTIONS describes, in the same way.
rows_of_page() {
	of_section "$1" OPTIONS |
		sed -n -e '/^\.It /!d' -e 's///; s/\\&//g; s/ Ns = Ns Ar /=/g; s/Fl /-/g; s/ , /, /g; p' | sort
}

# same_rows VERB PAGE
same_rows() {
	local differ

	differ=$(
		comm -23 <(echo "${rows[$1]}") <(rows_of_page "$2") | sed "s|^|$2, section OPTIONS, lacks an option of \
\`ntprof-bpf $1 --help\`: |"
		comm -13 <(echo "${rows[$1]}") <(rows_of_page "$2") | sed "s|^|$2, section OPTIONS, has what is not in \
\`ntprof-bpf $1 --help\`: |"
	)
	[[ -z $differ ]] || sed 's/^/# /' <<<"$differ"
	[[ -z $differ ]]
}

# lines_of_examples PAGE: its examples as people type them.
lines_of_examples() {
	sed -n 's/^\.Dl //p' "$1" | sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g"
}

# An item of section OPTIONS that has no example with its option in it is named.
each_has_an_example() {
	local lacks

	lacks=$(of_section "$1" OPTIONS | sed 's/\\[&]//g; s/\\-/-/g' | awk -v page="$1" '
		function ends() {
			if (item != "" && !shown)
				print "# " page ": no example (.Dl) of " item " below its .It"
		}
		/^\.It / {
			ends()
			item = $0
			sub(/^\.It /, "", item)
			gsub(/Fl /, "-", item)
			sub(/ Ns .*/, "", item)
			split(item, names, " , ")
			shown = 0
		}
		/^\.Dl / {
			for (i in names)
				if (index($0 " ", " " names[i] " "))
					shown = 1
		}
		END { ends() }')
	[[ -z $lacks ]] || echo "$lacks"
	[[ -z $lacks ]]
}

# verb_of WORD...: the verb of a line of ours.
verb_of() {
	local word

	for word; do
		if [[ " ${verbs[*]} " == *" $word "* ]]; then
			echo "$word"
			return
		fi
	done
	echo live
}

# Examples have no option that their verb does not have. What is quoted or behind a pipe is not of that line.
examples_are_right() {
	local line word words verb wrong=0

	while IFS= read -r line; do
		[[ $line =~ ^(sudo )?ntprof-bpf\ ?(.*) ]] || continue
		read -ra words <<<"$(sed -e "s/'[^']*'/X/g" -e 's/[|>].*//' <<<"${BASH_REMATCH[2]}")"
		verb=$(verb_of "${words[@]}")
		for word in "${words[@]}"; do
			[[ $word != -- ]] || break
			[[ $word == -?* ]] || continue
			if [[ ! " ${rows[$verb]//[=,$'\n']/ } " == *" $word "* ]]; then
				echo "# $1: ntprof-bpf $verb has no option $word: $line"
				wrong=1
			fi
		done
	done < <(lines_of_examples "$1")
	return "$wrong"
}

# That a page which it refers to is not installed here, or not in mandoc's index, is no fault of ours.
no_warnings() {
	local found

	found=$(
		mandoc -T lint -W style "$1" 2>&1 | grep -v -e 'STYLE: referenced manual not found' \
			-e '^mandoc: outdated mandoc.db'
		groff -mdoc -ww -Tutf8 -Z "$1" 2>&1 >/dev/null
	)
	[[ -z $found ]] || sed 's/^/# /' <<<"$found"
	[[ -z $found ]]
}

# refers PAGE VERB: with .Xr.
refers() {
	grep -q "^\.Xr ntprof-bpf-$2 8" "$1"
}

for verb in "${verbs[@]}"; do
	page=$pages/ntprof-bpf-$verb.8
	check "$page is there for the verb $verb" test -e "$page"
	[[ -e $page ]] || continue
	check "$page has the options of \`ntprof-bpf $verb --help\`, and no other" same_rows "$verb" "$page"
	check "$page has an example of each option" each_has_an_example "$page"
	check "$pages/ntprof-bpf.8 refers to that of $verb" refers "$pages/ntprof-bpf.8" "$verb"
done
equal "there is no page of another verb" "$(cd docs/man && echo *.8)" \
	"$( (printf '%s.8\n' ntprof-bpf "${verbs[@]/#/ntprof-bpf-}") | sort | paste -sd' ')"
check "$pages/ntprof-bpf.8 has an example of each option" each_has_an_example "$pages/ntprof-bpf.8"
# keys_in: a line for each key, of lines that each have some of them.
keys_in() {
	tr -d , | tr 'A-Z ' 'a-z\n' | LC_ALL=C sort -u
}
keys=$(sed -n '/keys\[\]\[2\]/,/^\t};/s/^\t\t{"\([^"]*\)".*/\1/p' src/view/screen.c | keys_in)
check "live's help has keys" grep -qx w <<<"$keys"
equal "each of them is in its page" "$(LC_ALL=C comm -23 - <(sed -n 's/^\.It Cm //; T; s/\\&//; p' docs/man/ntprof-bpf-live.8 | keys_in) <<<"$keys" |
	paste -sd' ')" ""
for page in "$pages"/*.8; do
	check "examples in $page have options of their verb" examples_are_right "$page"
	check "$page has no warning of mandoc or groff" no_warnings "$page"
done
finish
