#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# packages.sh - tests/install-packages finds out what is missing, on Debian and elsewhere; package managers are made up here.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
touch "$work/installed" "$work/offered"

# fake NAME: a program of that name, from standard input. Those that are asked for a package have it last.
fake() {
	{
		echo '#!/bin/bash'
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
fake id <<<'echo "$user_id"'
fake apt-get <<<'echo "$*" >>"$work/apt"'
# shellcheck disable=SC2016
fake apt-cache <<<'echo "$2:"; grep -qx "$2" "$work/offered" && echo "  Candidate: 1" || echo "  Candidate: (none)"'
fake dpkg-query <<'END'
for name in "${@:4}"; do
	grep -qx "$name" "$work/installed" && echo "$name installed"
	# Removed, but for its configuration.
	grep -qx "was $name" "$work/installed" && echo "$name config-files"
done
END
# shellcheck disable=SC2016
for program in rpm pacman apk; do
	fake $program <<<'grep -qx -e "${*: -1}" "$work/installed"'
done
export work user_id=0 OS_RELEASE=$work/os-release PATH=$work/bin:$PATH

# on "ID=..." ARG...: what install-packages says on that distribution; its status is in the file status.
on() {
	echo "$1" >"$OS_RELEASE"
	rm -f "$work/apt"
	tests/install-packages "${@:2}" 2>&1
	echo $? >"$work/status"
}

# has_all COLUMN: what the column of tests/packages-elsewhere.txt has is installed, in column 1 all of Debian's first names.
has_all() {
	sed '/^#/d;/^$/d' tests/packages-elsewhere.txt | awk -v c="$1" '$c != "-" { print $c }' | tr , '\n' >"$work/installed"
}

# lacks NAME...: they are not installed.
lacks() {
	local name

	for name; do
		sed -i "/^$name\$/d" "$work/installed"
	done
}

status() {
	cat "$work/status"
}

rows() {
	sed '/^#/d;/^$/d' "$1"
}

debian=ID=debian
has_all 1
equal "on Debian, nothing is missing" "$(on $debian build machine modules check)" ""
equal "and that is status 0" "$(status)" 0
lacks bc
equal "what another purpose needs is not asked for" "$(on $debian build machine)" ""
echo "was bc" >>"$work/installed"
equal "what is missing is installed" "$(on $debian build modules)" "installing: bc"
equal "by apt" "$(paste -sd'|' "$work/apt")" "update|install -y --no-install-recommends bc"
equal "on a relative of Debian as well" "$(on $'ID=other\nID_LIKE="ubuntu debian"' modules)" "installing: bc"
equal "--missing only says it" "$(on $debian --missing modules)" \
	"missing packages: bc"$'\n'"install them as root: tests/install-packages modules"
equal "and that is status 1" "$(status)" 1
check "without apt" test ! -e "$work/apt"
equal "who is not root is told" "$(user_id=1 on $debian build modules)" \
	"missing packages: bc"$'\n'"install them as root: tests/install-packages build modules"
equal "with status 1" "$(status)" 1
check "again without apt" test ! -e "$work/apt"

lacks "was bc" libclang-rt-dev
echo bc >>"$work/installed"
echo libclang-rt-14-dev >"$work/offered"
equal "of alternatives the one that apt has is installed" "$(on $debian check)" "installing: libclang-rt-14-dev"
printf '%s\n' libclang-rt-{19-,}dev >"$work/offered"
equal "the first of them" "$(on $debian check)" "installing: libclang-rt-dev"
echo libclang-rt-14-dev >>"$work/installed"
equal "one that is installed is as good" "$(on $debian check)" ""

# elsewhere ID COLUMN NAME INSTALL: NAME is what the distribution has for libelf-dev.
elsewhere() {
	has_all "$2"
	equal "$1: nothing is missing" "$(on "ID=$1" build machine modules check)" ""
	equal "$1: and that is status 0" "$(status)" 0
	lacks "$3"
	equal "$1: what is missing has the name that it has there" "$(on "ID=$1" build)" \
		"missing packages: $3"$'\n'"install them as root: $4 $3"
	equal "$1: and that is status 1" "$(status)" 1
	equal "$1: a purpose that does not need it" "$(on "ID=$1" modules)" ""
}
elsewhere fedora 2 elfutils-libelf-devel "dnf install"
elsewhere opensuse-leap 3 libelf-devel "zypper install"
elsewhere arch 4 libelf "pacman -S"
elsewhere alpine 5 elfutils-dev "apk add"
check "a distribution that is not known is told so" grep -q packages.txt <<<"$(on ID=other build)"
equal "and goes on" "$(status)" 0

equal "each package of tests/packages.txt has its line in tests/packages-elsewhere.txt, in the same order" \
	"$(rows tests/packages-elsewhere.txt | awk '{ print $1 }')" "$(rows tests/packages.txt | awk '{ print $1 }')"
equal "with four other names" "$(rows tests/packages-elsewhere.txt | awk 'NF != 5')" ""
finish
