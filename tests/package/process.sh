#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# process.sh - what the program does before anything else: descriptors 0 to 2 are open, and as root no other process of root's
# without capabilities reaches its memory. As somebody else it can be debugged.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

program=${BUILD:-build}/ntprof-bpf
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# running NAME COMMAND...: starts it, and waits until it reads the FIFO of that name; its process id is in $pid.
running() {
	mkfifo -m 666 "$work/$1" || exit 1
	"${@:2}" report "$work/$1" >"$work/out" 2>&1 &
	pid=$!
	exec {fifo}>"$work/$1"
}
ended() {
	exec {fifo}>&-
	wait "$pid"
}
# What is opened next would else get such a number, and be a recording that messages are written to.
running closed sh -c 'exec "$0" "$@" <&- >&- 2>&-' "$program"
for fd in 0 1 2; do
	equal "descriptor $fd, which was closed, is none of its files" "$(readlink "/proc/$pid/fd/$fd")" /dev/null
done
ended
check "what is printed to a closed descriptor is an error" eval '! "$program" report docs/examples/slow-disk.host.ntp >&- 2>/dev/null'
check "...which a message names" eval '"$program" version 2>&1 >&- | grep -q "cannot write to standard output"'

bare=(setpriv --no-new-privs --inh-caps=-all --bounding-set=-all)
# opens FILE COMMAND...: whether a shell may open that of /proc/$pid for reading and writing.
opens() {
	"${@:2}" sh -c 'exec 3<>"$1"' sh "/proc/$pid/task/$pid/$1" 2>/dev/null
}
if ((EUID)); then
	echo "ok $((tap_nr += 1)) - other processes of root's # SKIP takes root"
	finish
fi
cp "$program" "$work/program" || exit 1
running root "${bare[@]}" "$work/program"
check "root without capabilities does not reach the memory of root without capabilities" eval '! opens mem "${bare[@]}"'
check "...which has a name in /proc" test -e "/proc/$pid/task/$pid/mem"
for file in fd/0 cwd environ maps pagemap root; do
	check "nor its $file" eval '! "${bare[@]}" sh -c "exec 3<\"\$1\"" sh "/proc/$pid/$file" 2>/dev/null'
done
ended
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
running nobody "${nobody[@]}" "$work/program"
check "somebody's own debugger does" opens mem "${nobody[@]}"
ended
finish
