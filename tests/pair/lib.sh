# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2029,SC2034,SC2154
#
# lib.sh - what the tests of two machines share, on the host: ". /lib/pair.sh", after which the
# helpers of /lib/machine.sh are at hand as well, here and on the target.

. /lib/machine.sh

pair_target=192.168.77.1

# on_target CMD...: a shell command, in the directory /tmp of the target.
on_target() {
	ssh root@target ". /lib/machine.sh; cd /tmp; $*"
}

# pair_connect [NQN] [nvme connect's options...]: sets ctrl and dev.
pair_connect() {
	local nqn=()

	if [[ ${1:-} == nqn.* ]]; then
		nqn=("$1")
		shift
	fi
	ctrl=$(host_connect "${nqn[@]}" -a "$pair_target" "$@") && dev=$(host_device "$ctrl")
}

# record_begin NAME ARGS...: both sides record, into NAME.host.ntp and NAME.target.ntp of their /tmp.
record_begin() {
	tracer_start "$1.host" record --host -o "$1.host.ntp" "${@:2}"
	record_host=$tracer_pid
	on_target "tracer_start $1.target record --target -o $1.target.ntp ${*:2}; echo \$tracer_pid >recorder"
}

# record_end NAME: both have ended, and both files are here.
record_end() {
	tracer_stop "$record_host" || cat "$1.host.err"
	# shellcheck disable=SC2016 # for the other machine's shell
	on_target 'pid=$(<recorder); kill -INT $pid; while [ -e /proc/$pid ]; do sleep 0.05; done'
	on_target "cat $1.target.ntp" >"$1.target.ntp"
}
