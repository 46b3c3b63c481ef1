#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 60
# A start that cannot work says why in one line and fails.
set -u
. /lib/machine.sh

# refused NAME PATTERN CMD...: fails, quickly, with PATTERN in one line of standard error and no output.
refused() {
	local name=$1 pattern=$2 status

	shift 2
	timeout 120 "$@" >/tmp/out 2>/tmp/err
	status=$?
	check "$name: fails" test $status -ne 0 -a $status -lt 124
	check "$name: says why" grep -q -- "$pattern" /tmp/err
	check "$name: in one line" test "$(grep -vc '^Try ' /tmp/err)" -eq 1
	check "$name: prints nothing else" test ! -s /tmp/out
	grep -q -- "$pattern" /tmp/err || sed 's/^/#   /' /tmp/err
}

refused "no side, and no driver" "no driver of NVMe/TCP is loaded: modprobe nvme-tcp on a host" ntprof-bpf
refused "both sides" "two sides" ntprof-bpf --host --target
refused "unknown option" "did you mean --host?" ntprof-bpf --hots
refused "unknown verb" "unknown verb 'tarce'" ntprof-bpf tarce --host
refused "too many words" "too many arguments" ntprof-bpf trace --host more
refused "interval that is no time" "not a time" ntprof-bpf --host -i soon
refused "interval of nothing" "too short" ntprof-bpf --host -i 0
refused "negative duration" "not a time" ntprof-bpf --host --duration=-5
refused "count of nothing" "not a positive" ntprof-bpf --host -n 0
refused "count that is no number" "not a positive" ntprof-bpf --host -n 1x
refused "option of another verb" "--interval is an option of live and serve, not of trace" ntprof-bpf trace --host -i 1
refused "source that is none" "neither" ntprof-bpf --host --source perf
refused "slower without trace" "--slower is an option of trace, record and report, not of live" ntprof-bpf --host --slower 1ms
chmod 755 /usr/bin/ntprof-bpf
refused "not root" "needs root or capabilities (missing: CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)" setpriv --reuid=65534 --clear-groups ntprof-bpf --host
refused "root without CAP_SYS_ADMIN" "(missing: CAP_SYS_ADMIN):" \
	setpriv --inh-caps=-all --bounding-set=-all,+bpf,+perfmon ntprof-bpf --host
refused "kernel too old" "too old" setarch --uname-2.6 ntprof-bpf --host
refused "probes of a kernel too old" "too old" setarch --uname-2.6 ntprof-bpf probes

modprobe nvme-tcp
modprobe nvmet-tcp
if [[ $VM_KIND == stock ]]; then
	refused "unpatched host" "the patches that come with the source" ntprof-bpf --host --source tracepoints
	refused "unpatched target" "the patches that come with the source" ntprof-bpf trace --target --source tracepoints
fi
declare -A default=([patched]=tracepoints [stock]=stock)
source=${default[$VM_KIND]}
for side in host target; do
	ntprof-bpf --$side -n 1 -i 0.1 >/tmp/out 2>/tmp/err
	check "$side: $source is what is taken when nobody asks" grep -q "  $source of " /tmp/out
	ntprof-bpf --$side --source stock -n 1 -i 0.1 >/tmp/out 2>/tmp/err
	check "$side: stock probes can be asked for" grep -q "  stock of " /tmp/out
done
mkdir -p /tmp/empty
mount --bind /tmp/empty /sys/kernel/btf
refused "no BTF" "no type information" ntprof-bpf --host
umount /sys/kernel/btf
check "--help helps" sh -c 'ntprof-bpf --help | grep -q Examples'
check "--version tells" sh -c 'ntprof-bpf --version | grep -q "^ntprof-bpf [0-9]"'
check "a full disk is noticed" sh -c '! ntprof-bpf --host -n 1 -i 0.1 >/dev/full 2>/dev/null'
finish
