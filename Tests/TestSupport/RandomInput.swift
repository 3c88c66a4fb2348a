// SPDX-License-Identifier: Apache-2.0

extension SeededGenerator {
    /// Returns a random number of random bytes, up to a maximum.
    package mutating func bytes(countMax: Int) -> [UInt8] {
        (0..<Int.random(in: 0...countMax, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Returns a random text of scalars from every plane and of those that are special to parsers.
    package mutating func text(countMax: Int) -> String {
        let special: [Unicode.Scalar] = ["\"", "\\", "/", "\0", "\n", "\r", "\t", "\u{1F}", "\u{7F}", "\u{2028}"]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...countMax, using: &self) {
            let value = UInt32.random(in: 0...0x10FFFF, using: &self) >> UInt32.random(in: 0...14, using: &self)
            let isSpecial = UInt8.random(in: 0...3, using: &self) == 0
            text.append(isSpecial ? special.randomElement(using: &self) ?? "\"" : Unicode.Scalar(value) ?? "?")
        }
        return String(text)
    }
}

/// The seeds of a property test.
package let seeds: Range<UInt64> = 0..<100

/// Returns the UTF-8 of a text.
package func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Encodes each UTF-16 unit as a JSON escape.
package func jsonEscaped(_ text: String) -> String {
    text.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
}
