#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel_archive.sh - tests/vm downloads a kernel once, and looks again when the archive removes a version meanwhile.
#
# The archive is a small one of files, which apt copies as if it downloaded them; apt is the real one.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
suite=$work/debian-security/dists/bookworm-security
mkdir -p "$work/bin" "$work/debian-security/pool" "$suite/main/binary-amd64"

# package NAME VERSION [DEPENDS]: from the files in $work/tree, into the archive.
package() {
	mkdir -p "$work/tree/DEBIAN"
	printf '%s\n' "Package: $1" "Version: $2" "Architecture: amd64" "Depends: ${3:-}" "Maintainer: nobody" \
		"Description: none" | sed '/^Depends: $/d' >"$work/tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$work/tree" "$work/debian-security/pool/$1_$2_amd64.deb" >/dev/null
	rm -r "$work/tree"
}

# release N [ubuntu]: the archive has version 6.12.N and no other, with the names that Debian or Ubuntu gives packages; and, if
# it is set, the version $kbuild of linux-kbuild-6.12, as before Debian 13.
release() {
	local kver=6.12.$1-amd64 common=linux-headers-6.12.$1-common source=linux-source-6.12 suffix=xz

	[[ -z ${2:-} ]] || common=linux-headers-6.12.$1 source=linux-source-6.12.0 suffix=bz2

	rm -f "$work"/debian-security/pool/*
	mkdir -p "$work/tree/boot" "$work/tree/lib/modules/$kver"
	printf '\x7fELF of %s' "$kver" >"$work/tree/boot/vmlinuz-$kver"
	touch "$work/tree/lib/modules/$kver"/modules.{order,builtin,builtin.modinfo}
	package "linux-image-$kver" "6.12.$1-1"
	# From which the patched drivers are built.
	mkdir -p "$work/tree/usr/src/linux-headers-$kver"
	if [[ -n ${2:-} ]]; then
		ln -s "../$common/Makefile" "$work/tree/usr/src/linux-headers-$kver/Makefile"
	else
		touch "$work/tree/usr/src/linux-headers-$kver/Makefile"
	fi
	package "linux-headers-$kver" "6.12.$1-1"
	mkdir -p "$work/tree/usr/src/$common"
	touch "$work/tree/usr/src/$common/Makefile"
	package "$common" "6.12.$1-1"
	[[ -n ${2:-} ]] || package "linux-kbuild-6.12.$1" "6.12.$1-1"
	if [[ -n ${kbuild:-} ]]; then
		mkdir -p "$work/tree/usr/lib/linux-kbuild-6.12"
		package linux-kbuild-6.12 "$kbuild"
	fi
	mkdir -p "$work/tree/usr/src"
	touch "$work/tree/usr/src/$source.tar.$suffix"
	package "$source" "6.12.$1-1"
	package linux-image-6.12-amd64 "6.12.$1-1" "linux-image-$kver (= 6.12.$1-1)"
	(
		cd "$work/debian-security" && dpkg-scanpackages pool 2>/dev/null >"$suite/main/binary-amd64/Packages"
		cd "$suite" && file=main/binary-amd64/Packages
		printf '%s\n' "Origin: Debian" "Suite: bookworm-security" "Date: $(date -Ru -d "2030-01-01 +$1 days")" \
			"Architectures: amd64" "Components: main" "SHA256:" \
			" $(sha256sum <"$file" | cut -d' ' -f1) $(stat -c %s "$file") $file" >Release
		# By size and time apt knows that a list is another one.
		touch -d "2030-01-01 +$1 days" "$file" Release
	)
}

# No key signs that archive.
cat >"$work/apt.conf" <<'END'
Acquire::AllowInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
Acquire::Check-Date "false";
END
# What apt is asked for; the archive may change just before a download.
cat >"$work/bin/apt-get" <<'END'
#!/bin/bash
echo "$*" >>"$work/asked"
if [[ $* == *" download "* && $* != *--print-uris* && -s $work/releases ]]; then
	release "$(head -n 1 "$work/releases")"
	sed -i 1d "$work/releases"
fi
PATH=${PATH#*:} exec apt-get "$@"
END
printf '#!/bin/sh\n' >"$work/bin/sleep"
chmod +x "$work"/bin/*
export work suite APT_CONFIG=$work/apt.conf NTPROF_CACHE=$work/cache NTPROF_DEBIAN=copy:$work/debian
export -f package release

# prepare [update]: print the directory of the kernel 6.12 in the cache; what is said goes to $work/said. With patched=1 there
# are patches for it.
prepare() {
	: >"$work/asked"
	PATH=$work/bin:$PATH bash -c '
		set -euo pipefail
		shopt -s inherit_errexit nullglob
		vm=tests/vm
		. tests/vm/lib/cache.sh
		. tests/vm/lib/kernel.sh
		kernel_debian_keys=/dev/null
		kernel_patched_line() { [[ -n ${patched:-} ]]; }
		cache_lock
		kernel_prepare 6.12 "$@"
		echo "${kernel_dir##*/}"
		' - "$@" 2>"$work/said"
}

