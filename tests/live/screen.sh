#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# screen.sh - the live view at a real terminal, which is tmux: what keys do, at several sizes and while it is resized; and
# whatever ends or stops the program, the terminal has its modes again. The tracer is one that always traces the same
# (tests/unit/cli/live.c), so this needs neither a machine nor root. machine/screen has the program itself there.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
# shellcheck source=tests/live/lib.sh
. tests/live/lib.sh

program=$(realpath "${BUILD:-build}/unit/cli/live") || exit 1
work=$(mktemp -d) || exit 1
cd "$work" || exit 1
trap 'terminal kill-server 2>/dev/null; rm -rf "$work"' EXIT
screen_begin
live="$program --host -i 0.5"

at_terminal 80 24 "$live"
check "the keys are told on the last line" wait_for is_last 24 '^\\?:help q:quit s:IOPS '
seen "80x24: the total is there" '^ total  *all all '
seen "and rows, sorted by IOPS, one of them marked" '^>nvme[0-9]+ +1 read'
seen "p99.9 of some hundred commands is none" '^ total .* - +[0-9.]+[mu]s( |$)'
seen "stages are there" '^network_and_target +'
seen "and losses, or that there are none" '^(no losses|losses:)'
check "echo and lines are off" sh -c "[ \"\$(stty -g <$(terminal display-message -p '#{pane_tty}'))\" != \"\$(cat before)\" ]"
keys j
seen "down marks the next row" '^>nvme[0-9]+ +2 write'
keys Up
seen "up the one before" '^>nvme[0-9]+ +1 read'
keys s
seen "s sorts by p99" 's:p99 '
keys g
seen "g adds up by controller" '^>nvme[0-9]+ +all all '
seen "of which one is told" 'g:ctrl '
keys g g
seen "and by operation" '^.all +all +write '
keys Enter
seen "which has a page" '^all, all queues, (read|write)'
keys Escape
seen "and back" 'g:op '
keys g g
seen "no groups" 'g:none '
keys Tab
seen "Tab: the keys are those of the stages" 'Tab:stages'
resize 80 9
keys End
seen "which are scrolled" '^\.\.\. [0-9]+ rows above'
resize 80 24
keys Tab
seen "Tab: no other table is there" 'Tab:rows'
keys / w r i t e
seen "a filter is seen while it is typed" '^filter: write_'
keys Enter
seen "and takes rows" '^>nvme[0-9]+ +2 write'
gone "of that kind only" '^.nvme[0-9]+ .* read'
keys Enter
seen "a row has a page" '^nvme[0-9]+, queue 2, write'
seen "with its stages" '^write +network_and_target'
keys End
seen "and its histogram" '^\[ *[0-9.]+[mu]s, +[0-9.]+[mu]s\) .*\|'
keys Escape / BSpace BSpace BSpace BSpace BSpace Enter
seen "no filter" '/:filter'
keys p
seen "pause" '^PAUSED'
before=$(screen | grep -E '^ total')
sleep 1.5
equal "nothing changes meanwhile" "$(screen | grep -E '^ total')" "$before"
keys p
seen "and on" 'p:pause'
changed() {
	[[ $(screen | grep -E '^ total') != "$before" ]]
}
check "what comes then is another interval" wait_for changed
keys +
seen "a longer interval" '/\+:1\.00s'
seen "which is that of the next blocks" 'interval 1\.0 s'
keys -
seen "and the old one" '/\+:500ms'
keys l
seen "what losses mean" '^what was counted'
keys w
seen "why slow commands are slow takes a peer" '^it takes both machines'
keys Escape '?'
seen "help" '^q +quit, with the summary'
keys Escape

resize 200 60
seen "200x60: long titles" '^ controller  queue  op '
check "the keys are on its last line" wait_for is_last 60 '^\\?:help'
seen "explained are histograms" '^histograms: '
for size in 40x10 132x43 20x5 200x60 1x1 80x24; do
	resize "${size%x*}" "${size#*x}"
	sleep 0.1
done
check "resized while it runs: the keys are on the last line" wait_for is_last 24 '^\\?:help q:quit'
seen "and titles are short" '^ ctrl +qid op '

keys C-z
check "Ctrl-Z stops it" wait_for test -s between
equal "the terminal's modes are what they were" "$(<between)" "$(<before)"
seen "it goes on as it was" '^\?:help q:quit'
keys s
seen "and has its keys" 's:(in flight|p99|oldest|IOPS) '
keys q
restored "q"
seen "with the summary of the run" '^(no losses|[a-z_]+ [0-9]+  # )'

at_terminal 40 10 "$live"
seen "40x10: the one row is that of the longest p99" '^>nvme[0-9]+ +2 write'
keys q
restored "40x10: q"

# ends NAME COMMAND...: at a fresh screen, what ends it.
ends() {
	local name=$1

	shift
	at_terminal 80 24 "$live"
	wait_for is_last 24 '^\\?:help'
	"$@"
	restored "$name"
}

ends "Ctrl-C" keys C-c
for signal in TERM SEGV; do
	ends "SIG$signal" send $signal live
done

# Both sides, at 80x24: the ten stages are there, with the total, the rows and the keys.
mkfifo target || exit 1
at_terminal 80 24 env TARGET_STREAM="$PWD/target" "$live" --peer "'cat $PWD/target'"
seen "with a peer: stages of both sides" '^network_transmission +(host|network) '
seen "from the first one" '^blk_submission +(host|network) '
seen "to the last one" '^blk_completion +(host|network) '
seen "and the total" '^ total '
check "and the keys" wait_for is_last 24 '^\\?:help'
keys Enter
seen "a row has its stages of both sides" '^of this queue, means of [0-9]+ merged commands'
keys q q
restored "with a peer: q"

# Without a terminal to read from there are no keys, and no word of them.
at_terminal 80 24 sh -c "'$live </dev/null'"
seen "no keyboard: the screen is there" '^total '
gone "and tells of no keys" '\?:help'
send INT live
restored "no keyboard"
finish
