# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# install.sh - put both modules where depmod prefers them, or take them away: all of it, or nothing.
#
# While files change, the former ones lie beside them under names that depmod passes over, .NAME.ko.old; what undoes a
# failed change moves them back. "made", in the directory of the modules, lists the directories that were made for it.

# A tree of modules without modules.dep is not one that modprobe reads: a package being staged, for instance.
has_depmod() {
	[[ -e $DESTDIR/lib/modules/$KVER/modules.dep && $MODULES == /lib/modules/"$KVER"/* ]]
}

run_depmod() {
	has_depmod || return 0
	depmod -b "$DESTDIR/" "$KVER"
}

# resolved MODULE: the file that modprobe takes
resolved() {
	modinfo -b "$DESTDIR/" -k "$KVER" -F filename "$1" 2>/dev/null
}

installed() {
	[[ -e $target/$1.ko ]]
}

check_root() {
	[[ -n $DESTDIR || $EUID == 0 ]] || die "$1 changes ${MODULES}: run it as root"
}

# make_target: its missing parents too
make_target() {
	local dir=$target missing=()

	while [[ ! -d $dir ]]; do
		missing=("$dir" "${missing[@]}")
		dir=$(dirname "$dir")
	done
	if ((${#missing[@]})); then
		mkdir "${missing[@]}" || die "cannot make $target"
		printf '%s\n' "${missing[@]#"$DESTDIR"}" >"$target/made"
	fi
	[[ -w $target ]] || die "cannot write to $target"
}

# remove_target: and the directories made for it, unless others use them
remove_target() {
	local dirs dir i

	dirs=()
	[[ ! -e $target/made ]] || mapfile -t dirs <"$target/made"
	rm -f "$target/made"
	for ((i = ${#dirs[@]} - 1; i >= 0; i--)); do
		dir=$DESTDIR${dirs[i]}
		[[ ! -d $dir ]] || rmdir "$dir" 2>/dev/null || break
	done
}

forget_old() {
	rm -f "$target"/.*.ko.old "$target"/.*.ko.new
}

# undo_change: back to what there was before save_old
undo_change() {
	local module

	for module in "${module_names[@]}"; do
		if [[ -e $target/.$module.ko.old ]]; then
			mv -f "$target/.$module.ko.old" "$target/$module.ko"
		else
			rm -f "$target/$module.ko"
		fi
	done
	forget_old
	compgen -G "$target/*.ko" >/dev/null || remove_target
	run_depmod
	say "nothing was changed" >&2
}

save_old() {
	local module

	forget_old
	for module in "${module_names[@]}"; do
		! installed "$module" || cp -p "$target/$module.ko" "$target/.$module.ko.old"
	done
}

verb_install() {
	local module file changed=''

	check_root install
	[[ -n $DESTDIR || -d /lib/modules/$KVER ]] || die "kernel $KVER is not installed: there is no /lib/modules/$KVER"
	verb_build
	check_signature
	[[ -z $reload ]] || check_unused "${modules[@]}"

	for module in "${modules[@]}"; do
		cmp -s "$OUT/$module.ko" "$target/$module.ko" || changed=1
	done
	if [[ -n $changed ]]; then
		make_target
		save_old
		undo=undo_change
		for module in "${modules[@]}"; do
			install -m 644 "$OUT/$module.ko" "$target/.$module.ko.new"
		done
		sync -f "$target"
		for module in "${modules[@]}"; do
			mv -f "$target/.$module.ko.new" "$target/$module.ko"
		done
	fi
	run_depmod || die "depmod failed"
	if has_depmod; then
		for module in "${modules[@]}"; do
			file=$(resolved "$module") || true
			[[ $file -ef $target/$module.ko ]] ||
				die "modprobe $module would take ${file:-nothing} all the same: see depmod.d(5), search"
		done
	else
		say "$DESTDIR has no modules.dep for kernel ${KVER}: depmod not run"
	fi
	[[ -z $reload ]] || load_anew "${modules[@]}"
	undo=
	forget_old
	if [[ -n $changed ]]; then
		say "installed ${modules[*]/%/.ko} in $target"
	else
		say "installed already: ${modules[*]/%/.ko} in $target"
	fi
	[[ -n $reload ]] || tell_loaded "${modules[@]}"
}

verb_uninstall() {
	local module file there=()

	check_root uninstall
	need depmod kmod
	need modinfo kmod
	for module in "${module_names[@]}"; do
		! installed "$module" || there+=("$module")
	done
	if ((${#there[@]} == 0)); then
		say "not installed in $target"
		# An installation that was killed half-way.
		if [[ -e $target/made ]]; then
			forget_old
			remove_target
			run_depmod || die "depmod failed"
		fi
		return
	fi
	[[ -w $target ]] || die "cannot write to $target"
	[[ -z $reload ]] || check_unused "${there[@]}"

	save_old
	undo=undo_change
	for module in "${there[@]}"; do
		rm "$target/$module.ko"
	done
	run_depmod || die "depmod failed"
	if has_depmod; then
		for module in "${there[@]}"; do
			file=$(resolved "$module") || true
			[[ -n $file ]] || say "kernel $KVER has no other $module" >&2
		done
	fi
	[[ -z $reload ]] || load_anew "${there[@]}"
	undo=
	forget_old
	remove_target
	say "uninstalled ${there[*]/%/.ko} from $target"
	[[ -n $reload ]] || tell_loaded "${there[@]}"
}

verb_status() {
	local module file all=1

	need modinfo kmod
	need readelf binutils
	for module in "${module_names[@]}"; do
		file=$target/$module.ko
		if ! installed "$module"; then
			all=
			say "$module: the patched one is not installed for kernel $KVER"
		elif has_depmod && [[ ! $(resolved "$module") -ef $file ]]; then
			all=
			say "$module: installed as $file, but modprobe takes $(resolved "$module")"
		else
			say "$module: installed as $file"
		fi
		tell_loaded "$module"
	done
	[[ -n $all ]] || exit 1
}
