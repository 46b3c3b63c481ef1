#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-build-modules.sh - the kernel patches, and kernel_patches/build-modules: what it builds, what it refuses, and that
# it leaves nothing behind.
#
# Environment, as for build-modules: KVER, KDIR, KSRC, BTF_BASE. Needs no root. It builds once.

set -euo pipefail
export LC_ALL=C

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build_modules=$top/kernel_patches/build-modules

export KVER=${KVER:-$(uname -r)}
export KDIR=${KDIR:-/lib/modules/$KVER/build}
line=$(sed -n 's/^#define LINUX_VERSION_\(MAJOR\|PATCHLEVEL\) //p' "$KDIR/include/generated/uapi/linux/version.h" |
	paste -sd.)
export KSRC=${KSRC:-/usr/src/linux-source-$line.tar.xz}
unset DESTDIR MODULES SIGN_KEY SIGN_CERT

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export OUT=$tmp/out
# The given source, unpacked, for what the tests do to it.
tree=$tmp/tree
root=$tmp/root
installed=$root/lib/modules/$KVER/updates/ntprof-bpf

fail() {
	echo "# $*"
	return 1
}

# run ARG...: build-modules, its output and status kept
run() {
	status=0
	"$build_modules" "$@" >"$tmp/log" 2>&1 || status=$?
}

# refused TEXT: the last run failed with one line that has TEXT in it
refused() {
	[[ $status != 0 ]] || fail "not refused" || return
	[[ $status == 1 ]] || fail "exit status $status" || return
	[[ $(grep -cv 'building' "$tmp/log") == 1 ]] || fail "not one line: $(cat "$tmp/log")" || return
	grep -q -- "$1" "$tmp/log" || fail "another message: $(cat "$tmp/log")"
}

succeeded() {
	[[ $status == 0 ]] || fail "exit status $status: $(cat "$tmp/log")"
}

unpack() {
	local files=(Makefile drivers/nvme block/blk-core.c scripts/checkpatch.pl scripts/spelling.txt
		scripts/const_structs.checkpatch) file

	mkdir "$tree"
	if [[ -d $KSRC ]]; then
		for file in "${files[@]}"; do
			mkdir -p "$tree/$(dirname "$file")"
			# checkpatch may not be there; what is needed is missed later.
			cp -r "$KSRC/$file" "$tree/$file" 2>/dev/null || true
		done
	else
		tar -xf "$KSRC" -C "$tree" --strip-components=1 --wildcards --no-wildcards-match-slash "${files[@]/#/*/}"
	fi
}

# with_source CHANGE: run a build with a copy of the source that the command CHANGE has changed
with_changed_source() {
	rm -rf "$tmp/changed"
	cp -r "$tree" "$tmp/changed"
	(cd "$tmp/changed" && "$@")
	KSRC=$tmp/changed OUT=$tmp/refused run build
}

left_no_module() {
	[[ -z $(find "$1" -name '*.ko*') ]] || fail "left $(find "$1" -name '*.ko*')"
}

patches_apply_to_pristine_source() {
	local patch

	cp -r "$tree" "$tmp/patched"
	for patch in "$top/kernel_patches/v$line"/*.patch; do
		patch -d "$tmp/patched" -p1 --fuzz=2 --batch --forward --silent <"$patch" || fail "${patch##*/}" || return
	done
}

patches_are_what_git_format_patch_makes() {
	local patch count n=0

	count=$(find "$top/kernel_patches/v$line" -name '*.patch' | wc -l)
	for patch in "$top/kernel_patches/v$line"/*.patch; do
		n=$((n + 1))
		grep -q "^Subject: \[PATCH $n/$count\] " "$patch" || fail "${patch##*/}: no subject" || return
		grep -q '^Signed-off-by: ' "$patch" || fail "${patch##*/}: not signed off" || return
	done
}

patches_are_checkpatch_clean() {
	local patch

	for patch in "$top/kernel_patches/v$line"/*.patch; do
		"$tree/scripts/checkpatch.pl" --no-tree --quiet --ignore FILE_PATH_CHANGES "$patch" >"$tmp/checkpatch" 2>&1 ||
			fail "${patch##*/}: $(head -5 "$tmp/checkpatch")" || return
		[[ ! -s $tmp/checkpatch ]] || fail "${patch##*/}: $(head -5 "$tmp/checkpatch")" || return
	done
}

