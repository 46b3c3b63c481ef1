# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# tools.sh - the version of each tool that the tree is checked with, which is Debian 12's. Another version finds other
# things, so it is not used: the check is skipped.

declare -A tool_versions=([clang-format]=14 [clang-tidy]=14 [cppcheck]=2.10 [shellcheck]=0.9)

# The exit status of a check that is skipped, as with automake. Its last line says why.
tool_skipped=77

# tool_version COMMAND: the first number with a dot in what it prints as its version.
tool_version() {
	"$1" --version 2>/dev/null | sed -n 's/[^0-9]*\([0-9]\+\(\.[0-9]\+\)\+\).*/\1/p' | head -n 1
}

# tool_find NAME: sets tool to the command that has the version above, with that version in its name or without; or sets
# tool_why and fails.
tool_find() {
	local wanted=${tool_versions[$1]} version

	tool_why="$1 is not here"
	for tool in "$1-$wanted" "$1"; do
		version=$(tool_version "$tool")
		[[ $version. != "$wanted".* ]] || return 0
		[[ -z $version ]] || tool_why="$1 $version is here"
	done
	tool_why+=", the tree is checked with $wanted"
	return $tool_skipped
}

holds_nr=0
holds_failed=0

# holds NAME CMD...: prints "ok", "ok ... # SKIP" or "not ok", and before that what is wrong.
holds() {
	local name=$1 output status=0

	shift
	holds_nr=$((holds_nr + 1))
	output=$("$@" 2>&1) || status=$?
	if ((status == tool_skipped)); then
		echo "ok $holds_nr - $name # SKIP ${output##*$'\n'}"
		return
	fi
	[[ -z $output ]] || printf '%s\n' "$output"
	if ((status == 0)); then
		echo "ok $holds_nr - $name"
	else
		echo "not ok $holds_nr - $name"
		holds_failed=1
	fi
}
