# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# hold.sh - make new connections of the host wait while nvme-tcp is exchanged.
#
# A controller does not hold nvme-tcp: the kernel would unload the module and delete the controller. So none may be made
# between the last look and the unloading. All are made by a write to /dev/nvme-fabrics, under one mutex
# (nvmf_dev_mutex, drivers/nvme/host/fabrics.c), and the first thing done there is request_module("nvme-TRANSPORT"), which
# waits for modprobe. A write that asks for a transport of our own therefore holds the mutex for as long as the command
# lasts that modprobe is told to run for it. That command waits for a lock that this process holds.
#
# Others that connect meanwhile wait in the kernel, then go on with the new module. The lock goes with this process and
# the commands that it started, however they end, and connects go on then; as they do after hold_seconds in any case.

hold_dir=/run/ntprof-bpf
hold_conf=/run/modprobe.d/ntprof-bpf-hold.conf
hold_seconds=60
holder=

# connects_hold: from here on no controller is made, by anyone
connects_hold() {
	[[ -c /dev/nvme-fabrics ]] || die "there is no /dev/nvme-fabrics: cannot keep new connections out"
	need flock util-linux
	mkdir -p "$hold_dir" "${hold_conf%/*}"
	rm -f "$hold_dir/held"
	mkfifo -m 600 "$hold_dir/held"
	# 1<> does not wait for a reader, who may be gone.
	echo "install nvme_ntprof_hold /bin/sh -c 'echo held 1<>$hold_dir/held;" \
		"exec flock -s -w $hold_seconds $hold_dir/lock true'" >"$hold_conf"
	exec {hold_lock}<>"$hold_dir/lock" {held}<>"$hold_dir/held"
	flock "$hold_lock"
	(
		# It would wait for itself if it had the lock; and a Ctrl-C is this process's to handle.
		exec {hold_lock}>&- {held}>&-
		trap '' HUP INT TERM
		echo "transport=ntprof_hold,nqn=ntprof_hold" >/dev/nvme-fabrics
	) 2>/dev/null &
	holder=$!
	# A connect that is under way has the mutex until it ends, which with a peer that does not answer takes a while.
	read -r -t 20 -u "$held" _ || {
		connects_release
		die "cannot keep new connections out, nothing was changed: another connect is under way," \
			"or /proc/sys/kernel/modprobe is not modprobe"
	}
}

# connects_held: they still are
connects_held() {
	[[ -n $holder ]] && kill -0 "$holder" 2>/dev/null
}

connects_release() {
	[[ -n $holder ]] || return 0
	exec {hold_lock}>&- {held}>&-
	# That of a connect under way may last; it lets go at once when its turn comes.
	holder=
	rm -f "$hold_conf" "$hold_dir/held"
}
