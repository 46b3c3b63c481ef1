#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The OCI image, run by crun: as contrib/kubernetes has it run, with these rights and paths of the node and no others, it counts
# what fio does and answers probes; and as it is by itself, without rights, it reports.
# with programs: container.tar
# run with: --add /usr/bin/crun:/usr/bin/crun --add /usr/bin/curl:/usr/bin/curl
# takes: 40
set -u
. /lib/machine.sh

cd /tmp || exit 1
tar -xf /usr/bin/container.tar
disk=$(target_setup_null a size=256 delay=1000000)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
path=$(host_path "$ctrl")
reads=800

# runs BUNDLE: what a kubelet's runtime does. The root of this machine is an initramfs, from which none can pivot.
runs() {
	exec crun --cgroup-manager=cgroupfs run --no-pivot --pid-file "/tmp/$1.pid" -b "/tmp/$1" "$1"
}

# in_pod URL: from the container's network, where the runtime of a cluster has lo up.
in_pod() {
	nsenter -t "$pid" -n curl -sS --fail "http://127.0.0.1:10998$1"
}

healthy() {
	[[ $(in_pod /healthz 2>/dev/null) == ok ]]
}

# The first process of the container, when it is ours.
started() {
	[[ -s serve.pid ]] && pid=$(<serve.pid) && [[ $(<"/proc/$pid/comm") == ntprof-bpf ]]
}

# sum SAMPLE [LABEL]
sum() {
	awk -v name="$1" -v label="${2:-}" 'index($0, name "{") == 1 && index($0, label) { n += $NF } END { printf "%.0f\n", n }' page
}

# tells NUMBER SAMPLE [LABEL]: the page does.
tells() {
	in_pod /metrics >page 2>/dev/null && [[ $(sum "${@:2}") == "$1" ]]
}

runs serve >serve.out 2>&1 &
container=$!
check "the container starts" wait_for started
nsenter -t "$pid" -n ip link set lo up
check "it answers probes" wait_for healthy
# What it traces is on the page from the end of the first interval on.
check "and traces" wait_for tells 1 ntprof_tracer_info
equal "it was not given more than the DaemonSet says" "$(sed -n 's/^CapBnd:\t//p' "/proc/$pid/status")" 000000c000200000
equal "and keeps CAP_BPF alone" "$(sed -n 's/^Cap[PE].*:\t//p' "/proc/$pid/status" | sort -u)" 0000008000000000
equal "it has given up new privileges itself" "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$pid/status")" 1
# Two are the program's own.
equal "its system calls are filtered by the runtime as well" "$(sed -n 's/^Seccomp_filters:\t//p' "/proc/$pid/status")" 3
equal "its memory is limited" "$(cat "$VM_CGROUPS$(sed 's/^0:://' "/proc/$pid/cgroup")/memory.max")" $((2 << 30))
check "its root is read-only" grep -q '^[^ ]* / [^ ]* ro[, ]' "/proc/$pid/mounts"
check "so is what it sees of the node's tracefs" grep -q ' /sys/kernel/tracing tracefs ro[, ]' "/proc/$pid/mounts"
equal "and nothing else of the node's /sys" "$(awk '$2 ~ "^/sys/" { print $2 }' "/proc/$pid/mounts" | grep -v '^/sys/firmware$')" \
	/sys/kernel/tracing
check "its network is its own" test "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)"
equal "it finds the source of points" "$(sed -n 's/^ntprof_tracer_info{.*source="\([a-z]*\)".*/\1/p' page)" \
	"$([[ $VM_KIND == stock ]] && echo stock || echo tracepoints)"

before=$(sum ntprof_commands_total 'operation="read"')
seen=$(block_stat "$path" 1)
fio --direct=1 --ioengine=libaio --size=200M --name=read --filename="$dev" --rw=randread --bs=4k --iodepth=8 \
	--number_ios=$reads >fio 2>&1 || cat fio
equal "the block layer has seen fio's reads" $(($(block_stat "$path" 1) - seen)) $reads
wait_for -t 20 tells $((before + reads)) ntprof_commands_total 'operation="read"' 2>/dev/null
may=0
[[ $VM_KIND != stock ]] || may=$(sum ntprof_losses_total 'reason="probe_missed"')
within "the page counts fio's reads" $(($(sum ntprof_commands_total 'operation="read"') - before)) $((reads - may)) $reads
check "by the controller's name" grep -q "^ntprof_commands_total{side=\"host\",controller=\"$ctrl\"" page
kill -TERM "$pid"
wait "$container"
equal "it ends well" $? 0
sed 's/^/# /' serve.out

ntprof-bpf record --host -o host.ntp -- dd if="$dev" of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null
(runs report) <host.ntp >report.out 2>report.err
equal "as nobody, without capabilities, it reports" $? 0
check "what was recorded" cmp report.out <(LC_ALL=C ntprof-bpf report - <host.ntp 2>/dev/null)
sed 's/^/# /' report.err
host_disconnect
target_remove
finish
