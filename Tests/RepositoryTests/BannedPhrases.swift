// SPDX-License-Identifier: Apache-2.0

/// Phrases that read like a literal translation, and have an ordinary word in the field's language.
enum BannedPhrases {
    private static let phrases = [
        "anew", "for ever", "in vain", "so many", "whoever", "who asks", "somebody", "of the person", "the person's",
        "what became of", "told of", "tells of", "told as", "goes on", "lends", "gives back", "not to be believed",
        "makes no sense", "make no sense", "comes true", "come true", "by itself", "that is none", "nobody's",
        "is no good",
    ]
    /// The words of each phrase, by its first word.
    private static let byFirstWord = Dictionary(
        grouping: phrases.map { $0.split(separator: " ") }, by: { $0.first ?? "" })

    /// Finds a banned phrase, in any case and as whole words; `What ...` stands for a sentence with that subject.
    ///
    /// - Parameter text: A comment, a name or a paragraph.
    /// - Returns: The phrase, or nil.
    static func first(in text: some StringProtocol) -> String? {
        let words = text.lowercased().split { !$0.isLetter && $0 != "'" && $0 != "-" }
        for (index, word) in words.enumerated() {
            for phrase in byFirstWord[word] ?? [] where words[index...].starts(with: phrase) {
                return phrase.joined(separator: " ")
            }
        }
        return hasWhatAsSubject(text) ? "What ..." : nil
    }

    /// Returns whether a sentence begins with *What* and is neither a question nor a heading.
    private static func hasWhatAsSubject(_ text: some StringProtocol) -> Bool {
        guard text.contains("What ") else { return false }
        return text.split(separator: ".").contains { sentence in
            sentence.drop { $0 == " " }.hasPrefix("What ") && !sentence.contains("?")
                && sentence.split(separator: " ").count > 4
        }
    }
}
