# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# stubs.sh - libraries with the names and symbols that a program asks for, and nothing behind them.
#
# The distribution's fio is linked with the clients of several storage systems, which no test uses: they are two
# thirds of the image, and what each start of fio is busy with. Who calls one of their functions after all is
# aborted.

# What programs need anyway.
stubs_never='^(lib(c|m|z|aio|numa|uring|pthread|dl|rt)\.so|ld-linux)'

# stubs_symbols PROGRAM LIBRARY: what PROGRAM takes from LIBRARY, "NAME" or "NAME@VERSION" each.
stubs_symbols() {
	LC_ALL=C comm -12 <(nm -D --undefined-only "$1" | awk '{ print $NF }' | LC_ALL=C sort -u) \
		<(nm -D --defined-only "$2" | awk '{ sub(/@@/, "@", $NF); print $NF }' | LC_ALL=C sort -u)
}

# stubs_make PROGRAM LIBRARY FILE: FILE is to PROGRAM what LIBRARY is.
stubs_make() {
	local program=$1 library=$2 file=$3 work symbols flags

	work=$(mktemp -d "${TMPDIR:-/tmp}/ntprof-stub.XXXXXX")
	symbols=$(stubs_symbols "$program" "$library")
	awk -F@ '{ print "void " $1 "(void);\nvoid " $1 "(void) { __builtin_trap(); }" }' <<<"$symbols" >"$work/stub.c"
	awk -F@ 'NF > 1 { names[$2] = names[$2] " " $1 ";" }
		END { for (v in names) print v " { global:" names[v] " };" }' <<<"$symbols" >"$work/versions"
	flags=(-shared -fPIC -nostdlib -Xlinker "-soname=${library##*/}")
	[[ ! -s $work/versions ]] || flags+=(-Xlinker "--version-script=$work/versions")
	"${root_dir:+aarch64-linux-gnu-}gcc" "${flags[@]}" -o "$file" "$work/stub.c"
	rm -r "$work"
}

# stubs_add ROOT PROGRAM: into ROOT/usr/lib, before PROGRAM is added with what else it needs.
stubs_add() {
	local root=$1 program=$2 needed name library

	needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	for name in $needed; do
		[[ ! $name =~ $stubs_never ]] || continue
		library=$(image_libraries "$program" | awk -v n="$name" '$1 == n { print $2 }')
		mkdir -p "$root${library%/*}"
		stubs_make "$program" "$root_dir$library" "$root$library"
	done
}
