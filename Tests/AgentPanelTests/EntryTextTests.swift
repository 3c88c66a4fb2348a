// SPDX-License-Identifier: Apache-2.0

import AgentBus
import Testing

@testable import AgentPanel

struct EntryTextTests {
    @Test func `title and body take one line each`() {
        let text = EntryText(SampleRecords.entry(1, title: "Lunch\non Friday", body: " At\tnoon.\n\nBring  all. "))
        #expect(text.headline == "Lunch on Friday" && text.detail == "At noon. Bring all.")
        #expect(text.title == "Lunch on Friday" && text.body == " At\tnoon.\n\nBring  all. ", "an expanded row")
    }

    @Test func `without a title the body is the first line`() {
        let text = EntryText(SampleRecords.entry(1, title: "", body: "At noon."))
        #expect(text.headline == "At noon." && text.detail == "")
        #expect(text.title == "At noon." && text.body == "")
        #expect(EntryText(SampleRecords.entry(1, title: "", body: "\n", effects: ["alert"])).headline == "No text")
    }

    @Test(arguments: [
        (["badge"], "3", "Badge: 3"), (["badge"], "0", "Badge removed"), (["badge:bad-badge"], #""x""#, "Badge"),
        (["badge:switched-off", "sound"], "12", "Badge: 12, Sound"), (["sound:silent"], "1", "Sound"),
        (["badge", "alert"], "1", "No text"), ([], "1", "No text"),
    ])
    func `a notification without text is named by its effects`(effects: [String], badge: String, words: String) {
        let entry = SampleRecords.entry(
            1, title: "", body: "", payload: #"{"aps":{"badge":\#(badge)}}"#, effects: effects)
        #expect(EntryText(entry).headline == words)
    }

    @Test(arguments: [
        ("shown", "", "Shown"), ("viewed", "", "Viewed"), ("closed", "", "Closed"), ("waiting", "", "Waiting"),
        ("claimed", "", "Waiting"), ("suppressed", "", "Not shown"),
        ("suppressed", "master-off", "Not shown: All notifications were turned off."),
        ("suppressed", "something-new", "Not shown: something-new"),
        ("viewed", "something-new", "something-new"),
        ("viewed", "app-not-installed: /usr/bin/x", "The app is not installed. Install it, then try again."),
        ("closed", "app-not-started: Archive: x: y", "Closed"), ("odd", "", "odd"),
    ])
    func `an entry's outcome names its state and the reason`(state: String, reason: String, words: String) {
        #expect(EntryText(SampleRecords.entry(1, state: state, reason: reason)).outcome == words)
    }

    @Test func `an entry whose alert was suppressed counts as not shown, even if its badge is`() {
        var entry = SampleRecords.entry(1, state: "shown", reason: "")
        entry.effects = ["badge", "sound:do-not-disturb", "alert:do-not-disturb"]
        #expect(entry.reasonNotShown == "do-not-disturb" && InboxFilter.notShown.takes(entry))
        #expect(EntryText(entry).outcome == "Not shown: Do Not Disturb was on.")
        for effects in [["badge"], ["badge", "alert"], ["sound:silent", "alert"]] {
            entry.effects = effects
            #expect(EntryText(entry).outcome == "Shown" && !InboxFilter.notShown.takes(entry))
        }
    }

    @Test(arguments: [
        "master-off", "switched-off", "event-off", "do-not-disturb", "silent", "muted", "recording", "passive",
        "unknown-app", "nothing-to-show", "expired", "duplicate", "replaced", "too-many", "cleared", "unreadable",
        "unsubscribed", "filtered", "bad-badge", "unavailable",
    ])
    func `each reason has a sentence of its own`(reason: String) {
        let sentence = ReasonText.sentence(reason)
        #expect(sentence != reason && sentence.hasSuffix(".") && sentence.first?.isUppercase == true)
    }

    @Test(arguments: [
        ("badge", "Badge"), ("sound", "Sound"), ("alert", "Alert"), ("sound:silent", "Sound: Sounds were silenced."),
        ("light", "light"), ("", ""),
    ])
    func `an effect's text names the effect and why it was suppressed`(effect: String, words: String) {
        #expect(ReasonText.effect(effect) == words)
    }
}
