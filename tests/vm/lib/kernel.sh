# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel.sh - the distribution's kernel, headers and source, unpacked in the cache and not
# installed.
#
# A kernel directory is $cache_root/linux-KVER_PACKAGEVERSION/, or for a line with a suite
# $cache_root/SUITE/linux-KVER_PACKAGEVERSION/, and holds:
#   root/            what the packages contain
#   vmlinux          the kernel without its compression, which takes an emulated CPU seconds
# kernel_select sets kernel_dir, kernel_version (KVER) and the paths below.

# The kernel lines: the package that depends on the newest of each. Those with a suite are of the distribution's
# next release, which this machine's apt is not told of; the others are Debian 12's.
declare -A kernel_packages=([6.1]=linux-image-amd64 [6.12]=linux-image-6.12-amd64 [newest]=linux-image-amd64)
declare -A kernel_suites=([newest]=trixie-backports)
kernel_default_line=6.1
# Options of apt, where its own configuration does not do.
kernel_apt=()

# kernel_patched_line LINE: there are patches for it, and so the packages that modules are built from.
kernel_patched_line() {
	[[ -d $vm/../../kernel_patches/v$1 ]]
}

kernel_select() {
	kernel_dir=$1
	kernel_version=${kernel_dir##*/linux-}
	kernel_version=${kernel_version%%_*}
	kernel_root=$kernel_dir/root
	kernel_vmlinuz=$kernel_root/boot/vmlinuz-$kernel_version
	kernel_headers=$kernel_root/usr/src/linux-headers-$kernel_version
	kernel_source=$kernel_root/usr/src/linux-source-$kernel_line.tar.xz
	kernel_image=$kernel_dir/vmlinux
}

# kernel_newest_cached: print the directory of the line's newest kernel in the cache, or nothing.
kernel_newest_cached() {
	local suite=${kernel_suites[$kernel_line]:-} dir

	for dir in "$kernel_home"/linux-*_*/; do
		dir=${dir%/}
		[[ -n $suite || $dir == */linux-"$kernel_line".* ]] || continue
		[[ ! -e $dir/root ]] || echo "$dir"
	done | sort -V | tail -n 1
}

# kernel_newest_offered: print "KVER PACKAGEVERSION" of the archive's kernel of the line, or nothing.
kernel_newest_offered() {
	apt-cache "${kernel_apt[@]}" --no-all-versions show "${kernel_packages[$kernel_line]}" 2>/dev/null |
		sed -n 's/^Depends:.*linux-image-\([^ ,]*\) (= \([^)]*\)).*/\1 \2/p'
}

# kernel_ask SUITE: take kernels from that suite of the distribution's archive, or from its security archive with
# "security", which newer lines are in and not every machine's apt is told of. The machine's own configuration
# stays as it is.
kernel_ask() {
	local suite=$1 dir=$cache_root/apt/$1 uri codename

	read -r uri codename < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' |
		grep -m 1 '/debian/ [a-z]*$') || return 0
	if [[ $suite == security ]]; then
		uri=${uri%/}-security
		suite=$codename-security
	fi
	say "looking into $suite for ${kernel_packages[$kernel_line]}"
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	echo "deb $uri $suite main" >"$dir/sources.list"
	kernel_apt=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir" -o APT::Sandbox::User=root)
	apt-get -q "${kernel_apt[@]}" update >&2
}

