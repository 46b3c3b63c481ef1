# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel.sh - the distribution's kernel, headers and source, unpacked in the cache and not
# installed.
#
# A kernel directory is $cache_root/linux-KVER_PACKAGEVERSION/, or for lines of another suite or flavour
# $cache_root/SUITE/linux-KVER_PACKAGEVERSION/ and $cache_root/LINE/linux-KVER_PACKAGEVERSION/, and holds:
#   root/            what the packages contain
#   vmlinux          the kernel without its compression, which takes an emulated CPU seconds
# kernel_select sets kernel_dir, kernel_version (KVER) and the paths below.

# The kernel lines: the package that depends on the newest of each. Those with a suite are of another release than
# Debian 12, which this machine's apt is not told of: newest of Debian's next one, 5.15 and 6.8 of Ubuntu 22.04 and
# 24.04.
declare -A kernel_packages=([6.1]=linux-image-amd64 [6.12]=linux-image-6.12-amd64 [6.12-rt]=linux-image-6.12-rt-amd64
	[newest]=linux-image-amd64 [5.15]=linux-image-generic [6.8]=linux-image-generic)
declare -A kernel_suites=([newest]=trixie-backports [5.15]=jammy-updates [6.8]=noble-updates)
# Whose archive a suite is in, where not in that of the machine's distribution.
declare -A kernel_archives=([5.15]=ubuntu [6.8]=ubuntu)
kernel_default_line=6.1
kernel_ubuntu=${NTPROF_UBUNTU:-}
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

# kernel_set_home: where the directories of kernel_line are. Those of a line that shares its home begin with its name.
kernel_set_home() {
	kernel_home=$cache_root
	[[ $kernel_line != *-* ]] || kernel_home+=/$kernel_line
	[[ -z ${kernel_suites[$kernel_line]:-} ]] || kernel_home+=/${kernel_suites[$kernel_line]}
}

# kernel_newest_cached: print the directory of the line's newest kernel in the cache, or nothing.
kernel_newest_cached() {
	local dir

	for dir in "$kernel_home"/linux-*_*/; do
		dir=${dir%/}
		[[ $kernel_home != "$cache_root" || $dir == */linux-"$kernel_line".* ]] || continue
		[[ ! -e $dir/root ]] || echo "$dir"
	done | sort -V | tail -n 1
}

# kernel_show PACKAGE: what apt knows of it.
kernel_show() {
	apt-cache "${kernel_apt[@]}" --no-all-versions show "$1" 2>/dev/null
}

# kernel_newest_offered: print "KVER PACKAGEVERSION" of the archive's kernel of the line, or nothing.
kernel_newest_offered() {
	local kver version

	read -r kver version < <(kernel_show "${kernel_packages[$kernel_line]}" |
		sed -n 's/^Depends:[^|]*[ ,]linux-image-\([0-9][^ ,]*\)\( (= \([^)]*\))\)\?.*/\1 \3/p') || return 0
	# Ubuntu's names no version.
	[[ -n $version ]] || version=$(kernel_show "linux-image-$kver" | sed -n 's/^Version: //p')
	echo "$kver $version"
}

# kernel_configure DIR LINE: have apt work in DIR, with the sources.list LINE. The machine's own configuration stays as
# it is.
kernel_configure() {
	local dir=$1

	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	echo "$2" >"$dir/sources.list"
	kernel_apt=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir" -o APT::Sandbox::User=root)
	apt-get -q "${kernel_apt[@]}" update >&2
}

# kernel_ubuntu_keys DIR: Ubuntu's keys as DIR/root/usr/share/keyrings/ubuntu-archive-keyring.gpg, from the package of
# 22.04, which is known by its sum, as Debian 12 has none of that name.
kernel_ubuntu_keys() {
	local sum=0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f deb

	kernel_configure "$1" "deb [arch=amd64 trusted=yes] $kernel_ubuntu jammy main"
	(cd "$1" && apt-get -q "${kernel_apt[@]}" download ubuntu-keyring) >&2
	for deb in "$1"/ubuntu-keyring_*.deb; do
		[[ $(sha256sum <"$deb") == "$sum "* ]] || die "$deb is not the package that is known"
		dpkg-deb -x "$deb" "$1/root"
	done
}

# kernel_ask SUITE: take kernels from that suite of the line's archive, or from the distribution's security archive
# with "security", which newer lines are in and not every machine's apt is told of.
kernel_ask() {
	local suite=$1 uri codename options=

	say "looking into $suite for ${kernel_packages[$kernel_line]}"
	if [[ ${kernel_archives[$kernel_line]:-} == ubuntu ]]; then
		[[ -n $kernel_ubuntu ]] ||
			die "--kernel $kernel_line: NTPROF_UBUNTU has to name a mirror of Ubuntu's archive: http://HOST/ubuntu"
		cache_make "$cache_root/apt/ubuntu-keys" kernel_ubuntu_keys
		uri=$kernel_ubuntu
		options="[arch=amd64 signed-by=$cache_root/apt/ubuntu-keys/root/usr/share/keyrings/ubuntu-archive-keyring.gpg]"
	else
		read -r uri codename < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' |
			grep -m 1 '/debian/ [a-z]*$') || return 0
		if [[ $suite == security ]]; then
			uri=${uri%/}-security
			suite=$codename-security
		fi
	fi
	kernel_configure "$cache_root/apt/$1" "deb $options $uri $suite main"
}

