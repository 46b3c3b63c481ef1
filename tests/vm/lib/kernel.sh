# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel.sh - the distribution's kernel, headers and source, unpacked in the cache and not
# installed.
#
# A kernel directory is $cache_root/LINE/linux-KVER_PACKAGEVERSION/ and holds:
#   debs/            the packages, while they are downloaded
#   root/            what the packages contain
#   vmlinux          the kernel without its compression, which takes an emulated CPU seconds
# kernel_select sets kernel_dir, kernel_version (KVER) and the paths below.

# The kernel lines: the archive, its suites, and the package that depends on the newest kernel of the line. They are
# looked up through a list of sources of their own, so that every machine gets the same kernels, whatever its
# distribution is.
declare -A kernel_lines=(
	[6.1]="debian bookworm,bookworm-security linux-image-amd64"
	[6.12]="debian bookworm-security linux-image-6.12-amd64"
	[6.12-rt]="debian bookworm-security linux-image-6.12-rt-amd64"
	[newest]="debian trixie-backports linux-image-amd64"
	[6.1-arm64]="debian bookworm,bookworm-security linux-image-arm64"
	[6.12-arm64]="debian bookworm-security linux-image-6.12-arm64"
	[5.15]="ubuntu jammy-updates linux-image-generic"
	[6.8]="ubuntu noble-updates linux-image-generic"
)
kernel_default_line=6.1
# It names a mirror of Debian's archive.
kernel_debootstrap=/usr/sbin/debootstrap
kernel_debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
# How often a kernel is looked up: an archive may remove the version that is asked for.
kernel_attempts=3
# Options of apt that kernel_configure sets.
kernel_apt=()

# kernel_architecture LINE: print whose packages are asked for, as Debian calls it.
kernel_architecture() {
	[[ $1 == *-arm64 ]] && echo arm64 || echo amd64
}

# kernel_patched_line LINE: there are patches for it, and so the packages that modules are built from. To 6.8 those for 6.12
# apply.
kernel_patched_line() {
	[[ $1 == newest || $1 == 6.8 || -d $vm/../../kernel_patches/v$1 ]]
}

# kernel_number KVER: print its first two numbers: 7.3. Debian's package of the source is named after them.
kernel_number() {
	[[ $1 =~ ^[0-9]+\.[0-9]+ ]] && echo "${BASH_REMATCH[0]}"
}

# kernel_find_source DIR: print the path of its archive of the source, or nothing. Ubuntu's is linux-source-5.15.0.tar.bz2.
kernel_find_source() {
	compgen -G "$1/root/usr/src/linux-source-*.tar.*" || true
}

kernel_select() {
	kernel_dir=$1
	kernel_version=${kernel_dir##*/linux-}
	kernel_version=${kernel_version%%_*}
	kernel_root=$kernel_dir/root
	kernel_vmlinuz=$kernel_root/boot/vmlinuz-$kernel_version
	kernel_headers=$kernel_root/usr/src/linux-headers-$kernel_version
	kernel_image=$kernel_dir/vmlinux
}

# kernel_is_whole DIR: it has all packages. Patches for a line may come when its kernel is in the cache without source.
kernel_is_whole() {
	[[ -e $1/root ]] || return
	! kernel_patched_line "$kernel_line" || [[ -n $(kernel_find_source "$1") ]]
}

# kernel_newest_cached: print the directory of the line's newest kernel in the cache, or nothing.
kernel_newest_cached() {
	local dir

	for dir in "$cache_root/$kernel_line"/linux-*_*/; do
		! kernel_is_whole "${dir%/}" || echo "${dir%/}"
	done | sort -V | tail -n 1
}

# kernel_show PACKAGE: what apt knows of it.
kernel_show() {
	apt-cache "${kernel_apt[@]}" --no-all-versions show "$1" 2>/dev/null
}

# kernel_newest_offered PACKAGE: print "KVER PACKAGEVERSION" of the archive's kernel that PACKAGE depends on, or nothing.
kernel_newest_offered() {
	local kver version

	read -r kver version < <(kernel_show "$1" |
		sed -n 's/^Depends:[^|]*[ ,]linux-image-\([0-9][^ ,]*\)\( (= \([^)]*\))\)\?.*/\1 \3/p') || return 0
	# Ubuntu's names no version.
	[[ -n $version ]] || version=$(kernel_show "linux-image-$kver" | sed -n 's/^Version: //p')
	echo "$kver $version"
}

# kernel_apt_get ARG...: on standard error, with apt's progress where that is a terminal.
kernel_apt_get() {
	apt-get "${kernel_apt[@]}" "$@" >&2
}

# kernel_configure DIR ARCHITECTURE SOURCE...: have apt work in DIR with these lines of sources.list. What this machine is,
# has installed, prefers or has in its own lists makes no difference. Fails where a list cannot be had.
kernel_configure() {
	local dir=$1 architecture=$2

	shift 2
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" || return
	printf 'deb %s main\n' "$@" >"$dir/sources.list" || return
	# Sandbox::User: apt's own user may not write to a cache in a home directory.
	kernel_apt=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o APT::Default-Release=
		-o "Dir::State::lists=$dir/lists" -o Dir::State::status=/dev/null -o "Dir::Cache=$dir"
		-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
		-o Acquire::Languages=none -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any)
	kernel_apt_get update
}

