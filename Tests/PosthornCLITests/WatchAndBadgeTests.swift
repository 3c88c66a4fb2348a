// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
@testable import PosthornCLI
internal import PushDBus
internal import Testing

struct WatchAndBadgeTests {
    private func app(_ id: String, _ name: String, badge: Int64) -> AppRecord {
        AppRecord(.dictionary([("app_id", .string(id)), ("name", .string(name)), ("badge", .int64(badge))]))
    }

    @Test func `a status bar gets the sum in its own format`() {
        let evil = "Mail & <Co>\u{1B}[31m"
        let apps = [app("a.b", evil, badge: 3), app("c.d", "Chat", badge: 0), app("e.f", "E", badge: 4)]
        #expect(BadgeCommand.line(apps, .plain) == "7")
        #expect(BadgeCommand.line(apps, .polybar) == "7")
        #expect(BadgeCommand.line(apps, .json) == #"{"apps":{"a.b":3,"c.d":0,"e.f":4},"count":7}"#)
        #expect(
            BadgeCommand.line(apps, .waybar)
                == #"{"class":"unread","text":"7","tooltip":"Mail &amp; &lt;Co&gt;: 3\nE: 4"}"#)
    }

    @Test(arguments: [(true, "none"), (false, "offline")])
    func `a zero or unknown count shows no text, and the class says why`(isThere: Bool, name: String) {
        let apps = isThere ? [app("a.b", "Mail", badge: 0)] : nil
        #expect(BadgeCommand.line(apps, .waybar) == #"{"class":"\#(name)","text":"","tooltip":""}"#)
        #expect(BadgeCommand.line(apps, .polybar) == "")
        #expect(BadgeCommand.line(apps, .plain) == (isThere ? "0" : ""))
        #expect(BadgeCommand.line(apps, .json) == (isThere ? #"{"apps":{"a.b":0},"count":0}"# : "null"))
    }

    @Test func `a watched notification is one line without control characters`() {
        let evil = "one\r\n\u{1B}]0;x\u{7}two\u{202E}\u{9B}31m\u{2028}three"
        let entry = InboxRecord(
            .dictionary([
                ("app_name", .string(evil)), ("title", .string(evil)), ("body", .string(evil)),
                ("state", .string("suppressed")), ("reason", .string(evil)), ("received_at", .int64(0)),
            ]))
        for asJSON in [false, true] {
            let line = WatchCommand.line(for: entry, asJSON: asJSON)
            #expect(
                line.unicodeScalars.allSatisfy { scalar in
                    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                        && !(0x2028...0x202E).contains(scalar.value)
                })
        }
        #expect(WatchCommand.line(for: entry, asJSON: false).contains("(not shown: "))
    }

    @Test(
        arguments: [
            (["badge"], #"{"aps":{"badge":3}}"#, "badge 3"), (["badge:event-off", "sound"], "{}", "badge, sound"),
            ([], "", ""),
        ] as [([String], String, String)])
    func `a notification without text is described by its effects`(effects: [String], payload: String, said: String) {
        let entry = InboxRecord(
            .dictionary([
                ("app_id", .string("a.b")), ("payload", .string(payload)), ("effects", .strings(effects)),
                ("state", .string("shown")),
            ]))
        #expect(WatchCommand.line(for: entry, asJSON: false).hasSuffix("  [a.b]\(said.isEmpty ? "" : "  ")\(said)"))
        #expect(InboxCommands.report(of: [entry]).text.hasSuffix("shown, new  \(said)") || said.isEmpty)
    }

    @Test func `a notification with text is not described by its effects`() {
        let entry = InboxRecord(
            .dictionary([
                ("app_id", .string("a.b")), ("title", .string("T")), ("body", .string("B")),
                ("state", .string("waiting")),
            ]))
        #expect(WatchCommand.line(for: entry, asJSON: false).hasSuffix("  [a.b]  T  B"))
    }
}
