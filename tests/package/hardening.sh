#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# hardening.sh - the program has what makes a fault in it harder to use, as it is built without any option, and so has the
# statically linked one.
#
#   tests/package/hardening.sh [PROGRAM...]     those, which are there
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

build=${BUILD:-build}
if (($# == 0)); then
	log=$(mktemp) || exit 1
	trap 'rm -f "$log"' EXIT
	check "make static-program" eval 'make --no-print-directory BUILD="$build" static-program >"$log" 2>&1'
	sed 's/^/# /' "$log"
	set -- "$build/ntprof-bpf" "$build/ntprof-bpf-static"
fi
for program; do
	name=${program##*/}
	dynamic=$(readelf -dW "$program") segments=$(readelf -lW "$program") symbols=$(readelf -sW "$program")
	check "$name lies where nobody knows (PIE)" grep -q 'FLAGS_1.* PIE' <<<"$dynamic"
	check "$name resolves all symbols when it starts (BIND_NOW)" grep -q 'FLAGS_1.* NOW' <<<"$dynamic"
	check "$name cannot write to what the linker has filled by then (RELRO)" grep -q GNU_RELRO <<<"$segments"
	check "$name has a stack that nothing is executed on" grep -q 'GNU_STACK .* RW  ' <<<"$segments"
	check "$name looks whether its stack was overwritten" grep -q '__stack_chk_fail' <<<"$symbols"
	check "$name looks whether a buffer is too small (FORTIFY)" grep -qE ' __(read|memcpy|f?printf|v?snprintf)_chk' <<<"$symbols"
done
finish
