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
	need nm binutils
	need addr2line binutils
	need pahole dwarves
	need bpftool bpftool
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

# check_headers: sets headers_version, kernel_line, patches and modules.
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
	patches=$here/v$kernel_line
	[[ -d $patches ]] || die "there are no patches for Linux $kernel_line (kernel $KVER)"

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

# find_source: set KSRC unless given.
find_source() {
	local candidate name=/usr/src/linux-source-$kernel_line

	if [[ -z ${KSRC:-} ]]; then
		for candidate in "$name".tar.* "$name"/linux-source-*.tar.* "$name"; do
			if [[ -f $candidate || -f $candidate/drivers/nvme/host/tcp.c ]]; then
				KSRC=$candidate
				break
			fi
		done
	fi
	[[ -n ${KSRC:-} ]] ||
		die "no source of Linux $kernel_line in /usr/src: apt-get install linux-source-$kernel_line, or set KSRC"
	[[ -f $KSRC || -f $KSRC/Makefile ]] || die "KSRC=$KSRC is neither a tarball nor a kernel tree"
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

# check_source: that it is of the version of the headers.
check_source() {
	local version

	if [[ -f $KSRC ]]; then
		# Stops at the first match: the rest of the archive need not be read for this.
		version=$(makefile_version <(tar -xOf "$KSRC" --wildcards --no-wildcards-match-slash --occurrence=1 \
			'*/Makefile' 2>/dev/null))
	else
		version=$(makefile_version "$KSRC/Makefile")
	fi
	[[ $version != .. ]] || die "no kernel source in $KSRC"
	[[ $version == "$headers_version" ]] ||
		die "the source in $KSRC is Linux $version, the headers of $KVER are of $headers_version:" \
			"install the source of the kernel's own version, or set KSRC"
	check_source_package
}

# patched_files: the existing files that the patches change, outside drivers/nvme
patched_files() {
	sed -n 's|^--- a/||p' "$patches"/*.patch | grep -v '^drivers/nvme/' | sort -u
}

# unpack_source DIR: drivers/nvme, and what else the patches change
unpack_source() {
	local dir=$1 file files

	mapfile -t files < <(patched_files)
	mkdir -p "$dir"
	if [[ -f $KSRC ]]; then
		tar -xf "$KSRC" -C "$dir" --strip-components=1 --wildcards --no-wildcards-match-slash \
			'*/drivers/nvme' "${files[@]/#/*/}" || die "cannot unpack $KSRC"
	else
		for file in drivers/nvme "${files[@]}"; do
			mkdir -p "$dir/$(dirname "$file")"
			cp -r "$KSRC/$file" "$dir/$file" || die "cannot copy $KSRC/$file"
		done
		# Objects of a tree that was built would be taken for ours.
		find "$dir" -type f ! -name '*.[ch]' ! -name Makefile ! -name Kconfig -delete
	fi
	[[ -f $dir/drivers/nvme/host/tcp.c && -f $dir/drivers/nvme/target/tcp.c ]] || die "no drivers/nvme in $KSRC"
}

# apply_patches DIR: all of them, those for other parts of the kernel included, as one that does not apply tells of a
# source that is not what the patches were made for. Stable updates of a kernel line change lines beside ours: up to
# two lines of context may differ. What has to be the same in all of them, the machine tests say.
apply_patches() {
	local dir=$1 patch

	for patch in "$patches"/*.patch; do
		patch -d "$dir" -p1 --fuzz=2 --batch --forward --silent <"$patch" >"$work/patch.log" 2>&1 || {
			cat "$work/patch.log" >&2
			die "${patch##*/} does not apply to $KSRC: nothing was built"
		}
	done
}
