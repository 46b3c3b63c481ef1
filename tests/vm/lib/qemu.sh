# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# qemu.sh - start the virtual machine, wait for its end, tell how it ended.
#
# What the machine leaves lies in WORK:
#   output     fifo, what the script prints
#   console    what the kernel prints
#   status     the script's exit status, written by the guest as its last act
#   qemu       what qemu itself has to say
#   job.in, job.out    fifos, what the machine asks for and is given before it begins

# tsc_khz: how fast the time stamp counter of this machine runs, which is that of the emulated processors as well; the same
# answer until the machine boots again.
tsc_khz() {
	local boot known=$cache_root/tsc-khz new

	boot=$(</proc/sys/kernel/random/boot_id)
	if [[ $(head -n 1 "$known" 2>/dev/null) != "$boot" ]]; then
		new=$(mktemp -d "$cache_root/tsc.XXXXXX") || die "cannot write to the cache $cache_root"
		gcc -O2 -o "$new/tsc_khz" "${BASH_SOURCE[0]%/*}/tsc_khz.c" || die "cannot compile tsc_khz.c"
		{
			echo "$boot"
			"$new/tsc_khz"
		} >"$new/khz"
		# Whoever comes first has it.
		[[ $(head -n 1 "$known" 2>/dev/null) = "$boot" ]] || mv "$new/khz" "$known"
		rm -r "$new"
	fi
	tail -n 1 "$known"
}

# What emulates the architecture of the kernel.
qemu_program=qemu-system-x86_64

# What a machine that can be used is up within.
kvm_seconds=20
kvm_device=/dev/kvm

# kvm_boots: a guest of our kernel, on this machine's processor, starts its first program in time. A /dev/kvm says
# little: where virtualization is nested it may refuse, or be slower than emulation.
kvm_boots() {
	local console=$1/console

	cat "${image_parts[@]}" >"$1/initrd"
	# That program ends at once, at which the kernel panics, and qemu ends. The shell would report a qemu that aborts.
	{ timeout "$kvm_seconds" qemu-system-x86_64 -no-user-config -nodefaults -display none -no-reboot \
		-machine pc,hpet=off -accel kvm -cpu max -m 1024 -kernel "$kernel_image" -initrd "$1/initrd" \
		-append "console=ttyS0 panic=-1 rdinit=/usr/bin/false" -serial "file:$console" </dev/null || true; } >/dev/null 2>&1
	grep -qs 'as init process' "$console"
}

# qemu_accelerator: set qemu_accel to kvm or tcg. It is tried once, and remembered until this machine boots again.
qemu_accelerator() {
	local known=$cache_root/accelerator boot new

	qemu_accel=tcg
	[[ -r $kvm_device && -w $kvm_device ]] || return 0
	boot=$(</proc/sys/kernel/random/boot_id)
	if [[ $(head -n 1 "$known" 2>/dev/null) != "$boot" ]]; then
		new=$(mktemp -d "$cache_root/accelerator.XXXXXX") || die "cannot write to the cache $cache_root"
		if kvm_boots "$new"; then
			qemu_accel=kvm
			say "virtual machines use KVM"
		else
			say "$kvm_device boots no guest within $kvm_seconds s: virtual machines are emulated (TCG)"
		fi
		printf '%s\n' "$boot" "$qemu_accel" >"$new/known"
		mv "$new/known" "$known"
		rm -r "$new"
	fi
	qemu_accel=$(tail -n 1 "$known")
}