# asked WORD: how often apt was asked for that.
asked() {
	grep -v -e --print-uris "$work/asked" | grep -c -w -e "$1"
}

release 1
equal "a kernel is downloaded" "$(prepare)" linux-6.12.1-amd64_6.12.1-1
check "it is in the cache" grep -q 'of 6.12.1-amd64' "$NTPROF_CACHE/6.12/linux-6.12.1-amd64_6.12.1-1/vmlinux"
check "the size is printed before the download begins" \
	grep -qz 'downloading 0 MB: the packages of the kernel 6.12.1-amd64.*Get:1 copy:.*linux-image-6.12.1-amd64' "$work/said"
equal "the packages are not kept" "$(find "$NTPROF_CACHE" -name '*.deb')" ""

release 2
equal "it stays the one in use" "$(prepare)" linux-6.12.1-amd64_6.12.1-1
equal "without asking apt anything" "$(wc -l <"$work/asked")" 0
equal "a newer one is looked for on request" "$(prepare update)" linux-6.12.2-amd64_6.12.2-1
equal "one that is in the cache already" "$(prepare update)" linux-6.12.2-amd64_6.12.2-1
equal "is not downloaded again" "$(asked download)" 0

echo 4 >"$work/releases"
release 3
equal "a version that the archive removes before it is downloaded is looked up again" "$(prepare update)" \
	linux-6.12.4-amd64_6.12.4-1
check "and that is said" grep -q 'looking again' "$work/said"

printf '%s\n' 6 7 8 9 >"$work/releases"
release 5
equal "an archive that does so each time" "$(prepare update)" ""
equal "is asked three times" "$(asked download)" 3
check "and that is an error" grep -q 'cannot download linux-image-6.12-amd64 from .*/debian-security bookworm-security' "$work/said"
rm "$work/releases"
equal "what was in the cache is still there" "$(prepare)" linux-6.12.4-amd64_6.12.4-1

release 10
equal "a kernel without patches" "$(prepare update)" linux-6.12.10-amd64_6.12.10-1
source=$NTPROF_CACHE/6.12/linux-6.12.10-amd64_6.12.10-1/root/usr/src/linux-source-6.12.tar.xz
check "has no source" test ! -e "$source"
export patched=1
equal "when patches come, it is the same" "$(prepare)" linux-6.12.10-amd64_6.12.10-1
check "and its source is there" test -e "$source"
equal "once that is in the cache it stays" "$(prepare)" linux-6.12.10-amd64_6.12.10-1
equal "without asking apt for it" "$(wc -l <"$work/asked")" 0

kbuild=6.12.12-2 release 11
equal "while the next kernel is not signed yet" "$(prepare update)" linux-6.12.11-amd64_6.12.11-1
check "the tools of its build serve the one before" test -d \
	"$NTPROF_CACHE/6.12/linux-6.12.11-amd64_6.12.11-1/root/usr/lib/linux-kbuild-6.12"

release 12 ubuntu
equal "packages with the names of Ubuntu" "$(prepare update)" linux-6.12.12-amd64_6.12.12-1
unpacked=$NTPROF_CACHE/6.12/linux-6.12.12-amd64_6.12.12-1/root
check "have the source, too" test -e "$unpacked/usr/src/linux-source-6.12.0.tar.bz2"
check "and headers with a makefile that is there" test -e "$unpacked/lib/modules/6.12.12-amd64/build/Makefile"
finish
