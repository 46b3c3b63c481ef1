# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# overlay.sh - what one run adds to the image: guest/, ntprof-bpf, the script and the files asked for.

# overlay_job [SCRIPT [ARG...]]: print what guest/init is to do.
overlay_job() {
	local rows=24 columns=80

	if [[ -n $vm_shell ]]; then
		read -r rows columns < <(stty size)
		echo "script= terminal=${TERM:-linux} rows=$rows columns=$columns"
	else
		# Quoted twice: once as an assignment here, once for the guest's eval.
		local args=
		[[ $# -eq 1 ]] || args=$(printf ' %q' "${@:2}")
		printf 'script=%q args=%q\n' "/vm/${1##*/}" "$args"
	fi
	echo "shares='${!vm_shares[*]}'"
	echo "VM_KIND=$vm_kind VM_CPUS=$vm_cpus VM_ICOUNT=$vm_icount"
}

# overlay_make FILE [SCRIPT [ARG...]]
overlay_make() {
	local file=$1 root=$1.tree program spec dest

	shift
	mkdir -p "$root/vm" "$root/usr/lib"
	# Libraries that the image has are not added again.
	image_has=$image_dir/root
	install -m 755 "$vm/guest/init" "$root/init"
	install -m 644 "$vm/guest/lib.sh" "$root/usr/lib/vm.sh"
	overlay_job "$@" >"$root/vm/job"
	[[ -n $vm_shell ]] || install -m 755 "$1" "$root/vm/${1##*/}"

	program=${NTPROF_BPF:-$vm/../../build/ntprof-bpf}
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
	image_pack "$root" >"$file"
	rm -r "$root"
}
