# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# depmod.sh - which file modprobe takes for a module: the index that depmod writes.
#
# depmod replaces each index by a rename, so whoever loads a module meanwhile finds the former one, complete.

# A tree of modules without modules.dep is not one that modprobe reads: a package being staged, for instance.
has_depmod() {
	[[ -e $DESTDIR/lib/modules/$KVER/modules.dep && $MODULES == /lib/modules/"$KVER"/* ]]
}

# sync: an index that names a file must not reach the disk before that file, nor the removal of a file before the index
# that no longer names it.
run_depmod() {
	has_depmod || return 0
	sync -f "$DESTDIR/lib/modules/$KVER" && depmod -b "$DESTDIR/" "$@" "$KVER" && sync -f "$DESTDIR/lib/modules/$KVER"
}

# own_module MODULE: the kernel's own file of it
own_module() {
	local file

	for file in "$DESTDIR/lib/modules/$KVER/kernel/drivers/nvme/${module_dir[$1]}/$1".ko{,.xz,.zst,.gz}; do
		if [[ -e $file ]]; then
			echo "$file"
			return
		fi
	done
	return 1
}

# run_depmod_without: an index in which the kernel's own modules win, while the others are still there
run_depmod_without() {
	local module file config=$work/depmod.d

	has_depmod || return 0
	mkdir -p "$config"
	for module in "${module_names[@]}"; do
		file=$(own_module "$module") || continue
		file=${file#"$DESTDIR/lib/modules/$KVER/"}
		echo "override $module * ${file%/*}"
	done >"$config/00-ntprof-bpf.conf"
	# The directories that depmod reads on its own follow: an option replaces them.
	run_depmod -C "$config" -C /etc/depmod.d -C /run/depmod.d -C /usr/local/lib/depmod.d -C /lib/depmod.d
}

# resolved MODULE: the file that modprobe takes
resolved() {
	modinfo -b "$DESTDIR/" -k "$KVER" -F filename "$1" 2>/dev/null
}
