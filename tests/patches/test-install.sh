#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-install.sh - build-modules install, uninstall and status, in a root of their own: all or nothing, no trace left,
# something to load at every instant.

set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# in_root VERB
in_root() {
	DESTDIR=$root run "$@"
}

same_as() {
	snapshot | cmp -s - "$1" || fail "$(snapshot | diff "$1" -)"
}

installed_is_what_modprobe_takes() {
	make_root
	snapshot >"$tmp/before"
	in_root install
	succeeded || return
	[[ $(resolved nvme-tcp) -ef $installed/nvme-tcp.ko ]] || fail "nvme-tcp" || return
	[[ $(resolved nvmet-tcp) -ef $installed/nvmet-tcp.ko ]] || fail "nvmet-tcp" || return
	snapshot >"$tmp/after"
}

install_twice_changes_nothing() {
	in_root install
	succeeded && same_as "$tmp/after"
}

# with_broken_depmod VERB
with_broken_depmod() {
	mkdir -p "$tmp/broken"
	printf '#!/bin/sh\nexit 1\n' >"$tmp/broken/depmod"
	chmod +x "$tmp/broken/depmod"
	PATH=$tmp/broken:$PATH in_root "$1"
	[[ $status == 1 ]] || fail "exit status $status"
}

failed_upgrade_keeps_the_old_modules() {
	echo old >>"$installed/nvme-tcp.ko"
	snapshot >"$tmp/old"
	with_broken_depmod install && same_as "$tmp/old"
}

failed_uninstall_keeps_the_modules() {
	with_broken_depmod uninstall && same_as "$tmp/old"
}

uninstall_leaves_nothing() {
	in_root uninstall
	succeeded && same_as "$tmp/before"
}

failed_install_leaves_nothing() {
	with_broken_depmod install && same_as "$tmp/before"
}

uninstall_twice_is_no_error() {
	in_root uninstall
	succeeded && says 'not installed'
}

