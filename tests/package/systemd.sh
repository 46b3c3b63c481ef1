#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# systemd.sh - the installed unit is what systemd understands, without a word, and lets the program do little.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# What systemd-analyze calls 2.0.
exposure=20

installed() {
	make --no-print-directory BUILD="${BUILD:-build}" install PREFIX="$work" >"$work/log" 2>&1
}
check "make install" installed
for side in host target; do
	cp "$work/lib/systemd/system/ntprof-bpf@.service" "$work/ntprof-bpf@$side.service"
	equal "systemd has nothing to say of ntprof-bpf@$side" \
		"$(systemd-analyze verify --man=no "$work/ntprof-bpf@$side.service" 2>&1)" ""
	check "it starts the program that was installed" \
		grep -q "^ExecStart=$work/sbin/ntprof-bpf serve --%i " "$work/ntprof-bpf@$side.service"
	systemd-analyze security --offline=true --threshold=$exposure "$work/ntprof-bpf@$side.service" >"$work/log" 2>&1
	equal "its exposure is at most $exposure tenths" $? 0
	sed -n 's/.*Overall exposure/# &/p' "$work/log"
done
unit=$work/ntprof-bpf@host.service
inaccessible=$(sed -n 's/^InaccessiblePaths=//p' "$unit" | tr ' ' '\n')
# What root asks of these is done by root with all capabilities, or typed into a shell of such a root.
for path in /run/dbus /run/systemd/private /run/systemd/io.systemd.Manager /run/systemd/machine /run/docker.sock /run/docker \
	/run/k3s /var/lib/lxd /var/lib/incus /run/qemu-server /run/fail2ban /run/screen /run/screens /run/tmux; do
	check "$path is out of reach" grep -qx -- "-$path" <<<"$inaccessible"
done
# Sockets of tmux are in /tmp, or in /run/user where TMUX_TMPDIR is that of the session.
check "so are the sockets of tmux" [ "$(grep -cx -e PrivateTmp=yes -e ProtectHome=yes "$unit")" = 2 ]
check "no namespace is made" grep -qx RestrictNamespaces=yes "$unit"
dropin=$work/ntprof-bpf@host.service.d
mkdir "$dropin"
sed -n '/# systemctl edit/,/^$/s/^    //p' docs/metrics.md >"$dropin/peer.conf"
check "docs/metrics.md has a drop-in for peers" grep -q '^IPAddressAllow=' "$dropin/peer.conf"
equal "systemd has nothing to say of that" \
	"$(systemd-analyze verify --man=no "$work/ntprof-bpf@host.service" 2>&1)" ""
finish
