# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# series.sh - which series of patches fits a source, and applying it. Only its patches of the two drivers count: the others
# change nothing that the modules are built from.

# Stable updates of a kernel line change lines beside ours: up to so many lines of context may differ. What has to be the
# same in all of them, the machine tests say.
most_fuzz=2

# driver_patches SERIES
driver_patches() {
	grep -l '^--- a/drivers/nvme/' "$1"/*.patch
}

# try_patch FUZZ DIR PATCH [OPTION...]: why it does not apply is in $work/patch.log
try_patch() {
	patch -d "$2" -p1 --fuzz="$1" --batch --forward --silent "${@:4}" <"$3" >"$work/patch.log" 2>&1
}

# fits FUZZ DIR SERIES: each of its patches changes files of its own
fits() {
	local patch

	while read -r patch; do
		try_patch "$1" "$2" "$patch" --dry-run || return
	done < <(driver_patches "$3")
}

# choose_series DIR LINE: sets patches to the series that fits, and fuzz to 0 or how much it takes: that of the line, or else
# the newest of the others. Fails if there is none; patches is then the one to complain of.
choose_series() {
	local own=$here/v$2 series

	mapfile -t series < <(printf '%s\n' "$here"/v*/ | sort -rV)
	series=("${series[@]%/}")
	[[ ! -d $own ]] || series=("$own" "${series[@]}")
	for patches in "${series[@]}"; do
		for fuzz in 0 "$most_fuzz"; do
			! fits "$fuzz" "$1" "$patches" || return 0
		done
	done
	patches=${series[0]}
	return 1
}

# apply_patches DIR: those of the series in patches
apply_patches() {
	local patch

	while read -r patch; do
		try_patch "$most_fuzz" "$1" "$patch" || {
			cat "$work/patch.log" >&2
			die "${patch##*/} of ${patches##*/} does not apply to $KSRC: nothing was built"
		}
	done < <(driver_patches "$patches")
}
