# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# prepare.sh - fill the cache in the right order.

# prepare_packages stock|patched [LINE]: what making and booting such a machine needs.
prepare_packages() {
	local purposes=(machine)

	[[ $1 == stock ]] || purposes+=(modules)
	[[ ${2:-} != *-arm64 ]] || purposes+=(cross)
	"$vm/../install-packages" "${purposes[@]}" >&2 || exit "$die_status"
}

# prepare stock|patched LINE [update]: afterwards kernel_image, image_dir and image_parts are set, and
# the cache is locked.
prepare() {
	[[ $1 == stock ]] || kernel_patched_line "$2" ||
		die "there are no patches for the kernel line $2: run it with --stock"
	prepare_packages "$1" "$2"
	cache_lock
	kernel_prepare "$2" "${3:-}"
	[[ $2 != *-arm64 ]] || root_prepare "$(kernel_architecture "$2")"
	[[ $1 == stock ]] || modules_prepare "$vm/../../kernel_patches"
	image_prepare "$1"
}

# prepare_image stock|patched FILE MODULES [as-is]: the same for a kernel that is no package's. Patched modules come from
# NTPROF_MODULES.
prepare_image() {
	[[ $1 == stock || -n ${NTPROF_MODULES:-} ]] ||
		die "--kernel-image is for --stock, or for the modules in NTPROF_MODULES"
	prepare_packages "$1"
	cache_lock
	kernel_take "$2" "$3" "${4:-}"
	[[ $1 == stock ]] || modules_prepare "$vm/../../kernel_patches"
	image_prepare "$1"
}
