// SPDX-License-Identifier: Apache-2.0

@testable import PushCore

// Swift Testing expands the calls inside `#expect` and cannot do so with spans. These overloads take arrays instead.

extension Hex {
    static func decode(_ digits: [UInt8]) -> [UInt8]? { decode(digits.span) }
    static func decode32(_ digits: [UInt8]) -> [UInt8]? {
        decode32(digits.span).map { bytes in bytes.indices.map { bytes[$0] } }
    }
}

extension Base64 {
    static func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }
    static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }
    static func encodeURL(_ bytes: [UInt8]) -> [UInt8] { encodeURL(bytes.span) }
}

extension Decimal {
    static func parse(_ digits: [UInt8]) -> Int64? { parse(digits.span) }
}

extension UniqueID {
    init?(_ text: [UInt8]) { self.init(text.span) }
}

extension PushType {
    init?(_ text: [UInt8]) { self.init(text.span) }
}

extension HeaderValues {
    static func expiration(_ value: [UInt8]) -> Timestamp? { expiration(value.span) }
    static func priority(_ value: [UInt8]) -> UInt8? { priority(value.span) }
    static func isCollapseID(_ value: [UInt8]) -> Bool { isCollapseID(value.span) }
}

extension ProviderPath {
    static func parse(_ path: [UInt8]) -> ProviderPath { parse(path.span) }
}

extension ProviderToken {
    static func compactToken(inAuthorization value: [UInt8]) -> Range<Int>? {
        compactToken(inAuthorization: value.span)
    }
    init?(compact: [UInt8]) { self.init(compact: compact.span) }
}

extension JSONValue {
    init(parsing text: [UInt8]) throws(JSONError) { try self.init(parsing: text.span) }
}
