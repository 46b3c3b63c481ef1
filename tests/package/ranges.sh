#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ranges.sh - what the manual pages say of an option's values is what the parser takes: its range, its default and the
# units of a time. The other way round, a limit that the parser names in a message is in the page.
#
# Of an item of section OPTIONS these words are read: "from A to B", "A at least", "B at most", "D unless said otherwise".
# Nothing is traced: each line has a word too many, or a file that is not there.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

program=${BUILD:-build}/ntprof-bpf
pages=${PAGES:-${BUILD:-build}/man}
value='([0-9]+[A-Za-z]*)'

declare -A words_of=(
	[live]="live --host" [trace]="trace --host" [record]="record --host -o /nowhere" [report]="report --perfetto /nowhere/trace --fio-job /nowhere/job /nowhere/file"
	[serve]="serve --host" [stacks]="stacks --host"
)

# items PAGE: "OPTION ARGUMENT text of it", a line for each item of section OPTIONS that has an argument.
items() {
	awk '
		function ends() { if (option != "") print option, argument, text; option = "" }
		/^\.(Sh|Ss|El)/ { ends(); there = $0 == ".Sh OPTIONS" || (there && $1 != ".Sh") }
		/^\.It / {
			ends()
			if (there && match($0, /Fl -[a-z-]+ Ns = Ns Ar /)) {
				option = substr($0, RSTART + 3)
				argument = option
				sub(/ .*/, "", option)
				sub(/.* /, "", argument)
				text = ""
			}
			next
		}
		/^\.Dl / { next }
		{ sub(/^\.[A-Z][a-z] /, ""); text = text " " $0 }
		END { ends() }' "$1" | sed 's/^-/--/; s/ \([,.:;]\)/\1/g'
}

# refusal VERB OPTION VALUE...: what is said against the value, or against the last of several; nothing if it is taken.
refusal() {
	local args=() v words=${words_of[$1]}

	[[ $2 != --tolerance ]] || words="report --compare /nowhere/file"
	for v in "${@:3}"; do
		args+=("$2" "$v")
	done
	# shellcheck disable=SC2086 # words
	"$program" $words "${args[@]}" more 2>&1 </dev/null | sed -n "1{s/^ntprof-bpf: //; /$2/p}"
}

# past VALUE STEP: one more (1) or one less (-1), of its smallest unit: ns, or bytes, or 1.
past() {
	local n=${1%%[A-Za-z]*} unit=${1##*[0-9]} small=

	case $unit in
	ms | s | h) small=ns ;;&
	ms) n=$((n * 1000000)) ;;
	s) n=$((n * 1000000000)) ;;
	h) n=$((n * 3600000000000)) ;;
	K) n=$((n << 10)) ;;
	M) n=$((n << 20)) ;;
	G) n=$((n << 30)) ;;
	"") ;;
	*) echo "no unit: $1" ;;
	esac
	echo "$((n + $2))$small"
}

# several OPTION NR: so many values of an option that is a list, or is given several times; nothing of others.
several() {
	case $1 in
	--stats) seq -s, -f p%g 1 "$2" ;;
	--where) yes "latency>1ms" | head -n "$2" ;;
	--peer) yes /nowhere/fifo | head -n "$2" ;;
	esac
}

# bound VERB OPTION VALUE STEP: it is taken, and what is past it is not.
bound() {
	local at=("$3") beyond

	beyond=("$(past "$3" "$4")")
	if [[ -n $(several "$2" 1) ]]; then
		mapfile -t at < <(several "$2" "$3")
		mapfile -t beyond < <(several "$2" "${beyond[0]}")
	fi
	equal "$1 $2 takes $3" "$(refusal "$1" "$2" "${at[@]}")" ""
	check "$1 $2 does not take what is past it" test -n "$(refusal "$1" "$2" "${beyond[@]}")"
}

bounds=0
for verb in "${!words_of[@]}"; do
	page=$pages/ntprof-bpf-$verb.8
	help=$("$program" "$verb" --help | tr '\n' ' ' | tr -s ' ')
	units=
	while read -r option argument text; do
		if [[ $text =~ (^|[^0-9a-zA-Z.])from\ $value\ to\ $value ]]; then
			bound "$verb" "$option" "${BASH_REMATCH[3]}" 1
			# No value is below nothing.
			[[ ${BASH_REMATCH[2]} == 0 ]] || bound "$verb" "$option" "${BASH_REMATCH[2]}" -1
			bounds=$((bounds + 1))
		fi
		if [[ $argument != ON/EVERY && $text =~ $value\ at\ least ]]; then
			bound "$verb" "$option" "${BASH_REMATCH[1]}" -1
			bounds=$((bounds + 1))
		fi
		if [[ $text =~ $value\ at\ most ]]; then
			bound "$verb" "$option" "${BASH_REMATCH[1]}" 1
			bounds=$((bounds + 1))
		fi
		# A default is in both, or in neither.
		default=
		[[ ! $text =~ ([^ ]+)\ unless\ said\ otherwise ]] || default=${BASH_REMATCH[1]}
		told=
		[[ ! " ${help#* "$option"=} " =~ ^([^(]*)\(default\ ([^ );]+)\) || ${BASH_REMATCH[1]} == *" --"* ]] ||
			told=${BASH_REMATCH[2]}
		equal "$verb $option: the page has the default of --help" "$default" "$told"
		case $argument in
		TIME) extremes=(1ns 9000000000s) units=yes ;;
		SIZE) extremes=(1 8589934591G) ;;
		N) extremes=(18446744073709551615) ;;
		*) continue ;;
		esac
		for extreme in "${extremes[@]}"; do
			for limit in $(refusal "$verb" "$option" "$extreme" |
				sed "s/^$option [^:]*://; s/(such as .*//" | grep -oE "[0-9]+[a-zA-Z]*"); do
				# What a number has room for is no limit of ours.
				[[ $limit != 4294967295 ]] || continue
				check "$verb $option: the page has the limit $limit" grep -qw -- "$limit" <<<"$text"
			done
		done
	done < <(items "$page")
	[[ $units ]] || continue
	equal "$verb: the page has the units that a TIME has" \
		"$(sed -n '/number with a unit:$/,/^\.Cm h/s/^\.Cm \([a-z]*\).*/\1/p' "$page" | paste -sd' ')" "ns us ms s m h"
done
for unit in ns us ms s m h; do
	equal "a TIME has the unit $unit" "$(refusal report --slower "5$unit")" ""
done
for unit in d min sec usec; do
	check "a TIME has no unit $unit" test -n "$(refusal report --slower "5$unit")"
done
check "pages have ranges ($bounds)" test "$bounds" -ge 25
finish
