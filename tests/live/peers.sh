#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# peers.sh - whatever a peer does, the host's own view goes on and says so; and nothing that a peer has started runs on.
# The tracer is one that always traces the same (tests/unit/cli/live.c), so this needs neither a machine nor root.
# machine/peer has real recorders for peers.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

program=$(realpath "${BUILD:-build}/unit/cli/live") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LANG=C.UTF-8
# What the peers of this run are to be known by, and nobody else's processes.
mark=1$$

# view FILE ARGS...: starts a live view; its process id is in $view. In a session of its own, peers do not get the terminal that
# this test may have.
view() {
	: >"$1"
	setsid "$program" --host -i 0.1 "${@:2}" >"$1" 2>"$1.err" &
	view=$!
}

# view_ends NAME: as Ctrl-C does it.
view_ends() {
	kill -INT "$view"
	wait "$view"
	equal "$1: the run ends well" $? 0
}

# more FILE PATTERN N: lines that match
more() {
	(($(grep -cE "$2" "$1") >= $3))
}

all_ended() {
	! pgrep -f "^sleep $mark|echo [d]eaf$mark" >/dev/null
}

nothing_left() {
	check "$1" wait_for -t 60 all_ended
}

# told NAME PATTERN PEER...: the view goes on while there is such a peer, and tells of it in intervals and in the summary.
told() {
	local name=$1 pattern=$2 peers=() p blocks

	shift 2
	for p; do
		peers+=(--peer "$p")
	done
	view out "${peers[@]}"
	check "$name: it is told while it runs" wait_for -t 60 more out "^peer [0-9]+(:| says:) $pattern" 2
	blocks=$(grep -c '^losses:' out)
	check "$name: intervals go on" wait_for -t 60 more out '^losses:' $((blocks + 2))
	view_ends "$name"
	check "$name: and in the summary" sh -c "sed -n '/^summary/,\$p' out | grep -qE '^peer [0-9]+(:| says:) $pattern'"
	check "$name: which has the host's commands" test "$(commands out read)" -gt "$(commands out write)"
	nothing_left "$name: nothing runs on"
}

# The stream of the same commands: as far as it goes, of another version, and as it grows.
TARGET_STREAM=$work/old.ntp "$program" --host -d 0.5 >out || exit 1
printf '\377' | dd of=old.ntp bs=1 seek=8 conv=notrunc 2>/dev/null

told "a command that fails" 'died, exit status 3; exit 3' 'exit 3'
told "no such command" 'died, exit status 127; /no/such' /no/such/command
told "no such file: what it says" '/no/such/command: No such file or directory' /no/such/command
told "no such command: what it says" '.*no-such-command: not found' 'no-such-command -x'
told "nonsense" 'refused, byte 0: ' "echo hello; sleep $mark"
told "endless nonsense" 'refused, byte 0: ' 'cat /dev/urandom'
told "silence" 'starting; sleep 1' "sleep $mark"
told "what one says that starts" 'I am about to' "echo I am about to >&2; sleep $mark"
told "another version" 'refused, byte [0-9]*: .*version' ./old.ntp

mkfifo fifo
TARGET_STREAM=$work/fifo told "a FIFO" '(running|stalled, silent for [0-9]+ s); .*; fifo' fifo
export TARGET_STREAM=$work/growing.ntp
view out --peer growing.ntp
wait_for -t 60 more out '^peer 1: running; .*; growing.ntp' 2
wait_for -t 60 more out '^read *network_transmission' 2
view_ends "a file that grows"
within "a file that grows: commands are merged" "$(total out 3 merged)" 80 1000000
unset TARGET_STREAM

# What a shell has started ends with it; so does what does not want to.
view orphans --peer "sleep $mark & sleep ${mark}2" \
	--peer "trap '' TERM; echo deaf$mark >&2; while :; do sleep 0.2; done"
wait_for -t 60 more orphans "^peer 2 says: deaf$mark" 1
view_ends "peers that start others"
nothing_left "peers that start others: nothing runs on"

# Nor does anything outlive a program that is killed.
view killed --peer "sleep $mark & echo here >&2; sleep ${mark}2"
wait_for -t 60 more killed '^peer 1 says: here' 1
{
	kill -KILL "$view"
	wait "$view"
} 2>/dev/null
nothing_left "the host's is killed: nothing runs on"

# Who presses Ctrl-C again does not want to wait for peers; they would have 2 s.
view hurry --peer "trap 'touch asked; sleep 1.8; touch all; exit' TERM; echo ready >&2; while :; do sleep 0.1; done"
wait_for -t 60 more hurry '^peer 1 says: ready' 1
kill -INT "$view"
wait_for -t 60 test -e asked
view_ends "a second Ctrl-C"
check "a second Ctrl-C: with its summary" grep -q '^summary' hurry
check "a second Ctrl-C: the peer was not waited for" test ! -e all
finish