refuses_source_of_another_version() {
	with_changed_source sed -i 's/^SUBLEVEL = .*/SUBLEVEL = 1/' Makefile
	refused "is Linux $line.1, the headers" && left_no_module "$tmp/refused"
}

refuses_patch_that_does_not_apply() {
	with_changed_source sed -i 's/llist_add(&req->lentry/llist_add( \&req->lentry/' drivers/nvme/host/tcp.c
	# patch says which hunk, build-modules which patch
	[[ $status == 1 ]] || fail "exit status $status" || return
	grep -q '0002-.*does not apply to .*: nothing was built' "$tmp/log" || fail "$(cat "$tmp/log")" || return
	left_no_module "$tmp/refused"
}

refuses_headers_of_another_kernel() {
	KVER=$KVER-other run build
	refused 'are those of kernel'
}

refuses_missing_headers() {
	KDIR=$tmp/nothing run build
	refused "apt-get install linux-headers-$KVER"
}

refuses_missing_source() {
	KSRC=$tmp/nothing run build
	refused 'neither a tarball nor a kernel tree'
}

# path_without TOOL: a directory of links to all tools but that one
path_without() {
	local dir=$tmp/without-$1 p

	mkdir -p "$dir"
	while read -r -d: p; do
		[[ ! -d $p ]] || find "$p/" -maxdepth 1 ! -type d ! -name "$1" -exec ln -sft "$dir" {} + 2>/dev/null || true
	done <<<"$PATH:"
	echo "$dir"
}

refuses_missing_tool_and_names_its_package() {
	PATH=$(path_without pahole) run build
	refused 'pahole not found: apt-get install dwarves'
}

refuses_base_without_btf() {
	BTF_BASE=$build_modules OUT=$tmp/refused run build
	[[ $status == 1 ]] && grep -q 'set BTF_BASE' "$tmp/log" || fail "$(cat "$tmp/log")" || return
	left_no_module "$tmp/refused"
}

builds_modules_with_tracepoints_and_btf() {
	run build
	succeeded || return
	grep -q 'nvme-tcp.ko: 11 tracepoints, BTF' "$tmp/log" || fail "$(cat "$tmp/log")" || return
	grep -q 'nvmet-tcp.ko: 13 tracepoints, BTF' "$tmp/log" || fail "$(cat "$tmp/log")" || return
	! grep 'trace_tcp.h.*warning:\|tcp.c.*warning:' "$OUT/build.log" || fail "warnings" || return
	[[ -z $(find "$OUT" -name '.work*') ]] || fail "left its work behind"
}