# kernel_unpack DIR KVER PACKAGEVERSION: download the packages, all of one version, and unpack them.
kernel_unpack() {
	local dir=$1 kver=$2 version=$3 deb
	local packages=("linux-image-$kver=$version") part

	# Debian's image is parted from 7.3 on, Ubuntu's always, and depends on the parts.
	for part in base binary modules modules-extra; do
		[[ -z $(kernel_show "linux-$part-$kver") ]] ||
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

# kernel_is_elf FILE: it is a vmlinux.
kernel_is_elf() {
	[[ $(od -An -tx1 -N4 "$1") == " 7f 45 4c 46" ]]
}

# kernel_decompress FILE VMLINUZ: write the ELF image inside a bzImage
# (Documentation/arch/x86/boot.rst), or that VMLINUZ is itself.
kernel_decompress() {
	local file=$1 vmlinuz=$2
	local setup_sects offset length magic tool size=4

	if kernel_is_elf "$vmlinuz"; then
		cp "$vmlinuz" "$file"
		return
	fi
	[[ $(od -An -tx1 -j $((0x202)) -N4 "$vmlinuz") == " 48 64 72 53" ]] ||
		die "$vmlinuz: neither a bzImage nor a vmlinux"
	setup_sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$vmlinuz")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$vmlinuz")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$vmlinuz")
	offset=$(((setup_sects + 1) * 512 + offset))
	magic=$(od -An -tx1 -j "$offset" -N4 "$vmlinuz" | tr -d ' ')
	case $magic in
	fd377a58) tool=xz ;;
	28b52ffd) tool=zstd ;;
	# What gzip writes ends with the size itself; behind others the kernel's build appends it.
	1f8b*) tool=gzip size=0 ;;
	*) die "$vmlinuz: compression $magic is not known" ;;
	esac
	head -c $((offset + length - size)) "$vmlinuz" | tail -c +$((offset + 1)) |
		"$tool" -dc >"$file"
}

# kernel_release FILE: print the KVER that a bzImage or a vmlinux says it is.
kernel_release() {
	if kernel_is_elf "$1"; then
		grep -aom1 'Linux version [0-9][^ ]* (' "$1" | sed 's/^Linux version \([^ ]*\) ($/\1/;q'
	else
		# All of it is read: who writes into a pipe that nobody reads any more fails.
		dd if="$1" bs=1 skip=$((0x200 + $(od -An -tu2 -j $((0x20e)) -N2 "$1"))) count=128 status=none |
			tr '\0' ' ' | LC_ALL=C sed '1s/ .*//;1!d'
	fi
}

# kernel_link_tree DIR MODULES: what a package would hold, without a kernel in /boot.
kernel_link_tree() {
	mkdir -p "$1"
	ln -s "$(cd "$2" && pwd)/lib" "$1/lib"
}

kernel_copy() {
	cp "$2" "$1"
}

# kernel_take FILE MODULES [as-is]: select the kernel in FILE, a bzImage or a vmlinux, with the modules in
# MODULES/lib/modules/KVER; it is booted as it is in FILE, or decompressed. Call under the lock. What is made for it in the cache is made anew when one of them is another.
kernel_take() {
	local file=$1 modules=$2 hash

	[[ -r $file ]] || die "--kernel-image $file: no such file"
	kernel_line=$(kernel_release "$file")
	[[ $kernel_line =~ ^[0-9]+\.[0-9] ]] || die "--kernel-image $file: neither a bzImage nor a vmlinux"
	[[ -e $modules/lib/modules/$kernel_line/modules.dep ]] ||
		die "--modules $modules: no lib/modules/$kernel_line/modules.dep there"
	hash=$(stat -L -c '%n %s %Y' "$file" "$modules/lib/modules/$kernel_line/modules.dep" | sha256sum)
	kernel_home=$cache_root/images
	[[ ! -d $kernel_home ]] || cache_trim "$kernel_home" 'linux-*'
	kernel_select "$kernel_home/linux-${kernel_line}_${hash:0:16}"
	cache_make "$kernel_root" kernel_link_tree "$modules"
	touch "$kernel_dir"
	if [[ -n ${3:-} ]]; then
		kernel_image=$kernel_dir/bzImage
		cache_make "$kernel_image" kernel_copy "$file"
	else
		cache_make "$kernel_image" kernel_decompress "$file"
	fi
}

# kernel_prepare LINE [update]: make sure a kernel is in the cache and select it. Call under the lock.
# A kernel once in the cache stays the one in use until "update" is asked for, so that runs compare.
kernel_prepare() {
	local dir kver version

	kernel_line=$1
	shift
	[[ -n ${kernel_packages[$kernel_line]:-} ]] ||
		die "no kernel line $kernel_line: there are ${!kernel_packages[*]}"
	kernel_set_home
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
