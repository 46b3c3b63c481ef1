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

# loaded_id MODULE, file_id FILE: build ids, in hexadecimal. Files may be compressed, as distributions' are.
loaded_id() {
	# A note: three words of header, "GNU", the id.
	od -An -v -tx1 -j 16 "/sys/module/${1//-/_}/notes/.note.gnu.build-id" 2>/dev/null | tr -d ' \n'
}

file_id() {
	local file=$1 tool plain=''

	case $file in
	*.xz) tool=xz ;;
	*.zst) tool=zstd ;;
	*.gz) tool=gzip ;;
	*) tool= ;;
	esac
	if [[ -n $tool ]]; then
		plain=$(mktemp)
		"$tool" -dcq "$file" >"$plain" && file=$plain
	fi
	readelf -n "$file" 2>/dev/null | sed -n 's/^ *Build ID: //p'
	[[ -z $plain ]] || rm "$plain"
}

# is_current MODULE: the loaded one is the one that modprobe would load
is_current() {
	local file

	file=$(resolved "$1") || return 1
	[[ $(loaded_id "$1") == "$(file_id "$file")" ]]
}

# is_loaded_from MODULE FILE
is_loaded_from() {
	loaded "$1" && [[ $(loaded_id "$1") == "$(file_id "$2")" ]]
}

# patched MODULE: whether the loaded one has tracepoints
patched() {
	loaded "$1" && grep -qs " __traceiter_nvmet\?_tcp_.*\[${1//-/_}\]\$" /proc/kallsyms
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