# qemu_arguments: fill qemu_args from the options in vm_*: the machine, without the files and sockets behind its
# devices. A saved machine goes on only with these same arguments.
qemu_arguments() {
	local share ns disk cpu=max machine="pc,hpet=off" console=ttyS0
	local append=(quiet panic=-1 oops=panic tsc=reliable random.trust_cpu=on)

	# nvme-tcp hands the pages of large writes to TCP as they lie in memory, across the end of one huge page into the next.
	# Over the loopback device the receiver copies from there, which hardened usercopy takes for an attack and panics, with
	# the distribution's own modules as well.
	append+=(transparent_hugepage=never)
	# The kernel looks whether the timer interrupts within some milliseconds, which it does not while this machine is
	# busy with something else, and panics: "IO-APIC + timer doesn't work".
	append+=(no_timer_check)
	# The kernel's tests of its own ciphers are more than a third of what booting takes.
	append+=(cryptomgr.notests)
	# What an emulated processor is slow at and no test is about: "rep movsb", byte by byte, by which the kernel copies
	# where a processor has ERMS; indirect calls by way of a return, against Spectre; clearing pages before they are
	# used. Under icount instructions are counted, and are those of a kernel as it is delivered.
	qemu_accel=tcg
	if [[ -n ${root_dir:-} ]]; then
		# Without pointer authentication, which takes longer to emulate than all else that "max" has.
		qemu_program=qemu-system-aarch64 machine="virt,gic-version=3" cpu=neoverse-n1 console=ttyAMA0
		[[ -n $vm_icount ]] || append+=(mitigations=off init_on_alloc=0 apparmor=0 audit=0)
	elif [[ -z $vm_icount ]]; then
		qemu_accelerator
	fi
	if [[ -z $vm_icount && $qemu_accel == tcg && -z ${root_dir:-} ]]; then
		cpu+=,-erms,-fsrm,-smap,-la57
		append+=(mitigations=off init_on_alloc=0 apparmor=0 audit=0)
		# Measured by the guest against its timer, while this machine is busy, it has come out eight times too slow, and
		# all clocks of the guest ran eight times too fast.
		append+=("tsc_early_khz=$(tsc_khz)")
	fi

	qemu_args=(
		-no-user-config -nodefaults -display none -no-reboot
		-machine "$machine" -cpu "$cpu" -smp "$vm_cpus" -m "$vm_mem"
		-kernel "$kernel_image"
		-append "console=$console ${append[*]} $vm_append"
		-serial chardev:console
		-device "virtio-serial-pci,max_ports=4"
		-device "virtserialport,nr=2,chardev=status"
		-device "virtserialport,nr=3,chardev=job"
	)
	if [[ -n $vm_icount ]]; then
		qemu_args+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off")
	elif [[ $qemu_accel == kvm ]]; then
		qemu_args+=(-accel kvm)
	else
		# All virtual CPUs on one thread. With a thread each, qemu 7.2 can translate code that another CPU is patching
		# at that moment, and keep what it was: both CPUs then trap for ever at a jump whose static key has just been
		# switched, as tracing does under load.
		qemu_args+=(-accel "tcg,thread=single")
	fi
	if [[ -n $vm_shell ]]; then
		qemu_args+=(-device "virtconsole,nr=0,chardev=output")
	else
		qemu_args+=(-device "virtserialport,nr=1,chardev=output")
	fi
	if [[ -n ${vm_nvme:-} ]]; then
		qemu_args+=(-device "nvme-subsys,id=nvmes,nqn=ntprof" -device "nvme,id=nvme,serial=ntprof,subsys=nvmes")
		[[ $vm_nvme != *,paths=2* ]] || qemu_args+=(-device "nvme,id=second,serial=ntprof,subsys=nvmes")
		for ns in 1 2; do
			disk="driver=null-co,size=268435456,read-zeroes=on,latency-ns=${vm_nvme%%,*}"
			if [[ $ns$vm_nvme =~ ^2.*,iops=([0-9]+) ]]; then
				qemu_args+=(-object "throttle-group,id=limit,x-iops-total=${BASH_REMATCH[1]}")
				disk="driver=throttle,throttle-group=limit,file.${disk//,/,file.}"
			fi
			qemu_args+=(-blockdev "node-name=ns$ns,$disk" -device "nvme-ns,drive=ns$ns,bus=nvme,nsid=$ns")
		done
		# 16 zones of 16 MB.
		[[ $vm_nvme != *,zones* ]] || qemu_args+=(-blockdev "driver=null-co,node-name=zones,size=268435456,read-zeroes=on"
			-device "nvme-ns,drive=zones,bus=nvme,nsid=3,zoned=on,zoned.zone_size=16M,zoned.zone_capacity=16M")
	fi
	for share in "${!vm_shares[@]}"; do
		qemu_args+=(-device "virtio-9p-pci,fsdev=$share,mount_tag=$share")
	done
	# The guest sets its address: of two that are joined both may have gone on from the same one.
	[[ -z $vm_net ]] || qemu_args+=(-device "virtio-net-pci,netdev=net0,mac=52:54:00:00:00:00")
}

