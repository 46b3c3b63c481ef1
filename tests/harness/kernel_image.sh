#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel_image.sh - what tests/vm makes of a bzImage and of a vmlinux, whatever they are compressed with.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
# shellcheck source=tests/vm/lib/cache.sh
. tests/vm/lib/cache.sh
# shellcheck source=tests/vm/lib/kernel.sh
. tests/vm/lib/kernel.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# le BYTES NUMBER: as printf's escapes.
le() {
	local i

	for ((i = 0; i < $1; i++)); do
		printf '\\x%02x' $(($2 >> 8 * i & 255))
	done
}

# put FILE OFFSET ESCAPES
put() {
	# shellcheck disable=SC2059 # they are a format
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# bzimage FILE PAYLOAD: the head that Documentation/arch/x86/boot.rst describes, with two sectors of setup code, and
# something behind the payload.
bzimage() {
	local setup=2 before=100

	head -c $(((setup + 1) * 512 + before)) /dev/zero >"$1"
	put "$1" $((0x1f1)) "$(le 1 $setup)"
	put "$1" $((0x202)) 'HdrS'
	put "$1" $((0x20e)) "$(le 2 $((0x300)))"
	put "$1" $((0x248)) "$(le 4 $before)$(le 4 "$(stat -c %s "$2")")"
	put "$1" $((0x500)) '9.8.7-test (who@where) #1\x00'
	cat "$2" - <<<"what lies behind it" >>"$1"
}

# An "ELF image" larger than a block of any of them.
{
	printf '\x7fELF Linux version 9.8.7-test (who@where) #1'
	seq 100000
} >"$work/vmlinux"
size=$(le 4 "$(stat -c %s "$work/vmlinux")")
for tool in gzip xz zstd; do
	"$tool" -c "$work/vmlinux" >"$work/payload"
	# scripts/Makefile.lib: its size goes behind all but gzip's, which ends with it.
	# shellcheck disable=SC2059 # escapes
	[[ $tool == gzip ]] || printf "$size" >>"$work/payload"
	bzimage "$work/bzImage" "$work/payload"
	(kernel_decompress "$work/out" "$work/bzImage") 2>"$work/err"
	equal "$tool: decompressing ends well" $? 0
	check "$tool: and gives the whole image" cmp -s "$work/out" "$work/vmlinux"
	equal "$tool: its release is told" "$(kernel_release "$work/bzImage")" 9.8.7-test
done
check "a vmlinux is taken as it is" kernel_decompress "$work/same" "$work/vmlinux"
check "every byte of it" cmp -s "$work/same" "$work/vmlinux"
equal "and its release is told" "$(kernel_release "$work/vmlinux")" 9.8.7-test
check "what is neither is refused" sh -c '! bash -c ". tests/vm/lib/cache.sh; . tests/vm/lib/kernel.sh; \
	kernel_decompress /dev/null tests/check" 2>/dev/null'
finish
