#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# completion.sh - what bash offers at the cursor is what the program has: verbs, options of the verb, and words,
# files, controllers and stages where an option takes one. zsh and fish offer the same.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
# shellcheck source=contrib/completion/ntprof-bpf.bash
. contrib/completion/ntprof-bpf.bash

program=$(realpath "${BUILD:-build}/ntprof-bpf")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# offered WORD...: what is offered for the last word, on one line. As bash splits words, "=" is one.
offered() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_ntprof_bpf "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd' '
}

# options_of VERB: from its own help, in another way than the completion's.
options_of() {
	"$program" "$1" --help | awk '
		/^  (-., |    )--/ {
			for (i = 1; i <= 2; i++)
				if ($i ~ /^-/) {
					sub(/[,=].*/, "", $i)
					print $i
				}
		}' | grep -- '^-' | LC_ALL=C sort -u | paste -sd' '
}

# takes_each VERB OPTION WORDS: every word is an argument that the program takes.
takes_each() {
	local word

	for word in $3; do
		"$program" "$1" "$2" "$word" --help >/dev/null 2>&1 || return 1
	done
	[[ -n $3 ]] && ! "$program" "$1" "$2" nonsense --help >/dev/null 2>&1
}

verbs=$("$program" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p; /^Short forms:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
	sort | paste -sd' ')
check "the program has verbs" test -n "$verbs"
equal "verbs" "$(offered "$program" "")" "$verbs"
equal "verbs that begin so" "$(offered "$program" re)" "record report"
equal "verbs behind help" "$(offered "$program" help "")" "$verbs"
equal "a verb may come after options" "$(offered "$program" --host -d 5 tr)" "trace"
for verb in ${verbs/ version/}; do
	check "options of $verb are listed in its help" test -n "$(options_of "$verb")"
	equal "options of $verb" "$(offered "$program" "$verb" -)" "$(options_of "$verb")"
done
equal "options without a verb are those of the live view" "$(offered "$program" --)" \
	"$(options_of live | tr ' ' '\n' | grep '^--' | paste -sd' ')"
equal "options before the verb's end" "$(offered "$program" record --max-s)" "--max-size"
equal "an option's argument is no verb" "$(offered "$program" record -o report --max-s)" "--max-size"
equal "a peer's command is no verb" "$(offered "$program" --peer record --inter)" "--interval"

words=$(offered "$program" probes --source "")
equal "sources" "$words" "stock tracepoints"
check "the program takes these sources, and no others" takes_each probes --source "$words"
equal "sources behind =" "$(offered "$program" probes --source = st)" "stock"
equal "sources right behind =" "$(offered "$program" probes --source =)" "stock tracepoints"
equal "sources behind =, where that does not end a word" "$(offered "$program" --source=st)" "--source=stock"
words=$(offered "$program" probes --format "")
equal "formats" "$words" "json text"
check "the program takes these formats, and no others" takes_each probes --format "$words"
words=$(offered "$program" trace --format "")
equal "formats of commands" "$words" "csv json text"
check "the program takes these as well, and no others" takes_each trace --format "$words"
equal "formats without a verb" "$(offered "$program" --host --format j)" json
words=$(offered "$program" --by "")
equal "keys of groups, all that there are" "$words" \
	"$("$program" --by x 2>&1 | sed -n 's/.*keys are, with commas between several: //p' | tr ' ' '\n' | LC_ALL=C sort | paste -sd' ')"
check "the program takes these keys, and no others" takes_each live --by "$words"
equal "nothing is offered for a number" "$(offered "$program" trace -n "")" ""
equal "nothing is offered for a time" "$(offered "$program" --duration "")" ""

mkdir "$work/a folder" && touch "$work/host.ntp" "$work/target.ntp" || exit 1
equal "files for record -o" "$(offered "$program" record -o "$work/h")" "$work/host.ntp"
equal "files for record --output=" "$(offered "$program" record --output = "$work/h")" "$work/host.ntp"
equal "files for report" "$(offered "$program" report --commands "$work/")" \
	"$work/a folder $work/host.ntp $work/target.ntp"
