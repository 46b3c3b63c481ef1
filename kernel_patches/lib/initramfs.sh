# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# initramfs.sh - copies of the modules in the kernel's initramfs, which a boot loads before it sees /lib/modules.

# initramfs_command IMAGE: what makes it anew
initramfs_command() {
	if [[ ${1##*/} == initrd.img-* ]]; then
		echo "update-initramfs -u -k $KVER"
	else
		echo "dracut --force --kver $KVER"
	fi
}

# initramfs_list IMAGE: the files in it; fails where nothing can tell
initramfs_list() {
	local lister

	for lister in lsinitramfs lsinitrd; do
		if type -P "$lister" >/dev/null; then
			"$lister" "$1" 2>/dev/null
			return
		fi
	done
	return 1
}

# tell_initramfs: of an initramfs with other modules than modprobe would now take
tell_initramfs() {
	local image module file held stale

	for image in "$DESTDIR/boot/initrd.img-$KVER" "$DESTDIR/boot/initramfs-$KVER.img"; do
		[[ -e $image ]] || continue
		if ! initramfs_list "$image" >"$work/initramfs"; then
			say "$image cannot be looked into: if it holds nvme-tcp or nvmet-tcp, run $(initramfs_command "$image")"
			continue
		fi
		stale=()
		for module in "${module_names[@]}"; do
			held=$(grep -om 1 "lib/modules/$KVER/.*/$module\.ko.*" "$work/initramfs" | sed 's/.* //') || continue
			file=$(resolved "$module") || file=
			# Of the same path, but older: a copy of what was there before.
			[[ $file == */"$held" && ! $file -nt $image ]] || stale+=("$module")
		done
		((${#stale[@]} == 0)) ||
			say "$image holds another ${stale[*]} than is installed, and a boot may load that:" \
				"run $(initramfs_command "$image")"
	done
}
