#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 180
# run with: --add /usr/bin/tmux:/usr/bin/tmux --add /usr/bin/ssh:/usr/bin/openssh --add /usr/bin/sudo:/usr/bin/sudo --add /usr/libexec/sudo/sudoers.so:/usr/libexec/sudo/sudoers.so --add /usr/lib/x86_64-linux-gnu/security/pam_permit.so:/usr/lib/x86_64-linux-gnu/security/pam_permit.so
# The screen in a real terminal, which is tmux, there and through ssh and sudo: what keys do, at several sizes and while it is
# resized; and whatever ends or stops the program, the terminal has its modes again.
set -u
. /lib/machine.sh

cd /tmp || exit 1
export LANG=C.UTF-8 TERM=xterm
target_subsystem "$(target_setup_null a size=256 irqmode=2 completion_nsec=1000000)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# What a shell does that has no line editor: it runs a job, goes on when that stops or ends, and lets it go on.
cat >job <<'END'
#!/bin/bash
set -m
stty -g >before
"$@"
stty -g >between
# Not its messages: by standard error bash knows its terminal.
fg >/dev/null
stty -g >after
touch over
exec sleep 1000
END
chmod +x job

no_server() {
	! tmux list-sessions >/dev/null 2>&1
}

# at_terminal COLUMNS LINES COMMAND...
at_terminal() {
	tmux kill-server 2>/dev/null
	# One that is about to end takes no session.
	wait_for no_server
	rm -f before between after over
	tmux -u -f /dev/null new-session -d -x "$1" -y "$2" "exec ./job ${*:3}" || return
	tmux set-option -g remain-on-exit on
}

keys() {
	tmux send-keys "$@"
}

