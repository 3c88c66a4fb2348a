// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <libpq-fe.h>
#include <openssl/ssl.h>

/// SSL_pending for the TLS connection of libpq: bytes that OpenSSL has read from the socket but libpq has not. epoll does
/// not report them. Here and not in Swift, because only PushTLS imports OpenSSL's module.
static inline int push_pq_has_pending_bytes(PGconn *connection) {
    SSL *tls = (SSL *)PQgetssl(connection);
    return tls && SSL_pending(tls) > 0;
}
