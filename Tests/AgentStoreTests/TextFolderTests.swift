// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AgentStore

struct TextFolderTests {
    @Test func `a letter folds to the same text composed, decomposed and in lower case`() {
        var folder = TextFolder()
        let values = Array(0x20...0x1FFF as ClosedRange<UInt32>) + Array(0x3040...0x30FF) + Array(0xAC00...0xACFF)
        // The left-out scalar is two marks without a letter, which no search contains.
        for scalar in values.compactMap(Unicode.Scalar.init) where scalar.value != 0x344 {
            let text = "a\(String(scalar))b"
            let folded = folder.folded(text)
            #expect(folder.folded(text.decomposedStringWithCanonicalMapping) == folded, "\(scalar.value)")
            #expect(folder.folded(text.precomposedStringWithCanonicalMapping) == folded, "\(scalar.value)")
            #expect(folder.folded(text.lowercased()) == folded, "\(scalar.value)")
        }
    }

    @Test(
        arguments: [
            [0xC3], [0xE2, 0x82], [0x80], [0xFF, 0x41], [0xC3, 0x41], [0xF4, 0x90, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xCC, 0x81],
        ] as [[UInt8]])
    func `bytes that are not text do not crash`(bytes: [UInt8]) {
        var folder = TextFolder()
        var output: [UInt32] = []
        folder.fold(bytes.span, into: &output)
        folder.fold((bytes + bytes).span, into: &output)
        #expect(!output.isEmpty)
    }

    @Test(arguments: [
        ("", "", true), ("", "a", true), ("a", "", false), ("ab", "ab", true), ("ab", "aab", true),
        ("abc", "ab", false),
        ("b", "ab", true), ("aab", "aaab", true), ("ba", "ab", false),
    ])
    func `a word is found at any position`(word: String, text: String, isThere: Bool) {
        var folder = TextFolder()
        #expect(TextFolder.contains(folder.folded(word), in: folder.folded(text)) == isThere)
    }
}
