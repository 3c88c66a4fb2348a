// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension SeededGenerator {
    /// Returns a random number of random bytes, up to a maximum.
    mutating func bytes(countMax: Int) -> [UInt8] {
        (0..<Int.random(in: 0...countMax, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Returns a random text of scalars from every plane and of those that are special to parsers.
    mutating func text(countMax: Int) -> String {
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
let seeds: Range<UInt64> = 0..<100

/// Returns the UTF-8 of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
