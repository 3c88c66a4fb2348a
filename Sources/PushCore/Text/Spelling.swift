// SPDX-License-Identifier: Apache-2.0

/// Finds the word that the user probably meant.
package enum Spelling {
    /// The longest word that is compared, in bytes; the cost is quadratic, and long words are rarely typing mistakes.
    private static let byteCountMax = 64

    /// Returns the candidate with the smallest edit distance; nil if no candidate is close enough.
    ///
    /// The distance may be a third of the shorter word's bytes, not counting components such as `org.example.` that both
    /// words begin with. A distance of 1 is always accepted. A candidate that begins with the word has distance 1,
    /// whatever its length. At the same distance, a candidate with the same first letter is preferred. A word of fewer
    /// than four bytes matches only candidates with the same first letter. Case is ignored.
    package static func closest(to word: some StringProtocol, among candidates: [String]) -> String? {
        let wordBytes = word.utf8.map(lowercased)
        guard !wordBytes.isEmpty, wordBytes.count <= byteCountMax else { return nil }
        var best: (name: String, score: Int)?
        for candidate in candidates {
            let bytes = candidate.utf8.map(lowercased)
            let distance = bytes.starts(with: wordBytes) ? 1 : distance(from: wordBytes, to: bytes)
            let shared = sharedComponentsByteCount(wordBytes, bytes)
            guard distance <= max(1, (min(wordBytes.count, bytes.count) - shared) / 3) else { continue }
            let hasOtherLetter = bytes.first != wordBytes.first
            guard !hasOtherLetter || wordBytes.count >= 4 else { continue }
            let score = 2 * distance + (hasOtherLetter ? 1 : 0)
            if score < best?.score ?? .max { best = (candidate, score) }
        }
        return best?.name
    }

    /// Returns the length of the components that both words begin with, including their last dot.
    private static func sharedComponentsByteCount(_ first: [UInt8], _ second: [UInt8]) -> Int {
        let count = zip(first, second).prefix { $0 == $1 }.count
        return first[..<count].lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Returns the number of bytes to insert, remove, replace or swap with their neighbor (optimal string alignment).
    package static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let replaced = last[column] + (first[row] == second[column] ? 0 : 1)
                var fewest = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    fewest = min(fewest, beforeLast[column - 1] + 1)
                }
                current.append(fewest)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}

extension StringProtocol {
    /// Compares as bytes; `==` on strings treats a Kelvin sign and a K as equal.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
