# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# common.sh - messages, tools, and what has to be undone at exit.

# Module names, with their directories under drivers/nvme and their options in the kernel's configuration.
module_names=(nvme-tcp nvmet-tcp)
declare -A module_dir=([nvme-tcp]=host [nvmet-tcp]=target)
declare -A module_option=([nvme-tcp]=CONFIG_NVME_TCP [nvmet-tcp]=CONFIG_NVME_TARGET_TCP)

# Who says what follows.
program=build-modules

say() {
	echo "$program: $*"
}

die() {
	say "$@" >&2
	exit 1
}

die_usage() {
	say "$* ($program --help)" >&2
	exit 2
}

# need TOOL PACKAGE
need() {
	type -P "$1" >/dev/null || die "$1 not found: apt-get install $2"
}

work=
undo=

cleanup() {
	local status=$?

	trap - EXIT
	# Whatever fails from here on, the rest of the undoing goes on.
	set +e
	[[ -z $undo ]] || "$undo"
	[[ -z $work ]] || rm -rf "$work"
	exit "$status"
}
