# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# cache.sh - where the test machine keeps what takes long to make, and how it is made only once.
#
# A cached file or directory appears under its name only when it is complete: it is built beside it
# and renamed.

cache_root=${NTPROF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ntprof-bpf}

# What die exits with.
die_status=1

say() {
	echo "tests/vm: $*" >&2
}

die() {
	say "$@"
	exit "$die_status"
}

# cache_lock: one process at a time builds, or reads what another might trim; until this process
# ends, or cache_unlock.
cache_lock() {
	mkdir -p "$cache_root" || die "cannot write to the cache $cache_root (set NTPROF_CACHE)"
	exec {cache_lock_fd}>"$cache_root/lock"
	if ! flock -w 2 "$cache_lock_fd"; then
		say "waiting for another process to fill $cache_root"
		flock "$cache_lock_fd"
	fi
	# Whoever was killed while it built left this. Under the lock nobody else is building.
	find "$cache_root" -mindepth 2 -maxdepth 3 -name '*.partial*' -exec rm -rf {} +
}

cache_unlock() {
	exec {cache_lock_fd}>&-
}

# cache_make PATH FUNCTION [ARG...]: unless PATH exists, FUNCTION PATH.partial ARG... makes it. Call
# under the lock.
cache_make() {
	local path=$1 make=$2

	shift 2
	[[ ! -e $path ]] || return 0
	mkdir -p "${path%/*}"
	rm -rf "$path.partial"
	# Not "if ! $make": that would switch errexit off inside it.
	"$make" "$path.partial" "$@"
	mv "$path.partial" "$path"
}

# cache_trim DIR PATTERN: remove what nobody has used for a while. A use is a "touch" of the entry.
cache_trim() {
	find "$1" -mindepth 1 -maxdepth 1 -name "$2" -mtime +6 -exec rm -rf {} +
}
