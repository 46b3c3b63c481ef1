# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# btf.sh - the kernel's BTF, which that of a module refers to.

# magic FILE [OFFSET]: its first four bytes, in hexadecimal
magic() {
	od -An -v -tx1 -j "${2:-0}" -N 4 "$1" | tr -d ' \n'
}

# number FILE OFFSET SIZE: the unsigned little-endian number there
number() {
	od -An -v --endian=little -tu"$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# slice FILE OFFSET LENGTH
slice() {
	# head closes the pipe once it has enough, which is no failure of tail's.
	{ tail -c +$(($2 + 1)) "$1" || true; } 2>/dev/null | head -c "$3"
}

# vmlinux_of BZIMAGE OUT: see Documentation/x86/boot.rst, payload_offset and payload_length (protocol 2.08)
vmlinux_of() {
	local image=$1 out=$2 offset length tool package

	[[ $(magic "$image" 0x202) == 48647253 ]] ||
		die "$image is not a kernel image that BTF can be taken from: set BTF_BASE to a vmlinux or to raw BTF"
	offset=$((($(number "$image" 0x1f1 1) + 1) * 512 + $(number "$image" 0x248 4)))
	length=$(number "$image" 0x24c 4)
	case $(magic "$image" $offset) in
	1f8b*) tool='gzip -dc' package=gzip ;;
	fd377a58) tool='xz -dc --single-stream' package=xz-utils ;;
	28b52ffd) tool='zstd -dcq' package=zstd ;;
	5d0000*) tool='xz -dc --format=lzma' package=xz-utils ;;
	425a68*) tool='bzip2 -dc' package=bzip2 ;;
	02214c18) tool='lz4 -dcq' package=lz4 ;;
	894c5a4f) tool='lzop -dcq' package=lzop ;;
	*) die "$image is compressed in a way unknown here: set BTF_BASE to a vmlinux or to raw BTF" ;;
	esac
	need "${tool%% *}" "$package"
	# But for gzip, the kernel's build appends the unpacked size, four bytes that are not of the compressed stream.
	[[ $package == gzip ]] || length=$((length - 4))
	# shellcheck disable=SC2086 # the tool and its options
	slice "$image" $offset $length | $tool >"$out" || die "cannot unpack the kernel in $image"
}

# btf_of_vmlinux VMLINUX OUT
btf_of_vmlinux() {
	local section

	# Number, name, type, address, offset, size. objcopy would need the section's address space, holes included.
	read -ra section < <(readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \.BTF  *//p') || true
	((${#section[@]} >= 4)) || die "there is no BTF in ${BTF_BASE}: the kernel was built without CONFIG_DEBUG_INFO_BTF"
	slice "$1" $((16#${section[2]})) $((16#${section[3]})) >"$2"
}

find_btf_base() {
	if [[ -z ${BTF_BASE:-} ]]; then
		if [[ $KVER == "$(uname -r)" && -r /sys/kernel/btf/vmlinux ]]; then
			BTF_BASE=/sys/kernel/btf/vmlinux
		else
			BTF_BASE=/boot/vmlinuz-$KVER
		fi
	fi
	[[ -f $BTF_BASE && -r $BTF_BASE ]] ||
		die "cannot read $BTF_BASE, for the kernel's BTF: apt-get install linux-image-$KVER, or set BTF_BASE"
}

# make_btf_base OUT: raw BTF, from whatever BTF_BASE is
make_btf_base() {
	case $(magic "$BTF_BASE") in
	9feb*)
		cp "$BTF_BASE" "$1"
		;;
	7f454c46)
		btf_of_vmlinux "$BTF_BASE" "$1"
		;;
	*)
		vmlinux_of "$BTF_BASE" "$work/vmlinux"
		btf_of_vmlinux "$work/vmlinux" "$1"
		rm "$work/vmlinux"
		;;
	esac
	[[ $(magic "$1") == 9feb* ]] || die "no BTF in $BTF_BASE"
}