equal "no words for a verb that takes none" "$(offered "$program" trace "")" ""
check "commands for --peer" grep -qw bash <<<"$(offered "$program" --peer bas)"
equal "nothing where the program is not there" "$(offered "$work/ntprof-bpf" "")" ""

words=$(offered "$program" report --op "")
check "the program takes these operations, and no others" takes_each report --op "$words"
words=$(offered "$program" report --where "")
check "stages for --where" grep -qw network_transmission <<<"$words"
check "the program knows these stages, and no others" takes_each report --where "${words// />1ms }>1ms"

# Options that take what no verb's option takes at present.
cat >"$work/program" <<-END
	#!/bin/bash
	if [[ \$* == *probes* ]]; then
		exec "$program" "\$@"
	fi
	echo "Usage: ntprof-bpf live [OPTION...]"
	echo "      --ctrl=CTRL            A controller"
	echo "      --where=STAGE          A stage"
END
chmod +x "$work/program"
mkdir -p "$work"/class/nvme/nvme0 "$work"/class/nvme/nvme12
echo nqn.two | tee "$work"/class/nvme/nvme0/subsysnqn >"$work"/class/nvme/nvme12/subsysnqn
echo nqn.host >"$work"/class/nvme/nvme0/hostnqn
echo 3 >"$work"/class/nvme/nvme0/queue_count
echo 2 >"$work"/class/nvme/nvme12/queue_count
mkdir -p "$work"/class/block/{sda,nvme0n1,nvme0n1p1,nvme0c0n1,nvme12n2}
_ntprof_bpf_sysfs=$work
equal "controllers" "$(offered "$work/program" --ctrl "")" "nvme0 nvme12"
equal "controllers that begin so" "$(offered "$work/program" --ctrl = nvme1)" "nvme12"
equal "subsystems" "$(offered "$program" report --nqn "")" "nqn.two"
equal "hosts" "$(offered "$program" report --hostnqn "")" "nqn.host"
equal "disks, neither partitions nor paths" "$(offered "$program" report --device "")" "/dev/nvme0n1 /dev/nvme12n2"
equal "queues" "$(offered "$program" report --queue "")" "0 1 2"
mkdir -p "$work/fs/cgroup/system.slice/db.service" "$work/fs/cgroup/user.slice"
equal "cgroups" "$(offered "$program" --host --cgroup "/s")" "/system.slice /system.slice/db.service"
# Names that somebody else chose do nothing, and arrive as they are.
hostile="nqn.\$(touch $work/touched)\`touch $work/touched\`'"
echo "$hostile" >"$work"/class/nvme/nvme12/subsysnqn
words=$(offered "$program" report --nqn "nqn.\$")
check "a name runs nothing" test ! -e "$work/touched"
check "and is quoted" grep -qF 'nqn.\$\(touch' <<<"$words"
_ntprof_bpf_sysfs=$work/nowhere
equal "no queues" "$(offered "$program" report --queue "")" ""
equal "no controllers" "$(offered "$work/program" --ctrl "")" ""
if [[ -r /sys/kernel/btf/vmlinux ]]; then
	equal "stages" "$(offered "$work/program" --where nvme)" "nvme_tcp_completion nvme_tcp_submission nvmet_tcp_completion nvmet_tcp_submission"
fi