builds_once() {
	local before

	before=$(stat -c '%i %Y' "$OUT"/*.ko)
	run build
	succeeded || return
	[[ $(stat -c '%i %Y' "$OUT"/*.ko) == "$before" ]] || fail "built again"
}

install_without_root_is_refused() {
	local as=() copy

	((EUID)) || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	# The tree may be in a home directory that is closed to others.
	copy=$(mktemp -d)
	cp -r "$top/kernel_patches" "$copy"
	chmod -R a+rX "$copy"
	status=0
	"${as[@]}" env KVER="$KVER" "$copy/kernel_patches/build-modules" install >"$tmp/log" 2>&1 || status=$?
	rm -rf "$copy"
	[[ $status != 126 && $status != 127 ]] || fail "cannot run: $(cat "$tmp/log")" || return
	refused 'run it as root'
}

# A root with a module of the kernel's own, and what depmod wrote about it.
make_root() {
	local own=$root/lib/modules/$KVER/kernel/drivers/nvme

	rm -rf "$root"
	mkdir -p "$own/host" "$own/target"
	cp "$OUT/nvme-tcp.ko" "$own/host"
	cp "$OUT/nvmet-tcp.ko" "$own/target"
	touch "$root/lib/modules/$KVER/modules.order" "$root/lib/modules/$KVER"/modules.builtin{,.modinfo}
	depmod -b "$root" "$KVER"
}

# What there is, contents included. The binary indexes of depmod depend on the order of directories.
snapshot() {
	(cd "$root" && find . ! -name '*.bin' -printf '%p %y\n' | sort && sha256sum "lib/modules/$KVER/modules.dep")
}

installed_is_what_modprobe_takes() {
	make_root
	snapshot >"$tmp/before"
	DESTDIR=$root run install
	succeeded || return
	[[ $(modinfo -b "$root" -k "$KVER" -F filename nvme-tcp) -ef $installed/nvme-tcp.ko ]] || fail "nvme-tcp" || return
	[[ $(modinfo -b "$root" -k "$KVER" -F filename nvmet-tcp) -ef $installed/nvmet-tcp.ko ]] || fail "nvmet-tcp"
}

install_twice_changes_nothing() {
	snapshot >"$tmp/once"
	DESTDIR=$root run install
	succeeded || return
	snapshot | cmp -s - "$tmp/once" || fail "changed: $(snapshot | diff "$tmp/once" -)"
}

failed_upgrade_keeps_the_old_modules() {
	echo old >>"$installed/nvme-tcp.ko"
	snapshot >"$tmp/old"
	sha256sum "$installed"/*.ko >"$tmp/sums"
	mkdir -p "$tmp/broken"
	printf '#!/bin/sh\nexit 1\n' >"$tmp/broken/depmod"
	chmod +x "$tmp/broken/depmod"
	PATH=$tmp/broken:$PATH DESTDIR=$root run install
	[[ $status == 1 ]] || fail "exit status $status" || return
	sha256sum --status -c "$tmp/sums" || fail "changed" || return
	snapshot | cmp -s - "$tmp/old" || fail "left: $(snapshot | diff "$tmp/old" -)"
}

failed_uninstall_keeps_the_modules() {
	PATH=$tmp/broken:$PATH DESTDIR=$root run uninstall
	[[ $status == 1 ]] || fail "exit status $status" || return
	sha256sum --status -c "$tmp/sums" || fail "changed" || return
	snapshot | cmp -s - "$tmp/old" || fail "left: $(snapshot | diff "$tmp/old" -)"
}

uninstall_leaves_nothing() {
	DESTDIR=$root run uninstall
	succeeded || return
	snapshot | cmp -s - "$tmp/before" || fail "left: $(snapshot | diff "$tmp/before" -)"
}

failed_install_leaves_nothing() {
	PATH=$tmp/broken:$PATH DESTDIR=$root run install
	[[ $status == 1 ]] || fail "exit status $status" || return
	snapshot | cmp -s - "$tmp/before" || fail "left: $(snapshot | diff "$tmp/before" -)"
}

uninstall_twice_is_no_error() {
	DESTDIR=$root run uninstall
	succeeded && grep -q 'not installed' "$tmp/log"
}

install_and_uninstall_in_an_empty_directory() {
	rm -rf "$root"
	mkdir "$root"
	DESTDIR=$root run install
	succeeded || return
	cmp "$OUT/nvme-tcp.ko" "$installed/nvme-tcp.ko" || fail "not installed" || return
	DESTDIR=$root run uninstall
	succeeded || return
	[[ -z $(find "$root" -mindepth 1) ]] || fail "left $(find "$root" -mindepth 1)"
}

tests=(
	patches_are_what_git_format_patch_makes
	patches_apply_to_pristine_source
	patches_are_checkpatch_clean
	refuses_missing_headers
	refuses_headers_of_another_kernel
	refuses_missing_source
	refuses_source_of_another_version
	refuses_patch_that_does_not_apply
	refuses_missing_tool_and_names_its_package
	refuses_base_without_btf
	builds_modules_with_tracepoints_and_btf
	builds_once
	install_without_root_is_refused
	installed_is_what_modprobe_takes
	install_twice_changes_nothing
	failed_upgrade_keeps_the_old_modules
	failed_uninstall_keeps_the_modules
	uninstall_leaves_nothing
	failed_install_leaves_nothing
	uninstall_twice_is_no_error
	install_and_uninstall_in_an_empty_directory
)

unpack
passed=0
failed=0
n=0
for t in "${tests[@]}"; do
	n=$((n + 1))
	if [[ $t == patches_are_checkpatch_clean && ! -x $tree/scripts/checkpatch.pl ]]; then
		echo "ok $n - $t # SKIP no checkpatch.pl in the source"
		passed=$((passed + 1))
	elif "$t"; then
		echo "ok $n - $t"
		passed=$((passed + 1))
	else
		echo "not ok $n - $t"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
((failed == 0))
