// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import Testing

struct AlertTextTests {
    @Test func `title and subtitle are a line each, and the body has its own`() {
        var alert = SampleRecords.alert(body: "One.\nTwo.")
        (alert.title, alert.subtitle) = ("Lunch\n\nat noon", "\n")
        let text = AlertText(alert)
        #expect(text.title == "Lunch  at noon" && text.subtitle == "" && text.body == "One.\nTwo.")
        #expect(text.spoken == "Lunch  at noon\nOne.\nTwo.")
    }

    @Test func `a name that the app gave itself is marked with the app's ID, also for screen readers`() {
        var alert = SampleRecords.alert()
        #expect(AlertText(alert).mark.isEmpty)
        alert.isVerified = false
        #expect(AlertText(alert).mark == "unverified: org.example.Mail")
        #expect(AlertText(alert).spoken == "unverified: org.example.Mail\nLunch\nAt noon.")
    }

    @Test(arguments: ["", "\n\n\n\n", " \u{200B}"]) func `an alert without text shows a placeholder`(nothing: String) {
        var alert = SampleRecords.alert(body: nothing)
        (alert.title, alert.subtitle) = (nothing, nothing)
        #expect(AlertText(alert).body == "No text" && AlertText(alert).title == "" && AlertText(alert).subtitle == "")
        #expect(
            EntryText(SampleRecords.entry(1, title: nothing, body: nothing, effects: ["alert"])).headline == "No text")
    }
}
