#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 180
# Whatever is asked for, the kernel takes the programs: what is not asked for is removed from them when they are loaded, so
# that its verifier sees other ones each time. None of the source's is refused, either.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=64)"
target_port
ctrl=$(host_connect -i 1)
cgroup=$(awk '$3 == "cgroup2" { print $2 }' /proc/mounts | head -n 1)
if [[ -z $cgroup ]]; then
	cgroup=/tmp/cgroup
	mkdir $cgroup
	mount -t cgroup2 none $cgroup
fi

# loads SIDE ARG...: a tracer begins, and nothing is refused.
loads() {
	local side=$1 verb=$2 status

	shift 2
	[[ $verb != live ]] || verb=
	# shellcheck disable=SC2086 # live has no word
	timeout 300 ntprof-bpf $verb --"$side" -d 0.1 -v "$@" >out 2>err
	status=$?
	# There is no I/O.
	[[ $verb != record || $status != 3 ]] || status=0
	check "$side: ${verb:-live} $*" test $status -eq 0 -a "$(grep -c '^the kernel refuses' err)" -eq 0
	grep -hE '^(the kernel refuses|ntprof-bpf:)' err | cut -c1-300 | sed 's/^/#   /'
}

for side in host target; do
	id=$ctrl
	[[ $side = host ]] || id=1
	record=(record --force -o "$side.ntp")
	for selection in "" "--op write" "--op flush,admin" "--size 4k-8k" "--lba 0-1000 --nsid 1" "--queue 1 --ctrl $id" \
		"--nqn $VM_NQN --slower 1ms" "--op read --slower 1ms" "--op read --failed" "--op read --size 4k --lba 5 --queue 1-2" \
		"--sample 100" "--sample 100 --op read"; do
		read -ra words <<<"$selection"
		loads $side "${record[@]}" "${words[@]}"
	done
	for selection in "" "--op write" "--queue 1 --op read" "--size 4k" "--sample 100" "--sample 100 --op read"; do
		read -ra words <<<"$selection"
		loads $side live "${words[@]}"
	done
	loads $side live --by op,size
	loads $side trace --events
	loads $side trace --events --op read
	loads $side trace --admin
	if [[ $side = host ]]; then
		loads host "${record[@]}" --origin
		loads host live --cgroup "$cgroup"
		loads host "${record[@]}" --cgroup "$cgroup" --op read
	fi
	if [[ $VM_KIND = patched ]]; then
		loads $side live --source stock
		loads $side "${record[@]}" --source stock --op write
	fi
done
loads host stacks
host_disconnect "$ctrl"
target_remove
finish
