# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# install.sh - put both modules where depmod prefers them, or take them away: all of it, or nothing.
#
# At every instant the index names files that are there, complete, and loadable: a file is replaced by a rename, and the
# index is written without a file before that file is removed. What a killed run leaves, the next one finishes.

installed() {
	[[ -e $target/$1.ko ]]
}

check_root() {
	[[ -n $DESTDIR || $EUID == 0 ]] || die "$1 changes ${MODULES}: run it as root"
}

# lock_target: one process at a time changes modules, until it and the commands that it started have ended
lock_target() {
	local mask

	need flock util-linux
	if [[ -n $DESTDIR ]]; then
		mkdir -p "$DESTDIR" || die "cannot make $DESTDIR"
		exec {target_lock}<"$DESTDIR"
	else
		mask=$(umask)
		umask 077
		exec {target_lock}>>/run/ntprof-bpf.lock
		umask "$mask"
	fi
	flock -n "$target_lock" || {
		say "waiting for another run to end"
		flock "$target_lock"
	}
}

# is_indexed MODULE: modprobe takes the installed one
is_indexed() {
	has_depmod && [[ $(resolved "$1") -ef $target/$1.ko ]]
}

# drop_modules MODULE...: those that the index does not name any more, or that the kernel has no other of
drop_modules() {
	local module status=0

	for module in "$@"; do
		if is_indexed "$module" && own_module "$module" >/dev/null; then
			say "$target/$module.ko stays: modprobe takes it all the same" >&2
			status=1
		else
			rm -f "$target/$module.ko"
		fi
	done
	return $status
}

# undo_install: what there was before
undo_install() {
	local module fresh=()

	for module in "${module_names[@]}"; do
		[[ -e $target/.$module.ko.old ]] || fresh+=("$module")
	done
	target_restore "${module_names[@]/%/.ko}" built-from
	if ((${#fresh[@]})); then
		run_depmod_without
		drop_modules "${fresh[@]}"
	fi
	target_forget
	compgen -G "$target/*.ko" >/dev/null || target_remove
	run_depmod
	say "nothing was changed" >&2
}

# is_new: OUT differs from what is installed
is_new() {
	local module

	cmp -s "$work/built-from" "$target/built-from" || return 0
	for module in "${modules[@]}"; do
		cmp -s "$OUT/$module.ko" "$target/$module.ko" || return 0
	done
	return 1
}

put_modules() {
	local module names=("${modules[@]/%/.ko}" built-from)

	target_make
	target_save "${module_names[@]/%/.ko}" built-from
	undo=undo_install
	for module in "${modules[@]}"; do
		target_put "$OUT/$module.ko" "$module.ko"
	done
	target_put "$work/built-from" built-from
	target_commit "${names[@]}"
}

verb_install() {
	local module file said='installed already:' others=()

	check_root install
	[[ -n $DESTDIR || -d /lib/modules/$KVER ]] || die "kernel $KVER is not installed: there is no /lib/modules/$KVER"
	check_packages
	verb_build
	check_signature
	for module in "${modules[@]}"; do
		is_loaded_from "$module" "$OUT/$module.ko" || others+=("$module")
	done
	[[ -z $reload ]] || check_unused "${others[@]}"

	lock_target
	target_forget
	origin_of_install >"$work/built-from"
	if is_new; then
		put_modules
		said=installed
	fi
	run_depmod || die "depmod failed"
	if has_depmod; then
		for module in "${modules[@]}"; do
			is_indexed "$module" || {
				file=$(resolved "$module") || true
				die "modprobe $module would take ${file:-nothing} all the same: see depmod.d(5), search"
			}
		done
	else
		say "$DESTDIR has no modules.dep for kernel ${KVER}: depmod not run"
	fi
	[[ -z $reload ]] || load_anew "${modules[@]}"
	undo=
	target_forget
	say "$said ${modules[*]/%/.ko} in $target"
	[[ -n $reload ]] || tell_loaded "${modules[@]}"
	tell_initramfs
}

# undo_uninstall: nothing was removed yet, but from the index
undo_uninstall() {
	run_depmod
	say "nothing was changed" >&2
}

verb_uninstall() {
	local module there=() concerned=()

	check_root uninstall
	need depmod kmod
	need modinfo kmod
	work=$(mktemp -d)
	lock_target
	for module in "${module_names[@]}"; do
		! installed "$module" || there+=("$module")
		# Loaded still, from an uninstallation without --reload
		! installed "$module" && ! patched "$module" || concerned+=("$module")
	done
	[[ -z $reload ]] || check_unused "${concerned[@]}"
	if ((${#there[@]})); then
		[[ -w $target ]] || die "cannot write to $target"
		undo=undo_uninstall
		run_depmod_without || die "depmod failed"
		for module in "${there[@]}"; do
			own_module "$module" >/dev/null || say "kernel $KVER has no other $module" >&2
		done
	fi
	[[ -z $reload ]] || load_anew "${concerned[@]}"
	undo=
	if ((${#there[@]})); then
		drop_modules "${there[@]}" || die "depmod failed: run it again"
	fi
	target_forget
	target_remove
	run_depmod || die "depmod failed: run it again"
	if ((${#there[@]})); then
		say "uninstalled ${there[*]/%/.ko} from $target"
	else
		say "not installed in $target"
	fi
	[[ -n $reload ]] || tell_loaded "${there[@]}"
	tell_initramfs
}

verb_status() {
	local module file why all=1

	need modinfo kmod
	need readelf binutils
	work=$(mktemp -d)
	for module in "${module_names[@]}"; do
		file=$target/$module.ko
		if ! installed "$module"; then
			all=
			say "$module: the patched one is not installed for kernel $KVER"
		elif has_depmod && ! is_indexed "$module"; then
			all=
			say "$module: installed as $file, but modprobe takes $(resolved "$module")"
		elif why=$(outdated "$module"); then
			all=
			say "$module: installed as $file, but $why: run install again"
		else
			say "$module: installed as $file"
		fi
		tell_loaded "$module"
	done
	tell_initramfs
	[[ -n $all ]] || exit 1
}
