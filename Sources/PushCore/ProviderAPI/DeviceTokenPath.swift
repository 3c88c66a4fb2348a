// SPDX-License-Identifier: Apache-2.0

/// What the `:path` of a provider's request asks for.
package enum DeviceTokenPath: Sendable, Equatable {
    /// `/3/device/` and a device token, which may still be any bytes: its range in the path.
    case device(Range<Int>)
    /// `/3/device` or `/3/device/`.
    case missingToken
    /// Anything else: another path, a query, something behind the device token.
    case badPath

    /// Sorts a path; what it calls a device token has one byte or more, none of them `/` or `?`.
    package static func parse(_ path: Span<UInt8>) -> DeviceTokenPath {
        let prefix = "/3/device/"
        let prefixByteCount = prefix.utf8.count
        if path.isEqual(to: "/3/device") { return .missingToken }
        guard path.count >= prefixByteCount, path.extracting(first: prefixByteCount).isEqual(to: prefix) else {
            return .badPath
        }
        guard path.count > prefixByteCount else { return .missingToken }
        for offset in prefixByteCount..<path.count {
            if path[offset] == UInt8(ascii: "/") || path[offset] == UInt8(ascii: "?") { return .badPath }
        }
        return .device(prefixByteCount..<path.count)
    }
}
