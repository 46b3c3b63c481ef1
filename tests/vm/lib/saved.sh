# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# saved.sh - machines that have booted and wait for their job, saved: booting takes longer than much of what they are for.
#
# A saved machine is the stream of a migration, compressed. It goes on in a machine with the same qemu_args, whatever files
# and sockets are behind the devices then. Its name says what it depends on; a file that is damaged is made anew.

# saved_select: set saved_file to where the machine of qemu_args is, or will be.
saved_select() {
	local hash

	# The guest has measured how fast the time stamp counter runs, which is that of the processor below.
	hash=$({
		printf '%s\n' "${qemu_args[@]}"
		stat -L -c '%n %s %Y' "$kernel_image" "${image_parts[@]}" "$(type -P "$qemu_program")"
		cat "${BASH_SOURCE[0]}" /proc/sys/kernel/random/boot_id
		grep -m 1 '^model name' /proc/cpuinfo
	} | sha256sum)
	saved_file=${NTPROF_SAVED:-$image_dir}/saved-${hash:0:16}
}

# saved_make WORK: boot a machine until it asks for its job, and save it.
saved_make() {
	local work=$1/boot status

	mkdir "$work"
	mkfifo "$work/monitor.in" "$work/monitor.out"
	qemu_backends "$work" "${vm_net:+server:$work/wire}"
	qemu_open_image "$work"
	# Without the state that it is in when it is saved, which is stopped, it goes on at once.
	qemu_start "$work" /dev/null -initrd "/dev/fd/$initrd_fd" -global migration.store-global-state=off \
		-chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor
	exec {initrd_fd}<&-
	if ! qemu_hear ready; then
		status=0
		qemu_finish "$work" || status=$?
		exit "$status"
	fi
	printf '%s\n' stop 'migrate_set_parameter max-bandwidth 100G' \
		"migrate \"exec:zstd -q -1 >'$saved_file.new'\"" quit >"$work/monitor.in"
	wait "$qemu_pid" || true
	qemu_stop
	mv "$saved_file.new" "$saved_file"
	rm -r "$work"
}

# saved_prepare WORK: make sure that saved_file is there. One process at a time makes it.
saved_prepare() {
	local fd

	if [[ ! -e $saved_file ]]; then
		exec {fd}>"$saved_file.lock"
		flock "$fd"
		if [[ ! -e $saved_file ]]; then
			cache_trim "${saved_file%/*}" 'saved-*'
			saved_make "$1"
		fi
		exec {fd}>&-
	fi
	touch "$saved_file"
}

# saved_start WORK JOB: go on with it; fails if that cannot be done.
saved_start() {
	local work=$1 job=$2 stream

	qemu_backends "$work" "$vm_net"
	exec {stream}< <(zstd -q -d -c "$saved_file")
	{
		echo "@$(date ${vm_rtc:+-u -d "$vm_rtc"} +%s)"
		cat "$job"
	} >"$work/job"
	qemu_start "$work" "$work/job" -incoming "fd:$stream" "${vm_qemu[@]}"
	exec {stream}<&-
	# If it is its time that has ended, qemu_finish will tell.
	qemu_hear begun || kill -0 "$qemu_pid" 2>/dev/null
}

# saved_run WORK JOB: start a saved machine; one that cannot go on is made anew.
saved_run() {
	local work=$1 job=$2

	saved_prepare "$work"
	if ! saved_start "$work" "$job"; then
		qemu_stop
		say "the saved machine $saved_file cannot go on"
		rm -f "$saved_file" "$work"/{output,job.in,job.out}
		saved_prepare "$work"
		saved_start "$work" "$job" || die "cannot go on with a saved machine: $(<"$work/qemu")"
	fi
}
