# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# loaded.sh - the modules that the running kernel has loaded.

# In another root, or for another kernel, what is loaded here does not matter.
is_running() {
	[[ -z $DESTDIR && $KVER == "$(uname -r)" ]]
}

# loaded MODULE
loaded() {
	is_running && [[ -d /sys/module/${1//-/_} ]]
}

# loaded_id MODULE, file_id FILE: build ids, in hexadecimal
loaded_id() {
	# A note: three words of header, "GNU", the id.
	od -An -v -tx1 -j 16 "/sys/module/${1//-/_}/notes/.note.gnu.build-id" 2>/dev/null | tr -d ' \n'
}

file_id() {
	readelf -n "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p'
}

# is_current MODULE: the loaded one is the one that modprobe would load
is_current() {
	local file

	file=$(resolved "$1") || return 1
	[[ $(loaded_id "$1") == "$(file_id "$file")" ]]
}

# patched MODULE: whether the loaded one has tracepoints
patched() {
	grep -qs " __traceiter_nvmet\?_tcp_.*\[${1//-/_}\]\$" /proc/kallsyms
}

how_to_reload() {
	if [[ $1 == nvme-tcp ]]; then
		echo "disconnect its controllers (nvme disconnect-all ends all), then: modprobe -r nvme-tcp; modprobe nvme-tcp"
	else
		echo "take its ports away (nvmetcli clear ends all), then: modprobe -r nvmet-tcp; modprobe nvmet-tcp"
	fi
}

# tell_loaded MODULE...: what the running kernel uses, where that is not what was installed
tell_loaded() {
	local module kind

	is_running || return 0
	for module in "$@"; do
		if ! loaded "$module"; then
			say "$module: not loaded"
			continue
		fi
		kind='without tracepoints'
		! patched "$module" || kind='with tracepoints'
		if is_current "$module"; then
			say "$module: loaded, $kind"
		else
			say "$module: loaded is another one, $kind; to change it, $(how_to_reload "$module")"
		fi
	done
}

# users MODULE: how many there are. A controller does not hold nvme-tcp, only an open device of it does: the kernel would
# unload the module and delete the controllers, so they count.
users() {
	local count transport

	count=$(cat "/sys/module/${1//-/_}/refcnt")
	if [[ $1 == nvme-tcp ]]; then
		for transport in /sys/class/nvme/nvme*/transport; do
			! grep -qsx tcp "$transport" || count=$((count + 1))
		done
	fi
	echo "$count"
}

# check_unused MODULE...: that those to be reloaded can be
check_unused() {
	local module count

	is_running || die "--reload is for the running kernel"
	need rmmod kmod
	need modprobe kmod
	for module in "$@"; do
		loaded "$module" || continue
		count=$(users "$module")
		[[ $count == 0 ]] || die "$module is in use ($count users), nothing was changed: $(how_to_reload "$module")"
	done
}

# load_anew MODULE...: those loaded, unless they are current. When one cannot be loaded again, undo_change is to follow;
# the other file is loaded then.
load_anew() {
	local module

	for module in "$@"; do
		if ! loaded "$module" || is_current "$module"; then
			continue
		fi
		rmmod "${module//-/_}" || die "cannot unload $module"
		reloading+=("$module")
		undo=undo_reload
		modprobe "$module" || die "cannot load the new $module; see dmesg"
		say "$module: reloaded"
	done
}

reloading=()

undo_reload() {
	local module

	undo_change
	for module in "${reloading[@]}"; do
		! loaded "$module" || rmmod "${module//-/_}"
		modprobe "$module"
	done
}
