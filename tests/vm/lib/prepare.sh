# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# prepare.sh - fill the cache in the right order.

# prepare stock|patched [update]: afterwards kernel_image, image_dir and image_parts are set, and
# the cache is locked.
prepare() {
	"$vm/../install-packages" >&2 || exit "$die_status"
	cache_lock
	kernel_prepare "${2:-}"
	[[ $1 == stock ]] || modules_prepare "$vm/../../kernel_patches"
	image_prepare "$1"
}
