// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// libcurl as a whole: what must happen once in a process.
enum CurlLibrary {
    /// Whether libcurl is ready; the first use makes it so.
    ///
    /// SIGPIPE is ignored from then on, unless the program handles it: OpenSSL writes with write(2), and with
    /// CURLOPT_NOSIGNAL libcurl leaves the signal to us, so that a peer could end the process by closing early.
    static let isReady: Bool = {
        let earlier = signal(SIGPIPE, SIG_IGN)
        if let handler = earlier { _ = signal(SIGPIPE, handler) }
        return curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK
    }()
}
