// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushCore
import PushDBus
import Testing

@testable import AgentPanel

struct RecordDisplayTests {
    @Test func `an app is read with its event types`() {
        let app = SampleRecords.app(badge: 3)
        #expect(
            app.appID == "org.example.Mail" && app.appTitle == "Mail" && app.icon == "mail-unread" && app.badge == 3)
        #expect(app.eventTypes.map(\.id) == ["message"] && app.eventTypes.map(\.name) == ["Messages"])
    }

    @Test func `values that an older agent does not send read as empty`() {
        let nothing = BusValue.dictionary([])
        #expect(AppRecord(nothing).eventTypes == [] && AppRecord(nothing).icon == "")
        #expect(AlertRecord(nothing).actions == [] && AlertRecord(nothing).earlierCount == 0)
        #expect(StatusRecord(nothing).isEnrolled == false)
        #expect(InboxRecord(.string("no dictionary")).entry == 0)
        #expect(SettingRecord(nothing).isLocked == false && SoundRecord(nothing).isOfApp == false)
    }

    @Test func `an app without a name shows its ID`() {
        #expect(SampleRecords.app(name: "").appTitle == "org.example.Mail")
        #expect(SampleRecords.entry(1, name: "").appTitle == "org.example.Mail")
        var alert = SampleRecords.alert()
        alert.appName = ""
        #expect(alert.appTitle == "org.example.Mail")
    }

    @Test func `a status has a connection time only when the agent sent one that applies`() {
        let connected = StatusRecord(
            .dictionary([("enrolled", .bool(true)), ("connected", .bool(true)), ("connected_since", .int64(5))]))
        #expect(connected.connectionStart?.unixSeconds == 5 && connected.lastConnectedAt == nil)
        let lost = StatusRecord(.dictionary([("connected_since", .int64(5)), ("last_connected", .int64(7))]))
        #expect(lost.connectionStart == nil && lost.lastConnectedAt?.unixSeconds == 7)
    }

    @Test func `apps are sorted by name without regard to case`() {
        let apps = [("b", "mail"), ("a", "Mail"), ("c", "Chat")].map { SampleRecords.app($0.0, name: $0.1) }
        #expect(apps.sorted(by: AppOrder.precedes).map(\.appID) == ["c", "a", "b"])
    }

    @Test func `an entry keeps its payload only if it has no text`() {
        let payload = #"{"aps":{"badge":3}}"#
        let badge = SampleRecords.entry(1, title: "", body: "", payload: payload)
        #expect(badge.withoutUnusedPayload == badge && badge.badge == 3)
        for (title, body) in [("Lunch", ""), ("", "At noon.")] {
            let entry = SampleRecords.entry(1, title: title, body: body, payload: payload)
            #expect(entry.withoutUnusedPayload.payload == "" && entry.badge == nil)
        }
    }
}
