// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Parses dates in HTTP fields.
package enum HTTPDate {
    /// Parses a date in any of HTTP's formats (`curl_getdate`), and returns UNIX seconds or nil.
    package static func unixSeconds(_ text: String) -> Int64? {
        let seconds = unsafe curl_getdate(text, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }
}
