#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh SCRIPT - in a machine with a kernel of "tests/vm/build-kernel --debug": run SCRIPT, take down what it left, unload
# the drivers, look for what nobody refers to any more, and leave in /out
#   log      what the kernel said
#   leaks    what kmemleak found
#   checks   "KASAN", "kmemleak" and "lockdep", each if the kernel has it and it was still on in the end
# The status is SCRIPT's. With "spoil" in place of SCRIPT: modules that leak and that read what is freed.
set -u
. /lib/vm.sh

leaks=/sys/kernel/debug/kmemleak

if [[ $1 == spoil ]]; then
	insmod /root/kmemleak-test.ko
	rmmod kmemleak_test
	# It does its work and is not loaded.
	insmod /root/kasan.ko 2>/dev/null
	echo "ok 1 - modules with faults"
	status=0
else
	bash "$@"
	status=$?
fi

nvme disconnect-all >/dev/null 2>&1
target_remove >/dev/null 2>&1
modprobe -r nvme-tcp nvmet-tcp 2>/dev/null

# The first scan marks, the next ones tell what has not changed since; nothing of the last five seconds is told (MSECS_MIN_AGE,
# mm/kmemleak.c).
for _ in 1 2 3; do
	sleep 6
	echo scan >$leaks
done
cat $leaks >/out/leaks
{
	! grep -q ' kasan_report$' /proc/kallsyms || echo KASAN
	! grep -q '^ *debug_locks: *1$' /proc/lockdep_stats || echo lockdep
	# One that has given up cannot be told to scan.
	! echo scan >$leaks || echo kmemleak
} >/out/checks 2>/dev/null
dmesg >/out/log
exit $status
