#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# filters.sh - filters of report --pcap-filter with TCP sequence numbers are what tcpdump takes, and Wireshark where it is
# installed, and show exactly the segments with bytes of the command: before, at and behind the wrap-around of numbers, in both
# directions, of IPv4 and IPv6, with options, and where a segment begins before the command.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

NTPROF_FILTERS=$out "${BUILD:-build}/unit/cli/test_report_pcap" >"$out/log" 2>&1 || cat "$out/log"

# filter CASE SIDE TOOL: as it is printed.
filter() {
	awk -v side="$2" -v tool="$3" '$1 == "host" || $1 == "target" { at = $1 }
		at == side && $1 == tool { sub(/^[^\047]*\047/, ""); sub(/\047$/, ""); print }' "$out/$1.txt"
}

# The microsecond of a packet is its number.
tcpdump_shows() {
	tcpdump -nn -tt -r "$1" "$2" | sed -nE 's/^[0-9]+\.0*([0-9]+) .*/\1/p'
}

Wireshark_shows() {
	tshark -n -r "$1" -Y "$2" -T fields -e frame.number
}

tools=()
if command -v tcpdump >/dev/null; then
	tools+=(tcpdump)
else
	echo "ok $((tap_nr += 1)) - tcpdump takes the filters # SKIP no tcpdump: tests/install-packages check"
fi
# It is no package of the tests: it is two hundred times as large.
if command -v tshark >/dev/null; then
	tools+=(Wireshark)
else
	echo "# Wireshark's filters are not tried: no tshark"
fi

for case in inline_write r2t_write read_without_the_host; do
	packets=$(/usr/bin/python3 tests/formats/filters.py "$case" "$out/$case.pcap" "$out/tcpdump" "$out/Wireshark")
	within "$case: there are segments of the command, and others" "$(wc -l <"$out/Wireshark")" 20 $((packets / 4))
	for tool in "${tools[@]}"; do
		for side in host target; do
			"${tool}_shows" "$out/$case.pcap" "$(filter "$case" "$side" "$tool")" >"$out/shown" 2>"$out/log"
			check "$case, capture of the $side: $tool shows exactly these" cmp "$out/$tool" "$out/shown" ||
				sed 's/^/# /' "$out/log"
		done
	done
done
finish
