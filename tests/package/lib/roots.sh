# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# roots.sh - bare roots of Debian 12, or of the suite in SUITE, to build and install packages in. Needs root and debootstrap,
# and the archive once: the bare one is kept in the cache under roots; remove it there to have a newer one.
# Ubuntu's jammy (22.04) and noble (24.04) come from the mirror in NTPROF_UBUNTU.
#
# The caller is in the tree's folder, has a folder of its own in $work, and tests/vm/lib/cache.sh.

# root_select SUITE: roots are of it from now on.
root_select() {
	root_suite=$1
	root_bare=$cache_root/roots/$1.tar
}
root_select "${SUITE:-bookworm}"

# told CMD...: shows what it printed only if it failed.
told() {
	"$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" | sed 's/^/# /'; return 1; }
}

# root_ubuntu_keys: print where Ubuntu's keys are. In a subshell: it exits without them.
root_ubuntu_keys() {
	local vm=$PWD/tests/vm kernel_line=$root_suite

	# shellcheck source=/dev/null
	. "$vm/lib/kernel.sh"
	cache_lock
	kernel_sources ubuntu "$root_suite"
	echo "$kernel_keys"
}

# root_make_bare: once; a half-made one is none.
root_make_bare() {
	local from=(${NTPROF_DEBIAN:+"$NTPROF_DEBIAN"}) keys=

	[[ ! -e $root_bare ]] || return 0
	if [[ $root_suite == @(jammy|noble) ]]; then
		keys=$(root_ubuntu_keys) || return
		# The debootstrap of Debian 12 does not know noble.
		from=("$NTPROF_UBUNTU" /usr/share/debootstrap/scripts/jammy)
	fi
	mkdir -p "${root_bare%/*}" && debootstrap --variant=minbase ${keys:+"--keyring=$keys"} "$root_suite" "$work/bare" \
		"${from[@]}" || return
	tar -cf "$work/bare.tar" --one-file-system -C "$work/bare" . && mv "$work/bare.tar" "$root_bare" &&
		rm -r "$work/bare"
}

# root_new ROOT: a bare one there, which finds the archive by name as this machine does.
root_new() {
	mkdir -p "$1" && tar -xf "$root_bare" -C "$1" && cp /etc/resolv.conf "$1/etc/resolv.conf"
}

# root_run ROOT CMD...: what it mounts and starts ends with it. It has the devices that compilers, terminals and qemu need.
root_run() {
	local root=$1

	shift
	# shellcheck disable=SC2016 # of the inner shell
	unshare --mount --pid --fork --kill-child sh -ec '
		mount -t proc proc "$0/proc"
		mount --rbind /sys "$0/sys"
		mount -t tmpfs -o mode=755 tmpfs "$0/dev"
		cd "$0/dev"
		mkdir pts shm
		mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts pts
		mount -t tmpfs -o mode=1777 tmpfs shm
		mknod -m 666 null c 1 3
		mknod -m 666 zero c 1 5
		mknod -m 666 full c 1 7
		mknod -m 666 random c 1 8
		mknod -m 666 urandom c 1 9
		mknod -m 666 tty c 5 0
		ln -s pts/ptmx ptmx
		ln -s /proc/self/fd fd
		ln -s fd/0 stdin
		ln -s fd/1 stdout
		ln -s fd/2 stderr
		cd /
		exec chroot "$@"' "$root" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# root_install ROOT PACKAGE...
root_install() {
	root_run "$1" apt-get -q update && root_run "$1" apt-get -q install -y --no-install-recommends "${@:2}"
}

# lead_nowhere FOLDER: print the links to contrib/ of the documents of a package, which are there, that lead to no file.
lead_nowhere() {
	local file link

	for file in "$1"/docs/*.md "$1"/docs/guides/*.md; do
		while IFS= read -r link; do
			[[ -f ${file%/*}/$link ]] || echo "${file#"$1"/}: $link"
		done < <(grep -o ']([^)#:]*contrib/[^)#]*' "$file" | cut -c3-)
	done
}
