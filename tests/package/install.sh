#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# install.sh - make install puts everything where it belongs, as often as it is asked to, and make uninstall takes
# all of it away; the version is that of the Makefile everywhere.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

build=${BUILD:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
pages=(docs/man/*.8)

# make_quietly ARG...: shows what it printed only if it failed.
make_quietly() {
	make --no-print-directory BUILD="$build" "$@" >"$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; return 1; }
}

# Files below a folder, with their modes.
files_in() {
	(cd "$1" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k2)
}

# files_below PREFIX: those that are to be there.
files_below() {
	{
		echo "755 $1/sbin/ntprof-bpf"
		printf "644 $1/share/man/man8/%s\n" "${pages[@]#docs/man/}"
		echo "644 $1/share/bash-completion/completions/ntprof-bpf"
		echo "644 $1/share/fish/vendor_completions.d/ntprof-bpf.fish"
		echo "644 $1/share/zsh/site-functions/_ntprof-bpf"
		echo "644 $1/lib/systemd/system/ntprof-bpf@.service"
	} | LC_ALL=C sort -k2
}

check "make install" make_quietly install DESTDIR="$work/a"
equal "what is installed, and with which modes" "$(files_in "$work/a")" "$(files_below usr/local)"
check "the program is the one that was built" cmp -s "$build/ntprof-bpf" "$work/a/usr/local/sbin/ntprof-bpf"
check "its completion is the one of the tree" cmp -s contrib/completion/ntprof-bpf.bash \
	"$work/a/usr/local/share/bash-completion/completions/ntprof-bpf"
for file in zsh/site-functions/_ntprof-bpf fish/vendor_completions.d/ntprof-bpf.fish; do
	check "$file knows where that is" grep -q ' /usr/local/share/bash-completion/completions/ntprof-bpf' \
		"$work/a/usr/local/share/$file"
done
check "make install again" make_quietly install DESTDIR="$work/a"
equal "nothing else is installed then" "$(files_in "$work/a")" "$(files_below usr/local)"
touch "$work/a/usr/local/sbin/other" || exit 1
check "make uninstall" make_quietly uninstall DESTDIR="$work/a"
equal "leaves what is not ours" "$(cd "$work/a" && find . | LC_ALL=C sort | paste -sd' ')" \
	". ./usr ./usr/local ./usr/local/sbin ./usr/local/sbin/other"
check "make uninstall again" make_quietly uninstall DESTDIR="$work/a"
check "make uninstall where nothing ever was" make_quietly uninstall DESTDIR="$work/nowhere"

check "make install prefix=/usr" make_quietly install DESTDIR="$work/a b" prefix=/usr
equal "what is installed below it" "$(files_in "$work/a b")" "$(files_below usr)"
check "make uninstall prefix=/usr" make_quietly uninstall DESTDIR="$work/a b" prefix=/usr
equal "nothing is left" "$(find "$work/a b")" "$work/a b"
check "make install with PREFIX, without DESTDIR" make_quietly install PREFIX="$work/c"
equal "what is installed there" "$(files_in "$work/c")" "$(files_below .. | sed 's|\.\./||')"
check "make uninstall with PREFIX" make_quietly uninstall PREFIX="$work/c"
equal "no file is left there" "$(find "$work/c" -type f)" ""

# It brings GnuTLS, which every start would have to wait for: serve/http.c loads it.
equal "no library of HTTP is linked with the program" "$(readelf -d "$build/ntprof-bpf" | grep -c 'microhttpd\|gnutls')" 0

version=$(sed -n 's/^VERSION := //p' Makefile)
equal "the program tells the Makefile's version" "$("$build/ntprof-bpf" --version)" "ntprof-bpf $version"

# Whoever prints it is compiled anew when it has changed, and not otherwise.
compiled() {
	make --no-print-directory BUILD="$work/build" "$@" "$work/build/cli/options.o" 2>&1 | grep -c '  CC '
}
equal "it is compiled" "$(compiled)" 1
equal "not again for the same version" "$(compiled)" 0
equal "again for another one" "$(compiled VERSION=9.8.7)" 1
check "which is in it" grep -q 'ntprof-bpf 9\.8\.7' "$work/build/cli/options.o"
finish
