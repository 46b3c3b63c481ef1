#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mutants.sh - tests/mutants/run tells a change with which a unit test fails from those that none notices, that do not
# compile, and whose lines are not there.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The test is one that takes no time to compile.
cat >"$work/list" <<'END'
# A comment.
@ bpf/queues.bpf.h bpf/test_socket*
-	if (!l || !original || ready == original || (__u64)BPF_CORE_READ(sk, sk_user_data) != queue)
+	if (!l || !original || (__u64)BPF_CORE_READ(sk, sk_user_data) != queue)
 		return;
@ bpf/queues.bpf.h bpf/test_sockets
-	nt_control.data_ready = ready;
+	nt_control.data_ready = ready + 0;

@ bpf/queues.bpf.h bpf/test_sockets
-	nt_control.data_ready = ready;
+	nt_control.data_ready = nobody;

@ bpf/queues.bpf.h bpf/test_sockets
-	nt_control.data_ready = nobody;

@ bpf/queues.bpf.h bpf/test_sockets
-{

@ src/core/hist.c core/test_stats
-		middle = low;
END
out=$(BUILD=$work/build tests/mutants/run "$work/list" '^bpf/' 2>&1)
status=$?
said() {
	sed -nE "s,^$work/list:$1: bpf/queues.bpf.h: ,,p" <<<"$out"
}
equal "a test fails" "$(said 2)" "killed (bpf/test_sockets)"
equal "none does" "$(said 6)" "survived"
equal "it does not compile" "$(said 10)" "not built ($work/build/mutants.log)"
equal "its line is not there" "$(said 14)" "not found"
equal "its line is there more than once" "$(said 17)" "not found"
equal "the closing line" "$(tail -n 1 <<<"$out" | sed 's/ in .*//')" \
	"1 of 5 killed by unit tests, 1 not built, 2 not found, 1 survived,"
check "not all were killed" test $status -eq 1
sed -n 1,5p "$work/list" >"$work/short"
BUILD=$work/build tests/mutants/run "$work/short" >/dev/null 2>&1
check "all were killed" test $? -eq 0
finish
