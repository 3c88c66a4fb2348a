// SPDX-License-Identifier: Apache-2.0

/// Typed access to a value, through variants; nil if the value has another type.
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

    /// The truth value of a boolean.
    package var boolValue: Bool? {
        guard case .bool(let value) = withoutVariant else { return nil }
        return value
    }

    /// The value of an integer of any width, if it fits.
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

    /// The pairs of a dictionary `a{sv}`.
    package var dictionaryPairs: [(String, BusValue)]? {
        guard case .dictionary(let pairs) = withoutVariant else { return nil }
        return pairs
    }

    /// Returns the value of a key in an `a{sv}`: the first, if the key is duplicated; keys are compared as bytes.
    package subscript(key key: String) -> BusValue? {
        dictionaryPairs?.first { $0.0.utf8.elementsEqual(key.utf8) }?.1.dictionaryValue
    }

    /// Creates an array of strings, `as`.
    package static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map { .string($0) }) }

    /// Creates a string from an external text, without scalars that the bus does not accept.
    package static func text(_ text: String) -> BusValue { .string(carriable(text)) }

    /// Returns a text without NUL and Unicode's noncharacters, for which sd-bus refuses a whole message.
    ///
    /// - Parameter text: Any text.
    /// - Returns: The text without these scalars.
    static func carriable(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isCarried) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter(isCarried)))
    }

    private static func isCarried(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0, 0xFDD0...0xFDEF: false
        // The last two scalars of each plane are noncharacters.
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}

/// Access to the members of a dictionary; a missing key and a value of another type both give an empty value.
extension BusValue {
    /// Returns the text of a key; empty if it is missing.
    package func text(_ key: String) -> String { self[key: key]?.stringValue ?? "" }
    /// Returns the array of texts of a key; empty if it is missing.
    package func texts(_ key: String) -> [String] { self[key: key]?.arrayValue?.compactMap(\.stringValue) ?? [] }
    /// Returns the boolean of a key; false if it is missing.
    package func flag(_ key: String) -> Bool { self[key: key]?.boolValue ?? false }
    /// Returns the integer of a key; 0 if it is missing.
    package func number(_ key: String) -> Int64 { self[key: key]?.integerValue ?? 0 }
    /// Returns the array of a key; empty if it is missing.
    package func items(_ key: String) -> [BusValue] { self[key: key]?.arrayValue ?? [] }
}
