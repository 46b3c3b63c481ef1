# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# lib.sh - make NVMe/TCP targets in the test machine and connect to them. Bash.
# In the guest: ". /lib/vm.sh".
#
# Backing devices, each under a NAME of the caller's; all print the path of what they made:
#   target_setup_null NAME [KEY=VALUE...]
#       a null_blk device; keys are null_blk's configfs attributes: size (MB, default 1024),
#       blocksize, irqmode, completion_nsec, submit_queues, queue_mode, memory_backed, ... and the
#       short forms
#       delay=NSEC    irqmode=2 completion_nsec=NSEC: every command takes NSEC
#       discard=1     memory_backed=1 discard=1
#   target_setup_file NAME SIZE_MB [loop]
#       a file in memory, which keeps what is written to it; with "loop" its loop device
# A target:
#   target_subsystem [NQN] BACKING...
#       a subsystem (default $VM_NQN) with namespace 1, 2, ... on each path
#   target_port [ADDR [PORT]] [KEY=VALUE...]
#       listen (default 127.0.0.1 4420) and offer every subsystem there is; keys are nvmet's port
#       attributes, those that begin with it without "param_", such as inline_data_size=BYTES (default of nvmet: 16384)
#   target_remove
#       take away everything that the above made, in use or not
# A host:
#   host_connect [NQN] [nvme connect's options...]
#       connect (default 127.0.0.1 4420), wait for the first namespace, print the controller's
#       name, such as nvme0; a second connection to the same subsystem needs another port, as
#       nvme-cli 2.4 takes no heed of its option -D
#   host_device CTRL [NSID]
#       print the block device, such as /dev/nvme0n1, whatever multipath named it
#   host_path CTRL [NSID]
#       print the directory in /sys/block of the disk that this controller serves; with multipath
#       it is the one with statistics, such as /sys/block/nvme0c0n1
#   host_disconnect [CTRL | NQN]
#       default $VM_NQN; waits until the controller is gone
# Processes:
#   cgroup_make NAME...
#       make cgroups below $VM_CGROUPS, a parent before its child, and give each the controller io
# And:
#   wait_for [-t SEC] CMD...
#       until CMD succeeds (default 400 s: on a busy machine Linux 7.3 takes two minutes to load one tracer); fails and says so if it never does
#
# A function that fails prints why and returns non-zero. In the environment:
# VM_KIND (patched or stock), VM_KERNEL (the line, such as 6.12, or newest; with --kernel-image its release), VM_CPUS, VM_ICOUNT (1 or empty).

VM_NQN=nqn.2024-01.io.ntprof:test
VM_CGROUPS=/sys/fs/cgroup

vm_nvmet=/sys/kernel/config/nvmet
vm_nullb=/sys/kernel/config/nullb
# Where the files of target_setup_file lie.
vm_files=/run/vm-files

vm_fail() {
	echo "vm.sh: $*" >&2
	return 1
}

# vm_set DIR KEY=VALUE: write one configfs attribute.
vm_set() {
	echo "${2#*=}" 2>/dev/null >"$1/${2%%=*}" || vm_fail "cannot set $2 in $1"
}

wait_for() {
	local seconds=400 end

	if [[ $1 == -t ]]; then
		seconds=$2
		shift 2
	fi
	end=$((SECONDS + seconds))
	until "$@"; do
		((SECONDS < end)) || vm_fail "not within $seconds s: $*" || return
		sleep 0.1
	done
}

cgroup_make() {
	local name

	mountpoint -q $VM_CGROUPS || mount -t cgroup2 cgroup2 $VM_CGROUPS || return
	for name; do
		name=$VM_CGROUPS/$name
		echo +io >"${name%/*}/cgroup.subtree_control" && mkdir "$name" || return
	done
}

target_setup_null() {
	local name=$1 dir=$vm_nullb/$1 setting settings=(size=1024)

	shift
	for setting; do
		case $setting in
		delay=*) settings+=(irqmode=2 "completion_nsec=${setting#*=}") ;;
		discard=1) settings+=(memory_backed=1 discard=1) ;;
		*=*) settings+=("$setting") ;;
		*) vm_fail "target_setup_null: $setting is not KEY=VALUE" || return ;;
		esac
	done
	# Without nr_devices=0 the module makes a /dev/nullb0 of its own.
	modprobe null_blk nr_devices=0 && mkdir "$dir" || return
	for setting in "${settings[@]}" power=1; do
		vm_set "$dir" "$setting" || return
	done
	# Linux 6.2, and stable kernels since, call the disk what its directory is called.
	if [[ -b /dev/$name ]]; then
		echo "/dev/$name"
	else
		echo "/dev/nullb$(<"$dir/index")"
	fi
}

target_setup_file() {
	local file=$vm_files/$1

	mkdir -p "$vm_files"
	truncate -s "${2}M" "$file" || return
	if [[ ${3:-} == loop ]]; then
		modprobe loop && losetup --find --show "$file"
	else
		echo "$file"
	fi
}

