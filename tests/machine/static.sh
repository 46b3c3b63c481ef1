#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The statically linked program traces, records, reports and serves.
# with programs: ntprof-bpf-static
# run with: --add /usr/bin/curl:/usr/bin/curl
# takes: 60
set -u
. /lib/machine.sh

mount --bind /usr/bin/ntprof-bpf-static /usr/bin/ntprof-bpf
cd /tmp || exit 1
disk=$(target_setup_null a size=64)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
reads=100

read_all() {
	dd if="$dev" of=/dev/null bs=4k count=$reads iflag=direct 2>/dev/null
}

check "--version prints its version" grep -qx 'ntprof-bpf [0-9.]*' <(ntprof-bpf --version)
ntprof-bpf probes >probes
equal "probes finds every point of both sides" "$(grep -c 'coverage is full, source stock, loaded$' probes)" 2

for side in host target; do
	tracer_start $side.live --$side -i 1
	declare "live_$side=$tracer_pid"
	tracer_start $side.record record --$side -o $side.ntp
	declare "record_$side=$tracer_pid"
done
read_all
# shellcheck disable=SC2154 # set by declare above
for pid in "$live_host" "$live_target" "$record_host" "$record_target"; do
	tracer_stop "$pid"
	equal "tracer ends with 0" $? 0
done
for side in host target; do
	counted "$side: live counts every read" "$(commands $side.live read)" $reads $side.live
done
ntprof-bpf report host.ntp target.ntp >report 2>report.err
equal "report ends with 0" $? 0
may=$(awk '$2 == "loss" && $3 == "probe_missed" { n += $4 } END { print n + 0 }' report)
within "report merges every read, but for what was missed" "$(total report 3 merged read)" $((reads - may)) $reads

tracer_start serve.out serve --host -i 200ms
read_all
scraped() {
	curl -sS --fail -o metrics http://127.0.0.1:10998/metrics && grep -q 'operation="read"' metrics
}
check "serve answers, with the reads" wait_for scraped
tracer_stop "$tracer_pid"
equal "serve ends with 0" $? 0
host_disconnect "$ctrl"
target_remove
finish
