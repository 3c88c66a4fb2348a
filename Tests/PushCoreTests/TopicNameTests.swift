// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import PushCore
import Testing

struct TopicNameTests {
    private static let composed = "com.example.Caf\u{E9}"
    private static let decomposed = "com.example.Cafe\u{301}"

    @Test func `topic names with the same bytes are equal`() {
        let (one, other) = (
            TopicName("com.example.Mail"), TopicName(["com", "example", "Mail"].joined(separator: "."))
        )
        #expect(one == other && one.hashValue == other.hashValue && one == "com.example.Mail")
        #expect(one != "com.example.mail" && one != "com.example.Mail2" && one != "com.example.Mail.voip" && one != "")
    }

    @Test func `topic names that differ only in the encoding of an accent are different`() {
        #expect(Self.composed == Self.decomposed)
        #expect(TopicName(Self.composed) != TopicName(Self.decomposed))
        #expect(Set([TopicName(Self.composed), TopicName(Self.decomposed)]).count == 2)
    }

    @Test func `topic names are ordered by their bytes`() {
        let sorted = ["", "B", "a", "a-b", "a.b", "ab", Self.decomposed, Self.composed, "\u{FB01}", "\u{1F514}"]
        #expect(
            sorted.map { TopicName($0) }.shuffled().sorted().map { Array($0.text.utf8) }
                == sorted.map { Array($0.utf8) })
        #expect(!(TopicName("a") < "a"))
    }

    @Test func `the empty text stands for all apps`() {
        #expect(TopicName(nilIfEmpty: "") == nil)
        #expect(TopicName(nilIfEmpty: "a") == TopicName("a"))
    }

    @Test func `a topic name describes itself by its text`() {
        #expect("/v1/apps/\(TopicName("com.example.Mail"))" == "/v1/apps/com.example.Mail")
    }

    @Test func `JSON has a topic name as a string`() throws {
        let names: [TopicName] = ["com.example.Mail", "", "a\"b"]
        let json = try JSONEncoder().encode(names)
        #expect(String(decoding: json, as: UTF8.self) == #"["com.example.Mail","","a\"b"]"#)
        #expect(try JSONDecoder().decode([TopicName].self, from: json) == names)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([TopicName].self, from: Data("[1]".utf8)) }
    }

    @Test(arguments: [
        ("a", true), ("com.example.MyApp", true), ("com.example.my-app_2.voip-ptt", true), ("", false),
        ("com example!", false),
        ("com.example/x", false), ("com.exämple", false), ("a\0", false), ("a\n", false), ("*", false), ("a@b", false),
        ("[", false), ("`", false), ("{", false), (":", false),
    ])
    func `a topic has letters, digits, dots, hyphens and underscores`(text: String, isValid: Bool) {
        #expect(TopicName.isValid(Array(text.utf8).span) == isValid && TopicName(text).isValid == isValid)
    }

    @Test(arguments: [(0, false), (1, true), (254, true), (255, true), (256, false)])
    func `a topic has at most 255 bytes`(count: Int, isValid: Bool) {
        #expect(TopicName(String(repeating: "a", count: count)).isValid == isValid)
    }
}
