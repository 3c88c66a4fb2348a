// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Dates in the fields of HTTP.
package enum HTTPDate {
    /// Reads a date in any of the forms that HTTP ever had (`curl_getdate`): UNIX seconds, or nil.
    package static func unixSeconds(_ text: String) -> Int64? {
        let seconds = unsafe curl_getdate(text, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }
}
