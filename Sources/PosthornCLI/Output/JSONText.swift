// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The JSON format of this program: sorted keys and no whitespace, so that outputs can be compared.
enum JSONText {
    /// Encodes a value as JSON.
    ///
    /// - Parameter value: The value to encode.
    /// - Returns: The JSON text in UTF-8.
    /// - Throws: An error when the value contains something that JSON cannot express.
    static func encode(_ value: any Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Encodes a value that is known to be encodable; stops the process otherwise.
    static func encodeKnown(_ value: any Encodable) -> [UInt8] {
        do { return try encode(value) } catch { preconditionFailure("not encodable: \(error)") }
    }

    /// Escapes each scalar that a terminal could interpret; the JSON value stays the same.
    static func printable(_ json: [UInt8]) -> String {
        var text = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if acts(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Returns whether a scalar is a control character allowed in JSON strings or a bidirectional override or isolate.
    private static func acts(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
