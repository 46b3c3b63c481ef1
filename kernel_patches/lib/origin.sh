# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# origin.sh - what the installed modules were built from, and whether the kernel's own have changed since.
#
# A distribution mends its kernel under the same version (6.1.0-56-amd64), and the modules in updates/ go on winning over
# the mended ones. "built-from", beside the modules, says which of the kernel's own modules they stand for:
#   package VERSION      of the kernel's headers, - if unknown
#   source SHA256        of the driver's source, before the patches
#   own MODULE SHA256    the kernel's own module when ours was installed, - if it had none
#   image VERSION        of the package with the kernel's own modules, - if unknown

# headers_package: its version, such as 6.1.192-2
headers_package() {
	# Linux 6.1 has it in package.h, others in compile.h.
	sed -n 's/^#define LINUX_PACKAGE_ID " Debian \(.*\)"$/\1/p' "$KDIR"/include/generated/{package,compile}.h \
		2>/dev/null || true
	# Ubuntu: "Ubuntu 5.15.0-204.214-generic 5.15.224", of the package 5.15.0-204.214
	config_value CONFIG_VERSION_SIGNATURE | sed -n 's/^"\{0,1\}Ubuntu \([^ ]*\)-[^- ]* .*/\1/p'
}

# image_package: the version of the package that the kernel's own modules are of
image_package() {
	local file package module

	type -P dpkg-query >/dev/null || return 0
	for module in "${module_names[@]}"; do
		file=$(own_module "$module") || continue
		file=${file#"$DESTDIR"}
		package=$(dpkg-query --admindir="$DESTDIR/var/lib/dpkg" -S "$file" 2>/dev/null ||
			dpkg-query --admindir="$DESTDIR/var/lib/dpkg" -S "/usr$file" 2>/dev/null) || continue
		dpkg-query --admindir="$DESTDIR/var/lib/dpkg" -W -f '${Version}\n' "${package%%:*}"
		return
	done
}

# source_checksum DIR: of the unpacked source, before the patches
source_checksum() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
}

# origin_of_build DIR: the lines that the build knows
origin_of_build() {
	local package

	package=$(headers_package)
	echo "package ${package:--}"
	echo "source $(source_checksum "$1")"
}

own_checksum() {
	local file

	if file=$(own_module "$1"); then
		sha256sum <"$file" | cut -d' ' -f1
	else
		echo -
	fi
}

# origin_of_install: all lines
origin_of_install() {
	local module image

	cat "$OUT/.origin"
	for module in "${modules[@]}"; do
		echo "own $module $(own_checksum "$module")"
	done
	image=$(image_package)
	echo "image ${image:--}"
}

# check_packages: modules built from the headers and source of one package do not go in the place of those of another
check_packages() {
	local headers image

	headers=$(headers_package)
	image=$(image_package)
	[[ -z $headers || -z $image || $headers == "$image" ]] ||
		die "the headers of $KVER are of $headers, but its modules are of $image:" \
			"apt-get install linux-headers-$KVER=$image and the source of $image, or upgrade the kernel"
}

# origin WHAT...: the value of a line of built-from
origin() {
	sed -n "s/^$* //p" "$target/built-from" 2>/dev/null
}

# outdated MODULE: why the installed one no longer stands for the kernel's own; fails if it does
outdated() {
	local image

	if [[ ! -e $target/built-from ]]; then
		echo "what it was built from is not known"
		return
	fi
	image=$(image_package)
	if [[ $(origin image) != - && -n $image && $(origin image) != "$image" ]]; then
		echo "it was made for $(origin image) of the kernel's package, and $image is installed"
	elif [[ $(origin own "$1") != "$(own_checksum "$1")" ]]; then
		echo "the kernel's own $1 has changed since"
	else
		return 1
	fi
}
