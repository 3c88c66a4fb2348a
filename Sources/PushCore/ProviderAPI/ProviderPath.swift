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

    private static let slash = UInt8(ascii: "/")

    /// Parses a path; a device token or a topic has at least one byte and no slash.
    package static func parse(_ path: Span<UInt8>) -> ProviderPath {
        if let rest = rest(of: path, behind: "/3/device/") {
            if rest.isEmpty { return .missingDeviceToken }
            return path.extracting(rest).contains(slash) ? .unknown : .device(rest)
        }
        if path.equals("/3/device") { return .missingDeviceToken }
        if let rest = rest(of: path, behind: "/4/broadcasts/apps/") {
            return rest.isEmpty || path.extracting(rest).contains(slash) ? .unknown : .broadcast(topic: rest)
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

    private static func rest(of path: Span<UInt8>, behind prefix: StaticString) -> Range<Int>? {
        path.contains(prefix, at: 0) ? prefix.utf8CodeUnitCount..<path.count : nil
    }

    private static func topic(
        in path: Span<UInt8>, _ rest: Range<Int>, before suffix: StaticString
    ) -> Range<Int>? {
        let end = rest.upperBound - suffix.utf8CodeUnitCount
        guard end > rest.lowerBound, path.contains(suffix, at: end),
            !path.extracting(rest.lowerBound..<end).contains(slash)
        else { return nil }
        return rest.lowerBound..<end
    }
}
