// SPDX-License-Identifier: Apache-2.0
// libcurl's setters are variadic, which Swift does not import. Each function here gives one of them a single type.
// The functions are inline, so that only programs that use libcurl need to link it.
#pragma once
#include <curl/curl.h>
#include <stdint.h>

/// The type of libcurl's callback for a piece of a header or body.
typedef size_t (*push_curl_sink)(char *bytes, size_t size, size_t count, void *user_data);

/// curl_easy_setopt(3) is variadic: options that take a `long`.
static inline CURLcode push_curl_easy_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

/// curl_easy_setopt(3) is variadic: options that take a `curl_off_t`.
static inline CURLcode push_curl_easy_set_offset(CURL *handle, CURLoption option, int64_t value) {
    return (curl_easy_setopt)(handle, option, (curl_off_t)value);
}

/// curl_easy_setopt(3) is variadic: options that take text, which libcurl copies.
static inline CURLcode push_curl_easy_set_text(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

/// curl_easy_setopt(3) is variadic: options that take bytes, user data or a buffer.
static inline CURLcode push_curl_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}

/// curl_easy_setopt(3) is variadic: options that take a list.
static inline CURLcode push_curl_easy_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}

/// curl_easy_setopt(3) is variadic: CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode push_curl_easy_set_sink(CURL *handle, CURLoption option, push_curl_sink value) {
    return (curl_easy_setopt)(handle, option, value);
}

/// curl_easy_setopt(3) is variadic: CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode push_curl_easy_set_open_function(CURL *handle, curl_opensocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

/// curl_easy_getinfo(3) is variadic: facts that are a `long`.
static inline CURLcode push_curl_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

/// curl_easy_getinfo(3) is variadic: facts that are a socket.
static inline CURLcode push_curl_easy_get_socket(CURL *handle, CURLINFO info, curl_socket_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

/// curl_easy_getinfo(3) is variadic: CURLINFO_CERTINFO, which the handle keeps.
static inline CURLcode push_curl_easy_get_certificates(CURL *handle, struct curl_certinfo **value) {
    return (curl_easy_getinfo)(handle, CURLINFO_CERTINFO, value);
}

/// curl_multi_setopt(3) is variadic: options that take a `long`.
static inline CURLMcode push_curl_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return (curl_multi_setopt)(handle, option, value);
}

/// curl_multi_setopt(3) is variadic: options that take user data.
static inline CURLMcode push_curl_multi_set_pointer(CURLM *handle, CURLMoption option, void *value) {
    return (curl_multi_setopt)(handle, option, value);
}

/// curl_multi_setopt(3) is variadic: CURLMOPT_SOCKETFUNCTION.
static inline CURLMcode push_curl_multi_set_socket_function(CURLM *handle, curl_socket_callback value) {
    return (curl_multi_setopt)(handle, CURLMOPT_SOCKETFUNCTION, value);
}

/// curl_multi_setopt(3) is variadic: CURLMOPT_TIMERFUNCTION.
static inline CURLMcode push_curl_multi_set_timer_function(CURLM *handle, curl_multi_timer_callback value) {
    return (curl_multi_setopt)(handle, CURLMOPT_TIMERFUNCTION, value);
}