target_subsystem() {
	local nqn=$VM_NQN dir backing nsid=0 port

	if [[ ${1:-} == nqn.* ]]; then
		nqn=$1
		shift
	fi
	modprobe nvmet-tcp || return
	dir=$vm_nvmet/subsystems/$nqn
	mkdir "$dir" && vm_set "$dir" attr_allow_any_host=1 || return
	for backing; do
		nsid=$((nsid + 1))
		mkdir "$dir/namespaces/$nsid" &&
			vm_set "$dir/namespaces/$nsid" "device_path=$backing" || return
		# tmpfs knows no direct I/O.
		if [[ -f $backing ]]; then
			vm_set "$dir/namespaces/$nsid" buffered_io=1 || return
		fi
		vm_set "$dir/namespaces/$nsid" enable=1 || return
	done
	for port in "$vm_nvmet"/ports/*/; do
		[[ ! -d $port ]] || ln -s "$dir" "$port/subsystems/$nqn" || return
	done
}

target_port() {
	local words=() settings=() setting dir id=1 subsystem

	for setting; do
		case $setting in
		addr_*=*) settings+=("$setting") ;;
		*=*) settings+=("param_$setting") ;;
		*) words+=("$setting") ;;
		esac
	done
	modprobe nvmet-tcp || return
	while [[ -e $vm_nvmet/ports/$id ]]; do
		id=$((id + 1))
	done
	dir=$vm_nvmet/ports/$id
	mkdir "$dir" || return
	for setting in addr_trtype=tcp addr_adrfam=ipv4 "addr_traddr=${words[0]:-127.0.0.1}" \
		"addr_trsvcid=${words[1]:-4420}" "${settings[@]}"; do
		vm_set "$dir" "$setting" || return
	done
	for subsystem in "$vm_nvmet"/subsystems/*/; do
		[[ ! -d $subsystem ]] || ln -s "$subsystem" "$dir/subsystems/" || return
	done
}

target_remove() {
	local path device

	for path in "$vm_nvmet"/ports/*/subsystems/*; do
		[[ ! -L $path ]] || rm "$path"
	done
	for path in "$vm_nvmet"/ports/* "$vm_nvmet"/subsystems/*/namespaces/* \
		"$vm_nvmet"/subsystems/* "$vm_nullb"/*/; do
		[[ ! -d $path ]] || rmdir "$path"
	done
	for path in "$vm_files"/*; do
		[[ -f $path ]] || continue
		for device in $(losetup -n -O NAME -j "$path"); do
			losetup -d "$device"
		done
		rm "$path"
	done
}

# vm_controllers NQN: the controllers connected to it, one a line.
vm_controllers() {
	local dir

	for dir in /sys/class/nvme/nvme*; do
		[[ $(cat "$dir/subsysnqn" 2>/dev/null) == "$1" ]] && echo "${dir##*/}"
	done
	return 0
}

host_path() {
	local ctrl=$1 nsid=${2:-1} dir

	# With multipath the controller has nvmeXcYnZ, which is hidden; without, nvmeXnZ.
	for dir in /sys/class/nvme/"$ctrl"/nvme*n*; do
		[[ $(cat "$dir/nsid" 2>/dev/null) == "$nsid" ]] || continue
		echo "/sys/block/${dir##*/}"
		return 0
	done
	return 1
}

host_device() {
	local path name

	path=$(host_path "$@") || return
	name=${path##*/}
	[[ ! $name =~ ^(nvme[0-9]+)c[0-9]+(n[0-9]+)$ ]] || name=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
	# The disk of a path still being set up exists and has no capacity.
	[[ -b /dev/$name && $(<"/sys/block/$name/size") -gt 0 ]] || return
	echo "/dev/$name"
}

vm_host_ready() {
	host_device "$1" >/dev/null
}

host_connect() {
	local nqn=$VM_NQN before ctrl where=()

	if [[ ${1:-} == nqn.* ]]; then
		nqn=$1
		shift
	fi
	[[ " $* " == *" -a "* || " $* " == *" --traddr"* ]] || where+=(-a 127.0.0.1)
	[[ " $* " == *" -s "* || " $* " == *" --trsvcid"* ]] || where+=(-s 4420)
	# A Keep Alive every few seconds would come in between what a test does.
	[[ " $* " == *" --keep-alive-tmo"* ]] || where+=(--keep-alive-tmo=600)
	modprobe nvme-tcp || return
	before=" $(vm_controllers "$nqn" | tr '\n' ' ') "
	nvme connect -t tcp -n "$nqn" "${where[@]}" "$@" >&2 || return
	for ctrl in $(vm_controllers "$nqn"); do
		[[ $before != *" $ctrl "* ]] || continue
		wait_for vm_host_ready "$ctrl" || return
		echo "$ctrl"
		return 0
	done
	vm_fail "nvme connect made no controller for $nqn"
}

host_disconnect() {
	local what=${1:-$VM_NQN} ctrl ctrls

	if [[ $what == nqn.* ]]; then
		mapfile -t ctrls < <(vm_controllers "$what")
	else
		ctrls=("$what")
	fi
	for ctrl in "${ctrls[@]}"; do
		nvme disconnect -d "$ctrl" >&2 || return
		wait_for test ! -e "/sys/class/nvme/$ctrl" || return
	done
}
