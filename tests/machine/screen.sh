#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 270
# run with: --add tests/live/lib.sh:/lib/screen.sh --add /usr/bin/tmux:/usr/bin/tmux --add /usr/bin/ssh:/usr/bin/openssh --add /usr/bin/sudo:/usr/bin/sudo --add /usr/libexec/sudo/sudoers.so:/usr/libexec/sudo/sudoers.so --add /usr/lib/x86_64-linux-gnu/security/pam_permit.so:/usr/lib/x86_64-linux-gnu/security/pam_permit.so
# The program at a real terminal, which is tmux, there and through ssh and sudo: what it traces is on the screen, keys
# reach it, and whatever ends or stops it, the terminal has its modes again. What each key does is in tests/live/screen.sh,
# which needs no machine.
set -u
. /lib/machine.sh
. /lib/screen.sh

cd /tmp || exit 1
screen_begin
target_subsystem "$(target_setup_null a size=256 irqmode=2 completion_nsec=1000000)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# keep NAME: for the documents, and for who reads this.
keep() {
	screen | sed 's/^/# /'
	[[ ! -d /out ]] || screen >"/out/$1"
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
seen "stages are there" '^network_and_target +'
seen "and losses, or that there are none" '^(no losses|losses:)'
keep screen-80x24
keys Enter
seen "a row has a page" '^nvme[0-9]+, queue 1, read'
seen "with its stages" '^read +network_and_target'
keep row-80x24
keys q q
restored "q"
seen "with the summary of the run" '^(no losses|[a-z_]+ [0-9]+  # )'

# Both sides, at 80x24: the ten stages are there, with the total, the rows and the keys.
at_terminal 80 24 "$live --peer 'ntprof-bpf record --target -o -'"
seen "with a peer: stages of both sides" '^network_transmission +(host|network) '
seen "from the first one" '^blk_submission +(host|network) '
seen "to the last one" '^blk_completion +(host|network) '
seen "and the total" '^ total '
check "and the keys" wait_for is_last 24 '^\\?:help'
keep peer-80x24
keys Enter
seen "a row has its stages of both sides" '^of this queue, means of [0-9]+ merged commands'
keep peer-row-80x24
keys q q
restored "with a peer: q"

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
	resize 132 43
	check "$way: another size reaches it" wait_for is_last 43 '^\\?:help'
	keys q
	restored "$way: q"
	seen "$way: with the summary of the run" '^(no losses|[a-z_]+ [0-9]+  # )'
	far_ends "Ctrl-C" keys C-c
	seen "$way: Ctrl-C: with the summary" '^(no losses|[a-z_]+ [0-9]+  # )'
	for signal in TERM SEGV; do
		far_ends "SIG$signal" pkill -$signal -x ntprof-bpf
	done
done

# The connection breaks, at the far end first and then at this one; whose terminal is gone ends as well.
way=ssh
far_ends "a connection that is cut" pkill -KILL -P "$(</tmp/dropbear.pid)"
for way in ssh sudo; do
	through $way
	terminal kill-server
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

# The network is dead before tracing begins: no program sees anything of the commands in flight, and the controller's
# state and the block layer tell what is wrong.
# A machine that is busy takes long to begin to trace, and the controller has to be live until then. Later a write would
# wait for the commands in flight.
echo 70000 >"$(host_path "$ctrl")/queue/io_timeout"
sleep 1
tc qdisc add dev lo root netem loss 100%
# Those that were on their way have arrived, and none of them ends any more.
sleep 1
ntprof-bpf --host -i 1 -n 1 >first
check "a dead network: the first block says what hangs" \
	grep -qE '^nvme[0-9]+ (live|connecting).*, [0-9]+ in flight since before tracing, none ended for ' first
at_terminal 80 24 "$live"
seen "a dead network: commands from before tracing" '^nvme[0-9]+ live, [0-9]+ in flight since before tracing, none ended'
keep dead-80x24
seen "a dead network: the controller is connecting" '^nvme[0-9]+ connecting for [0-9.]+m?s'
seen "and is counted in the head" ' 1 connecting'
keep connecting-80x24
keys q
restored "a dead network: q"
at_terminal 40 10 "$live"
seen "connecting before tracing began: for so long or longer" '^nvme[0-9]+ connecting for [0-9.]+m?s or longer'
keep connecting-40x10
tc qdisc del dev lo root
seen "the network is back: rows are there" '^.nvme[0-9]+ +1 read'
gone "and no alarm" '^nvme[0-9]+ (live|connecting|resetting)'
keys q
restored "the network is back: q"
at_terminal 80 24 "$live"
seen "with the network: rows are there" '^.nvme[0-9]+ +1 read'
tc qdisc add dev lo root netem loss 100%
seen "dead again: rows are stalled, and in which stage" '^stalled: nvme[0-9]+ [0-9]+ [a-z]+ for [0-9.]+s in '
keep stalled-80x24
tc qdisc del dev lo root
gone "and no more when the network is back" '^stalled: '
seen "but it is told that there was one" '^stalled [0-9]+ times? since '
keys q
restored "dead again: q"

terminal kill-server
kill $load
wait $load 2>/dev/null
host_disconnect "$ctrl"
target_remove
finish