# typed LINE [SHELL ARG...]: what is on a line of an interactive shell (bash) when LINE, with its tabs, has been typed there,
# without what moves the cursor. Its prompt says that it reads.
typed() {
	local line="" char pid shell=("${@:2}")

	((${#shell[@]})) || shell=(bash --noprofile --rcfile "$work/rc" -i)
	cat >"$work/rc" <<-END
		PS1='ready:'
		bind 'set bell-style none'
		bind 'set enable-bracketed-paste off'
		PATH=${program%/*}:\$PATH
		. $PWD/contrib/completion/ntprof-bpf.bash
		cd $work
	END
	coproc TYPED { TERM=dumb script -qec "${shell[*]}" /dev/null 2>&1; }
	pid=$!
	while [[ $line != *ready: ]] && IFS= read -rN1 char <&"${TYPED[0]}"; do
		line+=$char
	done
	printf '%s#\nexit\n' "$1" >&"${TYPED[1]}"
	line=
	while [[ $line != *#* ]] && IFS= read -rN1 char <&"${TYPED[0]}"; do
		line+=$char
	done
	cat <&"${TYPED[0]}" >/dev/null
	wait "$pid"
	# What zsh writes and takes back.
	sed $'s/.\b//g' <<<"$line"
}

tab=$'\t'
equal "bash completes a verb" "$(typed "ntprof-bpf rec$tab")" "ntprof-bpf record #"
equal "bash completes an option" "$(typed "ntprof-bpf record --max-s$tab")" "ntprof-bpf record --max-size #"
equal "bash completes what is behind =" "$(typed "ntprof-bpf probes --source=st$tab")" "ntprof-bpf probes --source=stock #"
equal "bash completes a file" "$(typed "ntprof-bpf report hos$tab")" "ntprof-bpf report host.ntp #"
equal "bash quotes a folder" "$(typed "ntprof-bpf report a$tab")" "ntprof-bpf report a\\ folder/#"

# in_tree FILE: with the completion of bash that is in the tree.
in_tree() {
	sed "s|/usr/share/bash-completion/completions/ntprof-bpf|$PWD/contrib/completion/ntprof-bpf.bash|" "contrib/completion/$1"
}

in_tree ntprof-bpf.zsh >"$work/_ntprof-bpf"
cat >"$work/.zshrc" <<-END
	PS1=ready:
	setopt no_prompt_cr no_prompt_sp
	unset zle_bracketed_paste
	fpath=($work \$fpath)
	path=(${program%/*} \$path)
	autoload -Uz compinit && compinit -u -D
	cd $work
END
# zsh_typed WORDS
zsh_typed() {
	typed "ntprof-bpf $1$tab" env "ZDOTDIR=$work" zsh -i
}

in_tree ntprof-bpf.fish >"$work/ntprof-bpf.fish"
# fish_offered WORDS: without what they mean, on one line.
fish_offered() {
	(cd "$work" && PATH=${program%/*}:$PATH HOME=$work fish --no-config -c "source ntprof-bpf.fish; complete -C 'ntprof-bpf $1'") |
		cut -f 1 | LC_ALL=C sort | paste -sd' '
}

equal "zsh completes a verb" "$(zsh_typed rec)" "ntprof-bpf record #"
equal "an option" "$(zsh_typed "record --max-s")" "ntprof-bpf record --max-size #"
equal "a word" "$(zsh_typed "probes --source st")" "ntprof-bpf probes --source stock #"
equal "what is behind =" "$(zsh_typed "probes --source=st")" "ntprof-bpf probes --source=stock #"
equal "a file" "$(zsh_typed "report hos")" "ntprof-bpf report host.ntp #"
equal "a file behind =" "$(zsh_typed "record --output=hos")" "ntprof-bpf record --output=host.ntp #"
equal "and quotes a folder" "$(zsh_typed "report a")" "ntprof-bpf report a\\ folder/#"
equal "fish offers verbs" "$(fish_offered re)" "record report"
equal "options" "$(fish_offered "record -")" "$(options_of record)"
equal "words" "$(fish_offered "probes --source ")" "stock tracepoints"
equal "what is behind =" "$(fish_offered "probes --source=st")" "--source=stock"
equal "files" "$(fish_offered "report h")" "host.ntp"
equal "files behind =" "$(fish_offered "record --output=h")" "--output=host.ntp"
equal "nothing for a number" "$(fish_offered "trace -n ")" ""
equal "each option with what --help says of it" \
	"$(PATH=${program%/*}:$PATH fish --no-config -c "source $work/ntprof-bpf.fish; complete -C 'ntprof-bpf record --max-s'" | cut -f 2 | cut -c -30)" \
	"End before the stream is large"
finish
