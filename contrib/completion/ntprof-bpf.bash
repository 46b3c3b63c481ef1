# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of ntprof-bpf's command line in bash, and what zsh and fish ask (_ntprof_bpf_tell). Verbs, and each verb's
# options with what they take, are read from the --help of the program that is being called, so they are those that it
# has. What an argument may be is known by its name there:
#
#   FILE, DIR      a file, a folder             CTRL     a controller, from /sys/class/nvme
#   PEER           a machine, command or file   STAGE    a stage, from ntprof-bpf probes
#   NQN, HOSTNQN   of a controller, from there  QUEUE    ids of the queues that it has
#   CONDITION      a stage that it begins with
#   DEVICE         a disk, from /sys/class/block
#   PATH           a cgroup, from /sys/fs/cgroup
#   KEYS, FIGURES, SIZES  of --by, --stats and --size-classes
#   SOURCE, TRANSPORTS, POINTS, PACE, FORMAT, OP, LABEL, WHEN, ADDRESS  words that _ntprof_bpf_words() has

# The program to ask is that of the line, which the caller of these functions has in a variable.
_ntprof_bpf_ask() {
	"$_ntprof_bpf_program" "$@" 2>/dev/null </dev/null
}

_ntprof_bpf_verbs() {
	_ntprof_bpf_ask --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p; /^Short forms:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

# _ntprof_bpf_rows VERB: the options of its --help, one a line, such as "-d --duration TIME" or "- --host".
_ntprof_bpf_rows() {
	_ntprof_bpf_ask "$1" --help |
		sed -nE -e 's/^ {2}(-.), (--[a-z0-9-]+)(\[?=([^] ]+)\]?)?( .*)?$/\1 \2 \4/p' \
			-e 's/^ {6}(--[a-z0-9-]+)(\[?=([^] ]+)\]?)?( .*)?$/- \1 \3/p'
}

# _ntprof_bpf_operand VERB: the name of what it takes besides options: "FILE" of "[OPTION...] FILE...".
_ntprof_bpf_operand() {
	_ntprof_bpf_ask "$1" --help | sed -nE '1s/.*\[OPTION\.\.\.\] \[?([A-Z]+).*/\1/p'
}

# _ntprof_bpf_takes ROWS OPTION: the name of the argument that the option takes; nothing if it takes none.
_ntprof_bpf_takes() {
	awk -v option="$2" '$1 == option || $2 == option { print $3 }' <<<"$1"
}

# Stages are in lists, and those that are one for want of a point have both names in one.
_ntprof_bpf_stages() {
	_ntprof_bpf_ask probes --format json | grep -o '"stages": *\[[^]]*\]' | sed 's/^"stages"//' |
		grep -oE '[a-z][a-z0-9_]+' | sort -u
}

# _ntprof_bpf_formats VERB: those that the description of its --format names.
_ntprof_bpf_formats() {
	_ntprof_bpf_ask "$1" --help | sed -n '/^ *--format=/,/^ *-/p' | grep -oE '\b(text|lines|json|csv)\b' | sort -u
}

# _ntprof_bpf_words NAME VERB: what an argument of that name may be.
_ntprof_bpf_words() {
	local path

	case $1 in
	VERB) _ntprof_bpf_verbs ;;
	SOURCE) echo tracepoints stock ;;
	POINTS) echo all ends ;;
	TRANSPORTS) echo tcp pcie rdma fc loop other ;;
	PACE) echo recorded fast 50% 200% ;;
	FORMAT) _ntprof_bpf_formats "${2:-live}" ;;
	KEYS) echo ctrl nqn host queue op source size opcode nsid status device path cgroup cpu pid comm container ;;
	SIZES) echo 4k,64k ;;
	FIGURES) echo mean min max p50 p90 p99 p99.9 iops-p1 ;;
	CTRL)
		for path in "${_ntprof_bpf_sysfs:-/sys}"/class/nvme/nvme*; do
			[[ ! -e $path ]] || echo "${path##*/}"
		done
		;;
	DEVICE)
		for path in "${_ntprof_bpf_sysfs:-/sys}"/class/block/nvme*n*; do
			[[ ! -e $path || $path =~ (c[0-9]+n|p)[0-9]+$ ]] || echo "/dev/${path##*/}"
		done
		;;
	PATH) (cd "${_ntprof_bpf_sysfs:-/sys}/fs/cgroup" && find . -mindepth 1 -type d) 2>/dev/null | sed 's/^\.//' | sort ;;
	NQN) sort -u "${_ntprof_bpf_sysfs:-/sys}"/class/nvme/nvme*/subsysnqn 2>/dev/null ;;
	HOSTNQN) sort -u "${_ntprof_bpf_sysfs:-/sys}"/class/nvme/nvme*/hostnqn 2>/dev/null ;;
	QUEUE) cat "${_ntprof_bpf_sysfs:-/sys}"/class/nvme/nvme*/queue_count 2>/dev/null | sort -n | tail -n 1 |
		awk '$1 > 0 { for (i = 0; i < $1; i++) print i }' ;;
	LABEL) echo queue ;;
	WHEN) echo "latency>" "p99>" "errors>0" "oldest>" ;;
	ADDRESS) echo 127.0.0.1:10998 127.0.0.1:10999 unix:/run/ntprof-bpf.sock ;;
	OP) echo read write flush discard write_zeroes other admin fabrics ;;
	STAGE) _ntprof_bpf_stages ;;
	CONDITION)
		echo latency network_transmission
		_ntprof_bpf_stages
		;;
	esac
}

