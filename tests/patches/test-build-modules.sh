#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-build-modules.sh - the kernel patches, and what build-modules builds of them, and refuses to.

set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What is built, and takes minutes, is built once: tests change a tree that is unpacked, or its smallest archive, and what
# they look for shows before the compiler is called or, of what it made, in use_signed_build's modules.

# build_refused: a build that is to leave nothing in $tmp/refused
build_refused() {
	rm -rf "$tmp/refused"
	OUT=$tmp/refused run build
}

# with_changed_source CHANGE: run a build with a copy of the source that the command CHANGE has changed
with_changed_source() {
	rm -rf "$tmp/changed"
	cp -r "$tree" "$tmp/changed"
	(cd "$tmp/changed" && "$@")
	KSRC=$tmp/changed build_refused
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

	if [[ ! -x $tree/scripts/checkpatch.pl ]]; then
		skipped='no checkpatch.pl in the source'
		return
	fi
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
	grep -q "0002-.* of v$line does not apply to .*: nothing was built" "$tmp/log" || fail "$(cat "$tmp/log")" || return
	left_no_module "$tmp/refused"
}

# check_says TEXT: of the tree in $tmp/changed
check_says() {
	"$top/kernel_patches/check" "$tmp/changed" >"$tmp/log" 2>&1 || status=$?
	grep -qx -- "$tmp/changed: Linux $line\.[0-9]*: $1" "$tmp/log" || fail "not '$1': $(cat "$tmp/log")"
}

check_says_which_series_fits() {
	rm -rf "$tmp/changed"
	cp -r "$tree" "$tmp/changed"
	check_says "v$line fits without fuzz" || return
	# The modules are not built from it.
	rm -r "$tmp/changed/block"
	check_says "v$line fits without fuzz" || return
	sed -i 's/^\(\tsize_t\t\t\tdata_remaining;\)$/\1 \/* changed *\//' "$tmp/changed/drivers/nvme/host/tcp.c"
	check_says "v$line fits with fuzz" || return
	status=0
	sed -i 's/llist_add(&req->lentry/llist_add( \&req->lentry/' "$tmp/changed/drivers/nvme/host/tcp.c"
	check_says "no series fits" || return
	[[ $status == 1 ]] || fail "exit status $status"
}