# qemu_backends WORK NET: fill qemu_files with what is behind the devices; NET is as in --net.
qemu_backends() {
	local work=$1 net=$2 share server=off fs=security_model=none,multidevs=remap

	qemu_files=(
		-chardev "file,id=console,path=$work/console"
		-chardev "file,id=status,path=$work/status"
		-chardev "pipe,id=job,path=$work/job"
	)
	if [[ -n $vm_shell ]]; then
		qemu_files+=(-chardev "stdio,id=output,signal=off")
	else
		qemu_files+=(-chardev "file,id=output,path=$work/output")
	fi
	for share in "${!vm_shares[@]}"; do
		qemu_files+=(-fsdev "local,id=$share,path=${vm_shares[$share]},$fs")
	done
	[[ $net != server:* ]] || server=on
	# stream, not socket: that one's own TCP connection delays small packets.
	[[ -z $net ]] ||
		qemu_files+=(-netdev "stream,id=net0,server=$server,addr.type=unix,addr.path=${net#*:}")
}

# qemu_open_image WORK: the image as it is booted, on the file descriptor initrd_fd. Large, and so removed while there
# is still somebody to do it.
qemu_open_image() {
	local work=$1

	cat "${image_parts[@]}" >"$work/initrd"
	exec {initrd_fd}<"$work/initrd"
	rm "$work/initrd"
}

# qemu_console_tail WORK: the kernel's last lines and qemu's, to stderr.
qemu_console_tail() {
	if [[ -s $1/console ]]; then
		say "the kernel's last lines:"
		tail -n 100 "$1/console" | tr -d '\r' >&2
	else
		say "the kernel printed nothing"
	fi
	[[ ! -s $1/qemu ]] || sed 's/^/tests\/vm: /' "$1/qemu" >&2
}

# qemu_start WORK JOB ARG...: start the machine and what belongs to it, in the background, with more arguments of
# qemu's. It is given the file JOB when it asks.
qemu_start() {
	local work=$1 job=$2
	# A run that is killed with SIGKILL takes its machine along.
	local with_us=(setpriv --pdeathsig KILL --)

	shift 2
	mkfifo "$work/output" "$work/job.in" "$work/job.out"
	# The shell holds both ends until qemu is gone, so that nobody waits for the other.
	exec {output_fd}<>"$work/output" {job_in_fd}<>"$work/job.in" {job_out_fd}<>"$work/job.out"
	if [[ -n $vm_shell ]]; then
		"${with_us[@]}" "$qemu_program" "${qemu_args[@]}" "${qemu_files[@]}" "$@" <&0 {output_fd}>&- &
	else
		"${with_us[@]}" "$qemu_program" "${qemu_args[@]}" "${qemu_files[@]}" "$@" \
			</dev/null >"$work/qemu" 2>&1 {output_fd}>&- &
	fi
	qemu_pid=$!
	"${with_us[@]}" cat <"$work/output" {output_fd}>&- &
	reader_pid=$!
	"${with_us[@]}" sleep "$vm_timeout" {output_fd}>&- &
	timer_pid=$!
	"${with_us[@]}" cat "$job" >"$work/job.in" {output_fd}>&- &
	job_pid=$!
}

# qemu_hear WORD: wait until the machine says WORD; fails when it ends before that, or its time does.
qemu_hear() {
	local line heard='' ended=''

	until [[ $heard == *"$1"* ]]; do
		# A time that is up in the middle of the word leaves the first half in line.
		read -r -t 0.2 -u "$job_out_fd" line || [[ -z $ended ]] || return
		heard+=$line
		# It may have said it in its last instant.
		kill -0 "$qemu_pid" 2>/dev/null && kill -0 "$timer_pid" 2>/dev/null || ended=1
	done
}

# qemu_stop: end whatever qemu_start started and still runs.
qemu_stop() {
	local pid

	for pid in ${qemu_pid:-} ${timer_pid:-} ${reader_pid:-} ${job_pid:-}; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	qemu_pid='' timer_pid='' reader_pid='' job_pid=''
}

# qemu_finish WORK: wait for the machine's end; returns what tests/vm/run is to exit with.
qemu_finish() {
	local work=$1 ended status

	wait -n -p ended "$qemu_pid" "$timer_pid" "$reader_pid" || true
	if [[ $ended == "$reader_pid" ]]; then
		# Nobody reads our output any more.
		return 141
	fi
	if [[ $ended == "$qemu_pid" ]]; then
		qemu_pid=
		exec {output_fd}>&-
		wait "$reader_pid" || true
		reader_pid=
	fi
	status=$(cat "$work/status" 2>/dev/null) || true
	[[ -z $status ]] || return "$status"
	qemu_console_tail "$work"
	if [[ $ended == "$timer_pid" ]]; then
		say "the script did not end within $vm_timeout seconds"
		return 124
	fi
	say "the machine ended before the script did"
	return 125
}
