#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-reload.sh [PART...] - build-modules install and uninstall with --reload, and signatures, on a running kernel: in the
# test machine, which has no compiler and gets ready-made modules. The tests are in reload-guest.sh, in parts that share one
# machine: target, host, killed, signatures.

set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

use_signed_build
share=$tmp/share
mkdir "$share"
make_headers "$share/headers"
copy_without_build "$share/kernel_patches"
cp -r "$OUT" "$SIGN_KEY" "$SIGN_CERT" "$share"
add=()
for tool in readelf openssl install mktemp cmp sync; do
	add+=(--add "$(type -P "$tool"):/usr/bin/$tool")
done
"$top/tests/vm/run" --stock --share "$share" --add "$top/tests/machine/lib.sh:/lib/machine.sh" \
	"${add[@]}" "$top/tests/patches/reload-guest.sh" "$@"
