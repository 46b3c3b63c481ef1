#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dist.sh - make dist makes the same tarball of the same files, with every file, and that can be made without git; the
# statically linked program starts without a library. tests/package/check-deb builds the tarball for real.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

build=$(realpath "${BUILD:-build}")
version=$(sed -n 's/^VERSION := //p' Makefile)
dist=ntprof-bpf-$version
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# make_quietly ARG...: shows what it printed only if it failed.
make_quietly() {
	make --no-print-directory "$@" >"$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; return 1; }
}

# The same files in another folder, with other times and modes, as somebody else has them.
other_tree() {
	mkdir "$work/other" && git ls-files -z | xargs -0 cp -pP --parents -t "$work/other" || return
	find "$work/other" -exec touch -d @1 {} + && chmod -R go-rwx "$work/other" || return
	git -C "$work/other" init -q && git -C "$work/other" add -A
}

# Without running anything: what there is to make is known, and git is not asked.
needs_no_git() {
	mkdir "$work/bin" || return
	printf '#!/bin/sh\necho "$*" >>%s/asked\nexit 1\n' "$work" >"$work/bin/git"
	chmod +x "$work/bin/git"
	(cd "$work/$dist" && PATH=$work/bin:$PATH make_quietly -n all) && [[ ! -e $work/asked ]]
}

check "make dist" make_quietly dist BUILD="$work/a"
equal "it has every file of the tree" "$(tar -tf "$work/a/$dist.tar.xz" | sed "s|^$dist/||" | LC_ALL=C sort)" \
	"$(git ls-files | LC_ALL=C sort)"
check "another one's tree of the same files" other_tree
epoch=$(git log -1 --format=%ct)
check "make dist there" make_quietly -C "$work/other" dist BUILD="$work/b" SOURCE_DATE_EPOCH="$epoch"
check "makes the same tarball" cmp "$work/a/$dist.tar.xz" "$work/b/$dist.tar.xz"

# steps TARGET: what make would do for arm64.
steps() {
	make --no-print-directory -n HERE=x86 ARCH=arm64 BUILD="$work/arm64" "$1" 2>&1
}
check "a package for arm64 is one" grep -q 'dpkg-buildpackage .*-aarm64' <(steps deb)
check "an RPM for arm64 is one" grep -q 'rpmbuild .*--target aarch64 .*program_file' <(steps rpm)
check "its program is stripped by tools for arm64" grep -q 'aarch64-linux-gnu-strip' <(steps rpm)
check "so is that of an image for arm64" grep -q 'aarch64-linux-gnu-strip' <(steps image)
# With what make was given they would build into $BUILD, and clean it.
for target in deb rpm; do
	equal "$target is built without what make was given" \
		"$(steps $target | grep -E '(dpkg-buildpackage|rpmbuild) ' | grep -vc 'env -u MAKEFLAGS -u BUILD ')" 0
done

check "it is unpacked" tar -C "$work" -xf "$work/a/$dist.tar.xz"
check "its makefile needs no git" needs_no_git
# What is of build-essential comes with that.
equal "packages that debian/control builds with and tests/packages.txt does not list" \
	"$(comm -23 <(sed -n '/^Build-Depends:/,/^[A-Z].*[a-z] *[0-9]/s/^ \([a-z0-9.+-]*\).*,$/\1/p' debian/control |
		sed 's/-compat$//; s/^dh-sequence-/dh-/; /^libc6-dev$/d' | sort) <(sed 's/ .*//' tests/packages.txt | sort))" ""
check "CHANGELOG.md has a section of it" test -n "$(contrib/release/notes "$version")"

# They are in the program as they are, lines of source for the verifier's log included.
check "BPF programs are compiled" make_quietly BUILD="$work/c" "$work/c/host.bpf.o"
equal "and do not know in which folder" "$(grep -cF "$PWD" "$work/c/host.bpf.o")" 0

check "make static-program" make_quietly static-program BUILD="$build"
equal "it has neither interpreter nor libraries" \
	"$(readelf -ldW "$build/ntprof-bpf-static" | grep -cE 'INTERP|NEEDED')" 0
equal "it tells its version" "$("$build/ntprof-bpf-static" --version)" "ntprof-bpf $version"

for mask in 022 077; do
	check "an image of it under umask $mask" \
		bash -c 'umask $0 && contrib/release/image "$@"' $mask "$version" 1 "$work/$mask.tar" "$build/ntprof-bpf-static"
done
check "has the same bytes" cmp "$work/022.tar" "$work/077.tar"
"$build/ntprof-bpf" probes >"$work/dynamic" 2>&1
status=$?
"$build/ntprof-bpf-static" probes >"$work/static" 2>&1
equal "it looks at the kernel" $? $status
check "and sees the same" cmp "$work/dynamic" "$work/static"
finish
