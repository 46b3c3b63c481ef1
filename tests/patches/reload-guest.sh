#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# reload-guest.sh - what test-reload.sh runs in the test machine.
#
# The machine is both sides. Arguments are the parts, all of them unless told: each begins with the kernel's own modules
# loaded, nothing installed and the target's port open, and leaves it so; but for signatures, which is last, because what
# enforces them stays.

set -u
# shellcheck source=../machine/lib.sh
. /lib/machine.sh
export LC_ALL=C

cp -r /share /root/share
cd /root/share || exit
KVER=$(uname -r)
export KDIR=$PWD/headers OUT=$PWD/out SIGN_KEY=$PWD/key.pem SIGN_CERT=$PWD/cert.der
build_modules=$PWD/kernel_patches/build-modules
tools=/root/tools
mkdir "$tools"
ln -s /bin/true /usr/bin/gcc-12 # asked for, and not called

# run ARG...: build-modules with $tools before all others; its output is in /tmp/log
run() {
	PATH=$tools:$PATH setsid -w "$build_modules" "$@" >/tmp/log 2>&1
	status=$?
	echo "# $SECONDS s: $* $status"
}

# tool NAME: standard input, a shell script, takes the place of a tool; $real is that
tool() {
	{
		echo '#!/bin/bash'
		echo "real=$(type -P "$1")"
		cat
	} >"$tools/$1"
	chmod +x "$tools/$1"
}

no_tools() {
	rm -f "$tools"/*
}

says() {
	grep -q -- "$1" /tmp/log || {
		sed 's/^/#   /' /tmp/log
		return 1
	}
}

# refused NAME TEXT ARG...
refused() {
	local name=$1 text=$2

	shift 2
	run "$@"
	check "$name: refused" test "$status" = 1
	check "$name: says why" says "$text"
}

succeeds() {
	local name=$1

	shift
	run "$@"
	equal "$name" "$status" 0
	[[ $status == 0 ]] || sed 's/^/#   /' /tmp/log
}

patched() {
	grep -q " __traceiter_nvmet\?_tcp_.*\[$1\]\$" /proc/kallsyms
}

not_patched() {
	[[ -d /sys/module/$1 ]] && ! patched "$1"
}

nothing_installed() {
	[[ ! -e /lib/modules/$KVER/updates && -z $(find /lib/modules/"$KVER" -name '.ntprof*') ]] &&
		modinfo -F filename nvme-tcp | grep -q /kernel/
}

live() {
	[[ $(cat "/sys/class/nvme/$1/state" 2>/dev/null) == live ]]
}

connect_args=(-t tcp -n "$VM_NQN" -a 127.0.0.1 -s 4420)
dev=$(target_setup_null a size=64)
target_subsystem "$dev"
target_port
modprobe nvme-tcp
# depmod looks into every module that there is; all others that are needed are loaded.
find /lib/modules -name '*.ko' ! -path '*/nvme/*' -delete
depmod

close_port() {
	rm "/sys/kernel/config/nvmet/ports/1/subsystems/$VM_NQN"
}

open_port() {
	ln -s /sys/kernel/config/nvmet/subsystems/* /sys/kernel/config/nvmet/ports/1/subsystems/
}

# new_target: the target's module is the new one already, which leaves nothing to do there
new_target() {
	close_port
	rmmod nvmet_tcp
	insmod "$OUT/nvmet-tcp.ko"
	open_port
}

# connecting: somebody else connects, once told to, and says how that went
connecting() {
	rm -f /tmp/go /tmp/connected
	{
		while [[ ! -e /tmp/go ]]; do
			sleep 0.05
		done
		nvme connect "${connect_args[@]}"
		echo $? >/tmp/connected
	} >/tmp/connect.log 2>&1 &
}

# trusts NAME: installation goes on
trusts() {
	check "$1" with_libs check_signature
}

# distrusts NAME WHY
distrusts() {
	with_libs check_signature
	equal "$1: refused" $? 1
	check "$1: says why" says "kernel $KVER $2 and is not known to trust $SIGN_CERT"
}

with_libs() (
	set -euo pipefail
	here=${build_modules%/*} DESTDIR='' MODULES='' modules=(nvme-tcp nvmet-tcp) work=$(mktemp -d)
	for lib in "$here"/lib/*.sh; do
		# shellcheck source=/dev/null
		. "$lib"
	done
	"$@" >/tmp/log 2>&1
)

part_target() {
	local ctrl

	refused "an open port" "nvmet-tcp is in use (1 users), nothing was changed" install --reload
	check "an open port: nothing changed" nothing_installed
	close_port
	tool rmmod <<'END'
[[ $1 != nvmet_tcp ]] || ln -s /sys/kernel/config/nvmet/subsystems/* /sys/kernel/config/nvmet/ports/1/subsystems/
exec "$real" "$@"
END
	refused "a port that opens after the last look" "cannot unload nvmet-tcp" install --reload
	no_tools
	check "a port that opens after the last look: nothing changed" nothing_installed
	check "a port that opens after the last look: goes on" test -e "/sys/kernel/config/nvmet/ports/1/subsystems/$VM_NQN"
	check "a port that opens after the last look: the host's module is the kernel's own" not_patched nvme_tcp
	ctrl=$(host_connect)
	check "a port that opens after the last look: serves" live "$ctrl"
	host_disconnect "$ctrl"
}

part_host() {
	local ctrl

	new_target
	ctrl=$(host_connect)
	refused "a controller" "nvme-tcp is in use (1 users), nothing was changed" install --reload
	check "a controller: nothing changed" nothing_installed
	check "a controller: stays" live "$ctrl"
	host_disconnect "$ctrl"

	tool depmod <<END
[[ -e /tmp/connected ]] || nvme connect ${connect_args[*]} >&2
touch /tmp/connected
exec "\$real" "\$@"
END
	refused "a controller that comes after the first look" "nvme-tcp is in use now" install --reload
	no_tools
	check "a controller that comes after the first look: stays" live "$(vm_controllers "$VM_NQN")"
	check "a controller that comes after the first look: all is put back" nothing_installed
	host_disconnect

	connecting
	tool rmmod <<'END'
# Until nvme has connected, or waits in the kernel.
touch /tmp/go
until [[ -e /tmp/connected ]] || grep -qs '(nvme) D' /proc/[0-9]*/stat; do
	sleep 0.05
done
exec "$real" "$@"
END
	succeeds "a controller that comes after the last look: --reload succeeds" install --reload
	no_tools
	wait_for -t 30 test -e /tmp/connected
	equal "a controller that comes after the last look: waits, and connects" "$(cat /tmp/connected)" 0
	equal "nobody else can lock it out" "$(stat -c %a /run/ntprof-bpf)" 700
	check "a controller that comes after the last look: is there" live "$(vm_controllers "$VM_NQN")"
	check "a controller that comes after the last look: is the new module's" patched nvme_tcp
	check "nothing is left of the hold" test ! -e /run/modprobe.d/ntprof-bpf-hold.conf
	succeeds "--reload of what is loaded already, while in use" install --reload
	refused "uninstalling what is in use" "is in use" uninstall --reload
	check "uninstalling what is in use: stays" live "$(vm_controllers "$VM_NQN")"
	host_disconnect
	uninstall
}

