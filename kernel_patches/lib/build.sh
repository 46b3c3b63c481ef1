# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# build.sh - build both modules, and check that they are what they should be.

# Everything that the modules depend on, in a few lines: unchanged, there is nothing to build.
fingerprint() {
	echo "kernel $KVER $(headers_package), modules ${modules[*]}"
	sign_inputs
	cat "$here"/lib/{common,inputs,series,btf,sites,sign,origin,build}.sh "$here"/v*/* "$KDIR/.config" "$KDIR/Module.symvers" | sha256sum
	sha256sum <"$BTF_BASE"
	if [[ -f $KSRC ]]; then
		stat -L -c "$KSRC %s %Y" "$KSRC"
	else
		(cd "$KSRC" && find Makefile drivers/nvme -type f \( -name '*.[ch]' -o -name Makefile \) \
			-print0 | sort -z | xargs -0 cat | sha256sum)
	fi
}

up_to_date() {
	[[ -e $OUT/.inputs && -e $OUT/.outputs ]] && cmp -s "$OUT/.inputs" "$work/inputs" &&
		(cd "$OUT" && sha256sum --status -c .outputs)
}

# run_make DIR: the driver's own makefiles, with all but our modules switched off
run_make() {
	local dir=$1 off

	# shellcheck disable=SC2016 # a makefile's variable
	mapfile -t off < <(sed -n 's/^obj-$(\(CONFIG_[A-Z0-9_]*\)).*/\1=/p' "$dir"/*/Makefile |
		grep -vx "$(printf '%s=\n' "${module_option[@]}")")
	if ! make -C "$KDIR" -j"$(nproc)" M="$dir" W=1 "${off[@]}" modules >"$OUT/build.log" 2>&1; then
		tail -n 40 "$OUT/build.log" >&2
		die "the build failed; all of its output is in $OUT/build.log"
	fi
	if grep -q 'trace_tcp.h.*warning:' "$OUT/build.log"; then
		say "the compiler warns about the patches, see $OUT/build.log" >&2
	fi
}

# Headers without vmlinux and resolve_btfids, as most distributions' are, have the build leave BTF out. Those of Debian's
# Linux 7.3 have both.
add_btf() {
	local module=$1 flags=() script=$KDIR/scripts/pahole-flags.sh

	[[ -z $(readelf -SW "$module" | sed -n '/ \.BTF /p') ]] || return 0
	[[ ! -e $script ]] || read -ra flags < <(PAHOLE=pahole sh "$script") || true
	# pahole of Debian 12 would run llvm-objcopy; the kernel's makefiles set this, too.
	LLVM_OBJCOPY=objcopy pahole -J "${flags[@]}" --btf_base "$work/vmlinux.btf" "$module" ||
		die "pahole could not add BTF to ${module##*/}"
}

# verify_module FILE SOURCE: that the kernel will take it, and that BPF programs will find in it what they attach to
verify_module() {
	local file=$1 source=$2 name=${1##*/} magic stock tracepoint tracepoints

	magic=$(modinfo -F vermagic "$file")
	[[ ${magic%% *} == "$KVER" ]] || die "$name came out for kernel ${magic%% *}, not for $KVER"
	if stock=$(own_module "${name%.ko}") && [[ $(modinfo -F vermagic "$stock") != "$magic" ]]; then
		die "$name came out as '$magic', unlike the kernel's own"
	fi

	bpftool btf dump -B "$work/vmlinux.btf" file "$file" >"$work/btf" 2>/dev/null || die "$name has no valid BTF"
	grep -q "STRUCT '${name%%-*}_tcp_queue' " "$work/btf" || die "the BTF of $name lacks struct ${name%%-*}_tcp_queue"
	nm "$file" >"$work/symbols"
	mapfile -t tracepoints < <(sed -n 's/^EXPORT_TRACEPOINT_SYMBOL_GPL(\(.*\));$/\1/p' "$source")
	((${#tracepoints[@]})) || die "the patches gave $name no tracepoints"
	for tracepoint in "${tracepoints[@]}"; do
		grep -q " __tracepoint_$tracepoint\$" "$work/symbols" || die "$name lacks the tracepoint $tracepoint"
		grep -q "TYPEDEF 'btf_trace_$tracepoint' " "$work/btf" || die "the BTF of $name lacks $tracepoint"
	done
	say "$name: ${#tracepoints[@]} tracepoints, BTF, $(stat -c %s "$file") bytes"
}

verb_build() {
	local module file drivers

	check_tools
	check_headers
	find_source
	find_btf_base

	# Whoever may open it may lock it, and so stop builds.
	# shellcheck disable=SC2174 # that one is what is meant
	mkdir -p -m 700 "$OUT" 2>/dev/null || die "cannot write to $OUT: set OUT"
	[[ -w $OUT ]] || die "cannot write to $OUT: set OUT"
	# A path with a symbolic link in it confuses the kernel's makefiles.
	OUT=$(cd "$OUT" && pwd -P)
	[[ -z $(find "$OUT" -maxdepth 0 -perm -002) ]] || die "others may write to $OUT, and root loads what is there: set OUT"
	# With sudo it may be the caller's, or of whoever has this script.
	[[ $EUID != 0 || " 0 ${SUDO_UID:-} $(stat -c %u "$here") " == *" $(stat -c %u "$OUT") "* ]] ||
		die "$OUT is another user's, and root loads what is there: set OUT"
	exec {lock}<"$OUT"
	flock "$lock"
	work=$(mktemp -d "$OUT/.work.XXXXXX")

	check_source
	fingerprint >"$work/inputs"
	if up_to_date; then
		say "up to date: ${modules[*]/%/.ko} in $OUT"
		return
	fi

	say "building ${modules[*]} for kernel $KVER from $KSRC"
	unpack_source "$work/linux"
	origin_of_build "$work/linux" >"$work/origin"
	choose_series "$work/linux" "$kernel_line" || true
	apply_patches "$work/linux"
	make_btf_base "$work/vmlinux.btf"
	drivers=$work/linux/drivers/nvme
	run_make "$drivers"
	for module in "${modules[@]}"; do
		file=$drivers/${module_dir[$module]}/$module.ko
		check_sites "$file" "$patches/call-sites"
		add_btf "$file"
		# Both were made from the debug information, which is of no more use.
		strip --strip-debug "$file"
		sign_module "$file"
		verify_module "$file" "${file%/*}/tcp.c"
	done

	# Only now, with everything in order, does anything in OUT change.
	rm -f "$OUT/.inputs" "$OUT/.outputs"
	for module in "${modules[@]}"; do
		mv "$drivers/${module_dir[$module]}/$module.ko" "$OUT"
	done
	mv "$work/origin" "$OUT/.origin"
	(cd "$OUT" && sha256sum "${modules[@]/%/.ko}" .origin >.outputs)
	mv "$work/inputs" "$OUT/.inputs"
	say "built ${modules[*]/%/.ko} in $OUT"
}
