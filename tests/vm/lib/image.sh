# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# image.sh - the initramfs of the test machine, from this machine's own programs, or those below root_dir (root.sh), and the
# unpacked kernel's modules.
#
# Two cpio archives, which the kernel unpacks one after the other, later files over earlier ones:
#   base      programs, libraries, modules of the stock kernel, guest/init; cached until a package changes
#   patched   the patched modules; cached
# What one run adds comes later, see overlay.sh.

image_programs=(
	bash grep sed mawk sort date stat timeout stdbuf seq tail head od dd tee tr cut truncate
	numfmt sleep paste join sha256sum comm uniq wc ls cp find xargs ps pgrep pkill top sysctl
	mount umount mountpoint losetup blkdiscard blockdev lsblk dmesg taskset chrt setsid
	setpriv setarch script flock unshare nsenter lscpu ldd kmod fio nvme ip tc ss bpftool
	trace-cmd dropbear dbclient dmsetup
)

# Without these a test cannot do its work; what they depend on comes with them. Those with a "?" are not in every
# kernel: some came later, and without 9p a machine has no directory of this one (--out, --share).
image_modules=(
	virtio_pci virtio_console virtio_net '?9p' '?9pnet_virtio' nvme nvme-tcp '?nvme-loop' nvmet nvmet-tcp
	'?nvme-rdma' '?nvmet-rdma' '?rdma_rxe' '?crc32_generic' '?nvme-fc' '?nvme-fcloop'
	null_blk loop brd dm-delay ext4 '?crc32c-intel' '?crc32c_generic' sch_netem sch_prio sch_ingress cls_u32
	cls_matchall act_mirred ifb veth dummy
	'?tls' '?aesni-intel' '?gcm' '?ctr' '?ghash-generic' '?algif_skcipher'
)

# image_skeleton ROOT: merged /usr, as in the distribution. Every archive has these links: a plain
# directory of that name in a later one would take the place of the link, and hide all that is
# behind it.
image_skeleton() {
	local root=$1 dir

	for dir in bin sbin lib lib64; do
		mkdir -p "$root/usr/$dir"
		ln -s "usr/$dir" "$root/$dir"
	done
}

# Where the programs of another architecture are; empty for this machine's.
root_dir=

# image_find PROGRAM: print its path, or nothing.
image_find() {
	local PATH=$PATH

	[[ -z $root_dir ]] || PATH=$root_dir/usr/bin:$root_dir/usr/sbin
	type -P "$1" || true
}