screen() {
	tmux capture-pane -p
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

# gone NAME PATTERN: no line has it, sooner or later.
gone() {
	check "$1" wait_for lacks "$2"
}

lacks() {
	! shows "$1"
}

# keep NAME: for the documents, and for who reads this.
keep() {
	screen | sed 's/^/# /'
	[[ ! -d /out ]] || screen >"/out/$1"
}

# is_last LINES PATTERN: the last line of that many.
is_last() {
	screen | awk -v n="$1" -v p="$2" 'NR == n { ok = $0 ~ p } END { exit !ok || NR != n }'
}

# restored NAME: once the program has ended.
restored() {
	check "$1: it ends" wait_for test -e over
	equal "$1: the terminal's modes are what they were" "$(cat between after | sort -u)" "$(cat before)"
}

live="ntprof-bpf --host -i 0.5"

at_terminal 80 24 "$live"
check "the keys are told on the last line" wait_for is_last 24 '^\\?:help q:quit s:IOPS '
# Reads on one queue, fewer writes on the other, without end.
fio --direct=1 --ioengine=libaio --filename="$dev" --size=64M --time_based --runtime=3600 \
	--name=reads --rw=randread --bs=4k --iodepth=1 --rate_iops=30 --cpus_allowed=0 \
	--name=writes --rw=randwrite --bs=16k --iodepth=1 --rate_iops=10 --cpus_allowed=1 >/tmp/fio 2>&1 &
load=$!
seen "80x24: the total is there" '^ total  *all all '
seen "and rows, sorted by IOPS, one of them marked" '^>nvme[0-9]+ +1 read'
seen "p99.9 of some hundred commands is none" '^ total .* - +[0-9.]+[mu]s( |$)'
seen "stages are there" '^read +network_and_target '
seen "and losses, or that there are none" '^(no losses|losses:)'
check "echo and lines are off" sh -c "[ \"\$(stty -g <\$(tmux display-message -p '#{pane_tty}'))\" != \"\$(cat before)\" ]"
keep screen-80x24
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
keep row-80x24
keys Escape / BSpace BSpace BSpace BSpace BSpace Enter
seen "no filter" '/:filter'
keys p
seen "pause" '^PAUSED'
before=$(screen | grep -E '^ total')
sleep 2
equal "nothing changes meanwhile" "$(screen | grep -E '^ total')" "$before"
keys p
seen "and on" 'p:pause'
keys +
seen "a longer interval" '/\+:1\.00s'
seen "which is that of the next blocks" 'interval 1\.0 s'
keys -
seen "and the old one" '/\+:500ms'
keys l
seen "what losses mean" '^what was counted'
keys Escape '?'
seen "help" '^q +quit, with the summary'
keep help-80x24
keys Escape

tmux resize-window -x 200 -y 60
seen "200x60: long titles" '^ controller  queue  op '
check "the keys are on its last line" wait_for is_last 60 '^\\?:help'
seen "explained are histograms" '^histograms: '
for size in 40x10 132x43 20x5 200x60 1x1 80x24; do
	tmux resize-window -x ${size%x*} -y ${size#*x}
	sleep 0.2
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
seen "with the summary of the run" '^loss in_flight'

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
	ends "SIG$signal" pkill -$signal -x ntprof-bpf
done

# Both sides, at 80x24: the ten stages are there, with the total, the rows and the keys.
at_terminal 80 24 "$live --peer 'ntprof-bpf record --target -o -'"
seen "with a peer: stages of both sides" '^read +network_transmission '
seen "from the first one" '^read +blk_submission '
seen "to the last one" '^read +blk_completion '
seen "and the total" '^ total '
check "and the keys" wait_for is_last 24 '^\\?:help'
keep peer-80x24
keys Enter
seen "a row has its stages of both sides" '^of this queue, means of [0-9]+ merged commands'
keep peer-row-80x24
keys q
restored "with a peer: q"

# Without a terminal to read from there are no keys, and no word of them.
at_terminal 80 24 sh -c "'$live </dev/null'"
seen "no keyboard: the screen is there" '^total '
gone "and tells of no keys" '\?:help'
pkill -INT -x ntprof-bpf
restored "no keyboard"

# Another terminal in between: that of ssh, and the one that sudo relays (use_pty in sudoers(5)).
no_program() {
	! pgrep -x ntprof-bpf >/dev/null
}

# Somebody who may log in as root with a password, and a caller of sudo. A login needs a shell of /etc/shells.
echo /bin/bash >/etc/shells
# crypt(3) of "sesame"
echo 'root:$1$ntprof$SUOf9K8ekVflRDBl66gWJ/:19000::::::' >/etc/shadow
echo 'caller:x:1000:1000::/tmp:/bin/bash' >>/etc/passwd
echo 'caller:x:1000:' >>/etc/group
mkdir -p /etc/dropbear /etc/pam.d
printf 'Defaults use_pty\ncaller ALL=(ALL) NOPASSWD: ALL\n' >/etc/sudoers
chmod 440 /etc/sudoers
printf '%s required pam_permit.so\n' auth account session >/etc/pam.d/sudo
chmod u+s /usr/bin/sudo
dropbear -R -P /tmp/dropbear.pid -p 127.0.0.1:2222 || exit
ssh="openssh -t -o StrictHostKeyChecking=no -p 2222 root@127.0.0.1"
sudo="setpriv --reuid=1000 --regid=1000 --clear-groups sudo"

# through ssh|sudo: a fresh screen, at 80x24.
through() {
	if [[ $1 = ssh ]]; then
		at_terminal 80 24 "$ssh '$live'"
		wait_for shows 'password:'
		keys sesame Enter
	else
		at_terminal 80 24 "$sudo $live"
	fi
	wait_for is_last 24 '^\\?:help q:quit'
}

# far_ends NAME COMMAND...: at a fresh screen behind ssh or sudo ($way), what ends it.
far_ends() {
	local name="$way: $1"

	shift
	through $way
	"$@"
	restored "$name"
	check "$name: no program is left" wait_for no_program
}

for way in ssh sudo; do
	check "$way: the keys are on the last line" through $way
	seen "$way: rows are there" '^>nvme[0-9]+ +1 read'
	keys g
	seen "$way: keys reach it" 'g:ctrl '
	tmux resize-window -x 132 -y 43
	check "$way: another size reaches it" wait_for is_last 43 '^\\?:help'
	keys q
	restored "$way: q"
	seen "$way: with the summary of the run" '^loss in_flight'
	far_ends "Ctrl-C" keys C-c
	seen "$way: Ctrl-C: with the summary" '^loss in_flight'
	for signal in TERM SEGV; do
		far_ends "SIG$signal" pkill -$signal -x ntprof-bpf
	done
done

# The connection breaks, at the far end first and then at this one; whose terminal is gone ends as well.
way=ssh
far_ends "a connection that is cut" pkill -KILL -P "$(</tmp/dropbear.pid)"
for way in ssh sudo; do
	through $way
	tmux kill-server
	check "$way: a terminal that is gone: no program is left" wait_for no_program
done
way=ssh
through $way
pkill -KILL -x openssh
check "ssh: its client is gone: no program is left" wait_for no_program

# sudo stops with what it runs, and has it go on.
through sudo
keys C-z
check "sudo: Ctrl-Z stops it" wait_for test -s between
equal "sudo: the terminal's modes are what they were" "$(<between)" "$(<before)"
seen "sudo: it goes on as it was" '^\?:help q:quit'
keys g
seen "sudo: and has its keys" 'g:ctrl '
keys q
restored "sudo: q after that"
kill "$(</tmp/dropbear.pid)"

tmux kill-server
kill $load
wait $load 2>/dev/null
host_disconnect "$ctrl"
target_remove
finish
