// SPDX-License-Identifier: Apache-2.0

/// Finds the word that the user probably meant.
package enum Spelling {
    /// The longest word that is compared, in bytes; the cost is quadratic, and long words are rarely typing mistakes.
    private static let byteCountMax = 64

    /// Returns the candidate with the smallest edit distance; nil if that exceeds a third of the shorter word's
    /// bytes.
    ///
    /// A distance of 1 is always accepted. A candidate that begins with the word has distance 1, whatever its length.
    package static func closest(to word: some StringProtocol, among candidates: [String]) -> String? {
        let wordBytes = Array(word.utf8)
        guard !wordBytes.isEmpty, wordBytes.count <= byteCountMax else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance =
                candidate.utf8.starts(with: wordBytes) ? 1 : distance(from: wordBytes, to: Array(candidate.utf8))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(wordBytes.count, best.name.utf8.count) / 3) else { return nil }
        return best.name
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
