#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 80
# A recorder on the other machine whose ssh is stopped here goes on tracing, and a signal ends it.
# shellcheck disable=SC1091,SC2016,SC2154 # ctrl, dev and pair_target are set by it; $ is for the other shell
set -u
. /lib/pair.sh
cd /tmp || exit 1

on_target "target_subsystem \$(target_setup_null away size=256)
	target_port $pair_target"
pair_connect -i 1

# reads N: so many commands
reads() {
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --size=100M --rw=randread --bs=4k \
		--iodepth=16 --number_ios="$1" --norandommap >/tmp/fio 2>&1 || cat /tmp/fio
}

ssh root@target 'exec ntprof-bpf record --target -o - --buffer 256K 2>/tmp/err' >target.ntp &
client=$!
on_target 'wait_for tracer_ready "$(pgrep -fo "^ntprof-bpf record --target")"
	pgrep -fo "^ntprof-bpf record --target" >recorder'
reads 100
kill -STOP $client
reads 15000
check "SIGTERM ends a recorder whose ssh is stopped" on_target 'pid=$(<recorder)
	kill -TERM $pid
	wait_for -t 30 sh -c "! test -e /proc/$pid"'
on_target 'kill -KILL $(<recorder) 2>/dev/null; tail -n 1 err' >told
sed 's/^/# /' told
kill -CONT $client
wait $client
check "what was read is a stream" sh -c "ntprof-bpf report target.ntp >report"
commands=$(commands report read)
losses=$(sed -n 's/.*, \([0-9]*\) losses,.*/\1/p' told)
within "with the commands that the pipe had room for" "$commands" 100 15100
within "others are left out" "${losses:-0}" 1 15100
within "every command is there or counted" \
	$(($(sed -n 's/^target: \([0-9]*\) commands.*/\1/p' told) + ${losses:-0})) 15100 15300
host_disconnect "$ctrl"
finish
