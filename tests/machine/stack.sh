#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --icount --append thread_backlog_napi=1 --add tests/machine/workers.sh:/lib/workers.sh
# with programs: burst_reader
# takes: 60
# As workers.sh has it, where a thread of the kernel brings packets through the stack (Linux 6.10 and later): what keeps the processor
# from it is in the stack's part.
set -u
grep -q thread_backlog_napi=1 /proc/cmdline || exit 1
. /lib/workers.sh
