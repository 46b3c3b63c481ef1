#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# selftest.sh [--stock] - does the test machine keep its promises?
#
# One line a promise, "ok N - name" or "not ok N - name" and then what was seen; the last line
# counts them.
# --stock leaves out what needs the patched modules.
set -uo pipefail

vm=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=lib/cache.sh
. "$vm/lib/cache.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/ntprof-selftest.XXXXXX")
trap 'rm -rf "$work"' EXIT
kind=--patched
[[ ${1:-} != --stock ]] || kind=--stock
passed=0
failed=0

# guest NAME: keep standard input as the script of that name.
guest() {
	{ echo '#!/bin/bash'; cat; } >"$work/$1.sh"
}

# machines N: so many of ours run
machines() { [[ $(pgrep -fc "qemu.*$work") -ge $1 ]]; }

# vm_run NAME [OPTION...] [-- ARG...]: run it; sets status, seconds, and leaves $work/out and
# $work/err.
vm_run() {
	local name=$1 options=() start=$SECONDS

	shift
	while [[ $# -gt 0 && $1 != -- ]]; do
		options+=("$1")
		shift
	done
	[[ $# -eq 0 ]] || shift
	"$vm/run" --timeout 240 "${options[@]}" "$work/$name.sh" "$@" >"$work/out" 2>"$work/err"
	status=$?
	seconds=$((SECONDS - start))
}

# vm_pair HOST TARGET [ARG...]: run two of them as a pair; sets the same as vm_run.
vm_pair() {
	local start=$SECONDS

	"$vm/pair" "$kind" --timeout 240 --add "$work/added:/root/both" \
		"$work/$1.sh" "$work/$2.sh" "${@:3}" >"$work/out" 2>"$work/err"
	status=$?
	seconds=$((SECONDS - start))
}

# start_machines N CMD...: start it in the background as $run and wait until its machines have been started.
start_machines() {
	local n=$1

	shift
	"$@" >"$work/out" 2>"$work/err" &
	run=$!
	until machines "$n" || ! kill -0 $run; do
		sleep 0.1
	done
}

# check NAME CMD...: CMD has to succeed.
check() {
	local name=$1

	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $name"
		echo "# status $status after $seconds s; expected: $*"
		tail -n 40 "$work/out" "$work/err" | sed 's/^/# /'
	fi
}

exits() { [[ $status -eq $1 ]]; }
prints() { [[ $(<"$work/out") == "$1" ]]; }
tells() { [[ $(grep ' of nvmet\?_tcp$' "$work/out") == "$1" ]]; }
err_has() { grep -q -e "$1" "$work/err"; }
silent() { [[ ! -s $work/err ]]; }
within() { [[ $seconds -le $1 ]]; }
file_is() { [[ $(cat "$1" 2>/dev/null) == "$2" ]]; }
no_work_directories() { ! compgen -G "$work/tmp/*" >/dev/null; }
no_machines() { ! pgrep -f "qemu.*$work" >/dev/null; }
# repeats A B: two measurements are the same within 1 in 1000.
repeats() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a > 0 && d * d < a * a * 1e-6) }'; }

"$vm/prepare" "$kind" || exit 1
mkdir "$work/tmp"
export TMPDIR=$work/tmp

# tools: what two of the guests begin with
tools() {
	cat <<'END'
for tool in fio nvme ip tc bpftool trace-cmd timeout stdbuf script setsid awk; do
	type "$tool" >/dev/null
done
for mount in /sys/kernel/debug /sys/kernel/tracing /sys/kernel/config /sys/fs/bpf; do
	grep " $mount " /proc/mounts >/dev/null
done
ip addr show lo | grep 127.0.0.1 >/dev/null
tc qdisc add dev lo root netem delay 1ms
tc qdisc del dev lo root
bpftool prog >/dev/null
[[ $LANG == C.UTF-8 ]]
! lsmod | grep nvme || exit 1
modprobe -a nvme-tcp nvmet-tcp
for module in nvme_tcp nvmet_tcp; do
	[[ -e /sys/kernel/btf/$module ]] && echo "BTF of $module"
	[[ ! -e /sys/kernel/tracing/events/$module ]] || echo "tracepoints of $module"
done
END
}

{ cat <<'END' && tools && echo 'exit 3'; } | guest surroundings
set -e
echo "$#:$1:$2"
cat /share/given /root/added
printf '\u2588\n'
nproc
echo kept >/out/left
echo again >/dev/stderr
sleep 1000 &
free -m | awk '/^Mem/ { print $2 < 768 }'
END
mkdir "$work/share"
echo shared >"$work/share/given"
echo added >"$work/added"
vm_run surroundings --stock --cpus 1 --mem 768 --share "$work/share" --out "$work/left" \
	--add "$work/added" -- 'a  b' "\$c'd"
check "the status is the script's; tools and file systems are there, and no module before it is asked for" exits 3
check "arguments, --share, --add, UTF-8, --cpus, --mem, a process left behind; --stock has BTF and no tracepoints" \
	prints $'2:a  b:$c\'d\nshared\nadded\n█\n1\nagain\n1\nBTF of nvme_tcp\nBTF of nvmet_tcp'
check "nothing is said on standard error" silent
check "--out keeps what the script wrote" file_is "$work/left/left" kept

{ echo set -e && { [[ $kind == --stock ]] || tools; } && cat; } <<'END' | guest nvme
. /lib/vm.sh
disk=$(target_setup_null slow delay=1000000)
file=$(target_setup_file kept 32)
loop=$(target_setup_file looped 32 loop)
trim=$(target_setup_null trim size=32 discard=1)
target_subsystem "$disk" "$file" "$loop" "$trim"
target_port 127.0.0.1 4420 inline_data_size=8192
ctrl=$(host_connect -i 2)
device=$(host_device "$ctrl")
nvme list | grep "^$device " >/dev/null
fio --name=t --filename="$device" --rw=randread --bs=4k --direct=1 --iodepth=4 --ioengine=libaio \
	--runtime=2 --time_based --minimal >fio
reads=$(awk '{ print $1 }' "$(host_path "$ctrl")/stat")
echo "reads: $reads, of them fio's: $(($(cut -d';' -f6 fio) / 4))"
[[ $reads -gt 500 && $(cut -d';' -f6 fio) -gt 2000 ]]
# Percentile 50, in us, of the time from submission to completion.
p50=$(cut -d';' -f24 fio)
echo "fio's p50: $p50"
p50=${p50#*=}
[[ ${p50%.*} -ge 1000 ]]
for nsid in 2 3; do
	wait_for host_device "$ctrl" $nsid >/dev/null
	fio --name=t --filename="$(host_device "$ctrl" $nsid)" --rw=randwrite --bs=64k --direct=1 \
		--size=4M --verify=crc32c --ioengine=libaio --minimal >/dev/null
done
wait_for host_device "$ctrl" 4 >/dev/null
blkdiscard "$(host_device "$ctrl" 4)"
target_port 127.0.0.1 4421
second=$(host_connect -s 4421)
[[ $second != "$ctrl" ]]
host_disconnect
[[ -z $(ls /sys/class/nvme) ]]
target_remove
[[ -z $(ls /sys/kernel/config/nvmet/subsystems /sys/kernel/config/nvmet/ports | grep -v :) ]]
[[ -z $(losetup -a) && ! -e /dev/slow ]]
target_subsystem "$(target_setup_null slow)"
target_port
host_connect >/dev/null
target_remove
END
vm_run nvme "$kind"
check "nvme connect, fio, discard, two ports, disconnect, remove under use" exits 0
[[ $kind == --stock ]] || check "--patched has tracepoints, and BTF" tells "$(printf '%s of %s\n' \
	BTF nvme_tcp tracepoints nvme_tcp BTF nvmet_tcp tracepoints nvmet_tcp)"
sed 's/^/# /' "$work/out"

guest icount <<'END'
read -r start _ </proc/uptime
[[ $(nproc) == 1 ]] || exit 1
# Virtual time: no real second passes here.
sleep 300
read -r end _ </proc/uptime
[[ ${end%.*} -ge $((${start%.*} + 300)) ]] || exit 1
start=$(date +%s%N)
for ((i = 0; i < 30000; i++)); do :; done
echo $(($(date +%s%N) - start))
END
vm_run icount "$kind" --icount
first=$(<"$work/out")
check "--icount has one CPU and virtual time" exits 0
check "--icount runs faster than the time it shows" within 60
vm_run icount "$kind" --icount
check "--icount repeats within 1 in 1,000" repeats "${first:-0}" "$(<"$work/out")"
echo "# $first and $(<"$work/out") virtual ns"

guest panic <<'END'
echo before
# Output passes through a pipe inside; what is still there when the kernel dies is lost.
sleep 1
echo c >/proc/sysrq-trigger
END
vm_run panic "$kind" --cpus 1
check "a panic is status 125" exits 125
check "what was printed a second before a panic is not lost" prints before
check "a panic shows the kernel's last lines" \
	err_has 'Kernel panic - not syncing: sysrq triggered crash'

guest hang <<'END'
echo waiting
sleep 1000
END
vm_run hang "$kind" --cpus 1 --timeout 30
check "a hang is status 124" exits 124
check "a hang ends in time" within 34
check "a hang shows what hangs" err_has 'sleep 1000'

# What others have saved is damaged here, for this run.
mkdir "$work/saved"
for file in "$cache_root"/image-*/saved-* "$cache_root"/*/image-*/saved-* "$cache_root"/*/*/image-*/saved-*; do
	[[ ! -s $file ]] || head -c 1M "$file" >"$work/saved/${file##*/}"
done
guest goes_on <<'END'
echo "$1"
END
NTPROF_SAVED=$work/saved vm_run goes_on "$kind" --cpus 1 -- once
check "a damaged saved machine is made anew" prints once
check "and that is said" err_has 'cannot go on'
NTPROF_SAVED=$work/saved vm_run goes_on "$kind" --cpus 1 -- again
check "another run goes on with it" prints again
check "and has nothing to say" silent

# Of these it does not matter what is inside, nor how far that has come.
start_machines 1 "$vm/run" "$kind" "$work/hang.sh"
kill -KILL $run
{ wait $run; } 2>/dev/null
status=$?
sleep 0.5
check "a run that is killed leaves no machine behind" no_machines
rm -rf "$work"/tmp/*

start_machines 1 "$vm/run" "$kind" "$work/hang.sh"
kill -TERM $run
wait $run
status=$?
check "a run that is terminated says so" exits 143
check "and leaves nothing behind" no_work_directories

guest pair_host <<'END'
echo "$#:$1:$2"
cat /root/both
ssh root@target 'hostname; cat /run/prepared'
hours=$((($(ssh root@target date +%s) - $(date +%s) + 1800) / 3600))
echo "$hours hours"
# Left in a bad state, the wire keeps nobody from ending.
tc qdisc add dev eth0 root netem loss 100%
exit 3
END
guest pair_target <<'END'
echo "$1" >/run/prepared
echo 'only shown upon failure'
END
vm_pair pair_host pair_target 'a  b' c
check "a pair's status is the host's" exits 3
check "a pair's scripts get arguments and files, ssh works, the clocks are hours apart" \
	prints $'2:a  b:c\nadded\ntarget\na  b\n5 hours'
guest fails <<'END'
echo 'cannot do it'
exit 4
END
vm_pair pair_host fails
check "a pair whose target fails has its status, and no host" exits 4
check "and says why" err_has '^target: cannot do it'
start_machines 2 "$vm/pair" "$kind" "$work/hang.sh" "$work/pair_target.sh" x
kill -KILL $run
{ wait $run; } 2>/dev/null
status=$?
sleep 1
check "a pair that is killed leaves no machine behind" no_machines
rm -rf "$work"/tmp/*

# A kernel and its modules that are no line of ours, as far as run knows.
own=$("$vm/with-kernel" sh -c 'echo "$BTF_BASE"')
guest own <<'END'
modprobe nvme-tcp && [[ $VM_KERNEL == "$(uname -r)" && $1 == *"-$VM_KERNEL" ]]
END
vm_run own --stock --kernel-image "$own" --modules "${own%/boot/*}" --cpus 1 -- "$own"
check "--kernel-image boots another kernel with its modules" exits 0
vm_run hang --nonsense
check "a wrong option is status 126" exits 126
vm_run hang --stock --kernel-image "$own"
check "so is a kernel without modules" exits 126
vm_run hang --stock --kernel-image "$0" --modules "${own%/boot/*}"
check "so is what is no kernel" exits 126
check "and it is said of what" err_has 'neither a bzImage nor a vmlinux'

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
