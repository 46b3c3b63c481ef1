#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 50
# A peer's records and the host's are brought together while they come; and whatever becomes of a recorder, the host's own
# view goes on and says so. What else a peer may do is in tests/live/peers.sh, which needs no machine.
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

# no_recorder NAME: no recorder of the target runs on.
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

# The same from the target's end, with the host as the peer.
tracer_start turned --target -i 1 --peer 'ntprof-bpf record --host -o -'
wait_for grep -q '^peer 1: running' turned
wait_for tracer_ready "$(pgrep -fo '^ntprof-bpf record --host')"
load --number_ios=600 --fsync=100
wait_for grep -q '^read *network_transmission' turned
tracer_stop "$tracer_pid"
equal "on the target: the run ends well" $? 0
check "on the target: no recorder is left" wait_for -t 60 sh -c '! pgrep -f "^ntprof-bpf record --host"'
for op in read write flush; do
	got=$(awk -v op=$op '$1 == "merged" && $2 == op { print $3 }' turned)
	equal "on the target: every $op is matched" "$got" "$(commands turned $op)"
	equal "on the target: the stages of every $op add up" \
		"$(total turned 0 merged_stage $op)" "$(total turned 0 merged $op)"
done
check "on the target: the host's recorder is the peer" grep -q '^peer 1: .*host' turned

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

told "a recording of the wrong side" 'refused, it records a host' 'ntprof-bpf record --host -o -'
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

for wrong in 'trace --host --peer x' 'record --host -o x --peer x' 'report x --peer x' '--host --peer'; do
	# shellcheck disable=SC2086 # several words
	check "refused: $wrong" sh -c '! ntprof-bpf "$@" 2>err; test -s err' sh $wrong
done
host_disconnect "$ctrl"
target_remove
finish
