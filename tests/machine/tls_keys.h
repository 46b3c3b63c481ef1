/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys of tls_agent's connections. No handshake agrees on them: both ends know them beforehand,
 * and so does the reader of a capture.
 */
#ifndef NTPROF_TESTS_TLS_KEYS_H
#define NTPROF_TESTS_TLS_KEYS_H

#include <linux/tls.h>
#include <stdbool.h>
#include <string.h>

/**
 * tls_keys() - of one direction of a connection
 * @from_client: what its client sends
 */
static inline struct tls12_crypto_info_aes_gcm_128 tls_keys(bool from_client)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info = {.version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128},
	};

	memset(info.key, from_client ? 'c' : 's', sizeof(info.key));
	memset(info.iv, from_client ? 'i' : 'j', sizeof(info.iv));
	memset(info.salt, 'n', sizeof(info.salt));
	return info;
}

#endif /* NTPROF_TESTS_TLS_KEYS_H */
