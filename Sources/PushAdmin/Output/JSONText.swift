// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// JSON as this program writes it: keys sorted, no blanks, so that outputs can be compared.
package enum JSONText {
    /// Encodes a value.
    ///
    /// - Parameter value: Anything of ours.
    /// - Returns: The bytes.
    /// - Throws: When it holds what JSON lacks.
    package static func encode(_ value: any Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Encodes a value of ours, which cannot hold anything that JSON lacks.
    static func encodeKnown(_ value: any Encodable) -> [UInt8] {
        do { return try encode(value) } catch { preconditionFailure("not encodable: \(error)") }
    }

    /// The same JSON with an escape for each scalar on which a terminal could act: programs read the same value.
    package static func printable(_ json: [UInt8]) -> String {
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

    /// Control characters that JSON allows in a string, and overrides and isolates of the writing direction.
    private static func acts(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
