#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# serve's flight recorder: an injected delay sets it off, its file has the slow commands that fio saw, and the target's file,
# asked for by a signal, has their other halves. When the journal has its line a power cut leaves the file.
# run with: --add /usr/bin/curl:/usr/bin/curl --add /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12:/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12 --add /sbin/mke2fs:/root/mke2fs
# takes: 25
set -u
. /lib/machine.sh

# Each command takes 300 ms, more than a busy machine adds to one that does not.
slow=$(target_setup_null slow size=64 delay=300000000)
target_subsystem "$slow"
target_port
ctrl=$(host_connect -i 1)
dev=$(host_device "$ctrl")
mkdir /tmp/flight /tmp/target

# A disk, and a file system that writes to it what it is asked to and nothing else: what the disk has by then is a copy of it.
truncate -s 32M /tmp/disk
modprobe -a loop ext4
/root/mke2fs -q -t ext4 /tmp/disk
mount -t ext4 -o commit=3000 "$(losetup --find --show /tmp/disk)" /tmp/flight
rmdir /tmp/flight/lost+found
sync
echo 0 >/proc/sys/vm/dirty_writeback_centisecs

ntprof-bpf() {
	exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+bpf,+perfmon,+sys_admin ntprof-bpf "$@"
}
tracer_start /tmp/target.out serve --target -i 200ms --keep 120s --after 100ms --dir /tmp/target
target=$tracer_pid
# Nothing is as slow as what is injected but by it, however busy this machine is.
tracer_start /tmp/host.out serve --host -i 200ms --keep 60s --after 3s --dir /tmp/flight \
	--when 'latency(read)>250ms, errors>0, oldest>20s, state=connecting'
host=$tracer_pid
# docs/recorder.md has this with a journal and ssh.
tail -n 0 -s 0.1 -F /tmp/host.out.err 2>/dev/null | grep --line-buffered '^ntprof-bpf: wrote ' |
	while read -r _; do kill -USR1 "$target"; done &
told() {
	curl -sS --fail http://127.0.0.1:10998/metrics | awk -v name="$1" 'index($0, name) == 1 { print $NF }'
}
check "it keeps records" wait_for told 'ntprof_recorder_records{' >/dev/null
fio --direct=1 --ioengine=libaio --name=slow --filename="$dev" --rw=randread --bs=4k --size=64M --iodepth=4 \
	--number_ios=16 --output-format=terse >/tmp/fio 2>&1 || cat /tmp/fio
# The shortest completion latency of reads, microseconds: fio(1), "Terse output".
check "all of fio's 16 reads were slow" awk -F';' '$1 == 3 { n = $14 } END { exit !(n > 250000) }' /tmp/fio
is_there() {
	grep -q "^ntprof-bpf: wrote /tmp/.*/$1-" /tmp/"$1".out.err
}
check "the delay sets the host's recorder off" wait_for -t 30 is_there host
echo nothing >/tmp/flight/unasked
cp /tmp/disk /tmp/after
mkdir /tmp/cut
mount -t ext4 "$(losetup --find --show /tmp/after)" /tmp/cut
check "and its line the target's, by a signal" wait_for -t 30 is_there target
grep -h 'wrote /tmp/' /tmp/host.out.err /tmp/target.out.err | sed 's/^/# /'
check "a power cut leaves it" cmp /tmp/flight/host-*.ntp /tmp/cut/host-*.ntp
check "nobody has asked for what else was there" test ! -s /tmp/cut/unasked
umount /tmp/cut
check "one line tells its name and what it was" \
	grep -qE '^ntprof-bpf: wrote /tmp/flight/host-000001-[0-9TZ]+\.ntp \(latency\(read\)>250ms: read of [0-9.]+ ms\)' /tmp/host.out.err
