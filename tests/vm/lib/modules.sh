# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# modules.sh - the patched nvme-tcp and nvmet-tcp for the test machine's kernel.

# modules_select: set modules_dir to where the patched modules of the selected kernel are, or will
# be. NTPROF_MODULES=DIR takes ready-made ones instead.
modules_select() {
	local patches=$1 hash

	if [[ -n ${NTPROF_MODULES:-} ]]; then
		modules_dir=$NTPROF_MODULES
		[[ -e $modules_dir/nvme-tcp.ko && -e $modules_dir/nvmet-tcp.ko ]] ||
			die "NTPROF_MODULES=$modules_dir: no nvme-tcp.ko and nvmet-tcp.ko there"
		return
	fi
	[[ -x $patches/build-modules ]] ||
		die "$patches/build-modules not found; --stock runs without patched modules"
	# Files' names count too: they are the order in which patches are applied.
	hash=$(cd "$patches" && find . -type f ! -name '*.md' -print0 | sort -z |
		xargs -0 sha256sum | sha256sum)
	modules_dir=$kernel_dir/patched-${hash:0:16}
}

# modules_make_root ROOT SUITE COMPILER: a root of a suite of Debian that has what building modules takes.
modules_make_root() {
	local root=$1 work

	((EUID == 0)) || die "this machine has no $3, and only root may make a root of $2, which has it"
	"$vm/../install-packages" deb >&2 || exit "$die_status"
	say "making a root of $2, for its $3"
	work=$(mktemp -d)
	# shellcheck source=../../package/lib/roots.sh
	SUITE=$2 . "$vm/../package/lib/roots.sh"
	told root_make_bare >&2 || die "a root of $2 cannot be made"
	root_new "$root"
	told root_install "$root" "${3##*-gnu-}" make patch perl bzip2 xz-utils zstd binutils kmod pahole bpftool >&2 ||
		die "packages of $2 cannot be installed"
	rm -rf "$work"
}

# modules_add_compiler ROOT COMPILER: to a root that was made for another one.
modules_add_compiler() {
	local work

	[[ ! -x $1/usr/bin/$2 ]] || return 0
	work=$(mktemp -d)
	# shellcheck source=../../package/lib/roots.sh
	. "$vm/../package/lib/roots.sh"
	told root_install "$1" "${2##*-gnu-}" bzip2 perl >&2 || die "$2 cannot be installed in $1"
	rm -rf "$work"
}

# modules_build_in ROOT DIR PATCHES: as modules_build, with the compiler and the libraries of ROOT.
modules_build_in() {
	local root=$1 work=$1/modules kernel=/modules/kernel

	rm -rf "$work"
	mkdir -p "$work/kernel/boot" "$work/kernel/usr/lib" "$2"
	cp -rL "$kernel_vmlinuz" "$work/kernel/boot/vmlinuz"
	cp -r "$3" "$work/kernel_patches"
	cp -r "$kernel_root/usr/src" "$work/kernel/usr"
	# Ubuntu has it in the headers.
	find "$kernel_root/usr/lib" -maxdepth 1 -name 'linux-kbuild-*' -exec cp -r {} "$work/kernel/usr/lib" \;
	# shellcheck source=../../package/lib/roots.sh
	. "$vm/../package/lib/roots.sh"
	root_run "$root" env KVER="$kernel_version" KDIR="$kernel/usr/src/${kernel_headers##*/}" \
		KSRC="$kernel/usr/src/${kernel_source##*/}" BTF_BASE="$kernel/boot/vmlinuz" OUT=/modules/out \
		/modules/kernel_patches/build-modules build || return
	cp -r "$work/out/." "$2"
	rm -rf "$work"
}

# modules_build DIR PATCHES: with the compiler that the kernel was built with. Where this machine does not have it, as Debian 12
# has not that of Debian 13, it may not run the programs in the kernel's headers either: all is done in a root of the
# kernel's suite.
modules_build() {
	local dir=$1 patches=$2 log=$cache_root/build-modules.log archive suites compiler root
	local build=(env KVER="$kernel_version" KDIR="$kernel_headers" KSRC="$kernel_source" BTF_BASE="$kernel_vmlinuz" OUT="$dir"
		"$patches/build-modules" build)

	compiler=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$kernel_headers/.config")
	if ! type -P "$compiler" >/dev/null; then
		read -r archive suites _ <<<"${kernel_lines[$kernel_line]}"
		# Of Ubuntu's compilers Debian 13 has that of 24.04.
		[[ $archive == debian ]] || suites=trixie
		suites=${suites%%[-,]*}
		root=$cache_root/roots/modules-$suites
		cache_make "$root" modules_make_root "$suites" "$compiler"
		modules_add_compiler "$root" "$compiler"
		build=(modules_build_in "$root" "$dir" "$patches")
	fi
	mkdir -p "$dir"
	say "building the patched nvme-tcp and nvmet-tcp for $kernel_version"
	if ! "${build[@]}" >"$log" 2>&1; then
		cat "$log" >&2
		die "$patches/build-modules failed"
	fi
	[[ -e $dir/nvme-tcp.ko && -e $dir/nvmet-tcp.ko ]] ||
		die "$patches/build-modules left no modules in OUT; see $log"
}

# modules_prepare PATCHES_DIR: call under the lock, after kernel_prepare.
modules_prepare() {
	modules_select "$1"
	[[ -z ${NTPROF_MODULES:-} ]] || return 0
	cache_trim "$kernel_dir" 'patched-*'
	cache_make "$modules_dir" modules_build "$1"
	touch "$modules_dir"
}
