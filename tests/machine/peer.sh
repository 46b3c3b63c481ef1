#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 150
# A peer's records and the host's are brought together while they come; and whatever a peer does, the
# host's own view goes on and says so.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# load FIO-OPTIONS...
load() {
	fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randrw \
		--bssplit=4k/60:16k/20:128k/20 --iodepth=8 "$@" >/tmp/fio 2>&1 || cat /tmp/fio
}

# no_recorder NAME: no recorder of the target runs on; one that writes into a FIFO hears only when it
# writes again that nobody reads.
no_recorder() {
	check "$1" wait_for -t 60 sh -c '! pgrep -f "^ntprof-bpf record --target"'
}

record='ntprof-bpf record --target -o -'

tracer_start both --host -i 1 --peer "$record"
wait_for grep -q '^peer 1: running' both
wait_for tracer_ready "$(pgrep -fo '^ntprof-bpf record --target')"
load --number_ios=2000 --fsync=100
wait_for grep -q '^read *network_transmission' both
tracer_stop "$tracer_pid"
equal "the run ends well" $? 0
no_recorder "and no recorder is left"
grep -E '^(peer|matched|connection|unsplit|negative|read .*(target_subsystem|network))' both | tail -n 14 | sed 's/^/# /'
check "the ten stages are shown while it runs" test "$(grep -c '^read *network_transmission' both)" -ge 2
for op in read write flush; do
	got=$(awk -v op=$op '$1 == "merged" && $2 == op { print $3 }' both)
	equal "every $op is matched" "$got" "$(commands both $op)"
	equal "the stages of every $op add up" \
		"$(total both 0 merged_stage $op)" "$(total both 0 merged $op)"
done
equal "none is negative" "$(awk '$1 == "negative_stages" { print $2 }' both)" 0
check "the peer's end is told" grep -q '^peer 1: ended' both
no_losses "the host lost nothing" both

# told NAME PATTERN PEER...: a load runs while there is such a peer; the host sees all of it, and tells
# of the peer in an interval and in the summary.
told() {
	local name=$1 pattern=$2 peers=() p

	shift 2
	for p; do
		peers+=(--peer "$p")
	done
	tracer_start out --host -i 0.5 "${peers[@]}"
	wait_for grep -qE "^peer [0-9]+(:| says:) $pattern" out
	load --number_ios=300
	sleep 1
	tracer_stop "$tracer_pid"
	equal "$name: the run ends well" $? 0
	check "$name: it is told while it runs" test "$(grep -cE "^peer [0-9]+(:| says:) $pattern" out)" -ge 2
	check "$name: and in the summary" sh -c "sed -n '/^summary/,\$p' out | grep -qE '^peer [0-9]+(:| says:) $pattern'"
	sed -n '/^summary/,$p' out | grep '^peer' | sed 's/^/# /'
	check "$name: the host sees every command" test "$(($(commands out read) + $(commands out write)))" -eq 300
	no_recorder "$name: nothing runs on"
}

told "a command that fails" 'died, exit status 3; exit 3' 'exit 3'
told "no such command" 'died, exit status 127; /no/such' /no/such/command
told "no such command: what it says" '.*no/such/command: not found' /no/such/command
told "nonsense" 'refused, byte 0: ' 'echo hello; sleep 100'
told "endless nonsense" 'refused, byte 0: ' 'cat /dev/urandom'
told "silence" 'starting; sleep 100' 'sleep 100'
told "what one says that starts" 'I am about to' 'echo I am about to >&2; sleep 100'
told "a recording of the wrong side" 'refused, it records a host' 'ntprof-bpf record --host -o -'
ntprof-bpf record --target -d 0.2 -o old.ntp 2>/dev/null
printf '\377' | dd of=old.ntp bs=1 seek=8 conv=notrunc 2>/dev/null
told "another version" 'refused, byte [0-9]*: .*version' ./old.ntp
told "two at once, one of which is well" 'refused' 'echo hello' "$record"

# A recorder that is killed, and one that is stopped.
tracer_start killed --host -i 0.5 --peer "$record"
wait_for grep -q '^peer 1: running' killed
pkill -KILL -f '^ntprof-bpf record --target'
wait_for grep -q '^peer 1: died' killed
load --number_ios=300
tracer_stop "$tracer_pid"
equal "a peer that is killed: the run ends well" $? 0
check "it is told in the summary" sh -c "sed -n '/^summary/,\$p' killed | grep '^peer 1: died.*killed by signal 9'"
equal "the host sees every command" "$(($(commands killed read) + $(commands killed write)))" 300

