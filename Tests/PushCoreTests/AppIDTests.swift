// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

struct AppIDTests {
    private static let composed = "org.example.Caf\u{E9}"
    private static let decomposed = "org.example.Cafe\u{301}"

    @Test func `app IDs with the same bytes are equal`() {
        let (one, other) = (AppID("org.example.Mail"), AppID(["org", "example", "Mail"].joined(separator: ".")))
        #expect(one == other && one.hashValue == other.hashValue && one == "org.example.Mail")
        #expect(one != "org.example.mail" && one != "org.example.Mail2" && one != "")
    }

    @Test func `app IDs that differ only in the encoding of an accent are different`() {
        #expect(Self.composed == Self.decomposed)
        #expect(AppID(Self.composed) != AppID(Self.decomposed))
        #expect(Set([AppID(Self.composed), AppID(Self.decomposed)]).count == 2)
        let badges = [AppID(Self.composed): 1, AppID(Self.decomposed): 2]
        #expect(badges[AppID(Self.composed)] == 1 && badges[AppID(Self.decomposed)] == 2)
    }

    @Test func `app IDs are ordered by their bytes`() {
        let sorted = ["", "B", "a", "a-b", "a.b", "ab", Self.decomposed, Self.composed, "\u{FB01}", "\u{1F514}"]
        #expect(
            sorted.map { AppID($0) }.shuffled().sorted().map(\.text).map { Array($0.utf8) }
                == sorted.map { Array($0.utf8) })
        #expect(!(AppID("a") < "a"))
    }

    @Test func `the empty text stands for all apps`() {
        #expect(AppID(nilIfEmpty: "") == nil)
        #expect(AppID(nilIfEmpty: "a") == AppID("a"))
    }

    @Test func `an app ID describes itself by its text`() {
        #expect("\(AppID("org.example.Mail")).desktop" == "org.example.Mail.desktop")
    }
}