# kernel_unpack DIR KVER PACKAGEVERSION: download the packages, all of one version, and unpack them.
kernel_unpack() {
	local dir=$1 kver=$2 version=$3 deb
	local packages=("linux-image-$kver=$version") part

	# From 7.3 on the image is parted, and depends on the parts.
	for part in base binary modules; do
		[[ -z $(apt-cache "${kernel_apt[@]}" --no-all-versions show "linux-$part-$kver" 2>/dev/null) ]] ||
			packages+=("linux-$part-$kver=$version")
	done

	if kernel_patched_line "$kernel_line"; then
		packages+=(
			"linux-headers-$kver=$version"
			"linux-headers-${kver%-*}-common=$version"
			"linux-kbuild-$kernel_line=$version"
			"linux-source-$kernel_line=$version"
		)
	fi
	mkdir -p "$dir/debs"
	say "downloading the kernel packages $kver ($version), 100 to 220 MB"
	# Sandbox::User: apt's own user may not write to a cache in somebody's home directory.
	(cd "$dir/debs" && apt-get -q "${kernel_apt[@]}" -o APT::Sandbox::User=root download "${packages[@]}") >&2
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -r "$dir/debs"
	# Where the next release has its modules, and from 7.3 on the kernel beside them.
	[[ -e $dir/lib ]] || ln -s usr/lib "$dir/lib"
	mkdir -p "$dir/boot"
	[[ -e $dir/boot/vmlinuz-$kver ]] || ln -s "../lib/modules/$kver/vmlinuz" "$dir/boot/vmlinuz-$kver"
	! kernel_patched_line "$kernel_line" || kernel_move_headers "$dir" "$kver"
	depmod -b "$dir" "$kver"
}

# kernel_move_headers DIR KVER: they expect to live in /usr/src. Relative to themselves they work
# anywhere.
kernel_move_headers() {
	local dir=$1 kver=$2 headers=$1/usr/src/linux-headers-$2

	sed -i "s|^include /usr/src/\(.*\)|include \$(dir \$(lastword \$(MAKEFILE_LIST)))../\1|" \
		"$headers/Makefile"
	ln -sfn "../../../usr/src/linux-headers-$kver" "$dir/lib/modules/$kver/build"
	ln -sfn "../../../usr/src/linux-headers-${kver%-*}-common" "$dir/lib/modules/$kver/source"
}

# kernel_decompress FILE VMLINUZ: write the ELF image inside a bzImage
# (Documentation/arch/x86/boot.rst).
kernel_decompress() {
	local file=$1 vmlinuz=$2
	local setup_sects offset length magic tool

	setup_sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$vmlinuz")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$vmlinuz")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$vmlinuz")
	offset=$(((setup_sects + 1) * 512 + offset))
	magic=$(od -An -tx1 -j "$offset" -N4 "$vmlinuz" | tr -d ' ')
	case $magic in
	fd377a58) tool=xz ;;
	28b52ffd) tool=zstd ;;
	1f8b*) tool=gzip ;;
	*) die "$vmlinuz: compression $magic is not known" ;;
	esac
	# The last 4 bytes are the size, appended by the kernel's build.
	head -c $((offset + length - 4)) "$vmlinuz" | tail -c +$((offset + 1)) |
		"$tool" -dc >"$file"
}

# kernel_prepare LINE [update]: make sure a kernel is in the cache and select it. Call under the lock.
# A kernel once in the cache stays the one in use until "update" is asked for, so that runs compare.
kernel_prepare() {
	local dir kver version

	kernel_line=$1
	shift
	[[ -n ${kernel_packages[$kernel_line]:-} ]] ||
		die "no kernel line $kernel_line: there are ${!kernel_packages[*]}"
	kernel_home=$cache_root${kernel_suites[$kernel_line]:+/${kernel_suites[$kernel_line]}}
	dir=$(kernel_newest_cached)
	if [[ -z $dir || ${1:-} == update ]]; then
		if [[ -n ${kernel_suites[$kernel_line]:-} ]]; then
			kernel_ask "${kernel_suites[$kernel_line]}"
		fi
		read -r kver version < <(kernel_newest_offered) || true
		if [[ -z ${kernel_suites[$kernel_line]:-} ]]; then
			if [[ $EUID -eq 0 && (-z ${kver:-} || ${1:-} == update) ]]; then
				apt-get -q update >&2
				read -r kver version < <(kernel_newest_offered) || true
			fi
			if [[ -z ${kver:-} ]]; then
				kernel_ask security
				read -r kver version < <(kernel_newest_offered) || true
			fi
		fi
		[[ -n ${kver:-} ]] ||
			die "apt does not know ${kernel_packages[$kernel_line]}: run apt-get update as root"
		dir=$kernel_home/linux-${kver}_$version
	fi
	kernel_select "$dir"
	cache_make "$kernel_root" kernel_unpack "$kernel_version" "${dir##*_}"
	cache_make "$kernel_image" kernel_decompress "$kernel_vmlinuz"
}