uninstall() {
	close_port
	succeeds "uninstall --reload" uninstall --reload
	check "uninstall --reload: the host's own module" not_patched nvme_tcp
	check "uninstall --reload: the target's own module" not_patched nvmet_tcp
	check "uninstall --reload: nothing is left" nothing_installed
	open_port
}

part_killed() {
	local ctrl

	new_target
	tool rmmod <<'END'
"$real" "$@"
kill -KILL 0
END
	run install --reload
	no_tools
	equal "killed while the module is not loaded" "$status" 137
	ctrl=$(host_connect)
	check "killed while the module is not loaded: connects" live "$ctrl"
	check "killed while the module is not loaded: with the new module" patched nvme_tcp
	host_disconnect "$ctrl"
	rmmod nvme_tcp
	succeeds "killed while the module is not loaded: the next run" install --reload
	check "killed while the module is not loaded: the next run loads it" patched nvme_tcp
	uninstall
}

part_signatures() {
	local efi=/sys/firmware/efi/efivars shim=605dab50-e046-4300-abb6-3dd810dd8b23

	close_port
	mount -t tmpfs tmpfs /sys/firmware
	mkdir -p "$efi"
	trusts "nothing that enforces signatures"
	printf '\6\0\0\0\1' >"$efi/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	distrusts "Secure Boot" "will be locked down (Secure Boot)"
	{
		printf '\6\0\0\0a list of signatures'
		cat "$SIGN_CERT"
		printf 'more'
	} >"$efi/MokListRT-$shim"
	trusts "an enrolled key"
	cp "$efi/MokListRT-$shim" "$efi/MokListXRT-$shim"
	distrusts "a revoked key" "will be locked down (Secure Boot)"
	printf '\6\0\0\0\1' >"$efi/MokSBStateRT-$shim"
	trusts "Secure Boot without validation"
	rm "$efi"/*
	mkdir -p /boot/grub
	echo "linux /vmlinuz quiet module.sig_enforce=1" >/boot/grub/grub.cfg
	distrusts "a boot loader that enforces" "is booted with arguments that enforce module signatures"
	rm /boot/grub/grub.cfg
	echo Y >/sys/module/module/parameters/sig_enforce
	refused "the running kernel does not trust the key" "enforces module signatures and is not known to trust" install --reload
	check "the running kernel does not trust the key: nothing changed" nothing_installed
	cp "$OUT/nvme-tcp.ko" /root/signed.ko
	head -c 1000 /root/signed.ko >"$OUT/nvme-tcp.ko"
	refused "an unsigned module" "would refuse nvme-tcp.ko, which is not signed" install
	cp /root/signed.ko "$OUT/nvme-tcp.ko"
	export SIGN_TRUSTED=1
	refused "a module that the kernel refuses" "cannot load the new nvme-tcp" install --reload
	check "a module that the kernel refuses: the files are put back" nothing_installed
	check "a module that the kernel refuses: the host's own is loaded again" not_patched nvme_tcp
	check "a module that the kernel refuses: the target's own is loaded again" not_patched nvmet_tcp
}

(($#)) || set -- target host killed signatures
for part; do
	echo "# $part"
	"part_$part"
done
finish
