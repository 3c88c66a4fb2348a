// SPDX-License-Identifier: Apache-2.0

/// The meaning of the `:path` of a provider's request; associated ranges refer to the path.
package enum ProviderPath: Sendable, Equatable {
    /// The path is `/3/device/` and a device token, which may still be any bytes.
    case device(Range<Int>)
    /// The path is `/3/device` or `/3/device/`.
    case missingDeviceToken
    /// The path is `/4/broadcasts/apps/` and a topic.
    case broadcast(topic: Range<Int>)
    /// The path is `/1/apps/`, a topic and `/channels`.
    case channels(topic: Range<Int>)
    /// The path is `/1/apps/`, a topic and `/all-channels`.
    case allChannels(topic: Range<Int>)
    /// The path is another one below `/1/apps/`.
    case unknownBelowApps
    /// The path is none of these.
    case unknown

    /// Parses a path; a device token or a topic has at least one byte and no slash.
    package static func parse(_ path: Span<UInt8>) -> ProviderPath {
        if let rest = rest(of: path, behind: "/3/device/") {
            if rest.isEmpty { return .missingDeviceToken }
            return hasSlash(path.extracting(rest)) ? .unknown : .device(rest)
        }
        if path.isEqual(to: "/3/device") { return .missingDeviceToken }
        if let rest = rest(of: path, behind: "/4/broadcasts/apps/") {
            return rest.isEmpty || hasSlash(path.extracting(rest)) ? .unknown : .broadcast(topic: rest)
        }
        guard let rest = rest(of: path, behind: "/1/apps/") else { return .unknown }
        if let topic = topic(in: path, rest, before: "/channels") { return .channels(topic: topic) }
        if let topic = topic(in: path, rest, before: "/all-channels") { return .allChannels(topic: topic) }
        return .unknownBelowApps
    }

    /// Whether the request manages channels instead of sending.
    package var isForChannels: Bool {
        switch self {
        case .channels, .allChannels, .unknownBelowApps: true
        case .device, .missingDeviceToken, .broadcast, .unknown: false
        }
    }

    /// Whether the response has `apns-request-id` instead of `apns-id`.
    package var hasRequestID: Bool {
        switch self {
        case .broadcast, .channels, .allChannels, .unknownBelowApps: true
        case .device, .missingDeviceToken, .unknown: false
        }
    }

    private static func rest(of path: Span<UInt8>, behind prefix: String) -> Range<Int>? {
        let prefixByteCount = prefix.utf8.count
        guard path.count >= prefixByteCount, path.extracting(first: prefixByteCount).isEqual(to: prefix) else {
            return nil
        }
        return prefixByteCount..<path.count
    }

    private static func topic(in path: Span<UInt8>, _ rest: Range<Int>, before suffix: String) -> Range<Int>? {
        let end = rest.upperBound - suffix.utf8.count
        guard end > rest.lowerBound, path.extracting(end..<rest.upperBound).isEqual(to: suffix),
            !hasSlash(path.extracting(rest.lowerBound..<end))
        else { return nil }
        return rest.lowerBound..<end
    }

    private static func hasSlash(_ bytes: Span<UInt8>) -> Bool {
        for offset in bytes.indices where bytes[offset] == UInt8(ascii: "/") { return true }
        return false
    }
}