# A line of kernels without a series of its own takes another one that fits.
check_takes_the_series_of_another_line() {
	rm -rf "$tmp/changed"
	cp -r "$tree" "$tmp/changed"
	sed -i 's/^PATCHLEVEL = .*/PATCHLEVEL = 99/' "$tmp/changed/Makefile"
	"$top/kernel_patches/check" "$tmp/changed" >"$tmp/log" 2>&1 || true
	says "\.99\.[0-9]*: v$line fits without fuzz\$"
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

# The source is an archive here, as the distribution has it.
refuses_base_without_btf() {
	tar -cf "$tmp/source.tar" -C "${tree%/*}" --transform "s/^${tree##*/}/linux-source-$line/" "${tree##*/}"
	KSRC=$tmp/source.tar BTF_BASE=$build_modules build_refused
	[[ $status == 1 ]] && grep -q 'set BTF_BASE' "$tmp/log" || fail "$(cat "$tmp/log")" || return
	left_no_module "$tmp/refused"
}

builds_modules_with_tracepoints_and_btf() {
	grep -q 'nvme-tcp.ko: 11 tracepoints, BTF' "$OUT/built.log" || fail "$(cat "$OUT/built.log")" || return
	grep -q 'nvmet-tcp.ko: 13 tracepoints, BTF' "$OUT/built.log" || fail "$(cat "$OUT/built.log")" || return
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

# signed_by DIR CERT: the modules in DIR are signed with that certificate's key
signed_by() {
	local module serial

	serial=$(openssl x509 -inform DER -in "$2" -noout -serial)
	for module in "$1"/*.ko; do
		[[ $(modinfo -F sig_key "$module" | tr -d ':') == "${serial#*=}" ]] ||
			fail "${module##*/} is signed by $(modinfo -F sig_key "$module"), not by ${serial#*=}" || return
	done
}

# A key is what it contains, not where it lies: under a new one modules of the old one are not up to date.
a_rotated_key_at_the_same_path_signs_anew() {
	local keys=$tmp/keys

	copy_without_compiler "$tmp/compiled"
	make_key "$keys"
	export compiled=$OUT SIGN_KEY=$keys/key.pem SIGN_CERT=$keys/cert.der
	build_modules=$tmp/compiled/build-modules OUT=$tmp/signed run build
	succeeded && signed_by "$tmp/signed" "$SIGN_CERT" || return
	build_modules=$tmp/compiled/build-modules OUT=$tmp/signed run build
	succeeded && says 'up to date' || return
	make_key "$keys"
	build_modules=$tmp/compiled/build-modules OUT=$tmp/signed run build
	succeeded && signed_by "$tmp/signed" "$SIGN_CERT"
}

# Root loads the modules, whoever else may write where they are built; and waits for whoever has locked the folder.
nobody_else_writes_to_its_folder_or_locks_it() {
	local mask

	mask=$(umask)
	umask 0
	without_its_source build_refused
	umask "$mask"
	[[ $(stat -c %a "$tmp/refused") == 700 ]] || fail "$(stat -c '%a %n' "$tmp/refused")" || return
	mkdir "$tmp/linked"
	echo precious >"$tmp/precious"
	ln -s ../precious "$tmp/linked/.lock"
	OUT=$tmp/linked without_its_source run build
	[[ -s $tmp/precious ]] || fail "a link was followed" || return
	chmod 777 "$tmp/linked"
	OUT=$tmp/linked run build
	refused 'others may write to .*linked' || return
	((!EUID)) || return 0
	install -d -o 65534 "$tmp/theirs"
	OUT=$tmp/theirs SUDO_UID=1 run build
	refused "theirs is another user's" || return
	OUT=$tmp/theirs SUDO_UID=65534 without_its_source run build
	[[ $(<"$tmp/log") != *"another user's"* ]] || fail "the caller's own folder is refused"
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

# lost TRACEPOINT SUBSTITUTION: a build of patches that it has changed in the host's driver
lost() {
	local copy=$tmp/lossy

	rm -rf "$copy"
	cp -r "$top/kernel_patches" "$copy"
	sed -i "$2" "$copy/v$line"/0002-*.patch
	build_modules=$copy/build-modules build_refused
	[[ $status == 1 ]] || fail "exit status $status" || return
	says "nvme-tcp.ko does not call the tracepoint $1 in $1()" || return
	left_no_module "$tmp/refused"
}

# The tracepoint is still defined, and exported, and in the BTF.
loses_no_call_site_in_patching() {
	lost nvme_tcp_handle_r2t 's/^+\tnvme_tcp_trace(handle_r2t,/+\tif (0) nvme_tcp_trace(handle_r2t,/'
}

# Its function is called, whether it is traced or not.
loses_no_test_of_a_key_in_patching() {
	lost nvme_tcp_queue_rq 's/^+\tif (trace_nvme_tcp_queue_rq_enabled())$/+\tif (1)/'
}

# without_its_source: a build that makes its folder and ends
without_its_source() {
	mkdir -p "$tmp/dpkg"
	cat >"$tmp/dpkg/dpkg-query" <<-'END'
		#!/bin/sh
		case $* in
		*"-S $KSRC"*) echo "linux-source-X: $KSRC" ;;
		*-W*) echo "6.1.1-1" ;;
		*) exit 1 ;;
		esac
	END
	chmod +x "$tmp/dpkg/dpkg-query"
	PATH=$tmp/dpkg:$PATH "$@"
}

# Debian's headers say in package.h what they are of.
refuses_source_of_another_package() {
	without_its_source build_refused
	refused 'is linux-source-X 6.1.1-1, the headers of .* are of'
}

use_signed_build
tree=$KSRC
run_tests \
	patches_are_what_git_format_patch_makes \
	patches_apply_to_pristine_source \
	patches_are_checkpatch_clean \
	check_says_which_series_fits \
	check_takes_the_series_of_another_line \
	refuses_missing_headers \
	refuses_headers_of_another_kernel \
	refuses_missing_source \
	refuses_source_of_another_version \
	refuses_source_of_another_package \
	refuses_patch_that_does_not_apply \
	refuses_missing_tool_and_names_its_package \
	refuses_base_without_btf \
	builds_modules_with_tracepoints_and_btf \
	builds_once \
	a_rotated_key_at_the_same_path_signs_anew \
	loses_no_call_site_in_patching \
	loses_no_test_of_a_key_in_patching \
	install_without_root_is_refused \
	nobody_else_writes_to_its_folder_or_locks_it
