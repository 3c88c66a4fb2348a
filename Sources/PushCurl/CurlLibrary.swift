// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// The initialization of libcurl, which must happen once per process.
enum CurlLibrary {
    /// Whether libcurl is initialized; the first use initializes it.
    ///
    /// From then on SIGPIPE is ignored, unless the program handles it. OpenSSL writes with write(2), and with
    /// CURLOPT_NOSIGNAL libcurl leaves the signal alone. A peer that closes early could otherwise end the process.
    static let isReady: Bool = {
        let earlier = signal(SIGPIPE, SIG_IGN)
        if let handler = earlier { _ = signal(SIGPIPE, handler) }
        return curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK
    }()
}