# An interval without a slow one may lie between two of them.
check "it was set off by that" test "$(told 'ntprof_recorder_triggers_total{side="host",trigger="latency(read)>250ms"}')" -ge 1
equal "it has written one" "$(told 'ntprof_recorder_files_total{side="host",result="written"}')" 1
equal "and tells its name" "$(curl -sS --fail http://127.0.0.1:10998/metrics | sed -nE 's/^ntprof_recorder_newest_file_timestamp_seconds\{.*file="([^"]*)".*/\1/p')" \
	"$(basename /tmp/flight/host-*.ntp)"
equal "and failed none" "$(told 'ntprof_recorder_files_total{side="host",result="failed"}')" 0

command ntprof-bpf report /tmp/flight/host-*.ntp --commands --where 'latency>250ms' --op read >/tmp/report 2>/tmp/report.err || cat /tmp/report.err
equal "the host's file has the slow reads that fio saw" "$(grep -c ' op=read ' /tmp/report)" 16
command ntprof-bpf report /tmp/flight/host-*.ntp /tmp/target/target-*.ntp --commands >/tmp/merged 2>/tmp/merged.err || cat /tmp/merged.err
equal "with the target's file they are merged" \
	"$(awk '$2 == "merged" && / op=read / { for (i = 1; i <= NF; i++) if ($i ~ /^latency=/ && substr($i, 9) + 0 > 250000000) n++ } END { print n + 0 }' /tmp/merged)" 16
equal "and the device is what took the time" \
	"$(awk '$2 == "merged" && / op=read / { for (i = 1; i <= NF; i++) if ($i ~ /^target_subsystem=/ && substr($i, 18) + 0 > 250000000) n++ } END { print n + 0 }' /tmp/merged)" 16

# A report knows disks by the names that each side has for them.
reads_of() {
	command ntprof-bpf report "$1" --commands --device "$2" --where 'latency>250ms' --op read 2>&1 | grep -c ' op=read '
}
equal "the host's file knows the disk by its name" "$(reads_of "$(echo /tmp/flight/host-*.ntp)" "$dev")" 16
check "and no other" sh -c "! ntprof-bpf report /tmp/flight/host-*.ntp --device /dev/nvme9n9 2>/tmp/none"
check "it says which one it knows" grep -q "${dev#/dev/}" /tmp/none
target_reads=$(command ntprof-bpf report /tmp/target/target-*.ntp --commands --device "$slow" 2>&1 | grep -c ' op=read ')
check "and the target's what it serves ($target_reads)" test "$target_reads" -ge 16

nvme reset "/dev/$ctrl"
lost_controller() {
	grep -qE "^ntprof-bpf: wrote /tmp/flight/host-000002-[0-9TZ]+\.ntp \(state=connecting: $ctrl" /tmp/host.out.err
}
check "a controller that is lost sets it off as well" wait_for -t 30 lost_controller
check "and the file says what happened to it" \
	grep -q "at .* s: $ctrl connecting" <(command ntprof-bpf report /tmp/flight/host-000002-*.ntp 2>&1)
wait_for -t 30 host_device "$ctrl" >/dev/null

# A folder with no room: the file is gone, that is told, and it goes on.
mount -t tmpfs -o size=64k none /tmp/flight
dd if=/dev/zero of=/tmp/flight/full bs=4k count=100 2>/dev/null
kill -USR1 "$host"
failed() {
	[[ $(told 'ntprof_recorder_files_total{side="host",result="failed"}') == 1 ]]
}
check "a full disk fails the file" wait_for -t 20 failed
check "which is told" grep -q 'is not written (SIGUSR1): No space left on device' /tmp/host.out.err
equal "nothing is left of it" "$(find /tmp/flight -mindepth 1 -printf '%f\n' | LC_ALL=C sort | paste -sd' ')" ".ntprof-bpf.host.lock full"
# The recorder holds what it has locked open.
umount -l /tmp/flight
rm /tmp/flight/unasked
# A namespace that comes later has its name as well.
later=$(target_setup_null later size=64)
space=$vm_nvmet/subsystems/$VM_NQN/namespaces/2
mkdir "$space"
vm_set "$space" device_path="$later"
vm_set "$space" enable=1
wait_for -t 30 test -b "${dev%n1}n2"
rm -f /tmp/flight/host-*
dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
dd if="${dev%n1}n2" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
pkill -x tail
kill -TERM "$host" "$target"
wait "$host"
equal "host ends well" $? 0
wait "$target"
equal "target ends well" $? 0
# The read is slow as well, and so may have set it off before the end did.
check "and writes what it kept" grep -qE 'wrote /tmp/flight/host-00000[2-5]-.*: [1-9][0-9]* records' /tmp/host.out.err
later_reads=0
for file in /tmp/flight/host-*.ntp; do
	later_reads=$((later_reads + $(command ntprof-bpf report "$file" --commands --device "${dev%n1}n2" 2>/dev/null | grep -c ' op=read ')))
done
check "with the disk that came later by its name ($later_reads reads)" test "$later_reads" -ge 3
host_disconnect
target_remove
finish
