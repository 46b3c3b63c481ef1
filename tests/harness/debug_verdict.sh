#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debug_verdict.sh - what tests/debug/run makes of what machines leave. A program of its own stands in for tests/vm/run.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/dir/patched" "$work/says"
touch -d yesterday "$work/dir/bzImage" "$work/dir/patched/bzImage"

# It leaves a quiet log, and what $work/says/NAME.KIND has is done in its /out. It is called with the kind first, with
# --out DIR, and with the script last.
cat >"$work/run" <<'END'
#!/bin/bash
says=$(dirname "$0")/says
while (($# > 1)); do
	[[ $1 != --out ]] || out=$2
	shift
done
cd "$out" || exit
echo "[    1.0] Linux version" >log
: >leaks
printf '%s\n' KASAN lockdep kmemleak >checks
echo "ok 1 - $1"
name=$(basename "$out")
echo "$name" >>"$says/ran"
[[ ! -e $says/$name ]] || . "$says/$name"
END
chmod +x "$work/run"
freed="[    1.0] BUG: KASAN: use-after-free in copy_user_test+0x1/0x2 [test]"
leak=$(printf '%s\n' "unreferenced object 0xffff88 (size 8):" "  backtrace:" "    [<0>] kmemleak_test_init+0x1/0x2")
echo "echo ${freed@Q} >>log; echo ${leak@Q} >leaks; (echo KASAN; echo kmemleak) >checks" >"$work/says/faults.stock"

# judged NAME STATUS FAILED ARG...: how it ends, and how many lines are not ok.
judged() {
	local name=$1 status=$2 bad=$3 got=0

	shift 3
	DEBUG_VM_RUN=$work/run tests/debug/run --dir "$work/dir" "$@" >"$work/out" 2>&1 || got=$?
	equal "$name: the status" $got "$status"
	equal "$name: what is not ok" "$(grep -c '^not ok' "$work/out")" "$bad"
}

judged "nothing is found" 0 0 life
equal "the kernel alone, the patches alone, and the test on both" "$(paste -sd' ' "$work/says/ran")" \
	"faults.stock load.stock load.patched life.patched life.stock"
: >"$work/says/ran"
judged "a second time" 0 0 --kind stock machine/life
equal "what the kernel does by itself is known" "$(paste -sd' ' "$work/says/ran")" "faults.stock life.stock"

freed="[    2.0] BUG: KASAN: use-after-free in nvme_tcp_queue_rq+0x1/0x2 [nvme_tcp]"
echo "echo ${freed@Q} >>log" >"$work/says/life.patched"
judged "memory that was freed" 1 1 life
check "it is named" grep -qx "#   KASAN: use-after-free in nvme_tcp_queue_rq" "$work/out"
cp "$work/says/life.patched" "$work/says/load.stock"
judged "what the kernel does by itself as well" 0 0 --again life
check "is told" grep -qx "# the kernel by itself: KASAN: use-after-free in nvme_tcp_queue_rq" "$work/out"
rm "$work/says/load.stock"
judged "and not for ever" 1 1 --again life
echo "echo ${leak@Q} >leaks" >"$work/says/life.patched"
judged "memory that nobody refers to" 1 1 life

echo "(echo KASAN; echo kmemleak) >checks" >"$work/says/life.patched"
judged "lockdep that stopped without a word" 1 1 life
circle="[    3.0] WARNING: possible recursive locking detected"
echo "(echo KASAN; echo kmemleak) >checks; echo ${circle@Q} >>log" >"$work/says/life.patched"
cp "$work/says/life.patched" "$work/says/load.stock"
judged "lockdep that stopped at what the kernel does by itself" 0 0 --again life
check "is told" grep -qx "# life.patched: lockdep has stopped at its report" "$work/out"
rm "$work/says/load.stock"
echo "echo 'not ok 1 - a'; exit 1" >"$work/says/life.patched"
judged "a test that fails" 1 1 --again life
check "what failed is told" grep -qx "#   not ok 1 - a" "$work/out"
echo "rm log leaks checks; exit 125" >"$work/says/life.patched"
judged "a machine that dies" 1 3 life
rm "$work/says/life.patched" "$work/says/faults.stock"
judged "a kernel that finds no faults where there are" 1 2 life
judged "a test that there is none of" 2 0 nonsense
finish
