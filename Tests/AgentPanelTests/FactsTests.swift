// SPDX-License-Identifier: Apache-2.0

import AgentPanel
import PushDBus
import Testing

struct FactsTests {
    @Test func `an app is read with its event types`() {
        let app = SampleFacts.app(badge: 3)
        #expect(app.id == "org.example.Mail" && app.name == "Mail" && app.icon == "mail-unread" && app.badge == 3)
        #expect(app.eventTypes == [AppFacts.EventType(id: "message", name: "Messages")])
    }

    @Test func `values that an older agent does not send read as empty`() {
        let nothing = BusValue.dictionary([])
        #expect(AppFacts(nothing).eventTypes == [] && AppFacts(nothing).icon == "")
        #expect(AlertFacts(nothing).actions == [] && AlertFacts(nothing).earlierCount == 0)
        #expect(StatusFacts(nothing).isEnrolled == false)
        #expect(EntryFacts(.string("no dictionary")).entry == 0)
        #expect(SettingFacts(nothing).isLocked == false && SoundFacts(nothing).isOfApp == false)
    }

    @Test func `an app without a name shows its id`() {
        #expect(SampleFacts.app(name: "").name == "org.example.Mail")
        #expect(SampleFacts.entry(1, name: "").appName == "org.example.Mail")
    }

    @Test func `a status has a connection time only when the agent sent one that applies`() {
        let connected = StatusFacts(
            .dictionary([("enrolled", .bool(true)), ("connected", .bool(true)), ("connected_since", .int64(5))]))
        #expect(connected.server.connectedSinceUnixSeconds == 5 && connected.server.lastConnectedUnixSeconds == nil)
        let lost = StatusFacts(.dictionary([("connected_since", .int64(5)), ("last_connected", .int64(7))]))
        #expect(lost.server.connectedSinceUnixSeconds == nil && lost.server.lastConnectedUnixSeconds == 7)
    }

    @Test func `apps are sorted by name without regard to case`() {
        let apps = [("b", "mail"), ("a", "Mail"), ("c", "Chat")].map { SampleFacts.app($0.0, name: $0.1) }
        #expect(apps.sorted(by: AppOrder.precedes).map(\.id) == ["c", "a", "b"])
    }
}
