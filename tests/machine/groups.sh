#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run with: --cpus 2
# takes: 40
# Groups of commands are what fio itself says that it has done: reads of 4 KiB on one controller and writes of 64 KiB on
# another, recorded on both sides and watched live.
set -u
. /lib/machine.sh

cd /tmp || exit 1
target_subsystem "$(target_setup_null a size=256)"
target_subsystem nqn.2024-01.io.ntprof:second "$(target_setup_null b size=256)"
target_port
a=$(host_connect -i 1)
b=$(host_connect nqn.2024-01.io.ntprof:second -i 1)

started=()
for side in host target; do
	tracer_start $side.log record --$side -o $side.ntp
	started+=("$tracer_pid")
done
tracer_start queues.json --host --by queue,op --format json
started+=("$tracer_pid")
tracer_start hosts.csv --target --by host,nqn,op --stats min,p99.9 --format csv
started+=("$tracer_pid")
tracer_start sizes.live.csv --host --by size,op,nsid --stats p50 --format csv
started+=("$tracer_pid")
fio --direct=1 --ioengine=libaio --iodepth=4 --size=64m --output-format=json --output=fio.json \
	--name=r --filename="$(host_device "$a")" --rw=randread --bs=4k --number_ios=600 \
	--name=w --filename="$(host_device "$b")" --rw=randwrite --bs=64k --number_ios=150
tracer_stop "${started[@]}"
equal "all tracers end well" $? 0

# ios KIND: how many of them fio has done, all jobs together, as its JSON has it.
ios() {
	awk -v kind="\"$1\"" '
		$1 == kind { at = 1 }
		at && $1 == "\"total_ios\"" { sub(",", "", $3); sum += $3; at = 0 }
		END { print sum + 0 }' fio.json
}

reads=$(ios read)
writes=$(ios write)
check "fio has read ($reads)" test "$reads" -ge 600
check "and written ($writes)" test "$writes" -ge 150

# commands_in FILE FIELDS...: of lines of CSV that have all of these fields, the sum of the column "commands".
commands_in() {
	awk -F, -v wanted="${*:2}" '
		{ sub("\r", "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "commands") column = i; n = split(wanted, w, " "); next }
		{ all = 1; for (k = 1; k <= n; k++) { any = 0; for (i = 1; i <= NF; i++) any = any || $i == w[k]; all = all && any } }
		all { sum += $column }
		END { print sum + 0 }' "$1"
}

for inputs in "host.ntp target.ntp" host.ntp target.ntp; do
	# shellcheck disable=SC2086 # words
	ntprof-bpf report $inputs --by op,size,nsid --format csv >sizes.csv
	equal "$inputs: reads of 4 KiB are as many as fio has done" "$(commands_in sizes.csv group read 4096)" "$reads"
	equal "$inputs: and writes of 64 KiB" "$(commands_in sizes.csv group write 65536)" "$writes"
	equal "$inputs: groups are all that there is" "$(commands_in sizes.csv group)" "$(commands_in sizes.csv total)"
	for every in 100ms 1h; do
		# shellcheck disable=SC2086
		ntprof-bpf report $inputs --by op --every $every --format csv >every.csv
		equal "$inputs: in intervals of $every, too" "$(commands_in every.csv group read) $(commands_in every.csv group write)" \
			"$(commands_in sizes.csv group read) $(commands_in sizes.csv group write)"
	done
done
ntprof-bpf report host.ntp target.ntp --by ctrl,op --stats p50,max --format csv >ctrls.csv
equal "each controller has its own" "$(commands_in ctrls.csv "$a" read) $(commands_in ctrls.csv "$b" write)" "$reads $writes"
check "no more are in flight than fio has let be" awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == "max_in_flight") c = i }
	/,(read|write),/ { n++; if ($c < 1 || $c > 8) exit 1 }
	END { exit !n }' <(grep -E "^(input|merged,group,(${a},read|${b},write))" ctrls.csv)

check "the live view's groups are those of fio" grep -q "\"type\":\"summary\".*\"groups\":.*\"queue\":1,\"op\":\"read\",\"commands\":$reads," queues.json
check "in the whole run" grep -q "\"type\":\"summary\".*\"groups\":.*\"queue\":1,\"op\":\"write\",\"commands\":$writes," queues.json
equal "the target knows who reads" "$(commands_in hosts.csv summary read "$VM_NQN")" "$reads"
equal "and from where it is written to" "$(commands_in hosts.csv summary write nqn.2024-01.io.ntprof:second)" "$writes"
equal "a live view knows sizes by its records" \
	"$(commands_in sizes.live.csv summary read 4096) $(commands_in sizes.live.csv summary write 65536)" "$reads $writes"

check "and how many of them were in flight when one began, of the run and of those intervals that tell" awk -F, '
	{ sub("\r", "") }
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
	NR > 1 && (/,4096,read,/ || /,65536,write,/) {
		most = $column["max_in_flight"] + 0
		mean = $column["mean_in_flight"] + 0
		if ($2 == "summary" || most) {
			if (mean < 1 || most < mean || most > 4)
				exit 1
			seen[$2]++
		}
	}
	END { exit seen["summary"] != 2 }' sizes.live.csv

host_disconnect "$a"
host_disconnect "$b"
target_remove
finish
