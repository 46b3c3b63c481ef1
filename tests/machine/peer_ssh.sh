#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# run with: --add /usr/bin/ssh:/usr/bin/openssh
# A real ssh, under sudo, at a terminal: it asks whether a host's key is right, and for a password; nothing is drawn
# over that, and its answers reach it.
# shellcheck disable=SC1091
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 1)

# Somebody who may log in as root with a password, and a caller of sudo.
echo 'caller:x:1000:1000::/home/caller:/bin/bash' >>/etc/passwd
echo /bin/bash >/etc/shells
mkdir -p /home/caller /etc/dropbear
chown 1000:1000 /home/caller
# crypt(3) of "sesame"
echo 'root:$1$ntprof$SUOf9K8ekVflRDBl66gWJ/:19000::::::' >/etc/shadow
dropbear -R -p 127.0.0.1:2222 || exit

# at_terminal COMMAND: runs it in a terminal of 80 columns, of which what is seen goes to the file screen, and what
# is written into the descriptor $keys is typed.
at_terminal() {
	rm -f keys
	mkfifo keys
	TERM=xterm script -qfc "stty columns 80 rows 24; exec $1" screen <keys >/dev/null 2>&1 &
	terminal=$!
	exec {keys}>keys
}

# drawn: the cursor went to the upper left corner.
drawn() {
	grep -q $'\033\\[H' screen
}

ssh="openssh -p 2222 root@127.0.0.1 ntprof-bpf record --target -o -"
at_terminal "env SUDO_UID=1000 SUDO_GID=1000 ntprof-bpf --host -i 0.5 --peer '$ssh'"
check "ssh asks for the host's key" wait_for grep -q 'Are you sure you want to continue connecting' screen
sleep 2
check "the screen is not drawn" eval '! drawn'
echo yes >&"$keys"
check "then for the password" wait_for grep -q "root@127.0.0.1's password:" screen
echo wrong >&"$keys"
check "and again, for it was wrong" wait_for sh -c '[ $(grep -c "password:" screen) -ge 2 ]'
check "the screen still is not drawn" eval '! drawn'
check "what ssh says is there" wait_for grep -q 'peer 1 says: .*Permission denied' screen
echo sesame >&"$keys"
check "then the target's stream comes" wait_for grep -q 'peer 1: running' screen
check "and the screen is drawn" drawn
check "no password is seen" sh -c '! grep -q -e sesame -e wrong screen'
check "the caller's ssh knows the host now" test -s /home/caller/.ssh/known_hosts
equal "it ran as the caller" "$(ps -o user= -p "$(pgrep -fo '^openssh')" | sed 's/^1000$/caller/')" caller
printf '\003' >&"$keys"
wait "$terminal"
equal "Ctrl-C ends it" $? 0
check "with a summary" grep -q 'summary of' screen
check "no ssh is left" wait_for sh -c '! pgrep -f "^openssh"'
check "and no recorder" wait_for sh -c '! pgrep -f "^ntprof-bpf record"'
exec {keys}>&-

# Ctrl-C at a question ends everything.
at_terminal "env SUDO_UID=1000 SUDO_GID=1000 ntprof-bpf --host -i 0.5 --peer '$ssh'"
wait_for grep -q "password:" screen
printf '\003' >&"$keys"
wait "$terminal"
equal "Ctrl-C at a question ends the run well" $? 0
# What ends first is a matter of chance: the run, or what is known of the peer.
check "with a summary, which tells of the peer" grep -qE '^peer 1: (starting|died)' screen
check "no ssh is left behind" wait_for sh -c '! pgrep -f "^openssh"'
exec {keys}>&-

# A target that cannot be reached: the reason is seen, whole, at 80 columns.
at_terminal "ntprof-bpf --host -i 0.5 --peer '${ssh/2222/2}'"
check "the reason is on the screen" wait_for grep -q 'peer 1: died, exit status 255; openssh' screen
check "and what ssh says" grep -q 'peer 1 says: ssh: connect to host 127.0.0.1 port 2: Connection refused' screen
grep -a 'peer 1' screen | tail -n 4 | sed 's/^/# /'
printf '\003' >&"$keys"
wait "$terminal"
exec {keys}>&-
host_disconnect "$ctrl"
target_remove
finish
