# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# reload.sh - exchange the loaded modules without costing a connection.
#
# The kernel refuses to unload nvmet-tcp while a port is open, so a port that opens in between makes rmmod fail and all is
# put back. A controller does not hold nvme-tcp in the same way: see hold.sh. What was unloaded and not yet loaded again is
# written down, for a run that is killed there: whoever connects next has the module loaded, and so has the next run.

reload_log=$hold_dir/unloaded
unloaded=()

# unload MODULE: if nobody uses it. Of nvme-tcp that stays so, as new connections are held.
unload() {
	[[ $1 != nvme-tcp ]] || connects_held || {
		say "cannot keep new connections out any longer" >&2
		return 1
	}
	[[ $(users "$1") == 0 ]] || {
		say "$1 is in use now: $(how_to_reload "$1")" >&2
		return 1
	}
	echo "$1" >>"$reload_log"
	rmmod "${1//-/_}"
}

# load MODULE: what modprobe.d(5) makes it start must not keep connections out
load() {
	if [[ -n $holder ]]; then
		modprobe "$1" {hold_lock}>&- {held}>&-
	else
		modprobe "$1"
	fi
}

# load_anew MODULE...: those that are loaded, unless they are current, and those that a killed run left unloaded
load_anew() {
	local module

	for module in "$@"; do
		if loaded "$module"; then
			is_current "$module" || unloaded+=("$module")
		elif grep -qsx "$module" "$reload_log"; then
			unloaded+=("$module")
		fi
	done
	((${#unloaded[@]})) || return 0
	# Whoever may open the lock of hold.sh may take it, and connects wait for them.
	install -d -m 700 "$hold_dir"
	[[ ! -d /sys/module/nvme_tcp || " ${unloaded[*]} " != *" nvme-tcp "* ]] || connects_hold
	undo_files=$undo
	undo=undo_reload
	for module in "${unloaded[@]}"; do
		! loaded "$module" || unload "$module" || die "cannot unload $module, nothing was changed"
	done
	for module in "${unloaded[@]}"; do
		load "$module" || die "cannot load the new $module; see dmesg"
		is_current "$module" || die "another $module than the new one was loaded"
	done
	undo=$undo_files
	rm -f "$reload_log"
	connects_release
	say "reloaded: ${unloaded[*]}"
}

# undo_reload: the files as they were, and of them what is loaded. The new module stays where it is in use already.
undo_reload() {
	local module

	[[ -z $undo_files ]] || "$undo_files"
	for module in "${unloaded[@]}"; do
		if loaded "$module" && ! is_current "$module" && ! unload "$module"; then
			say "the new $module stays loaded" >&2
			continue
		fi
		load "$module"
	done
	rm -f "$reload_log"
	connects_release
}
