# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# lib.sh - what tests of the screen share: a program at a terminal of tmux, the keys that it gets, and what is seen there.
# Needs check, equal and wait_for. The tests run in a directory of their own, and its files before, between, after, over
# and pane are of this.

# What a shell does that has no line editor: it runs a job, goes on when that stops or ends, and lets it go on.
screen_begin() {
	export LANG=C.UTF-8 TERM=xterm
	cat >job <<-'END'
		#!/bin/bash
		set -m
		ulimit -c 0
		stty -g >before
		echo "what was here before"
		"$@"
		stty -g >between
		# Not its messages: by standard error bash knows its terminal.
		fg >/dev/null
		stty -g >after
		touch over
		exec sleep 1000
	END
	chmod +x job
}

# A server of its own, whatever others the user has.
terminal() {
	tmux -S "$PWD/tmux" "$@"
}

no_server() {
	! terminal list-sessions >/dev/null 2>&1
}

# at_terminal COLUMNS LINES COMMAND...
at_terminal() {
	terminal kill-server 2>/dev/null
	# One that is about to end takes no session.
	wait_for no_server
	rm -f before between after over
	terminal -u -f /dev/null new-session -d -x "$1" -y "$2" "exec ./job ${*:3}" || return
	terminal set-option -g remain-on-exit on
}

keys() {
	terminal send-keys "$@"
}

resize() {
	terminal resize-window -x "$1" -y "$2"
}

# send SIGNAL PROGRAM: to that one alone of those that have the terminal.
send() {
	local shell

	shell=$(terminal display-message -p '#{pane_pid}')
	pkill "-$1" -x "$2" -g "$(ps -o tpgid= -p "$shell" | tr -d ' ')"
}

screen() {
	terminal capture-pane -p
}

# shows PATTERN: of a line
shows() {
	screen | grep -qE -- "$1"
}

# seen NAME PATTERN: it comes, sooner or later.
seen() {
	check "$1" wait_for shows "$2"
	shows "$2" || screen | sed 's/^/#   /'
}

lacks() {
	! shows "$1"
}

# gone NAME PATTERN: no line has it, sooner or later.
gone() {
	check "$1" wait_for lacks "$2"
}

# is_last LINES PATTERN: the last line of that many.
is_last() {
	screen | awk -v n="$1" -v p="$2" 'NR == n { ok = $0 ~ p } END { exit !ok || NR != n }'
}

was_here() {
	terminal capture-pane -p -S - | grep -q '^what was here before'
}

# restored NAME: once the program has ended.
restored() {
	check "$1: it ends" wait_for test -e over
	# Without a keyboard there is no other screen; where the connection is cut the program cannot leave it.
	[[ $1 == "no keyboard" || $1 == *": a connection that is cut" ]] || check "$1: what was in the terminal is there" was_here
	equal "$1: the terminal's modes are what they were" "$(cat between after | sort -u)" "$(cat before)"
}
