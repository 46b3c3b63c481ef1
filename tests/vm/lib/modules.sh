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

# modules_build DIR BUILD_MODULES
modules_build() {
	local dir=$1 build=$2 log=$cache_root/build-modules.log

	mkdir -p "$dir"
	say "building the patched nvme-tcp and nvmet-tcp for $kernel_version"
	if ! KVER=$kernel_version KDIR=$kernel_headers KSRC=$kernel_source \
		BTF_BASE=$kernel_vmlinuz OUT=$dir "$build" build >"$log" 2>&1; then
		cat "$log" >&2
		die "$build failed"
	fi
	[[ -e $dir/nvme-tcp.ko && -e $dir/nvmet-tcp.ko ]] ||
		die "$build left no modules in OUT; see $log"
}

# modules_prepare PATCHES_DIR: call under the lock, after kernel_prepare.
modules_prepare() {
	modules_select "$1"
	[[ -z ${NTPROF_MODULES:-} ]] || return 0
	cache_trim "$kernel_dir" 'patched-*'
	cache_make "$modules_dir" modules_build "$1/build-modules"
	touch "$modules_dir"
}
