#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# accelerator.sh - virtual machines use KVM where it boots a guest in time. That is tried once for each boot of this
# machine. A program stands in for qemu.
# shellcheck disable=SC2034 # the library reads vm_* and others
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
# shellcheck source=tests/vm/lib/cache.sh
. tests/vm/lib/cache.sh
# shellcheck source=tests/vm/lib/qemu.sh
. tests/vm/lib/qemu.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cache_root=$work/cache
echo image >"$work/image"
image_parts=("$work/image")
kernel_image=$work/image
kvm_device=$work/kvm
kvm_seconds=1
vm_icount='' vm_cpus=1 vm_mem=512 vm_append='' vm_shell='' vm_net=''
declare -A vm_shares=()
PATH=$work/bin:$PATH

# qemu COMMANDS: what stands in for it does these, with $console as the guest's console.
qemu() {
	cat >"$work/bin/qemu-system-x86_64" <<STOP
#!/bin/bash
echo tried >>"$work/tries"
for console; do [[ \$console != file:* ]] || break; done
console=\${console#file:}
$1
STOP
	chmod +x "$work/bin/qemu-system-x86_64"
	rm -rf "$cache_root"
	mkdir "$cache_root"
	: >"$work/tries"
}

# accelerator: the one that a machine's arguments name.
accelerator() {
	qemu_arguments 2>"$work/err"
	sed -n 's/.*-accel \([a-z]*\).*/\1/p' <<<"${qemu_args[*]}"
}

boots='echo "[ 1.0] Run /usr/bin/false as init process" >"$console"'
qemu "$boots"
equal "without the device" "$(accelerator)" tcg
equal "nothing is tried" "$(wc -l <"$work/tries")" 0
: >"$kvm_device"
equal "where a guest boots" "$(accelerator)" kvm
equal "that is told in one line" "$(wc -l <"$work/err")" 1
equal "the next machine" "$(accelerator)" kvm
equal "does not try again" "$(wc -l <"$work/tries")" 1
equal "and tells nothing" "$(wc -l <"$work/err")" 0
vm_icount=1
equal "a machine that counts instructions is emulated" "$(accelerator)" tcg
vm_icount=
echo "another boot" >"$cache_root/accelerator"
equal "after this machine has booted" "$(accelerator)" kvm
equal "it is tried again" "$(wc -l <"$work/tries")" 2

qemu 'sleep 30'
equal "where a guest takes too long" "$(accelerator)" tcg
equal "that is told in one line, too" "$(wc -l <"$work/err")" 1
equal "and remembered" "$(accelerator), $(wc -l <"$work/tries") try" "tcg, 1 try"
qemu 'kill -ABRT $$'
equal "where qemu aborts" "$(accelerator)" tcg
equal "no more is told" "$(wc -l <"$work/err")" 1
finish
