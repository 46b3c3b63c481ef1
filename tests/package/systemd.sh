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
# values NAME: of that setting, one a line.
values() {
	sed -n "s/^$1=//p" "$unit" | tr ' ' '\n' | sort
}
# What root asks of sockets there is done by root with all capabilities, or typed into a shell of such a root.
equal "/run is empty" "$(values TemporaryFileSystem)" /run:ro
equal "but for what is needed" "$(values BindPaths; values BindReadOnlyPaths)" "/run/ntprof-bpf-%i
-/run/NetworkManager/resolv.conf
-/run/nscd
-/run/resolvconf
-/run/systemd/journal/dev-log
-/run/systemd/journal/socket
-/run/systemd/notify
-/run/systemd/resolve"
equal "sockets elsewhere are out of reach" "$(values InaccessiblePaths)" "-/var/lib/incus
-/var/lib/lxd
-/var/snap/lxd"
equal "Landlock's calls are allowed" "$(values SystemCallFilter | grep -c ^landlock_)" 2
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
