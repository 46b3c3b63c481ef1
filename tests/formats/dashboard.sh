#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dashboard.sh - the dashboards in contrib/grafana are whole, their queries are what Prometheus takes, and they ask for metrics
# that there are, or that a rule records.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

recorded='[a-z_]+:ntprof_[a-z_]+:[a-z0-9_]+'
sed -nE 's/^\| `(ntprof_[a-z_]+)`.*/\1/p' docs/metrics.md | sort -u >"$out/told"
sed -nE 's/^ *- record: //p' contrib/prometheus/*.rules.yml | sort -u >"$out/recorded"

# judge NAME: of the dashboard.
judge() {
	local board=contrib/grafana/$1.json

	/usr/bin/python3 tests/formats/dashboard.py "$board" >"$out/rules.yml" 2>"$out/wrong"
	equal "$1: it can be read" $? 0
	equal "$1: nothing is wrong with it" "$(cat "$out/wrong")" ""
	check "$1: promtool takes its queries" tests/formats/promtool check rules --lint=none "$out/rules.yml" >"$out/log" 2>&1
	grep -E '^(not )?ok ' "$out/log" || sed 's/^/# /' "$out/log"
	sed -E "s/$recorded//g" "$board" | grep -oE '\bntprof_[a-z_]+' | sed -E 's/_(bucket|sum|count)$//' | sort -u >"$out/asked"
	equal "$1: every metric that they ask for is in docs/metrics.md" "$(comm -23 "$out/asked" "$out/told")" ""
	equal "$1: no rate is of what is gone, which grows by all that others counted" \
		"$(grep -oE '(rate|increase)\(ntprof_(command_(duration|bytes|error)|commands|stage|tcp|disk|path_events)[^}]*' "$board" |
			grep -v gone)" ""
	equal "$1: every other series that they ask for is recorded" \
		"$(grep -oE "$recorded" "$board" | sort -u | comm -23 - "$out/recorded")" ""
}

judge fleet
check "fleet: it asks for series that rules record" grep -qE "$recorded" contrib/grafana/fleet.json
check "fleet: it leads to a machine's dashboard" \
	grep -q "/d/$(sed -nE 's/^  "uid": "(.*)",/\1/p' contrib/grafana/ntprof-bpf.json)?" contrib/grafana/fleet.json
judge ntprof-bpf
# Some are for whoever looks closer.
equal "all but these are shown" "$(comm -13 "$out/asked" "$out/told" | tr '\n' ' ')" \
	"ntprof_bpf_programs ntprof_bpf_runs_total ntprof_build_info ntprof_controller_info ntprof_disk_requests_total ntprof_folded_series ntprof_gone_rows_total ntprof_http_connections_total ntprof_http_displaced_total ntprof_http_overdue_total ntprof_http_responses_total ntprof_loss_queues ntprof_merged_undecided_records ntprof_path_events_lost_total ntprof_path_events_total ntprof_peer_info ntprof_peer_records_total ntprof_peer_restarts_total ntprof_peer_silent_seconds ntprof_points_info ntprof_recorder_disk_wait_seconds ntprof_recorder_folder_bytes ntprof_recorder_folder_files ntprof_recorder_memory_bytes ntprof_recorder_records ntprof_sample_ratio ntprof_tcp_congestion_window_segments ntprof_tcp_connections ntprof_tcp_sent_bytes_total ntprof_tcp_unacknowledged_bytes ntprof_tcp_unread_connections ntprof_tcp_unsent_bytes ntprof_tracer_info "
finish