# _ntprof_bpf_argument NAME CURRENT PREFIX VERB: CURRENT is to be an argument of that name; replies begin with PREFIX.
_ntprof_bpf_argument() {
	local actions=() action word

	COMPREPLY=()
	_ntprof_bpf_name=$1
	case $1 in
	FILE) actions=(file) ;;
	DIR) actions=(directory) ;;
	PEER) actions=(command file hostname) ;;
	*) actions=(words) ;;
	esac
	if [[ ${actions[0]} == words ]]; then
		# Not compgen -W, which runs what stands in $(...) in a name that somebody else chose.
		while IFS= read -r word; do
			[[ -n $word && $word == "$2"* ]] || continue
			[[ $1 != @(NQN|HOSTNQN|PATH) || -n ${_ntprof_bpf_plain:-} ]] || printf -v word %q "$word"
			COMPREPLY+=("$3$word")
		done < <(_ntprof_bpf_words "$1" "${4:-}" | tr ' ' '\n')
		[[ $1 != @(CONDITION|WHEN) ]] || compopt -o nospace 2>/dev/null
		return
	fi
	[[ -z ${_ntprof_bpf_plain:-} ]] || return
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(for action in "${actions[@]}"; do
		compgen -P "$3" -A "$action" -- "$2"
	done | sort -u)
}

# _ntprof_bpf_verb: the verb that the words before the cursor name, nothing if none does. It may come after options of
# any verb, whose arguments may be words like a verb's.
_ntprof_bpf_verb() {
	local verbs rows="" verb i word before

	verbs=$(_ntprof_bpf_verbs)
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		before=${COMP_WORDS[i - 1]}
		if [[ $before == = ]] || ! grep -qxF -e "$word" <<<"$verbs"; then
			continue
		fi
		if [[ $before == -* && -z $rows ]]; then
			rows=$(for verb in $verbs; do _ntprof_bpf_rows "$verb"; done)
		fi
		if [[ $before != -* || -z $(_ntprof_bpf_takes "$rows" "$before") ]]; then
			echo "$word"
			return
		fi
	done
}

# _ntprof_bpf PROGRAM CURRENT: called by bash, with COMP_WORDS, in which "--source=stock" is three words.
_ntprof_bpf() {
	local _ntprof_bpf_program=${1/#\~/$HOME} current=$2 option=${COMP_WORDS[COMP_CWORD - 1]} prefix=""
	local verb rows name

	COMPREPLY=()
	if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
		current=
	elif [[ $option == = ]] && ((COMP_CWORD >= 2)); then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $current == --*=* ]]; then
		# COMP_WORDBREAKS has no "=".
		option=${current%%=*}
		current=${current#*=}
		prefix=$option=
	fi
	verb=$(_ntprof_bpf_verb)
	rows=$(_ntprof_bpf_rows "${verb:-live}")
	name=
	[[ $option != -* ]] || name=$(_ntprof_bpf_takes "$rows" "$option")
	if [[ -n $name ]]; then
		_ntprof_bpf_argument "$name" "$current" "$prefix" "$verb"
	elif [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(awk '{ print $2; if ($1 != "-") print $1 }' <<<"$rows")" -- "$current")
	elif [[ -z $verb ]]; then
		_ntprof_bpf_argument VERB "$current" ""
	else
		_ntprof_bpf_argument "$(_ntprof_bpf_operand "$verb")" "$current" ""
	fi
}

# _ntprof_bpf_about [VERB]: each option of a verb, or each verb, a tab, and what --help says of it.
_ntprof_bpf_about() {
	_ntprof_bpf_ask ${1:+"$1"} --help | awk -v options="${1:+1}" '
		function tell() { for (i = 1; i <= n; i++) print name[i] "\t" text; n = 0 }
		/^[^ ]/ || /^$/ { tell(); next }
		{ begins = options ? /^ +-/ : /^  [a-z]/ }
		begins { tell(); rest = $0 }
		begins && options {
			while (match(rest, /^[ ,]*--?[a-z0-9-]+/)) {
				name[++n] = substr(rest, RSTART, RLENGTH)
				sub(/^[ ,]*/, "", name[n])
				rest = substr(rest, RLENGTH + 1)
			}
			sub(/^[^ ]*/, "", rest)
		}
		begins && !options { name[++n] = $1; sub(/^ *[^ ]+/, "", rest) }
		begins { text = "" }
		!begins { rest = $0 }
		{ sub(/^ +/, "", rest); text = text (text && rest ? " " : "") rest }
		END { tell() }'
}

# _ntprof_bpf_tell PROGRAM WORD...: for other shells, what the last word may be. In the first line the name of an argument,
# which is empty for options; of FILE, DIR and PEER there is no more, as the shell knows files. Then a line for each: the
# word, a tab, and what it is.
_ntprof_bpf_tell() {
	local _ntprof_bpf_plain=1 _ntprof_bpf_name="" _ntprof_bpf_program=$1 COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY

	_ntprof_bpf "$1" "${!#}"
	echo "$_ntprof_bpf_name"
	awk -F'\t' 'FILENAME == ARGV[1] { about[$1] = $2; next } $0 { print $0 "\t" about[$0] }' <(
		case $_ntprof_bpf_name in
		VERB) _ntprof_bpf_about ;;
		"") _ntprof_bpf_about "$(v=$(_ntprof_bpf_verb); echo "${v:-live}")" ;;
		esac) <(printf '%s\n' "${COMPREPLY[@]}")
}

complete -F _ntprof_bpf ntprof-bpf
