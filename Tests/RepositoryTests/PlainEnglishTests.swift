// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The rules for English that a machine can check, in comments, test names, texts of the programs and documents.
struct PlainEnglishTests {
    /// Words that open a fragment: the comment makes sense only together with the declaration below it.
    private static let fragmentOpenings: Set<Substring> = [
        "What", "Who", "Whose", "Whom", "Which", "Of", "For", "By", "Until", "Where", "Nobody", "It",
    ]

    private static let sentenceWordCountMax = 35

    @Test func `no doc comment opens with a fragment`() {
        let fragments = Self.docComments.filter { Self.fragmentOpenings.contains($0.text.prefix { $0.isLetter }) }
        #expect(fragments.map(\.place) == [], "open with a verb or a noun phrase that stands alone")
    }

    @Test func `a doc comment has more than two words`() {
        let short = Self.docComments.filter { $0.text.split(separator: " ").count <= 2 }
        #expect(short.map(\.place) == [], "say more, or delete the comment")
    }

    @Test func `no initializer is said to join its parts`() {
        #expect(Self.docComments.filter { $0.text.hasPrefix("Joins ") }.map(\.place) == [], "delete the comment")
    }

    @Test func `no text has a banned phrase`() {
        let texts = Self.docComments + Self.lineTexts + Self.documentTexts
        let found = texts.compactMap { text in
            BannedPhrases.first(in: text.text).map { "\(text.place) has '\($0)'" }
        }
        #expect(found == [], "use the field's ordinary word")
    }

    @Test func `no sentence of a document is longer than 35 words`() {
        let long = Self.documentTexts.filter { text in
            text.text.split(separator: #/[.!?:;][*_)"]*\s+/#)
                .contains { $0.split(separator: " ").count > Self.sentenceWordCountMax }
        }
        #expect(long.map(\.place) == [], "one fact per sentence")
    }

    @Test(arguments: [
        ("Takes the texts anew.", "anew"), ("It goes on by itself", "goes on"), ("Sends it again", nil),
        ("What it does is good.", "What ..."), ("Say what it does.", nil), ("the goods on sale", nil),
        ("Tells whoever asks", "whoever"),
    ])
    func `a banned phrase is found as whole words`(text: String, phrase: String?) {
        #expect(BannedPhrases.first(in: text) == phrase)
    }

    // MARK: Reading

    private struct Text {
        let place: String
        let text: String
    }

    /// The doc comments of all Swift files, each as one line.
    private static let docComments = RepositoryFiles.swift.flatMap { file in
        var found: [Text] = []
        var comment: (text: String, line: Int)?
        for (index, line) in file.lines.enumerated() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("///") {
                let words = text.dropFirst(3).drop { $0 == " " }
                comment = comment.map { ("\($0.text) \(words)", $0.line) } ?? (String(words), index + 1)
            } else if let ended = comment {
                found.append(Text(place: "\(file.path):\(ended.line): \(ended.text)", text: ended.text))
                comment = nil
            }
        }
        return found
    }

    /// Comments inside functions, test names, and string literals with several words of the programs.
    private static let lineTexts = RepositoryFiles.swift.flatMap { file in
        // This file has the phrases as samples.
        guard !file.path.hasSuffix("/PlainEnglishTests.swift"), !file.path.hasSuffix("/BannedPhrases.swift") else {
            return [Text]()
        }
        return file.lines.enumerated().flatMap { index, line in
            texts(of: line, hasStrings: file.module != nil)
                .map { Text(place: "\(file.path):\(index + 1): \($0)", text: String($0)) }
        }
    }

    private static func texts(of line: Substring, hasStrings: Bool) -> [Substring] {
        let text = line.drop { $0 == " " }
        if text.hasPrefix("///") { return [] }
        if text.hasPrefix("//") { return [text.dropFirst(2)] }
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        if parts.count == 3, parts[0].hasSuffix("func ") { return [parts[1]] }
        guard hasStrings else { return [] }
        return text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.contains(" ") }.map(\.element)
    }

    /// The paragraphs, list items and table cells of all documents, without code.
    private static let documentTexts = RepositoryFiles.withEnding("md").flatMap { file in
        var found: [Text] = []
        var (isInCode, paragraph, start) = (false, "", 1)
        func end() {
            let text = paragraph.replacing(#/`[^`]*`/#, with: "x").replacing(#/\]\([^)]*\)/#, with: "]")
            if !text.isEmpty {
                found.append(Text(place: "\(file.path):\(start): \(paragraph.prefix(200))", text: text))
            }
            paragraph = ""
        }
        for (index, line) in file.lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            let isFence = text.hasPrefix("```")
            if isFence { isInCode.toggle() }
            let isItem = text.prefixMatch(of: #/(?:[-*]|[0-9]+\.) /#) != nil
            if isFence || isInCode || text.isEmpty || text.hasPrefix("#") || text.hasPrefix("|") || isItem { end() }
            if isFence || isInCode || text.hasPrefix("#") { continue }
            if paragraph.isEmpty { start = index + 1 }
            guard text.hasPrefix("|") else {
                paragraph += paragraph.isEmpty ? text : " " + text
                continue
            }
            for cell in text.split(separator: "|") {
                paragraph = cell.trimmingCharacters(in: .whitespaces)
                end()
            }
        }
        end()
        return found
    }
}
