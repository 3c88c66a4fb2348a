// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct DisplayTextTests {
    @Test(arguments: [
        ("", ""), ("Grüße, 你好 🎉!", "Grüße, 你好 🎉!"), ("a\nb", "a\nb"), ("a\r\nb", "a\nb"), ("a\rb", "ab"),
        ("a\tb", "a b"),
        ("a\0b\u{7}c\u{1B}[1md", "abc[1md"), ("a\u{7F}b\u{80}c\u{9B}d\u{9F}e\u{A0}f", "abcde\u{A0}f"),
        ("a\u{202A}b\u{202E}c\u{2066}d\u{2069}e", "abcde"), ("a\u{2028}b\u{2029}c", "a\nb\nc"),
        ("\u{FDCF}\u{FDF0}\u{FFFD}", "\u{FDCF}\u{FDF0}\u{FFFD}"),
        ("\u{200E}שלום\u{200F}", "\u{200E}שלום\u{200F}"), ("e\u{301}", "e\u{301}"),
        ("👨\u{200D}👩\u{200D}👧", "👨\u{200D}👩\u{200D}👧"),
        ("<b>&\"'", "<b>&\"'"),
    ])
    func `plain text has no control characters and no direction overrides`(text: String, plain: String) {
        #expect(scalars(DisplayText.plain(text)) == scalars(plain))
    }

    @Test(arguments: [0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF] as [UInt32])
    func `a noncharacter is removed`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(DisplayText.plain("a\(scalar)b") == "ab")
        #expect(DisplayText.terminal("a\(scalar)b") == "ab")
    }

    @Test(arguments: [
        ("a & b", "a &amp; b"), ("<a href=\"x\">'", "&lt;a href=\"x\"&gt;'"), ("&amp;", "&amp;amp;"),
        ("<\u{202E}b\u{0}>", "&lt;b&gt;"), ("<\u{301}b>", "&lt;\u{301}b&gt;"), ("\u{FF1C}b", "\u{FF1C}b"),
        ("\u{1B}[1m\n", "[1m\n"),
    ])
    func `text in markup is escaped`(text: String, markup: String) {
        #expect(scalars(DisplayText.markup(text)) == scalars(markup))
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\tb\nc", "a\tb\nc"), ("a\u{1B}[31mb\u{1B}[0m", "ab"), ("a\u{1B}[38;5;196;?1 qb", "ab"),
        ("a\u{1B}]0;title\u{7}b", "ab"), ("a\u{1B}]8;;https://example.org\u{1B}\\b\u{1B}]8;;\u{1B}\\", "ab"),
        ("a\u{1B}]52;c;AAAA\u{9C}b", "ab"), ("a\u{1B}Pq#0\u{1B}\\b", "ab"),
        ("a\u{1B}_x\u{1B}\\b\u{1B}^y\u{1B}\\c\u{1B}Xz\u{1B}\\d", "abcd"),
        ("a\u{1B}cb", "ab"), ("a\u{1B}(Bb", "ab"), ("a\u{1B}#8b", "ab"), ("a\u{1B}7b", "ab"), ("a\u{1B} Fb", "ab"),
        ("a\u{9B}31mb", "ab"), ("a\u{9D}0;t\u{7}b", "ab"), ("a\u{90}q\u{9C}b", "ab"), ("a\u{85}b\u{8D}c", "abc"),
        ("a\u{1B}]unended", "a"), ("a\u{1B}[", "a"), ("a\u{1B}", "a"), ("a\u{1B}\u{1B}[1mb", "ab"),
        ("a\u{1B}[1\u{1B}[2mb", "ab"),
        ("a\u{1B}]x\u{18}b", "ab"), ("a\u{1B}[1\u{1A}b", "ab"), ("a\u{1B}éb", "aéb"), ("a\u{1B}[1éb", "aéb"),
        ("a\u{1B}[1\nb", "a\nb"),
        ("a\u{1B}(éb", "aéb"), ("a\u{1B}]0;é😀\u{7}b", "ab"), ("a\u{8}\u{7F}\rb", "ab"), ("a\u{202E}b", "ab"),
        ("\u{1B}\u{301}[31mb", "\u{301}[31mb"),
    ])
    func `text for a terminal contains no control sequences`(text: String, terminal: String) {
        #expect(scalars(DisplayText.terminal(text)) == scalars(terminal))
    }

    @Test(arguments: [
        ("abc", 4, "abc"), ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("abcde", 1, "…"), ("a", 1, "a"), ("", 0, ""),
        ("a\u{0}\u{0}\u{0}bcd", 4, "abcd"), ("ab\u{202E}c\nde", 4, "abc…"), ("e\u{301}e\u{301}", 3, "e\u{301}…"),
    ])
    func `a text over the limit ends in an ellipsis`(text: String, limit: Int, cut: String) {
        #expect(scalars(DisplayText.plain(text, scalarCountMax: limit)) == scalars(cut))
        #expect(scalars(DisplayText.markup(text, scalarCountMax: limit)) == scalars(cut))
        #expect(scalars(DisplayText.terminal(text, scalarCountMax: limit)) == scalars(cut))
    }

    @Test func `an entity is never cut in two`() {
        #expect(DisplayText.markup("<<<<", scalarCountMax: 3) == "&lt;&lt;…")
    }

    @Test(arguments: seeds)
    func `random text yields no control characters, no overrides and no markup`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "\u{1B}", "[", "]", "0", ";", "m", "\u{7}", "\\", "\u{9B}", "\u{9C}", "P", " ", "<", "&", "\u{202E}", "é",
            "\r\n", "\t",
        ]
        let text =
            (0..<40).map { _ in words.randomElement(using: &generator) ?? "" }.joined() + generator.text(countMax: 20)
        for output in [DisplayText.plain(text), DisplayText.markup(text), DisplayText.terminal(text)] {
            let isSafe = output.unicodeScalars.allSatisfy { scalar in
                scalar == "\n" || scalar == "\t"
                    || scalar.properties.generalCategory != .control && scalar != "\u{202E}"
            }
            #expect(isSafe)
        }
        #expect(!DisplayText.markup(text).contains("<"))
        #expect(!DisplayText.plain(text).unicodeScalars.contains("\t"))
        // Cleaning a safe text changes nothing.
        let safe = DisplayText.terminal(text)
        #expect(scalars(DisplayText.terminal(safe)) == scalars(safe))
    }

    /// Returns the scalars of a text, because `String` compares canonically equivalent texts as equal.
    private func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

    @Test(arguments: [
        String(repeating: "\u{1F468}\u{200D}", count: 500), "a" + String(repeating: "\u{0301}", count: 500),
        // A direction override between two marks does not split the character.
        "a" + String(repeating: "\u{0301}\u{202E}", count: 500), String(repeating: "\u{1100}", count: 500),
    ])
    func `one character has a maximum number of scalars, so that a line can be wrapped in it`(text: String) {
        let text = text + " b"
        for shown in [DisplayText.plain(text), DisplayText.markup(text), DisplayText.terminal(text)] {
            let longest = shown.map(\.unicodeScalars.count).max() ?? 0
            #expect(longest <= DisplayText.characterScalarCountMax && shown.hasSuffix(" b"), "\(longest)")
        }
    }

    @Test(arguments: [
        "\u{1F469}\u{1F3FD}\u{200D}\u{2764}\u{FE0F}\u{200D}\u{1F48B}\u{200D}\u{1F468}\u{1F3FF}",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", "क्ष्म्य", "한국어", "é̱̂",
    ])
    func `characters of real languages are within the limit`(text: String) { #expect(DisplayText.plain(text) == text) }
}
