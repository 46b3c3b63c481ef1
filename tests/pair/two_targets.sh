#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 80
# One host with two targets, the other machine and itself, whose controllers and queues have the same
# ids: live, with a peer over ssh and one at home, and afterwards from three files.
# shellcheck disable=SC1091,SC2154 # ctrl, dev and pair_target are set by it
set -u
. /lib/pair.sh
cd /tmp || exit 1

home_nqn=nqn.2024-01.io.ntprof:home
record='ntprof-bpf record --target -o -'

on_target "target_subsystem \$(target_setup_null away size=256)
	target_port $pair_target"
target_subsystem $home_nqn "$(target_setup_null home size=256)"
target_port
pair_connect -i 1
away=$dev
home=$(host_device "$(host_connect $home_nqn -i 1)")

# all_matched NAME FILE: nothing but matches between the I/O queues and their own targets'.
all_matched() {
	local connections

	connections=$(grep -E '^connection .* queue 1:' "$2")
	printf '# %s\n' "${connections//$'\n'/$'\n'# }"
	equal "$1: two I/O queues, of controllers with one id" \
		"$(awk '{ print $2, $4 }' <<<"$connections" | sort)" \
		"$(printf '%s 1\n' $home_nqn nqn.2024-01.io.ntprof:test)"
	equal "$1: every command of both is matched" \
		"$(grep -c 'host only 0, target only 0, ambiguous 0,' <<<"$connections")" 2
}

tracer_start live --host -i 1 --peer "ssh root@target $record" --peer "$record"
wait_for grep -q '^peer 1: running' live
wait_for grep -q '^peer 2: running' live
wait_for tracer_ready "$(pgrep -fo '^ntprof-bpf record --target')"
# shellcheck disable=SC2016 # for the other machine's shell
on_target 'wait_for tracer_ready "$(pgrep -fo "^ntprof-bpf record --target")"'
mix "$away" "$home"
tracer_stop "$tracer_pid"
equal "live: the run ends well" $? 0
# The summary tells of each connection last.
tac live | awk '/^connection/ && !seen[$2, $6]++' >summary
all_matched live summary
for op in read write flush; do
	equal "live: every $op has both sides" \
		"$(awk -v op=$op '$1 == "merged" && $2 == op { print $3 }' live)" \
		"$(commands live $op)"
done
no_losses "live: the host lost nothing" live
equal "live: no recorder is left over there" \
	"$(on_target 'pgrep -fc "^ntprof-bpf record" || true')" 0

tracer_start home.log record --target -o home.ntp
home_recorder=$tracer_pid
record_begin both
mix "$away" "$home"
record_end both
tracer_stop "$home_recorder"
ntprof-bpf report home.ntp both.host.ntp both.target.ntp --commands >report.txt 2>report.err
equal "report: it ends with 0" $? 0
all_matched report report.txt
laws report.txt >laws.txt
sed "s/^#* */# /" laws.txt
equal "report: every law holds for every command" "$(field laws.txt broken)" 0
equal "report: all have their stages" "$(field laws.txt unsplit)" 0
check "report: of a thousand commands" test "$(field laws.txt merged)" -ge 1000
host_disconnect
host_disconnect $home_nqn
target_remove
finish