# kernel_ubuntu_keys DIR UBUNTU: Ubuntu's keys as DIR/root/usr/share/keyrings/ubuntu-archive-keyring.gpg, from the package
# of 22.04, which is known by its sum, as Debian 12 has none of that name.
kernel_ubuntu_keys() {
	local sum=0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f deb

	kernel_configure "$1" amd64 "[trusted=yes] $2 jammy"
	(cd "$1" && kernel_apt_get download ubuntu-keyring)
	for deb in "$1"/ubuntu-keyring_*.deb; do
		[[ $(sha256sum <"$deb") == "$sum "* ]] || die "$deb is not the package that is known"
		dpkg-deb -x "$deb" "$1/root"
	done
}

# kernel_debian LABEL: print the URI of Debian's archive with that label ("Debian", "Debian-Security") that this
# machine's apt uses, or nothing.
kernel_debian() {
	apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Identifier: Packages' |
		awk -v label="$1" 'NF == 2 && $2 == label && !n++ { print $1 }'
}

# kernel_sources ARCHIVE SUITE,...: set kernel_uris, one for each suite, and kernel_keys.
kernel_sources() {
	local suite uri security

	kernel_uris=()
	type -P apt-get >/dev/null ||
		die "no kernel $kernel_line in $cache_root, and apt-get, which would download it, is not installed"
	if [[ $1 == ubuntu ]]; then
		uri=${NTPROF_UBUNTU:-}
		[[ -n $uri ]] ||
			die "--kernel $kernel_line: NTPROF_UBUNTU has to name a mirror of Ubuntu's archive: http://HOST/ubuntu"
		cache_make "$cache_root/apt/ubuntu-keys" kernel_ubuntu_keys "$uri"
		kernel_keys=$cache_root/apt/ubuntu-keys/root/usr/share/keyrings/ubuntu-archive-keyring.gpg
	else
		uri=${NTPROF_DEBIAN:-$(kernel_debian Debian)}
		security=${NTPROF_DEBIAN:+${NTPROF_DEBIAN%/}-security}
		security=${security:-$(kernel_debian Debian-Security)}
		# On another distribution.
		[[ -n $uri || ! -r $kernel_debootstrap ]] ||
			uri=$(sed -n 's|^DEF_MIRROR="\(.*/debian\)"$|\1|p' "$kernel_debootstrap")
		[[ -n $uri ]] || die "no mirror of Debian's archive is known: install debootstrap, or set NTPROF_DEBIAN"
		security=${security:-${uri%/}-security}
		kernel_keys=$kernel_debian_keys
		[[ -e $kernel_keys ]] || die "no $kernel_keys: install the package debian-archive-keyring"
	fi
	for suite in ${2//,/ }; do
		if [[ $1 == debian && $suite == *-security ]]; then
			kernel_uris+=("$security $suite")
		else
			kernel_uris+=("$uri $suite")
		fi
	done
}

# kernel_fetch PACKAGE: look into the archive for the newest kernel of the line, set kernel_dir to where it belongs, and
# download its packages to there if it is not in the cache. Fails where the archive does not have what it lists.
# Without errexit, as its caller asks whether it failed.
kernel_fetch() {
	local kver version

	kernel_configure "$cache_root/apt/$kernel_line" "$(kernel_architecture "$kernel_line")" \
		"${kernel_uris[@]/#/"[signed-by=$kernel_keys] "}" || return
	read -r kver version < <(kernel_newest_offered "$1") || return
	kernel_dir=$cache_root/$kernel_line/linux-${kver}_$version
	kernel_is_whole "$kernel_dir" && return
	kernel_download "$kver" "$version" && rm -rf "$kernel_dir/root"
}

# kernel_download KVER PACKAGEVERSION: the packages, all of one version, to $kernel_dir/debs. What is there already is not
# downloaded again.
kernel_download() {
	local kver=$1 version=$2 part size
	local packages=("linux-image-$kver=$version")

	# Debian's image is parted from 7.3 on, Ubuntu's always, and depends on the parts.
	for part in base binary modules modules-extra; do
		[[ -z $(kernel_show "linux-$part-$kver") ]] ||
			packages+=("linux-$part-$kver=$version")
	done
	if kernel_patched_line "$kernel_line"; then
		# Debian's names, and Ubuntu's. From 6.12 on there is a kbuild for each version.
		for part in "headers-$kver" "headers-${kver%-*}-common" "headers-${kver%-*}" "kbuild-${kver%-*}" \
			"source-$(kernel_number "$kver")" "source-$(kernel_number "$kver").0"; do
			[[ -z $(kernel_show "linux-$part") ]] || packages+=("linux-$part=$version")
		done
		# Before 6.12 a line has one kbuild, which may be newer than the signed kernel for days. Headers take their own
		# version or a later one.
		[[ -z $(kernel_show "linux-kbuild-$kernel_line") ]] || packages+=("linux-kbuild-$kernel_line")
	fi
	mkdir -p "$kernel_dir/debs" || return
	(
		cd "$kernel_dir/debs" || exit
		size=$(apt-get "${kernel_apt[@]}" --print-uris download "${packages[@]}") || exit
		size=$(awk '{ n += $3 } END { printf "%.0f", n / 1e6 }' <<<"$size")
		say "downloading $size MB: the packages of the kernel $kver ($version)"
		kernel_apt_get download "${packages[@]}"
	)
}

# kernel_unpack DIR KVER: unpack what kernel_download has downloaded.
kernel_unpack() {
	local dir=$1 kver=$2 deb

	for deb in "${dir%/*}"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
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

	ln -sfn "../../../usr/src/linux-headers-$kver" "$dir/lib/modules/$kver/build"
	# Ubuntu's are links to their other package, relative to themselves.
	[[ ! -L $headers/Makefile ]] || return 0
	sed -i "s|^include /usr/src/\(.*\)|include \$(dir \$(lastword \$(MAKEFILE_LIST)))../\1|
		s|^KBUILD_OUTPUT=/usr/src/.*|KBUILD_OUTPUT := \$(dir \$(lastword \$(MAKEFILE_LIST)))|" "$headers/Makefile"
	ln -sfn "../../../usr/src/linux-headers-${kver%-*}-common" "$dir/lib/modules/$kver/source"
}

# kernel_is_elf FILE: it is a vmlinux.
kernel_is_elf() {
	[[ $(od -An -tx1 -N4 "$1") == " 7f 45 4c 46" ]]
}

# kernel_decompress FILE VMLINUZ: write the ELF image inside a bzImage
# (Documentation/arch/x86/boot.rst), or that VMLINUZ is itself. That of arm64 is booted as it is
# (Documentation/arch/arm64/booting.rst).
kernel_decompress() {
	local file=$1 vmlinuz=$2
	local setup_sects offset length magic tool size=4

	if kernel_is_elf "$vmlinuz" || [[ $(od -An -tx1 -j 56 -N4 "$vmlinuz") == " 41 52 4d 64" ]]; then
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
	[[ ! -d $cache_root/images ]] || cache_trim "$cache_root/images" 'linux-*'
	kernel_select "$cache_root/images/linux-${kernel_line}_${hash:0:16}"
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
# A kernel once in the cache stays the one in use until "update" is asked for, so that runs compare. As long as it does
# apt is not needed.
kernel_prepare() {
	local archive suites package attempt=1

	kernel_line=$1
	[[ -n ${kernel_lines[$kernel_line]:-} ]] ||
		die "no kernel line $kernel_line: there are ${!kernel_lines[*]}"
	kernel_dir=$(kernel_newest_cached)
	if [[ -z $kernel_dir || ${2:-} == update ]]; then
		read -r archive suites package <<<"${kernel_lines[$kernel_line]}"
		kernel_sources "$archive" "$suites"
		say "looking for $package in ${kernel_uris[*]}"
		until kernel_fetch "$package"; do
			((attempt++ < kernel_attempts)) ||
				die "cannot download $package from ${kernel_uris[*]}"
			say "that failed; the archive may have changed: looking again"
			sleep 5
		done
	fi
	kernel_select "$kernel_dir"
	cache_make "$kernel_root" kernel_unpack "$kernel_version"
	kernel_source=$(kernel_find_source "$kernel_dir")
	# Those of versions that the archive removed meanwhile, too.
	rm -rf "$cache_root/$kernel_line"/linux-*/debs
	cache_make "$kernel_image" kernel_decompress "$kernel_vmlinuz"
}
