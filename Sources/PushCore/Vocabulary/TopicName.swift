// SPDX-License-Identifier: Apache-2.0

/// The topic of an app, for example `com.example.MyApp`, without the suffix of a push type.
///
/// Two names are equal if their bytes are, as in SQLite and in a header; `==` on strings ignores how accents are
/// encoded. A name from a caller may be malformed: `isValid` checks it.
public struct TopicName: Hashable, Comparable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }

    /// Creates a name from a text in which the empty text stands for all apps; nil for all apps.
    package init?(nilIfEmpty text: String) {
        if text.isEmpty { return nil }
        self.text = text
    }

    public static func == (one: TopicName, other: TopicName) -> Bool { one.text.hasSameBytes(as: other.text) }

    /// Compares as SQLite's BINARY collation does.
    public static func < (one: TopicName, other: TopicName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Feeds the text into the hasher; strings with the same bytes have the same hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension TopicName: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { self.text = text }

    public var description: String { text }
}

extension TopicName: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension TopicName {
    /// Returns whether a value has the form of a topic: 1 to 255 ASCII letters, digits, dots, hyphens and underscores.
    ///
    /// A valid topic with the suffix of a push type has the same form.
    package static func isValid(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty, value.count <= Limits.topicByteCountMax else { return false }
        for offset in value.indices where !isValidByte(value[offset]) {
            return false
        }
        return true
    }

    /// Returns whether a topic may contain the byte.
    private static func isValidByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Whether the name has the form of a topic.
    package var isValid: Bool { Self.isValid(text.utf8.span) }
}
