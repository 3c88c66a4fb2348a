// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import PushCore
import PushDBus
import Testing

struct AppTextTests {
    @Test(arguments: [
        (true, true, "banner", "Badges, Sounds, Banners"), (true, false, "alert", "Badges, Alerts"),
        (false, true, "none", "Sounds"), (false, false, "none", "Off"), (false, false, "odd", "None"),
    ])
    func `an app's row lists the effects that are on`(badge: Bool, sound: Bool, style: String, text: String) {
        #expect(
            AppText.subtitle(
                SampleRecords.app(allowsBadge: badge, allowsSound: sound, style: style), now: .unixEpoch) == text)
    }

    @Test func `an app's row says until when the app is muted, and nothing of a mute that is over`() {
        var app = SampleRecords.app(allowsBadge: true, allowsSound: true, style: "banner")
        let now = Timestamp(unixSeconds: 1_795_300_715)
        app.mutedUntil = now.advanced(bySeconds: 3600)
        let clock = PanelTime.clock(now.advanced(bySeconds: 3600))
        #expect(AppText.subtitle(app, now: now) == "Muted until \(clock)")
        #expect(AppText.subtitle(app, now: now.advanced(bySeconds: 3600)) == "Badges, Sounds, Banners")
        app.mutedUntil = now.advanced(bySeconds: 2 * 86_400)
        #expect(AppText.subtitle(app, now: now) == "Muted until \(PanelTime.long(now.advanced(bySeconds: 2 * 86_400)))")
    }

    @Test func `an event type's row lists the effects that are on`() {
        #expect(AppText.subtitle(badge: true, sound: true, alert: true) == "Badges, Sounds, Alerts")
        #expect(AppText.subtitle(badge: false, sound: false, alert: false) == "Off")
    }

    @Test(arguments: [(0, "Mail"), (1, "Mail, 1 new item"), (1280, "Mail, 1280 new items")])
    func `an icon's accessible name is the app's name and its badge number`(badge: UInt32, name: String) {
        #expect(AppText.iconName(SampleRecords.app(badge: badge)) == name)
    }

    @Test func `an icon's badge has digits only, and is absent for zero and below`() {
        #expect(BadgeText.icon(0) == nil && BadgeText.icon(SampleRecords.badge(-1)) == nil)
        #expect(BadgeText.icon(100) == "100" && BadgeText.icon(4_294_967_295) == "4294967295")
    }

    @Test func `an icon's badge is at most 4294967295, and long ones are shown smaller`() {
        #expect(BadgeText.icon(SampleRecords.badge(.max)) == "4294967295")
        #expect(!BadgeText.isLong("99999999", textScale: 1) && BadgeText.isLong("999999999", textScale: 1))
        #expect(!BadgeText.isLong("9999", textScale: 2) && BadgeText.isLong("99999", textScale: 2))
    }

    @Test func `a tab's badge has digits, or an ellipsis while the count is unknown`() {
        #expect(BadgeText.tab(nil) == "…" && BadgeText.tab(0) == nil && BadgeText.tab(1000) == "1000")
    }

    @Test func `the sound choices are No Sound, As Sent, the built-in sounds and the app's own`() {
        let sounds = [("postman", "app"), ("door-bell", "built-in")].map { name, origin in
            SoundRecord(.dictionary([("name", .string(name)), ("origin", .string(origin))]))
        }
        let choices = SoundText.choices(sounds)
        #expect(choices.map(\.value) == ["none", "as-sent", "door-bell", "postman"])
        #expect(choices.map(\.title) == ["No Sound", "As Sent", "Door Bell", "Postman"])
        #expect(SoundText.title("glass_two") == "Glass Two" && SoundText.title("../x") == "../x")
    }

    @Test func `apps keep their places on the screen, and new apps follow them`() {
        let apps = ["Aardvark", "Chat", "Mail", "News"].map { SampleRecords.app("id.\($0)", name: $0) }
        func names(_ shown: [String]) -> [String] { AppOrder.keeping(apps, asShown: shown).map(\.name) }
        #expect(names([]) == ["Aardvark", "Chat", "Mail", "News"])
        #expect(names(["id.Mail", "id.Chat"]) == ["Mail", "Chat", "Aardvark", "News"])
        #expect(names(["id.News", "id.Gone", "id.Chat"]) == ["News", "Chat", "Aardvark", "Mail"])
    }

    @Test(arguments: [
        (0, 400, 400, 1), (12, 400, 400, 1), (13, 400, 400, 2), (120, 400, 400, 10), (121, 400, 400, 11), (5, 1, 1, 5),
    ])
    func `icons fill as many pages as they need, up to ten`(count: Int, width: Int, height: Int, pages: Int) {
        let plan = GridPlan(count: count, width: width, height: height)
        #expect(plan.pages == pages && plan.scrolls == (pages > 10))
        let places = (0..<count).map { plan.place($0) }
        #expect(places.allSatisfy { $0.column < plan.columns && (plan.scrolls || $0.row < plan.rows) })
        #expect(Set(places.map { "\($0)" }).count == count)
    }

    @Test(arguments: [
        "Locked", "Unreachable", "BadEnrolmentCode", "BadServer", "NotTrusted", "AlreadyEnrolled", "NotEnrolled",
        "UnknownApp", "UnknownEntry", "LimitsExceeded", "DeviceRemoved", "BadFile", "Refused", "AppNotInstalled",
        "AppDamaged", "NeedsTerminal", "NotOpened", "SomethingNew",
    ])
    func `each error text says what happened and what to do`(error: String) {
        let text = ProblemText.text(BusError(name: "org.posthorn.Error.\(error)", message: ""))
        #expect(text.split(separator: ". ").count == 2 && text.hasSuffix("."))
    }

    @Test func `an agent that does not answer has an error text`() {
        let error = BusError(name: BusError.noReplyName, message: "")
        #expect(ProblemText.text(error).hasPrefix("The notification service"))
    }

    @Test(arguments: AgentErrorCode.allCases) func `each error of the agent has a text`(code: AgentErrorCode) {
        let text = ProblemText.text(BusError(name: code.busName, message: ""))
        #expect(text.hasSuffix(".") && !text.hasPrefix("The notification service does"))
    }

    @Test(arguments: [
        (AgentErrorCode.notTrusted, true, "The code does not match this server. "),
        (.notTrusted, false, "The identity of this server cannot be verified. "),
        (.badEnrolmentCode, true, "The code is wrong, has expired or was already used. "),
        (.badEnrolmentCode, false, "This server requires a code. "),
        (.unreachable, true, "The server cannot be reached. "),
        (.badServer, false, "This is not the address of a server. "),
        (.alreadyEnrolled, true, "This computer is already paired with a server. "),
    ])
    func `a failed pairing says what is wrong with the code, the address or the server`(
        code: AgentErrorCode, hasCode: Bool, start: String
    ) {
        let text = ProblemText.pairing(BusError(name: code.busName, message: "raw"), hasCode: hasCode)
        #expect(text.hasPrefix(start) && text.hasSuffix(".") && text.count > start.count)
    }

    @Test(arguments: [
        (AgentErrorCode.invalidArguments, "The code is incomplete. Enter all six groups of four characters."),
        (
            .notTrusted,
            "This is not the code of this server. Check it with the administrator before you trust the server."
        ),
        (.unreachable, "The server cannot be reached. Check the address and the network, then try again."),
    ])
    func `a refused trust says what is wrong with the code or the server`(code: AgentErrorCode, sentence: String) {
        #expect(ProblemText.trusting(BusError(name: code.busName, message: "raw")) == sentence)
    }

    @Test func `too many calls have the same text from the bus as from the agent`() {
        let texts = [AgentErrorCode.limitsExceeded.busName, BusError.limitsExceededName].map { name in
            ProblemText.text(BusError(name: name, message: ""))
        }
        #expect(texts[0].hasPrefix("There were too many requests") && texts[0] == texts[1])
    }
}
