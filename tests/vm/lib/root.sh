# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# root.sh - a root of Debian 12 for another architecture, unpacked in the cache and not installed: what a program for it is
# linked with, and what its test machine has. Of tests/packages.txt it has what the purpose of that name lists, with what
# that depends on, and what every machine has.

# root_packages ARCHITECTURE
root_packages() {
	awk -v purpose="$1" '!/^#/ { for (i = 2; i <= NF; i++) if ($i == purpose) print $1 }' "$vm/../packages.txt"
}

# root_download DIR ARCHITECTURE: the packages, to DIR.
root_download() {
	local packages steps

	kernel_line=$2
	kernel_sources debian bookworm,bookworm-security
	kernel_configure "$cache_root/apt/$2" "$2" "${kernel_uris[@]/#/"[signed-by=$kernel_keys] "}"
	mapfile -t packages < <(root_packages "$2")
	steps=$(apt-get "${kernel_apt[@]}" -s install --no-install-recommends '?priority(required)' "${packages[@]}")
	mapfile -t packages < <(awk '$1 == "Inst" { print $2 }' <<<"$steps")
	say "downloading ${#packages[@]} packages of $2"
	mkdir -p "$1"
	(cd "$1" && kernel_apt_get -qq download "${packages[@]}")
}

# root_make DIR ARCHITECTURE
root_make() {
	local dir=$1 deb link

	root_download "$dir.debs.partial" "$2"
	for deb in bin sbin lib; do
		mkdir -p "$dir/usr/$deb"
		ln -s "usr/$deb" "$dir/$deb"
	done
	for deb in "$dir".debs.partial/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir" --keep-directory-symlink --no-same-owner -xf -
	done
	rm -r "$dir.debs.partial"
	# What is linked with the path that it has there.
	while IFS= read -r link; do
		ln -srfn "$dir$(readlink "$link")" "$link"
	done < <(find "$dir" -lname '/*')
}

# root_prepare ARCHITECTURE: make sure it is in the cache, and set root_dir to it. Call under the lock.
root_prepare() {
	local hash kernel_line

	hash=$(root_packages "$1" | sha256sum)
	root_dir=$cache_root/roots/$1-${hash:0:16}
	cache_make "$root_dir" root_make "$1"
}
