# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# sign.sh - signatures of modules: make one, and tell whether the kernel will take it.
#
# A module that the kernel refuses to load, in the place of one that it would load, cuts the machine off its storage. So
# the question is not only what the running kernel does, but what KVER will do when it is booted on this machine.

efivars=/sys/firmware/efi/efivars
efi_global=8be4df61-93ca-11d2-aa0d-00e098032b8c
efi_image_security=d719b2cb-3d3a-4596-a3bc-dad00e67656f
efi_shim=605dab50-e046-4300-abb6-3dd810dd8b23

sign_file() {
	local hash

	[[ -n ${SIGN_CERT:-} ]] || die "SIGN_KEY without SIGN_CERT"
	[[ -x $KDIR/scripts/sign-file ]] || die "no scripts/sign-file in $KDIR: cannot sign"
	hash=$(config_value CONFIG_MODULE_SIG_HASH | tr -d '"')
	"$KDIR/scripts/sign-file" "${hash:-sha256}" "$SIGN_KEY" "$SIGN_CERT" "$1" || die "cannot sign ${1##*/}"
}

sign_module() {
	[[ -z ${SIGN_KEY:-} ]] || sign_file "$1"
}

# sign_inputs: what the signature depends on; a new key under the name of the old one is another key
sign_inputs() {
	local file

	for file in "${SIGN_KEY:-}" "${SIGN_CERT:-}"; do
		# A key may be a PKCS#11 address as well.
		if [[ -f $file ]]; then
			sha256sum <"$file" || die "cannot read $file"
		else
			echo "$file"
		fi
	done
}

# efi_flag NAME: a variable, after its four bytes of attributes, is 1
efi_flag() {
	[[ $(od -An -v -tu1 -j 4 -N 1 "$efivars/$1" 2>/dev/null | tr -d ' ') == 1 ]]
}

# enforcing_now: why the running kernel loads only signed modules; fails if it loads others
enforcing_now() {
	if grep -qs '\[\(integrity\|confidentiality\)\]' /sys/kernel/security/lockdown; then
		echo "is locked down (Secure Boot)"
	elif grep -qsx Y /sys/module/module/parameters/sig_enforce; then
		echo "enforces module signatures"
	else
		return 1
	fi
}

# enforcing: the same of KVER once it is booted, here or, with DESTDIR, anywhere
enforcing() {
	if [[ $(config_value CONFIG_MODULE_SIG_FORCE) == y ]]; then
		echo "enforces module signatures"
		return
	fi
	[[ -z $DESTDIR ]] || return 1
	# Another kernel is booted with the same firmware and, as far as can be known, the same arguments.
	if enforcing_now; then
		return
	elif [[ $(config_value CONFIG_LOCK_DOWN_IN_EFI_SECURE_BOOT) == y ]] && efi_flag "SecureBoot-$efi_global" &&
		! efi_flag "MokSBStateRT-$efi_shim"; then
		echo "will be locked down (Secure Boot)"
	elif grep -qsE '\<(module\.sig_enforce\>|lockdown=(integrity|confidentiality))' /boot/grub/grub.cfg \
		/boot/loader/entries/*.conf /etc/kernel/cmdline; then
		echo "is booted with arguments that enforce module signatures"
	else
		return 1
	fi
}

# hex FILE: its bytes
hex() {
	od -An -v -tx1 "$1" 2>/dev/null | tr -d ' \n'
}

# in_efi_variable NAME HEX: an EFI_SIGNATURE_LIST has certificates as they are
in_efi_variable() {
	[[ $(hex "$efivars/$1") == *"$2"* ]]
}

# enrolled: the firmware or shim hand the certificate to every kernel, and do not revoke it
enrolled() {
	in_efi_variable "MokListRT-$efi_shim" "$1" || in_efi_variable "db-$efi_image_security" "$1" || return
	! in_efi_variable "MokListXRT-$efi_shim" "$1" && ! in_efi_variable "dbx-$efi_image_security" "$1"
}

# kernel_takes_key: the running kernel's own answer. It looks at the signature before it looks at the module, so one that
# is none is refused for its signature or, with a key that the kernel trusts, for its format.
kernel_takes_key() {
	local probe=$work/signature-probe.ko answer

	printf 'no module, but signed like one: %04096d\n' 0 >"$probe"
	(sign_file "$probe") || return
	answer=$(insmod "$probe" 2>&1) || true
	[[ $answer == *'Invalid module format'* || $answer == *'Exec format error'* ]]
}

# check_key: that KVER will trust SIGN_CERT
check_key() {
	local why=$1

	[[ -z ${SIGN_TRUSTED:-} ]] || return 0
	need openssl openssl
	openssl x509 -in "$SIGN_CERT" -outform DER -out "$work/cert.der" 2>/dev/null ||
		openssl x509 -inform DER -in "$SIGN_CERT" -outform DER -out "$work/cert.der" 2>/dev/null ||
		die "$SIGN_CERT is no certificate"
	# The key that the kernel's own modules are signed with
	if [[ -e $KDIR/certs/signing_key.x509 ]] && cmp -s "$work/cert.der" "$KDIR/certs/signing_key.x509"; then
		return
	fi
	if [[ -z $DESTDIR ]]; then
		if [[ $KVER == "$(uname -r)" ]] && enforcing_now >/dev/null; then
			! kernel_takes_key || return 0
		elif enrolled "$(hex "$work/cert.der")"; then
			return
		fi
	fi
	die "kernel $KVER $why and is not known to trust $SIGN_CERT: enroll it (mokutil --import) and reboot first," \
		"or, if it will trust it all the same, set SIGN_TRUSTED=1"
}

# check_signature: that KVER will load what is about to be installed
check_signature() {
	local module why

	why=$(enforcing) || return 0
	for module in "${modules[@]}"; do
		[[ $(tail -c 28 "$OUT/$module.ko" | tr -d '\0\n') == '~Module signature appended~' ]] ||
			die "kernel $KVER $why and would refuse $module.ko, which is not signed: set SIGN_KEY and SIGN_CERT, see README.md"
	done
	check_key "$why"
}
