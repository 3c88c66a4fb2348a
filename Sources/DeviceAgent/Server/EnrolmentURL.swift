// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The URL of the server with which a device enrols.
enum EnrolmentURL {
    /// Returns a normalized server URL; nil if the text is not a server URL.
    ///
    /// The URL has no path, user, query or fragment; a slash at the end is removed. Only https is accepted, because
    /// each request carries the device secret.
    ///
    /// - Parameter text: The URL as the user typed it.
    /// - Returns: The URL without a trailing slash.
    static func normalized(_ text: String) -> String? {
        var trimmed = text[...]
        if trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        guard text.utf8.count <= 300, let url = URL(string: String(trimmed)), let host = url.host(), !host.isEmpty,
            url.scheme?.lowercased() == "https", url.path().isEmpty, url.query() == nil, url.fragment() == nil,
            url.user() == nil, url.password() == nil, trimmed.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 92 })
        else { return nil }
        return String(trimmed)
    }
}
