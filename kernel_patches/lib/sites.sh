# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# sites.sh - that every tracepoint is called in the function where it belongs.
#
# A tracepoint exists as soon as it is defined. Whether it is ever called is in the module's __jump_table: an entry for
# each static key's branch, with relocations of the code (offset 0 of 16), of the branch's target (4) and of the key (8).
# The debug information tells which functions were inlined there, so this comes before it is stripped. nvme_tcp_queue_rq
# and some others are called in a function of their own, nvme_tcp_trace_queue_rq(), behind a test of the key where they belong.

# jump_entries FILE: "TRACEPOINT SECTION ADDRESS" of each entry with the key of a tracepoint
jump_entries() {
	readelf -rW "$1" | awk '
		/^Relocation section/ { table = /__jump_table/; next }
		!table || $3 !~ /^R_/ { next }
		substr($1, length($1)) ~ /[08]/ {
			if (substr($1, length($1)) == "0") { section = $5; at = $7 }
			else if (sub(/^__tracepoint_/, "", $5)) print $5, section, at
		}'
}

# sites_in FILE: "call TRACEPOINT FUNCTION" for each call, and "test TRACEPOINT FUNCTION" for each test of whether it is traced, by
# the functions as they are in the source
sites_in() {
	local file=$1 section

	jump_entries "$file" >"$work/jumps"
	while read -r section; do
		# Of an inlined function and those around it, addr2line -i prints the innermost first.
		awk -v s="$section" '$2 == s { print "0x" $3 }' "$work/jumps" |
			addr2line -a -f -i -e "$file" -j "$section" |
			awk '/^0x/ { inside = ""; next } /[\/:?]/ { next }
				inside != "" && $1 !~ /^trace_/ { print kind, inside, $1; inside = "" }
				/^trace_nvmet?_tcp_/ {
					inside = substr($1, 7)
					kind = sub(/_enabled$/, "", inside) ? "test" : "call"
				}'
	done < <(cut -d' ' -f2 "$work/jumps" | sort -u) | sort -u
}

# check_sites FILE TABLE: TABLE has "MODULE TRACEPOINT FUNCTION" lines, and comments
check_sites() {
	local file=$1 table=$2 module=${1##*/} name tracepoint function apart

	module=${module%.ko}
	sites_in "$file" >"$work/sites"
	while read -r name tracepoint function; do
		[[ $name == "$module" ]] || continue
		apart=${tracepoint/_tcp_/_tcp_trace_}
		grep -qx "call $tracepoint $function" "$work/sites" ||
			{ grep -qx "call $tracepoint $apart" "$work/sites" && grep -qx "test $tracepoint $function" "$work/sites"; } ||
			die "$module.ko does not call the tracepoint $tracepoint in $function(): the patches went wrong on this source"
	done < <(grep -v '^#' "$table")
}
