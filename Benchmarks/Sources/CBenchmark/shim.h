// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

// A GNU function that the header hides without a feature macro; defining that macro here would give one struct two
// definitions.
extern void *memmem(const void *, size_t, const void *, size_t);

// Functions for macros, which Swift cannot import.
static inline long bench_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long bench_tls13_only(SSL_CTX *context) { return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION); }

// Functions for variadic functions, which Swift cannot import.
static inline int bench_tight_timers(void) { return prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }
