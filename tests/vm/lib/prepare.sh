# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# prepare.sh - fill the cache in the right order.

# prepare stock|patched LINE [update]: afterwards kernel_image, image_dir and image_parts are set, and
# the cache is locked.
prepare() {
	[[ $1 == stock ]] || kernel_patched_line "$2" ||
		die "there are no patches for the kernel line $2: run it with --stock"
	"$vm/../install-packages" >&2 || exit "$die_status"
	cache_lock
	kernel_prepare "$2" "${3:-}"
	[[ $1 == stock ]] || modules_prepare "$vm/../../kernel_patches"
	image_prepare "$1"
}

# prepare_image stock|patched FILE MODULES [as-is]: the same for a kernel that is no package's. Patched modules come from
# NTPROF_MODULES.
prepare_image() {
	[[ $1 == stock || -n ${NTPROF_MODULES:-} ]] ||
		die "--kernel-image is for --stock, or for the modules in NTPROF_MODULES"
	"$vm/../install-packages" >&2 || exit "$die_status"
	cache_lock
	kernel_take "$2" "$3" "${4:-}"
	[[ $1 == stock ]] || modules_prepare "$vm/../../kernel_patches"
	image_prepare "$1"
}
