#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Both sides of a mixed run are recorded whole, into files that are their owner's only.
# takes: 30
set -u
. /lib/machine.sh

cd /tmp || exit 1
disk=$(target_setup_null a size=256 discard=1)
target_subsystem "$disk"
target_port

ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
for side in host target; do
	tracer_start $side.log record --$side -o $side.ntp
	declare "$side=$tracer_pid"
done
fio --name=mix --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=rw \
	--bssplit=4k/50:16k/20:64k/25:1M/5 --iodepth=8 --number_ios=1500 --fsync=50 >/tmp/fio 2>&1 ||
	cat /tmp/fio
# shellcheck disable=SC2154 # set by declare above
tracer_stop "$host" "$target"
equal "recorders exit with 0" $? 0
for side in host target; do
	told=$(tr '\r' '\n' <$side.log.err | tail -n 1)
	echo "# $told"
	records=$(sed -n "s/^$side: \([0-9]*\) commands.*/\1/p" <<<"$told")
	size=$(stat -c %s $side.ntp)
	check "$side: every command is recorded" test "$records" -ge 1500
	equal "$side: what is told is what is in the file" "$(sed 's/.* \([0-9]*\) bytes.*/\1/' <<<"$told")" "$size"
	check "$side: at most 64 bytes a command ($((size / records)))" test $((size / records)) -le 64
	losses=$(sed 's/.*, \([0-9]*\) losses.*/\1/' <<<"$told")
	# Linux 6.12 and later give admin commands, of which there are a few, no start time.
	within "$side: without losses" "$losses" 0 "$([[ $side == host && $VM_KERNEL != 6.1 ]] && echo 16 || echo 0)"
done
# The two ends of a connection, as each side names them.
ss -tnH state established "( dport = :4420 )" | awk '{ print $3, $4 }' | sort -u >connections
ntprof-bpf report host.ntp target.ntp --pcap-filter 1 --format text >filters 2>&1 || cat filters
sed -n 's/^ *tcpdump /# &/p' filters
sed -nE "s/^ *tcpdump +'tcp and host ([0-9.]+) and port ([0-9]+) and host ([0-9.]+) and port ([0-9]+)'/\1:\2 \3:\4/p" \
	filters >ends
equal "both sides know the ends of the slowest command's connection" "$(wc -l <ends)" 2
check "the host's are a connection" grep -qxF "$(sed -n 1p ends)" connections
equal "and the target's the same from its side" "$(sed -n 2p ends)" "$(sed -n '1s/\(.*\) \(.*\)/\2 \1/p' ends)"
host_disconnect "$ctrl"

equal "a stream is for its owner only" "$(stat -c %a host.ntp)" 600
check "an existing file is kept" sh -c '! ntprof-bpf record --host -o host.ntp -d 1 2>err'
check "and it is said how to replace it" grep -q -- --force err
ln -s victim link
check "a symbolic link is not followed" sh -c '! ntprof-bpf record --host -o link -d 1 2>err; test ! -e victim'
check "--force replaces it, and a run without commands ends with 3" \
	sh -c 'ntprof-bpf record --host -o link --force -d 0.5; test $? = 3'
check "and makes a file" test -f link -a ! -L link

ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")
ntprof-bpf record --host -o - --max-size 100K 2>err >small.ntp &
small=$!
fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --size=200M --rw=randread --bs=4k \
	--iodepth=8 --time_based --runtime=20 >/tmp/fio 2>&1 &
load=$!
wait $small
equal "--max-size ends the recording well" $? 0
kill $load
wait $load 2>/dev/null
check "within its size" test "$(stat -c %s small.ntp)" -le 102400
check "and says so" grep -q -- '--max-size is reached' err

check "without a side a machine that is both is asked which" \
	sh -c 'ntprof-bpf -d 1 2>err; test $? = 64 && grep -q "this machine is both: take --host" err'
# shellcheck disable=SC2016 # sh expands them
check "a recording is as long as its command, and ends with its status" sh -c "ntprof-bpf record --host -o own.ntp -- \
	sh -c 'dd if=$dev of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null; exit 7' 2>err; test \$? = 7"
equal "it has each of the command's reads" "$(ntprof-bpf report --commands own.ntp 2>/dev/null | grep -c '^[0-9].* op=read ')" 50
check "a recording that is over ends its command" \
	sh -c 'timeout 20 ntprof-bpf record --host -o ended.ntp -d 1 -- sleep 1000 2>err; test $? = 3'
check "which is gone" sh -c '! grep "still runs" err && ! pgrep -fx "sleep 1000"'
check "a recording names itself" sh -c "ntprof-bpf record --host -- dd if=$dev of=/dev/null bs=4k count=1 iflag=direct 2>err"
check "by machine, side and time" sh -c 'ls ntprof-*-host-2*Z.ntp && grep -q "^recording into ntprof-.*-host-.*Z.ntp" err'
host_disconnect "$ctrl"
target_remove
finish
