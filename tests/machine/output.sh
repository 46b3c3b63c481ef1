#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# takes: 150
# Whatever becomes of the output, a signal ends the tracer, what is not taken is counted, and no file is lost.
set -u
. /lib/machine.sh

cd /tmp || exit 1
mkfifo pipe keys

# ended NAME PID: process PID, one of ours or not, ends within 30 s; its status is in $status.
ended() {
	local i

	for ((i = 0; i < 300; i++)); do
		[[ -e /proc/$2 && $(<"/proc/$2/stat") != *") Z "* ]] || break
		sleep 0.1
	done 2>/dev/null
	check "$1" test $i -lt 300
	kill -KILL "$2" 2>/dev/null
	wait "$2" 2>/dev/null
	status=$?
}

# reads N: so many commands
reads() {
	fio --name=x --filename="$dev" --direct=1 --ioengine=libaio --size=100M --rw=randread --bs=4k \
		--iodepth=16 --number_ios="$1" --norandommap >/tmp/fio 2>&1 || cat /tmp/fio
}

# stopped_reader: opens the pipe and does not read; its process id is in $reader.
stopped_reader() {
	# shellcheck disable=SC2217 # that it does not read is what it is for
	sleep 10000 <pipe &
	reader=$!
}

reader_ends() {
	kill "$reader" 2>/dev/null
	wait "$reader" 2>/dev/null
}

# Before there is a module.
for how in HUP gone; do
	stopped_reader
	ntprof-bpf record --host -o - >pipe 2>err &
	recorder=$!
	wait_for grep -q "waiting for module" err
	if [[ $how == gone ]]; then
		reader_ends
		ended "a reader that goes ends a recorder that waits for its module" $recorder
		equal "which is no failure" $status 0
		check "and is told" grep -q "the reader is gone" err
	else
		kill -HUP $recorder
		ended "SIGHUP ends a recorder that waits for its module" $recorder
		reader_ends
	fi
done

# What cannot start leaves what is there.
chmod 755 /usr/bin/ntprof-bpf
mkdir users
echo old >users/old.ntp
chown -R 65534 users
check "who is not root is refused" \
	sh -c '! setpriv --reuid=65534 --clear-groups ntprof-bpf record --host --force -o users/old.ntp 2>err'
equal "and the old recording stays" "$(cat users/old.ntp)" old
check "a kernel that is too old is refused" \
	sh -c '! setarch --uname-2.6 ntprof-bpf record --host --force -o users/old.ntp 2>err'
equal "and the old recording stays" "$(cat users/old.ntp)" old
equal "and nothing else is left" "$(ls -A users)" old.ntp

mknod null c 1 3
# No command is seen, which is status 3.
check "a character device is written to" sh -c 'ntprof-bpf record --host -o null -d 0.3; test $? = 3'
check "also with --force" sh -c 'ntprof-bpf record --host --force -o null -d 0.3; test $? = 3'
check "and stays" test -c null
mknod block b 1 0
for file in block users; do
	check "$file is refused" sh -c "! ntprof-bpf record --host --force -o $file -d 0.3 2>err"
	check "$file: it is said why" grep -Eq "it is a (block device|directory)" err
done
check "a block device stays" test -b block

disk=$(target_setup_null a size=256)
target_subsystem "$disk"
target_port
ctrl=$(host_connect -i 2)
dev=$(host_device "$ctrl")

# A reader that does not read.
for signal in INT TERM HUP; do
	stopped_reader
	tracer_start pipe record --host -o -
	reads 5000
	kill -$signal "$tracer_pid"
	ended "$signal ends a recorder whose reader does not read" "$tracer_pid"
	equal "$signal: that is no failure" $status 0
	reader_ends
done

# One that reads late: all is there, or counted.
(
	until [[ -e go ]]; do sleep 0.2; done
	exec cat >late.ntp
) <pipe &
reader=$!
tracer_start pipe record --host -o - --buffer 256K
reads 15000
touch go
wait_for sh -c "test -n \"\$(find late.ntp -size +200k)\" 2>/dev/null"
reads 100
tracer_stop "$tracer_pid"
equal "the recorder of a late reader ends with 0" $? 0
wait $reader
told=$(tail -n 1 pipe.err)
echo "# $told"
ntprof-bpf report late.ntp >late 2>late.err
check "a stream that was read late is whole" test ! -s late.err
records=$(sed -n 's/^host: \([0-9]*\) commands.*/\1/p' <<<"$told")
slow=$(sed -n 's/.*late.ntp: loss reader_slow \([0-9]*\) .*/\1/p' late)
within "records are left out" "${slow:-0}" 1 15000
within "every command is there or counted" $((records + ${slow:-0})) 15100 15200

# A disk that gets full.
mkdir full
mount -t tmpfs -o size=128k none full
tracer_start full.log record --host -o full/x.ntp
reads 8000
ended "a full disk ends the recorder" "$tracer_pid"
within "with a failure" $status 1 1
check "and it is said why" grep -q "cannot write to full/x.ntp: No space left" full.log.err
equal "the file is all there is" "$(ls -A full)" x.ntp
check "the file reads" sh -c "ntprof-bpf report full/x.ntp >full.report"
within "and has what had room" "$(commands full.report read)" 1000 8000
umount full

# A line of trace comes when it happens.
cat <pipe >lines &
reader=$!
tracer_start pipe trace --host
dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
check "a line is in the pipe as soon as the command has ended" wait_for -t 10 grep -q "op=read" lines
kill $reader
wait $reader 2>/dev/null
ended "a reader that goes ends trace" "$tracer_pid"

# A terminal that is stopped, as by Ctrl-S.
for verb in live trace; do
	script -qc "exec ntprof-bpf $verb --host" /dev/null <keys >screen 2>&1 &
	terminal=$!
	exec 3>keys
	wait_for sh -c "pgrep -x ntprof-bpf >pid"
	pid=$(<pid)
	wait_for tracer_ready "$pid"
	reads 50
	wait_for test -s screen
	printf '\023' >&3
	sleep 1
	reads 500
	sleep 2
	kill -INT "$pid"
	ended "SIGINT ends $verb on a terminal that is stopped" "$pid"
	exec 3>&-
	kill $terminal 2>/dev/null
	wait $terminal
done

host_disconnect "$ctrl"
target_remove
finish
