# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# overlay.sh - what one run gives to the machine that waits for its job: guest/lib.sh, ntprof-bpf, the script, --add.

# overlay_job [SCRIPT [ARG...]]: print what guest/init is to do.
overlay_job() {
	local rows=24 columns=80

	if [[ -n $vm_shell ]]; then
		read -r rows columns < <(stty size)
		echo "command= terminal=${TERM:-linux} rows=$rows columns=$columns"
	else
		local command=("/vm/${1##*/}" "${@:2}") start
		read -r -n 2 start <"$1" || true
		# Neither a script that names its interpreter nor a program.
		[[ $start == '#!' || $start == $'\x7fE' ]] || command=(bash "${command[@]}")
		# Quoted twice: once for the guest's eval, once as an assignment.
		# What the machine needs to go on, and to tell, is to be over when the time is.
		echo "deadline=$((vm_timeout > 16 ? vm_timeout - 8 : vm_timeout / 2))"
		printf 'command=%q\n' "$(printf '%q ' "${command[@]}")"
	fi
	echo "shares='${!vm_shares[*]}'"
	echo "VM_KIND=$vm_kind VM_KERNEL=$vm_kernel VM_CPUS=$vm_cpus VM_ICOUNT=$vm_icount"
}

# overlay_make FILE [SCRIPT [ARG...]]
overlay_make() {
	local file=$1 root=$1.tree program spec dest

	shift
	mkdir -p "$root/vm"
	image_skeleton "$root"
	# Libraries that the image has are not added again.
	image_has=$image_dir/root
	install -m 644 "$vm/guest/lib.sh" "$root/usr/lib/vm.sh"
	overlay_job "$@" >"$root/vm/job"
	if [[ -z $vm_shell ]]; then
		image_add_file "$root" "$1" "/vm/${1##*/}"
		chmod +x "$root/vm/${1##*/}"
	fi

	program=${NTPROF_BPF:-$vm/../../build/${root_dir:+arm64/}ntprof-bpf}
	if [[ -e $program ]]; then
		image_add_file "$root" "$program" /usr/bin/ntprof-bpf
	elif [[ -n ${NTPROF_BPF:-} ]]; then
		die "NTPROF_BPF=$program: not found"
	fi
	for spec in "${vm_add[@]}"; do
		dest=${spec#*:}
		[[ $spec == *:* ]] || dest=/root/${spec##*/}
		[[ -f ${spec%%:*} ]] || die "--add ${spec%%:*}: no such file"
		image_add_file "$root" "${spec%%:*}" "$dest"
	done
	# The machine has these links.
	rm "$root"/{bin,sbin,lib,lib64}
	image_pack "$root" >"$file"
	rm -r "$root"
}