tracer_start stalled --host -i 0.5 --peer "$record"
wait_for grep -q '^peer 1: running' stalled
recorder=$(pgrep -fo '^ntprof-bpf record --target')
wait_for tracer_ready "$recorder"
kill -STOP "$recorder"
wait_for grep -q '^peer 1: stalled, silent for [3-9]' stalled
# Few and at once gone on: a record whose other side does not come within 5 s is given up.
dd if="$dev" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
kill -CONT "$recorder"
# What was running before the stall is no sign.
before=$(wc -l <stalled)
load --number_ios=300
wait_for sh -c "tail -n +$((before + 1)) stalled | grep -q '^peer 1: running'"
sleep 1
tracer_stop "$tracer_pid"
equal "a peer that stalls: the run ends well" $? 0
check "it does not say how it goes: that is seen" sh -c "! sed '/^summary/,\$d' stalled | grep 'says: target:'"
equal "what it says when it goes on still counts" $(($(total stalled 3 merged read) + $(total stalled 3 merged write))) 350
sed -n '/^summary/,$p' stalled | grep -E '^(peer|matched)' | sed 's/^/# /'

# What a shell has started ends with it; so does what does not want to.
tracer_start orphans --host -i 0.5 \
	--peer "sleep 2001 & $record; sleep 2002" --peer "trap '' TERM; echo deaf >&2; while :; do sleep 0.2; done"
wait_for grep -q '^peer 1: running' orphans
wait_for grep -q '^peer 2 says: deaf' orphans
tracer_stop "$tracer_pid"
equal "peers that start others: the run ends well" $? 0
no_recorder "no recorder is left"
check "nor what else they started" wait_for -t 60 sh -c '! pgrep -f "^sleep 200|[e]cho deaf|^ntprof-bpf --host"'

# Nor does anything outlive a program that is killed.
tracer_start killed --host -i 0.5 --peer "sleep 2001 & $record; sleep 2002"
wait_for grep -q '^peer 1: running' killed
{
	kill -KILL "$tracer_pid"
	wait "$tracer_pid"
} 2>/dev/null
no_recorder "the host's is killed: no recorder is left"
check "nor what else its peer started" wait_for sh -c '! pgrep -f "^sleep 200"'

# Who presses Ctrl-C again does not want to wait for peers; they would have 2 s.
tracer_start hurry --host -i 0.5 \
	--peer "trap 'touch asked; sleep 1.8; touch all; exit' TERM; echo ready >&2; while :; do sleep 0.1; done"
wait_for grep -q '^peer 1 says: ready' hurry
kill -INT "$tracer_pid"
wait_for test -e asked
tracer_stop "$tracer_pid"
equal "a second Ctrl-C: the run ends well" $? 0
check "with its summary" grep -q '^summary' hurry
check "and the peer was not waited for" test ! -e all

# Under sudo a peer is its caller's; what needs root is still there for who asks for it.
for as in 1000 0; do
	option=()
	((as)) || option=(--peer-as-root)
	SUDO_UID=1000 SUDO_GID=1000 ntprof-bpf --host -d 3 "${option[@]}" \
		--peer 'echo id $(id -u) >&2; sleep 100' >sudo 2>sudo.err
	check "under sudo ${option[*]}: the command runs as $as" grep -q "^peer 1 says: id $as\$" sudo
done
if SUDO_UID=x ntprof-bpf --host -d 1 --peer true >sudo 2>sudo.err; then
	check "a caller that is nobody: refused" false
fi
check "a caller that is nobody: it says what to do" grep -q -e '--peer-as-root' sudo.err

# A FIFO and a file do as well.
mkfifo fifo
ntprof-bpf record --target -o fifo 2>/dev/null &
told "a FIFO" '(running|stalled, silent for [0-9]+ s); .*; fifo' fifo
wait
ntprof-bpf record --target -o growing.ntp 2>/dev/null &
growing=$!
wait_for tracer_ready $growing
told_file() {
	tracer_start out --host -i 0.5 --peer growing.ntp
	wait_for grep -q '^peer 1: running; .*; growing.ntp' out
	load --number_ios=300
	sleep 1
	tracer_stop "$tracer_pid"
	equal "a file that grows: the run ends well" $? 0
	# A Keep Alive may have come before the target's recorder did.
	equal "all of it is matched" $(($(total out 3 merged read) + $(total out 3 merged write))) 300
}
told_file
kill -INT $growing
wait $growing

for wrong in '--target --peer x' 'trace --host --peer x' 'record --host -o x --peer x' 'report x --peer x' '--host --peer'; do
	# shellcheck disable=SC2086 # several words
	check "refused: $wrong" sh -c '! ntprof-bpf "$@" 2>err; test -s err' sh $wrong
done
host_disconnect "$ctrl"
target_remove
finish
