#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debug_reports.sh - what tests/debug/reports makes of what kernels say.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# says NAME EXPECTED: of the log on standard input, and of $work/leaks.
says() {
	cat >"$work/log"
	equal "$1" "$(tests/debug/reports "$work/log" "$work/leaks")" "$2"
}

: >"$work/leaks"
says "a quiet log has no report" "" <<'LOG'
[    0.000000] Linux version 6.1.192
[    0.512001] nvme nvme0: creating 2 I/O queues.
[    1.000000] Warning: unsafe mode
[    9.100000] nvmet: ctrl 1 fatal error occurred!
LOG

says "memory that was freed" "KASAN: use-after-free in nvme_tcp_recv_pdu" <<'LOG'
[   61.250000] ==================================================================
[   61.250100] BUG: KASAN: use-after-free in nvme_tcp_recv_pdu.isra.0+0x3a/0x210 [nvme_tcp]
[   61.250200] Read of size 8 at addr ffff88800b1f2d30 by task kworker/0:1H/71
LOG

says "a warning, with and without a processor's number in front" \
	"WARNING at drivers/nvme/target/tcp.c:1612 nvmet_tcp_release_queue_work
WARNING at lib/refcount.c:28 refcount_warn_saturate
WARNING at lib/refcount.c:28 refcount_warn_saturate" <<'LOG'
[   61.250000] WARNING: CPU: 1 PID: 77 at drivers/nvme/target/tcp.c:1612 nvmet_tcp_release_queue_work+0x1c/0x30 [nvmet_tcp]
[   62.250000][   T12] WARNING: CPU: 0 PID: 12 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110
[   63.250000] WARNING: lib/refcount.c:28 at refcount_warn_saturate+0xfc/0x1c70, CPU#0: fio/214
LOG

circle="possible circular locking dependency detected: (work_completion)(&queue->io_work), sk_lock-AF_INET-NVME"
says "locks in a circle" "$circle" <<'LOG'
[   55.100000] ======================================================
[   55.100000] WARNING: possible circular locking dependency detected
[   55.100000] 6.1.192 #1 Not tainted
[   55.100000] ------------------------------------------------------
[   55.100000] kworker/u4:1/45 is trying to acquire lock:
[   55.100000] ffff88800a1b2d30 ((work_completion)(&queue->io_work)){+.+.}-{0:0}, at: __flush_work+0x5f/0x570
[   55.100000]
[   55.100000] but task is already holding lock:
[   55.100000] ffff88800a1b2e80 (sk_lock-AF_INET-NVME){+.+.}-{0:0}, at: tcp_close+0x17/0x70
[   55.100000]
[   55.100000] which lock already depends on the new lock.
[   55.100000] -> #1 (sk_lock-AF_INET-NVME){+.+.}-{0:0}:
[   55.100000] 2 locks held by kworker/u4:1/45:
[   55.100000]  #0: ffff888001 ((wq_completion)nvmet-wq){+.+.}-{0:0}, at: process_one_work+0x1d0/0x560
LOG
says "the same ones from the other end" "$circle" <<'LOG'
[   55.100000] WARNING: possible circular locking dependency detected
[   55.100000] nvme/145 is trying to acquire lock:
[   55.100000] ffff88800a1b2e80 (sk_lock-AF_INET-NVME){+.+.}-{0:0}, at: tcp_close+0x17/0x70
[   55.100000] but task is already holding lock:
[   55.100000] ffff88800a1b2d30 ((work_completion)(&queue->io_work)){+.+.}-{0:0}, at: process_one_work+0x1d0/0x560
LOG
says "a lock's state, and not what else is held" "inconsistent lock state: &queue->lock" <<'LOG'
[   55.100000] WARNING: inconsistent lock state
[   55.100000] inconsistent {SOFTIRQ-ON-W} -> {IN-SOFTIRQ-W} usage.
[   55.100000] fio/145 [HC0[0]:SC1[1]:HE1:SE0] takes:
[   55.100000] ffff88800a1b2e80 (&queue->lock){+.?.}-{2:2}, at: nvme_tcp_data_ready+0x2f/0x110 [nvme_tcp]
[   55.100000] 1 lock held by fio/145:
[   55.100000]  #0: ffffffff82 (rcu_read_lock){....}-{1:2}, at: ip_local_deliver_finish+0x5/0x1a0
LOG
says "RCU, and a lock that nobody holds" "suspicious RCU usage: kernel/bpf/trampoline.c:120
bad unlock balance detected!: &ctrl->lock" <<'LOG'
[   55.100000] WARNING: suspicious RCU usage
[   55.100000] 6.1.192 #1 Not tainted
[   55.100000] -----------------------------
[   55.100000] kernel/bpf/trampoline.c:120 suspicious rcu_dereference_check() usage!
[   56.100000] WARNING: bad unlock balance detected!
[   56.100000] fio/145 is trying to release lock (&ctrl->lock) at:
[   56.100000] [<ffffffff8110>] nvme_tcp_free_queue+0x10/0x20
LOG
says "what is not to be done there" "BUG: sleeping function called from invalid context at mm/slab.h:494
BUG: using smp_processor_id() in preemptible code, nvme_tcp_queue_rq
BUG: scheduling while atomic
ODEBUG: free active (active state 0) object type: work_struct hint: nvme_tcp_io_work
rcu: INFO: rcu_preempt self-detected stall" <<'LOG'
[   55.100000] BUG: sleeping function called from invalid context at mm/slab.h:494
[   55.100000] in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 145, name: fio
[   56.100000] BUG: using smp_processor_id() in preemptible [00000000] code: fio/145
[   56.100000] caller is nvme_tcp_queue_rq+0x10/0x20 [nvme_tcp]
[   57.100000] BUG: scheduling while atomic: fio/145/0x00000002
[   58.100000] ODEBUG: free active (active state 0) object type: work_struct hint: nvme_tcp_io_work+0x0/0x90 [nvme_tcp]
[   59.100000] rcu: INFO: rcu_preempt self-detected stall on CPU
LOG

cat >"$work/leaks" <<'LEAKS'
unreferenced object 0xffff88800b1f2d00 (size 96):
  comm "kworker/0:1", pid 71, jiffies 4294950010 (age 31.250s)
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace:
    [<000000001b2c3d4e>] __kmalloc+0x4a/0x150
    [<000000001b2c3d4f>] nvmet_tcp_alloc_queue+0x91/0x3c0 [nvmet_tcp]
    [<000000001b2c3d50>] process_one_work+0x2d1/0x560
unreferenced object 0xffff88800b1f2e00 (size 8):
  comm "nvme", pid 171, jiffies 4294950010 (age 31.250s)
  backtrace:
    kmem_cache_alloc_trace+0x4a/0x150
    nvme_tcp_create_ctrl+0x91/0x3c0
LEAKS
says "what nobody refers to" "leak of 96 bytes: nvmet_tcp_alloc_queue process_one_work
leak of 8 bytes: nvme_tcp_create_ctrl" <<'LOG'
[    0.000000] Linux version 6.1.192
LOG
finish
