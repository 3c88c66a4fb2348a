// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
internal import Testing

struct SpellingTests {
    @Test(arguments: [
        ("org.example.Mial", "org.example.Mail"), ("org.example.mial", "org.example.Mail"),
        ("org.exmaple.Mail", "org.example.Mail"), ("org.example.Mai", "org.example.Mail"),
        ("regsiter", "register"), ("lis", "listen"), ("LISTEN", "listen"), ("pending_per_topc", "pending_per_topic"),
    ])
    func `a word with a typing mistake has a suggestion`(word: String, meant: String) {
        let candidates = ["org.example.Mail", "org.example.Chat", "register", "listen", "pending_per_topic"]
        #expect(Spelling.closest(to: word, among: candidates) == meant)
    }

    @Test(arguments: ["org.example.Nope", "org.example.Male2", "com.example.News", "", "lips"])
    func `a word that only shares components or a few letters has none`(word: String) {
        let candidates = ["org.example.Mail", "org.example.Chat", "register", "listen"]
        #expect(Spelling.closest(to: word, among: candidates) == nil)
    }

    @Test func `the closest candidate wins, and the first one of equal distance`() {
        #expect(Spelling.closest(to: "send", among: ["sent", "sends", "seed"]) == "sent")
        #expect(Spelling.closest(to: "register", among: ["registry", "registar"]) == "registar")
        #expect(Spelling.closest(to: "fihs", among: ["zihs", "fish"]) == "fish")
        #expect(Spelling.closest(to: "get", among: ["set"]) == nil)
        #expect(Spelling.closest(to: "ste", among: ["set"]) == "set")
    }
}
