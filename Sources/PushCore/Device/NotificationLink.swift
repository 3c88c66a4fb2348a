// SPDX-License-Identifier: Apache-2.0

/// The address that a notification names in the member `url`, beside `aps`.
///
/// An absolute URL in printable ASCII, which looks the same in every font and needs no escaping.
///
/// - SeeAlso: RFC 3986
package struct NotificationLink: Sendable, Equatable {
    /// The reason why an address is not accepted.
    package enum Defect: Error, Sendable, CaseIterable {
        case notText, tooLong, malformed, forbiddenScheme, noHost, userInformation, badHost

        /// The reason as a phrase that follows the name of the member and a colon.
        package var phrase: String {
            switch self {
            case .notText: "it is not a string"
            case .tooLong: "it has more than \(Limits.linkByteCountMax) bytes"
            case .malformed: "it is not a complete URL of printable ASCII characters"
            case .forbiddenScheme: "its scheme is never opened; use https"
            case .noHost: "it names no host"
            case .userInformation: "it contains a user name, which hides the host"
            case .badHost: "its host or port is invalid"
            }
        }
    }

    /// The URL as the provider sent it.
    package let text: String
    /// The scheme in lower case.
    package let scheme: String
    /// The host in lower case; nil for a scheme of an app, whose addresses need no host.
    package let host: String?

    /// The short text by which users see where the link leads: the host, or the scheme of an app.
    package var shownTarget: String { host ?? "\(scheme):" }

    /// The host and the port in lower case; nil if the address has none.
    package var authority: String? {
        let rest = text.dropFirst(scheme.count + 1)
        guard rest.utf8.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }.lowercased()
        return authority.isEmpty ? nil : authority
    }

    /// The scheme, the host and the port, for an address that begins with a slash.
    package var origin: String { "\(scheme)://\(authority ?? "")" }

    /// Whether every desktop may open the link; otherwise the app must have registered the scheme.
    package var isSecureWeb: Bool { scheme == "https" }

    /// Schemes that no app can claim: they read local files, run scripts or are not encrypted.
    private static let forbiddenSchemes: Set<String> = [
        "http", "ftp", "file", "javascript", "data", "vbscript", "about", "blob", "view-source", "smb",
    ]

    /// Checks an address.
    ///
    /// - Parameter text: The address.
    /// - Throws: The reason why it is not accepted.
    package init(_ text: String) throws(Defect) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Limits.linkByteCountMax else { throw .tooLong }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]),
            colon + 1 < bytes.count, Self.isWellFormed(bytes)
        else { throw .malformed }
        self.text = text
        scheme = String(decoding: bytes[..<colon].map(\.lowerCased), as: UTF8.self)
        guard !Self.forbiddenSchemes.contains(scheme) else { throw .forbiddenScheme }
        host = try Self.host(bytes[(colon + 1)...])
        if scheme == "https", host == nil { throw .noHost }
    }

    /// Reads the member `url` of a payload.
    ///
    /// - Parameter value: The member.
    /// - Throws: The reason why it is not accepted.
    package init(_ value: JSONValue) throws(Defect) {
        guard let text = value.string else { throw .notText }
        try self.init(text)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first.isLetterOrDigit, !Decimal.isDigit(first) else { return false }
        return bytes.count <= 64
            && bytes.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }

    /// Returns whether a URL has only the characters of RFC 3986, and complete percent-encodings.
    private static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else {
                return bytes[index].isLetterOrDigit || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(bytes[index])
            }
            return index + 2 < bytes.count && Hex.isDigit(bytes[index + 1]) && Hex.isDigit(bytes[index + 2])
        }
    }

    /// Returns the host of an address; nil if the address has no authority part.
    private static func host(_ rest: ArraySlice<UInt8>) throws(Defect) -> String? {
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
        let isAddress = authority.first == UInt8(ascii: "[")
        let end =
            isAddress
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? authority.startIndex
            : authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        let (host, port) = (authority[..<end], authority[end...])
        if authority.isEmpty { return nil }
        let isHost =
            isAddress
            ? host.dropFirst().dropLast().allSatisfy { Hex.isDigit($0) || ":.".utf8.contains($0) } && host.count > 3
            : host.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
        guard !host.isEmpty, isHost, isPort(port) else { throw .badHost }
        return String(decoding: host.map(\.lowerCased), as: UTF8.self)
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return true }
        return bytes.first == UInt8(ascii: ":") && bytes.count <= 6 && bytes.dropFirst().allSatisfy(Decimal.isDigit)
    }
}
