// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Checks the URL of a webhook, which must be `https`, or `http` to this machine.
///
/// Addresses of private networks are allowed. Only an administrator sets a webhook, often for a back-end in the same
/// network.
enum WebhookURL {
    /// Returns the problem with a URL, in a sentence that says what to do, or nil if the URL is valid.
    static func problem(in url: String) -> String? {
        guard url.utf8.count <= Limits.webhookURLByteCountMax else {
            return "The URL of a webhook must have at most \(Limits.webhookURLByteCountMax) bytes."
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") })
        else { return "The URL must be ASCII, without spaces or a fragment. Escape other characters with %." }
        guard let (isSecure, rest) = split(url) else {
            return "The URL must start with https://, for example https://backend.example.org/push-events."
        }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else {
            return "The URL must not contain a user name or password; the signature authenticates the server."
        }
        guard let host = host(of: authority), !host.isEmpty else {
            return "The URL must contain a host. A port must be between 1 and 65535."
        }
        guard isSecure || isThisMachine(host) else {
            return "Use https. http is allowed only for localhost, 127.0.0.1 and [::1]."
        }
        return nil
    }

    private static func split(_ url: String) -> (isSecure: Bool, rest: Substring.UTF8View)? {
        for (scheme, isSecure) in [("https://", true), ("http://", false)] where url.hasPrefix(scheme) {
            return (isSecure, url.utf8.dropFirst(scheme.utf8.count))
        }
        return nil
    }

    /// Returns the host without the port, or nil if either is malformed.
    private static func host(of authority: Substring.UTF8View) -> Substring? {
        let text = Substring(authority)
        guard text.hasPrefix("[") else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 1 || isPort(parts[1]) else { return nil }
            return parts.first
        }
        guard let end = text.firstIndex(of: "]") else { return nil }
        let behind = text[text.index(after: end)...]
        guard behind.isEmpty || behind.hasPrefix(":") && isPort(behind.dropFirst()) else { return nil }
        return text[...end]
    }

    private static func isPort(_ text: Substring) -> Bool { UInt16(text).map { $0 > 0 } ?? false }

    private static func isThisMachine(_ host: Substring) -> Bool {
        ["localhost", "127.0.0.1", "[::1]"].contains { $0.utf8.elementsEqual(host.lowercased().utf8) }
    }
}