# image_libraries FILE: print the name and the path of each library that it takes; below root_dir, of each that there is.
# Fails on what is no dynamic program.
image_libraries() {
	if [[ -z $root_dir ]]; then
		ldd "$1" | awk '{ print $1, $3 ~ /^\// ? $3 : $1 }'
	else
		(cd "$root_dir" && find usr/lib/*-linux-gnu -maxdepth 1 -name '*.so*' -printf '%f /%p\n')
	fi
}

# image_add_file ROOT FILE [DEST]: copy FILE, and the libraries it needs unless they are there
# already.
image_add_file() {
	local root=$1 file=$2 dest=${3:-$2} where name library

	mkdir -p "$root${dest%/*}"
	cp -L "$file" "$root$dest"
	# What it needs itself, and what those need: ldd would also tell what the library behind a stub needs. It and
	# readelf fail on what is no dynamic program, which is then complete as it is.
	where=$(image_libraries "$file" 2>/dev/null) || return 0
	for name in $(readelf -ld "$root$dest" 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p;s/.*interpreter: \(.*\)\]/\1/p'); do
		library=$name
		[[ $name == /* ]] || library=$(awk -v n="$name" '$1 == n { print $2 }' <<<"$where")
		[[ $library == /* && ! -e $root$library && ! -e ${image_has:-/nonexistent}$library ]] || continue
		image_add_file "$root" "$root_dir$library" "$library"
	done
}

image_pack() {
	(cd "$1" && find . -print0 | sort -z | cpio --quiet -0 -o -H newc -R 0:0)
}

# Lines "insmod FILE" for module $1 and what it needs.
image_insmods() {
	modprobe -C /dev/null -d "$kernel_root" -S "$kernel_version" --show-depends "$1"
}

image_add_modules() {
	local root=$1 tree=lib/modules/$kernel_version module file

	mkdir -p "$root/$tree"
	cp "$kernel_root/$tree"/modules.{builtin,builtin.modinfo,order} "$root/$tree"
	for module in "${image_modules[@]}"; do
		if [[ $module == \?* ]]; then
			image_insmods "${module#\?}" 2>/dev/null || true
		else
			image_insmods "$module"
		fi
	done | sed -n 's|^insmod .*/lib/modules/|lib/modules/|p' | tr -d ' ' | sort -u |
		while read -r file; do
			mkdir -p "$root/${file%/*}"
			cp "$kernel_root/$file" "$root/$file"
		done
	depmod -b "$root" "$kernel_version"
}

image_tree() {
	local root=$1 program path terminal uuid=5f0c7a52-31d8-4c4b-9a8a-0d6f3b1e2c01

	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,etc/nvme}
	image_skeleton "$root"
	install -m 755 "$vm/guest/init" "$root/init"
	for program in $(busybox --list); do
		ln -s busybox "$root/usr/bin/$program"
	done
	rm -f "$root/usr/bin/busybox"
	install -m 755 "$(image_find busybox)" "$root/usr/bin/busybox"
	for program in "${image_programs[@]}"; do
		path=$(image_find "$program")
		[[ -n $path ]] || die "$program not found: run tests/install-packages"
		rm -f "$root/usr/bin/$program"
		[[ $program != fio ]] || stubs_add "$root" "$path"
		image_add_file "$root" "$path" "/usr/bin/$program"
	done
	for program in modprobe insmod rmmod lsmod depmod modinfo; do
		ln -sf kmod "$root/usr/bin/$program"
		ln -sf ../bin/kmod "$root/usr/sbin/$program"
	done
	ln -sf mawk "$root/usr/bin/awk"
	ln -sf dbclient "$root/usr/bin/ssh"
	image_add_file "$root" "$root_dir"/usr/libexec/coreutils/libstdbuf.so /usr/libexec/coreutils/libstdbuf.so
	(cd "$root_dir/" && cp -r --parents usr/lib/locale/C.utf8 "$root")
	for terminal in l/linux v/vt100 v/vt220 x/xterm{,-256color} s/screen{,-256color} d/dumb; do
		[[ ! -e $root_dir/lib/terminfo/$terminal ]] ||
			(cd "$root_dir/" && cp -L --parents "lib/terminfo/$terminal" "$root")
	done

	echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	echo "nqn.2014-08.org.nvmexpress:uuid:$uuid" >"$root/etc/nvme/hostnqn"
	echo "$uuid" >"$root/etc/nvme/hostid"
	image_add_modules "$root"
}

# image_make_base DIR
image_make_base() {
	local dir=$1

	say "making the test machine's image"
	cache_trim "$kernel_dir" 'image-*'
	mkdir -p "$dir"
	image_tree "$dir/root"
	image_pack "$dir/root" >"$dir/base.cpio"
}

# image_make_patched FILE: the patched modules and the indexes that prefer them.
image_make_patched() {
	local file=$1 work=$1.tree tree=lib/modules/$kernel_version

	rm -rf "$work"
	image_skeleton "$work"
	mkdir "$work/lib/modules"
	cp -r "$image_dir/root/$tree" "$work/lib/modules"
	mkdir "$work/$tree/updates"
	cp "$modules_dir"/nvme{,t}-tcp.ko "$work/$tree/updates"
	depmod -b "$work" "$kernel_version"
	rm -r "$work/$tree/kernel"
	image_pack "$work" >"$file"
	rm -r "$work"
}

# image_prepare stock|patched: call under the lock, after kernel_prepare and, for patched,
# modules_prepare.
image_prepare() {
	local hash

	# Every installed package's version: libraries come from packages that nobody lists.
	hash=$({ echo "$root_dir"; dpkg-query -W; cat "${BASH_SOURCE[0]}" "${BASH_SOURCE[0]%/*}/stubs.sh" "$vm/guest/init"; } | sha256sum)
	image_dir=$kernel_dir/image-${hash:0:16}
	cache_make "$image_dir" image_make_base
	touch "$image_dir"
	image_parts=("$image_dir/base.cpio")
	if [[ $1 == patched ]]; then
		hash=$(cat "$modules_dir"/nvme{,t}-tcp.ko | sha256sum)
		cache_make "$image_dir/patched-${hash:0:16}.cpio" image_make_patched
		image_parts+=("$image_dir/patched-${hash:0:16}.cpio")
	fi
}
