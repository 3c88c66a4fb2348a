// SPDX-License-Identifier: Apache-2.0

/// Folds texts for comparison: lowercase in every script, and a letter with its marks as one scalar where one exists.
///
/// `É`, `é` and `e` with a combining accent fold to the same scalar, as in String's own comparison. A few rare pairs of
/// scalars do not fold to the same scalar. Each scalar is looked up once and cached in a table. `lowercased` on every
/// text, or arrays of characters, would be many times slower for a whole inbox.
struct TextFolder {
    /// The size of the table, which covers all scripts with lowercase letters and marks except rare ones.
    private static let tableCount = 0x2000
    private static let isMark: UInt32 = 1 << 31
    private static let isUnusual: UInt32 = 1 << 30
    private static let unknown: UInt32 = .max
    private static let replacement: UInt32 = 0xFFFD

    /// The folded scalars, with the flags above.
    private var table = [UInt32](repeating: TextFolder.unknown, count: TextFolder.tableCount)
    /// The compositions of pairs; 0 if no single scalar exists.
    private var pairs: [UInt64: UInt32] = [:]
    /// Scalars by the texts that are equal to them; filled when the first mark is found.
    private var scalars: [String: UInt32] = [:]

    /// Appends the folded form of a UTF-8 text.
    mutating func fold(_ text: Span<UInt8>, into output: inout [UInt32]) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte < 0x80 {
                output.append(UInt32(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte))
                index += 1
            } else {
                append(Self.scalar(text, &index), to: &output)
            }
        }
    }

    /// Returns the folded form of a text.
    mutating func folded(_ text: String) -> [UInt32] {
        var output: [UInt32] = []
        fold(Array(text.utf8).span, into: &output)
        return output
    }

    /// Returns whether a text contains a word, both folded.
    static func contains(_ word: [UInt32], in text: [UInt32]) -> Bool {
        guard let first = word.first else { return true }
        var start = 0
        while start + word.count <= text.count {
            if text[start] == first, matches(word, text, at: start) { return true }
            start += 1
        }
        return false
    }

    private static func matches(_ word: [UInt32], _ text: [UInt32], at start: Int) -> Bool {
        var index = 1
        while index < word.count, text[start + index] == word[index] { index += 1 }
        return index == word.count
    }

    /// Decodes the scalar at an index and advances the index; invalid bytes decode to the replacement character.
    private static func scalar(_ text: Span<UInt8>, _ index: inout Int) -> UInt32 {
        let lead = text[index]
        index += 1
        let (count, bits) =
            switch lead {
            case 0xC2...0xDF: (1, UInt32(lead & 0x1F))
            case 0xE0...0xEF: (2, UInt32(lead & 0x0F))
            case 0xF0...0xF4: (3, UInt32(lead & 0x07))
            default: (0, replacement)
            }
        guard index + count <= text.count else { return replacement }
        var value = bits
        for _ in 0..<count {
            guard text[index] & 0xC0 == 0x80 else { return replacement }
            value = value << 6 | UInt32(text[index] & 0x3F)
            index += 1
        }
        return value
    }

    // MARK: One scalar

    private mutating func append(_ value: UInt32, to output: inout [UInt32]) {
        let entry = entry(of: value)
        if entry & Self.isUnusual != 0 { return appendUnusual(value, to: &output) }
        guard entry & Self.isMark != 0 else { return output.append(entry) }
        appendMark(entry & ~Self.isMark, to: &output)
    }

    private mutating func entry(of value: UInt32) -> UInt32 {
        guard value < Self.tableCount else { return Self.entryAboveTable(value) }
        let known = table[Int(value)]
        if known != Self.unknown { return known }
        let entry = newEntry(of: value)
        table[Int(value)] = entry
        return entry
    }

    /// Returns the table entry for a scalar above the table, where few scalars have lowercase letters or are marks.
    private static func entryAboveTable(_ value: UInt32) -> UInt32 {
        switch value {
        case 0x3099, 0x309A: value | isMark
        // Symbols; Glagolitic to Georgian; more Cyrillic, Latin and Cherokee; fullwidth Latin; historic scripts.
        case 0x2100...0x2BFF, 0x2C00...0x2DFF, 0xA640...0xA7FF, 0xAB30...0xABBF, 0xFF21...0xFF3A, 0x10400...0x1E943:
            value | isUnusual
        default: value
        }
    }

    private mutating func newEntry(of value: UInt32) -> UInt32 {
        guard let scalar = Unicode.Scalar(value) else { return Self.replacement }
        let properties = scalar.properties
        let lower = properties.lowercaseMapping.unicodeScalars
        guard lower.count == 1, let first = lower.first else { return value | Self.isUnusual }
        let canonical = properties.isFullCompositionExclusion ? equal(to: String(first)) ?? first.value : first.value
        return canonical | (Self.isMark(scalar) ? Self.isMark : 0)
    }

    /// Returns whether a scalar may combine with the one before it.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Vowels and final consonants of Korean syllables.
        case 0x1161...0x1175, 0x11A8...0x11C2: true
        default:
            scalar.properties.canonicalCombiningClass != .notReordered
                || [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
        }
    }

    private mutating func appendUnusual(_ value: UInt32, to output: inout [UInt32]) {
        guard let scalar = Unicode.Scalar(value) else { return output.append(Self.replacement) }
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            if Self.isMark(lower) { appendMark(lower.value, to: &output) } else { output.append(lower.value) }
        }
    }

    // MARK: Marks

    private mutating func appendMark(_ mark: UInt32, to output: inout [UInt32]) {
        guard let last = output.last, let both = composed(last, mark) else { return output.append(mark) }
        output[output.count - 1] = both
    }

    private mutating func composed(_ first: UInt32, _ mark: UInt32) -> UInt32? {
        if let syllable = Self.syllable(first, mark) { return syllable }
        let key = UInt64(first) << 32 | UInt64(mark)
        if let known = pairs[key] { return known == 0 ? nil : known }
        guard let left = Unicode.Scalar(first), let right = Unicode.Scalar(mark) else { return nil }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: [left, right])
        let both = equal(to: String(text))
        pairs[key] = both ?? 0
        return both
    }

    /// Returns a Korean syllable, which is computed, not looked up.
    ///
    /// - Parameters:
    ///   - first: A leading consonant, or a syllable without a final consonant.
    ///   - second: A vowel, or a final consonant.
    /// - Returns: The syllable; nil if the two do not form one.
    /// - SeeAlso: The Unicode Standard, section 3.12.
    private static func syllable(_ first: UInt32, _ second: UInt32) -> UInt32? {
        switch (first, second) {
        case (0x1100...0x1112, 0x1161...0x1175): 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (first - 0xAC00) % 28 == 0: first + second - 0x11A7
        default: nil
        }
    }

    /// Returns the first scalar that is canonically equal to a text.
    private mutating func equal(to text: String) -> UInt32? {
        if scalars.isEmpty {
            for value in Array(0x20..<UInt32(Self.tableCount)) + Array(0x3040...0x30FF) {
                guard let scalar = Unicode.Scalar(value) else { continue }
                if scalars[String(scalar)] == nil { scalars[String(scalar)] = value }
            }
        }
        return scalars[text]
    }
}
