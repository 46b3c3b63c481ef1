# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# inputs.sh - the kernel's headers and source: where they are, and whether they belong together.

check_tools() {
	need make make
	need patch patch
	need tar tar
	need xz xz-utils
	need readelf binutils
	need strip binutils
	need objcopy binutils
	need nm binutils
	need addr2line binutils
	need pahole dwarves
	need bpftool "bpftool (on Ubuntu linux-tools-$KVER)"
	need modinfo kmod
	need depmod kmod
}

# config_value OPTION: y, m or nothing
config_value() {
	sed -n "s/^$1=//p" "$KDIR/include/config/auto.conf"
}

# makefile_version FILE: the version of the source whose Makefile that is, such as 6.1.192
makefile_version() {
	awk '$2 == "=" && /^(VERSION|PATCHLEVEL|SUBLEVEL) / { v[$1] = $3 }
		END { print v["VERSION"] "." v["PATCHLEVEL"] "." v["SUBLEVEL"] }' "$1"
}

# check_headers: sets headers_version, kernel_line and modules.
check_headers() {
	local file release compiler option module

	for file in Makefile Module.symvers include/config/auto.conf include/generated/uapi/linux/version.h \
		include/generated/utsrelease.h; do
		[[ -e $KDIR/$file ]] ||
			die "no headers of kernel $KVER in $KDIR: apt-get install linux-headers-$KVER, or set KDIR"
	done
	release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$KDIR/include/generated/utsrelease.h")
	[[ $release == "$KVER" ]] || die "the headers in $KDIR are those of kernel $release, not of $KVER: set KDIR or KVER"
	headers_version=$(awk '/^#define LINUX_VERSION_(MAJOR|PATCHLEVEL|SUBLEVEL) / { printf "%s%s", dot, $3; dot = "." }' \
		"$KDIR/include/generated/uapi/linux/version.h")
	kernel_line=${headers_version%.*}

	# "gcc-12 (Debian ...)": the kernel's makefiles of the distribution ask for it by this name.
	compiler=$(config_value CONFIG_CC_VERSION_TEXT | sed 's/^"//; s/[ "].*//')
	need "${compiler:-gcc}" "${compiler:-gcc}"

	modules=()
	for module in "${module_names[@]}"; do
		option=${module_option[$module]}
		case $(config_value "$option") in
		m) modules+=("$module") ;;
		y) die "$module is built into kernel $KVER ($option=y): rebuild the kernel, see $here/README.md" ;;
		*) say "kernel $KVER has no $module ($option is not set): not built" ;;
		esac
	done
	((${#modules[@]})) || die "kernel $KVER has neither NVMe/TCP host nor target"
}

# find_source: set KSRC unless given. Ubuntu's package has three numbers in its name.
find_source() {
	local name candidate

	for name in /usr/src/linux-source-{"$kernel_line","$kernel_line.0","$headers_version"}; do
		for candidate in "$name".tar.* "$name"/linux-source-*.tar.* "$name"; do
			[[ -z ${KSRC:-} ]] || break 2
			[[ ! -f $candidate && ! -f $candidate/drivers/nvme/host/tcp.c ]] || KSRC=$candidate
		done
	done
	[[ -n ${KSRC:-} ]] ||
		die "no source of Linux $kernel_line in /usr/src: apt-get install linux-source-$kernel_line" \
			"(on Ubuntu linux-source-$kernel_line.0), or set KSRC"
	[[ -f $KSRC || -f $KSRC/Makefile ]] || die "KSRC=$KSRC is neither a tarball nor a kernel tree"
	[[ $KSRC != *.bz2 ]] || need bzip2 bzip2
}

# The Debian revision counts too: security fixes come without a new upstream version.
check_source_package() {
	local package source headers

	type -P dpkg-query >/dev/null || return 0
	headers=$(headers_package)
	package=$(dpkg-query -S "$KSRC" 2>/dev/null | sed 's/:.*//') || return 0
	[[ -n $headers && -n $package ]] || return 0
	source=$(dpkg-query -W -f '${Version}' "$package")
	[[ $source == "$headers" ]] ||
		die "the source in $KSRC is $package $source, the headers of $KVER are of $headers:" \
			"apt-get install $package=$headers, or the kernel and headers of $source"
}

# source_version: of KSRC, ".." if that is no kernel's
source_version() {
	if [[ -f $KSRC ]]; then
		# Stops at the first match: the rest of the archive need not be read for this.
		makefile_version <(tar -xOf "$KSRC" --wildcards --no-wildcards-match-slash --occurrence=1 '*/Makefile' 2>/dev/null)
	else
		makefile_version "$KSRC/Makefile"
	fi
}

# check_source: that it is of the version of the headers.
check_source() {
	local version

	version=$(source_version)
	[[ $version != .. ]] || die "no kernel source in $KSRC"
	[[ $version == "$headers_version" ]] ||
		die "the source in $KSRC is Linux $version, the headers of $KVER are of $headers_version:" \
			"install the source of the kernel's own version, or set KSRC"
	check_source_package
}

# unpack_source DIR: drivers/nvme
unpack_source() {
	local dir=$1

	mkdir -p "$dir"
	if [[ -f $KSRC ]]; then
		tar -xf "$KSRC" -C "$dir" --strip-components=1 --wildcards --no-wildcards-match-slash '*/drivers/nvme' ||
			die "cannot unpack $KSRC"
	else
		mkdir "$dir/drivers"
		cp -r "$KSRC/drivers/nvme" "$dir/drivers" || die "cannot copy $KSRC/drivers/nvme"
		# Objects of a tree that was built would be taken for ours.
		find "$dir" -type f ! -name '*.[ch]' ! -name Makefile ! -name Kconfig -delete
	fi
	[[ -f $dir/drivers/nvme/host/tcp.c && -f $dir/drivers/nvme/target/tcp.c ]] || die "no drivers/nvme in $KSRC"
}
