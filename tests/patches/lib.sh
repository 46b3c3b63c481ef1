# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# lib.sh - what the tests of kernel_patches/build-modules share. A test is a function; `run_tests NAME...` runs them in
# that order and ends the script.
#
# Environment, as for build-modules: KVER, KDIR, KSRC, BTF_BASE. Nothing needs root.

export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build_modules=$top/kernel_patches/build-modules

export KVER=${KVER:-$(uname -r)}
export KDIR=${KDIR:-/lib/modules/$KVER/build}
line=$(sed -n 's/^#define LINUX_VERSION_\(MAJOR\|PATCHLEVEL\) //p' "$KDIR/include/generated/uapi/linux/version.h" |
	paste -sd.)
export KSRC=${KSRC:-/usr/src/linux-source-$line.tar.xz}
unset DESTDIR MODULES SIGN_KEY SIGN_CERT SIGN_TRUSTED

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export OUT=$tmp/out
# The given source, unpacked, for what the tests do to it.
tree=$tmp/tree
root=$tmp/root
installed=$root/lib/modules/$KVER/updates/ntprof-bpf

fail() {
	echo "# $*"
	return 1
}

# run ARG...: build-modules, its output and status kept
run() {
	status=0
	"$build_modules" "$@" >"$tmp/log" 2>&1 || status=$?
}

# refused TEXT: the last run failed with one line that has TEXT in it
refused() {
	[[ $status != 0 ]] || fail "not refused" || return
	[[ $status == 1 ]] || fail "exit status $status" || return
	[[ $(grep -cv 'building\|up to date' "$tmp/log") == 1 ]] || fail "not one line: $(cat "$tmp/log")" || return
	grep -q -- "$1" "$tmp/log" || fail "another message: $(cat "$tmp/log")"
}

succeeded() {
	[[ $status == 0 ]] || fail "exit status $status: $(cat "$tmp/log")"
}

# says TEXT: the last run did
says() {
	grep -q -- "$1" "$tmp/log" || fail "does not say '$1': $(cat "$tmp/log")"
}

# unpack DIR: what build-modules and the tests need of the source
unpack() {
	local dir=$1 files=(Makefile drivers/nvme block/blk-core.c scripts/checkpatch.pl scripts/spelling.txt
		scripts/const_structs.checkpatch) file

	mkdir "$dir"
	if [[ -d $KSRC ]]; then
		for file in "${files[@]}"; do
			mkdir -p "$dir/$(dirname "$file")"
			# checkpatch may not be there; what is needed is missed later.
			cp -r "$KSRC/$file" "$dir/$file" 2>/dev/null || true
		done
	else
		tar -xf "$KSRC" -C "$dir" --strip-components=1 --wildcards --no-wildcards-match-slash "${files[@]/#/*/}"
	fi
}

# make_key DIR: a key and a certificate of its own, as for Secure Boot
make_key() {
	mkdir -p "$1"
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=ntprof-bpf test/" -outform DER \
		-keyout "$1/key.pem" -out "$1/cert.der" 2>/dev/null
}

# use_signed_build: OUT with modules that are up to date, signed with a key made for it, from the unpacked source. They are
# kept in build/, for the other tests and the next run, with what build-modules said when it built them, built.log. Sets
# KSRC, SIGN_KEY and SIGN_CERT.
use_signed_build() {
	local cache=${BUILD:-$top/build}/patches-$KVER fd source

	mkdir -p "$cache"
	exec {fd}>"$cache/lock"
	flock "$fd"
	source=$(stat -L -c '%n %s %Y' "$KSRC")
	if [[ $(cat "$cache/complete" 2>/dev/null) != "$source" ]]; then
		rm -rf "$cache"/{complete,tree,key,out}
		unpack "$cache/tree"
		make_key "$cache/key"
		echo "$source" >"$cache/complete"
	fi
	export KSRC=$cache/tree SIGN_KEY=$cache/key/key.pem SIGN_CERT=$cache/key/cert.der
	[[ -e $cache/out/built.log ]] || rm -rf "$cache/out"
	OUT=$cache/out run build
	succeeded || exit 1
	grep -q 'up to date' "$tmp/log" || cp "$tmp/log" "$cache/out/built.log"
	cp -r "$cache/out" "$OUT"
	exec {fd}>&-
}

# copy_without_build DIR: a copy of kernel_patches that takes what is in OUT for up to date without looking
copy_without_build() {
	cp -r "$top/kernel_patches" "$1"
	cat >>"$1/lib/build.sh" <<-'END'
		verb_build() {
			check_headers
			work=$(mktemp -d)
		}
	END
}

# copy_without_compiler DIR: a copy of kernel_patches that takes the modules in $compiled for what the compiler makes
copy_without_compiler() {
	cp -r "$top/kernel_patches" "$1"
	cat >>"$1/lib/build.sh" <<-'END'
		run_make() {
			local module

			for module in "${modules[@]}"; do
				cp "$compiled/$module.ko" "$1/${module_dir[$module]}"
			done
		}
		add_btf() { :; }
		check_sites() { :; }
		verify_module() { :; }
	END
}

# make_headers DIR: what build-modules reads of the headers besides building
make_headers() {
	local file

	for file in Makefile Module.symvers include/config/auto.conf scripts/sign-file \
		include/generated/{uapi/linux/version,utsrelease,package,compile}.h; do
		[[ -e $KDIR/$file ]] || continue
		mkdir -p "$(dirname "$1/$file")"
		cp -L "$KDIR/$file" "$1/$file"
	done
}

# make_root: a root with modules of the kernel's own, and what depmod wrote about them
make_root() {
	local own=$root/lib/modules/$KVER/kernel/drivers/nvme

	rm -rf "$root"
	mkdir -p "$own/host" "$own/target" "$root/boot"
	cp "$OUT/nvme-tcp.ko" "$own/host"
	cp "$OUT/nvmet-tcp.ko" "$own/target"
	echo own | tee -a "$own"/*/*.ko >/dev/null
	touch "$root/lib/modules/$KVER/modules.order" "$root/lib/modules/$KVER"/modules.builtin{,.modinfo}
	depmod -b "$root" "$KVER"
}

# snapshot: what there is, contents included. The binary indexes of depmod depend on the order of directories.
snapshot() {
	(cd "$root" && find . ! -name '*.bin' -printf '%p %y\n' | sort &&
		sha256sum "lib/modules/$KVER/modules.dep" && find . -name '*.ko' -exec sha256sum {} + | sort)
}

# resolved MODULE: what modprobe would take in the root
resolved() {
	modinfo -b "$root" -k "$KVER" -F filename "$1" 2>/dev/null
}

run_tests() {
	local t n=0 failed=0

	for t; do
		n=$((n + 1))
		if "$t"; then
			echo "ok $n - $t${skipped:+ # SKIP $skipped}"
		else
			echo "not ok $n - $t"
			failed=$((failed + 1))
		fi
		skipped=
	done
	echo "$((n - failed)) passed, $failed failed"
	exit $((failed > 0))
}