uninstall_spares_what_others_put_there() {
	local other=$root/lib/modules/$KVER/updates/other

	in_root install
	mkdir "$other"
	in_root uninstall
	succeeded || return
	[[ -d $other && ! -e $installed ]] || fail "$(find "${other%/*}")" || return
	rm -r "${other%/*}"
	same_as "$tmp/before"
}

install_and_uninstall_in_an_empty_directory() {
	rm -rf "$root"
	mkdir "$root"
	in_root install
	succeeded || return
	cmp "$OUT/nvme-tcp.ko" "$installed/nvme-tcp.ko" || fail "not installed" || return
	in_root uninstall
	succeeded || return
	[[ -z $(find "$root" -mindepth 1) ]] || fail "left $(find "$root" -mindepth 1)"
}

# make_killing_tools: a directory of tools that, once they have done what they were asked to do in the root, write down how
# they left it, and kill the run when they are the $KILL_AT-th
make_killing_tools() {
	local tool

	mkdir -p "$tmp/killing"
	for tool in mkdir mv cp install rm rmdir depmod; do
		cat >"$tmp/killing/$tool" <<-END
			#!/bin/bash
			$(type -P "$tool") "\$@" || exit
			[[ " \$* " == *"$root"* ]] || exit 0
			state=\$(find "$root" -printf '%p %y %i %s %T@ ' | cksum)
			echo "\$state $tool \$*" >>"$tmp/steps"
			[[ \$KILL_AT == 0 || \$(wc -l <"$tmp/steps") != "\$KILL_AT" ]] || kill -KILL 0
		END
		chmod +x "$tmp/killing/$tool"
	done
}

# run_killed VERB N: the shell would tell of the killed process
run_killed() {
	status=0
	{
		PATH=$tmp/killing:$PATH KILL_AT=$2 DESTDIR=$root setsid -w "$build_modules" "$1" >"$tmp/log" 2>&1
	} 2>/dev/null || status=$?
}

# loadable: both modules, from complete files: the kernel's own, the old ones or the new ones
loadable() {
	local module file

	for module in nvme-tcp nvmet-tcp; do
		file=$(resolved "$module") || fail "killed after '$(tail -n 1 "$tmp/steps")': no $module" || return
		grep -qs "^$(sha256sum <"$file" | cut -d' ' -f1) " "$tmp/good" ||
			fail "killed after '$(tail -n 1 "$tmp/steps")': modprobe would take a $file that is not whole" || return
	done
}

# killed_anywhere VERB PREPARE: killed after each step in turn, VERB leaves something to load, and done again ends as if
# it had not been killed. A step that left everything as the step before had left it makes no difference to that.
killed_anywhere() {
	local verb=$1 prepare=$2 at=0 steps=0 state before='' build_modules=$tmp/quick/build-modules

	make_killing_tools
	[[ -e $tmp/quick ]] || copy_without_build "$tmp/quick"
	"$prepare"
	find "$root" "$OUT" -name '*.ko' -exec sha256sum {} + >"$tmp/good"
	rm -f "$tmp/steps"
	run_killed "$verb" 0
	succeeded || return
	snapshot >"$tmp/done"
	mv "$tmp/steps" "$tmp/all-steps"
	while read -r state; do
		at=$((at + 1))
		state=$(cut -d' ' -f1,2 <<<"$state")
		[[ $state != "$before" ]] || continue
		before=$state
		steps=$((steps + 1))
		"$prepare"
		rm -f "$tmp/steps"
		run_killed "$verb" "$at"
		loadable || return
		[[ $status == 137 ]] || fail "exit status $status: $(cat "$tmp/log")" || return
		in_root "$verb"
		succeeded || return
		same_as "$tmp/done" || fail "killed after '$(tail -n 1 "$tmp/steps")', and done again" || return
	done <"$tmp/all-steps"
	((steps > 5)) || fail "only $steps steps"
}

restore_root() {
	rm -rf "$root"
	cp -a "$tmp/saved" "$root"
}

save_root() {
	rm -rf "$tmp/saved"
	cp -a "$root" "$tmp/saved"
}

killed_install_is_harmless() {
	make_root
	save_root
	killed_anywhere install restore_root
}

killed_upgrade_is_harmless() {
	make_root
	in_root install
	echo old | tee -a "$installed"/*.ko >>"$installed/built-from"
	save_root
	killed_anywhere install restore_root
}

killed_uninstall_is_harmless() {
	make_root
	in_root install
	save_root
	killed_anywhere uninstall restore_root
}

one_run_at_a_time() {
	local first second

	make_root
	mkdir -p "$tmp/slow"
	# Beside itself it finds the directory; it gives the other run three seconds to come.
	cat >"$tmp/slow/depmod" <<-END
		#!/bin/sh
		mkdir "$tmp/in-depmod" || touch "$tmp/overlap"
		$(type -P depmod) "\$@"
		status=\$?
		n=0
		while [ ! -e "$tmp/overlap" ] && [ "\$n" -lt 30 ]; do
			n=\$((n + 1))
			sleep 0.1
		done
		rmdir "$tmp/in-depmod"
		exit \$status
	END
	chmod +x "$tmp/slow/depmod"
	in_root install
	PATH=$tmp/slow:$PATH DESTDIR=$root "$build_modules" install >"$tmp/log1" 2>&1 &
	first=$!
	until [[ -e $tmp/in-depmod ]] || ! kill -0 "$first" 2>/dev/null; do
		sleep 0.05
	done
	PATH=$tmp/slow:$PATH DESTDIR=$root "$build_modules" uninstall >"$tmp/log2" 2>&1 &
	second=$!
	wait "$first" || fail "install: $(cat "$tmp/log1")" || return
	wait "$second" || fail "uninstall: $(cat "$tmp/log2")" || return
	[[ ! -e $tmp/overlap ]] || fail "both at once" || return
	# Either came last.
	if [[ -e $installed ]]; then
		same_as "$tmp/after"
	else
		same_as "$tmp/before"
	fi
}

status_tells_of_a_kernel_that_was_mended() {
	make_root
	in_root install
	in_root status
	succeeded || return
	echo mended >>"$root/lib/modules/$KVER/kernel/drivers/nvme/host/nvme-tcp.ko"
	in_root status
	[[ $status == 1 ]] || fail "exit status $status" || return
	says "nvme-tcp: installed as .*, but the kernel's own nvme-tcp has changed since: run install again" || return
	says "nvmet-tcp: installed as $installed/nvmet-tcp.ko\$"
}

install_again_takes_the_mended_kernel_for_known() {
	in_root install
	succeeded || return
	says "installed nvme-tcp.ko" || return
	in_root status
	succeeded
}

# with_image_package VERSION VERB: dpkg-query says that the kernel's own modules are of that package
with_image_package() {
	mkdir -p "$tmp/dpkg"
	cat >"$tmp/dpkg/dpkg-query" <<-END
		#!/bin/sh
		case \$* in
		*-S*/kernel/drivers/nvme/*) echo "linux-image-$KVER: a file" ;;
		*-W*linux-image-$KVER*) echo "$1" ;;
		*) exit 1 ;;
		esac
	END
	chmod +x "$tmp/dpkg/dpkg-query"
	PATH=$tmp/dpkg:$PATH in_root "$2"
}

headers_package() {
	sed -n 's/^#define LINUX_PACKAGE_ID " Debian \(.*\)"$/\1/p' "$KDIR"/include/generated/{package,compile}.h 2>/dev/null
}

status_tells_of_another_kernel_package() {
	local version

	version=$(headers_package) || true
	if [[ -z $version ]]; then
		skipped='the headers do not say which package they are of'
		return
	fi
	make_root
	with_image_package "$version" install
	succeeded || return
	with_image_package "$version" status
	succeeded || return
	with_image_package 6.1.999-1 status
	[[ $status == 1 ]] || fail "exit status $status" || return
	says "made for $version of the kernel's package, and 6.1.999-1 is installed: run install again"
}

install_is_refused_with_headers_of_another_package() {
	with_image_package 6.1.999-1 install
	if [[ -z $(headers_package) ]]; then
		skipped='the headers do not say which package they are of'
		return
	fi
	refused "the headers of .* are of $(headers_package), but its modules are of 6.1.999-1"
}

# with_initramfs FILE... -- VERB: an initramfs, newer than what is installed, that holds those files
with_initramfs() {
	local files=()

	while [[ $1 != -- ]]; do
		files+=("lib/modules/$KVER/$1")
		shift
	done
	mkdir -p "$tmp/lister"
	printf '#!/bin/sh\nprintf "%%s\\n" usr/bin/true %s\n' "${files[*]}" >"$tmp/lister/lsinitramfs"
	chmod +x "$tmp/lister/lsinitramfs"
	touch "$root/boot/initrd.img-$KVER"
	PATH=$tmp/lister:$PATH in_root "$2"
}

initramfs_with_other_modules_is_told() {
	local own=kernel/drivers/nvme/host/nvme-tcp.ko ours=updates/ntprof-bpf/nvme-tcp.ko
	local told='holds another nvme-tcp than is installed.*update-initramfs -u -k'

	make_root
	with_initramfs "$own" -- install
	succeeded && says "$told" || return
	with_initramfs "$ours" -- status
	succeeded || return
	! grep -q initr "$tmp/log" || fail "$(cat "$tmp/log")" || return
	# As old as the former modules
	touch "$installed/nvme-tcp.ko"
	touch -d yesterday "$root/boot/initrd.img-$KVER"
	PATH=$tmp/lister:$PATH in_root status
	says "$told" || return
	with_initramfs "$ours" -- uninstall
	succeeded && says "$told" || return
	with_initramfs -- install
	succeeded || return
	! grep -q initr "$tmp/log" || fail "$(cat "$tmp/log")"
}

initramfs_that_nothing_can_list_is_told() {
	printf '#!/bin/sh\nexit 1\n' >"$tmp/lister/lsinitramfs"
	PATH=$tmp/lister:$PATH in_root status
	succeeded && says 'cannot be looked into: if it holds nvme-tcp.*update-initramfs -u -k'
}

use_signed_build
# Distributions compress their modules; whether one is loaded is seen by its build id.
the_build_id_of_a_compressed_module_is_known() {
	local file=$tmp/compressed.ko id suffix

	id=$(readelf -n "$OUT/nvme-tcp.ko" | sed -n 's/^ *Build ID: //p')
	[[ -n $id ]] || fail "no build id" || return
	cp "$OUT/nvme-tcp.ko" "$file"
	xz -k "$file" && zstd -qk "$file" && gzip -k "$file"
	for suffix in '' .xz .zst .gz; do
		[[ $(. "$top/kernel_patches/lib/loaded.sh" && file_id "$file$suffix") == "$id" ]] || fail "$suffix" || return
	done
}

run_tests \
	the_build_id_of_a_compressed_module_is_known \
	installed_is_what_modprobe_takes \
	install_twice_changes_nothing \
	failed_upgrade_keeps_the_old_modules \
	failed_uninstall_keeps_the_modules \
	uninstall_leaves_nothing \
	failed_install_leaves_nothing \
	uninstall_twice_is_no_error \
	uninstall_spares_what_others_put_there \
	install_and_uninstall_in_an_empty_directory \
	killed_install_is_harmless \
	killed_upgrade_is_harmless \
	killed_uninstall_is_harmless \
	one_run_at_a_time \
	status_tells_of_a_kernel_that_was_mended \
	install_again_takes_the_mended_kernel_for_known \
	status_tells_of_another_kernel_package \
	install_is_refused_with_headers_of_another_package \
	initramfs_with_other_modules_is_told \
	initramfs_that_nothing_can_list_is_told
