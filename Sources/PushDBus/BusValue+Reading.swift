// SPDX-License-Identifier: Apache-2.0

/// What callers take out of an answer; nil when the value has another type. Each looks through variants.
extension BusValue {
    /// The text of a string, an object path or a signature.
    package var stringValue: String? {
        switch withoutVariant {
        case .string(let text), .objectPath(let text), .typeSignature(let text): text
        case .bool, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .variant, .array, .structure,
            .dictionary:
            nil
        }
    }

    /// A boolean.
    package var boolValue: Bool? {
        guard case .bool(let value) = withoutVariant else { return nil }
        return value
    }

    /// An integer of any width that fits.
    package var integerValue: Int64? {
        switch withoutVariant {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        case .string, .objectPath, .typeSignature, .bool, .double, .variant, .array, .structure, .dictionary: nil
        }
    }

    /// The elements of an array.
    package var arrayValue: [BusValue]? {
        guard case .array(_, let elements) = withoutVariant else { return nil }
        return elements
    }

    /// The pairs of an `a{sv}`.
    package var dictionaryPairs: [(String, BusValue)]? {
        guard case .dictionary(let pairs) = withoutVariant else { return nil }
        return pairs
    }

    /// The value of a key of an `a{sv}`: the first, should it be there twice; keys are compared as bytes.
    package subscript(key key: String) -> BusValue? {
        dictionaryPairs?.first { $0.0.utf8.elementsEqual(key.utf8) }?.1.dictionaryValue
    }

    /// Makes an array of strings, `as`.
    package static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map { .string($0) }) }

    /// Makes a string of a text from outside, without what a bus cannot carry.
    package static func text(_ text: String) -> BusValue { .string(carriable(text)) }

    /// A text without NUL and Unicode's noncharacters: sd-bus refuses a whole message for one of them.
    ///
    /// - Parameter text: Any text.
    /// - Returns: What is left of it; the text itself when a bus can carry it.
    package static func carriable(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isCarried) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter(isCarried)))
    }

    private static func isCarried(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0, 0xFDD0...0xFDEF: false
        // The last two of each plane.
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}

/// Reading a dictionary whose keys may be missing or of another type: what is not there is nothing of its kind.
extension BusValue {
    /// The text under a key; empty when there is none.
    package func text(_ key: String) -> String { self[key: key]?.stringValue ?? "" }
    /// The texts under a key.
    package func texts(_ key: String) -> [String] { self[key: key]?.arrayValue?.compactMap(\.stringValue) ?? [] }
    /// The truth value under a key; false when there is none.
    package func flag(_ key: String) -> Bool { self[key: key]?.boolValue ?? false }
    /// The whole number under a key; 0 when there is none.
    package func number(_ key: String) -> Int64 { self[key: key]?.integerValue ?? 0 }
    /// The array under a key; empty when there is none.
    package func items(_ key: String) -> [BusValue] { self[key: key]?.arrayValue ?? [] }
}
