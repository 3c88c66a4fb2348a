// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import Testing

@Suite struct ReceiverTests {
    private func database(_ file: DatabaseFile, switches: AppSwitches = .all) throws -> AgentDatabase {
        let database = try file.open()
        try database.apps.save(Sample.app)
        try switches.choose(for: Sample.app.appID, in: database)
        return database
    }

    @Test func `a notification is written and acknowledged in one step`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let payload = #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":4},"own":[1,2]}"#
        let arrival = Arrival.notification(Sample.notification(7, payload: payload))
        let reception = try Receiver(database).receive([arrival], now: Timestamp(unixMilliseconds: 5000))
        #expect(reception == ReceptionResult(waiting: [1], arrived: [1], badges: ["org.example.Mail": 4], newCount: 1))
        let entry = try #require(try database.inbox.entry(1))
        #expect(entry.state == .waiting && entry.sequence == 7 && entry.appID == "org.example.Mail")
        #expect([entry.title, entry.subtitle, entry.body] == ["T", "S", "B"])
        #expect(entry.payload == Array(payload.utf8))
        #expect(entry.receivedAt.unixMilliseconds == 5000 && entry.acceptedAt.unixMilliseconds == 1000)
        #expect(try database.outboxLines() == ["7 delivered"])
    }

    @Test func `a repeated notification is acknowledged again and has no other effect`() throws {
        let file = try DatabaseFile()
        let arrivals: [Arrival] = [
            .notification(Sample.notification(7, payload: #"{"aps":{"alert":"x","badge":4}}"#))
        ]
        do {
            let database = try database(file)
            _ = try Receiver(database).receive(arrivals, now: .unixEpoch)
            #expect(
                try database.apps.setBadge(
                    9, of: "org.example.Mail", sequence: 8, acceptedAt: Timestamp(unixMilliseconds: 1)))
            #expect(try database.inbox.removeAll(appID: nil) == [1])
        }
        // The repetition arrives after a restart, and after the user cleared the inbox.
        let database = try file.open()
        let reception = try Receiver(database).receive(arrivals + arrivals, now: .unixEpoch)
        #expect(reception == ReceptionResult(repeatedCount: 2))
        #expect(try database.inbox.newest(countMax: 10).isEmpty)
        #expect(try database.apps.app(id: "org.example.Mail")?.badge == 9)
        #expect(try database.outboxLines() == ["7 delivered", "7 delivered", "7 delivered"])
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x"}}"#, AppSwitches.all, InboxEntry.State.waiting, ""),
        (#"{"aps":{"sound":"default"}}"#, .all, .waiting, ""),
        (#"{"aps":{"badge":1}}"#, .all, .shown, ""),
        (#"{"aps":{"content-available":1}}"#, .all, .suppressed, "nothing-to-show"),
        (#"{}"#, .all, .suppressed, "nothing-to-show"),
        (
            #"{"aps":{"alert":"x"}}"#, AppSwitches(allowsBadge: true, allowsSound: true, allowsAlert: false),
            .suppressed,
            "switched-off"
        ),
        (#"{"aps":{"badge":"3"}}"#, .all, .suppressed, "bad-badge"),
        (#"{"aps":{"alert":"x","#, .all, .suppressed, "unreadable"),
    ])
    func `the content of a notification decides its state`(
        payload: String, switches: AppSwitches, state: InboxEntry.State, reason: String
    ) throws {
        let file = try DatabaseFile()
        let database = try database(file, switches: switches)
        let arrival = Arrival.notification(Sample.notification(1, payload: payload))
        let reception = try Receiver(database).receive([arrival], now: .unixEpoch)
        #expect(reception.waiting == (state == .waiting ? [1] : []))
        let entry = try #require(try database.inbox.entry(1))
        #expect(entry.state == state)
        #expect(entry.reason == reason)
        let told = state == .shown ? "badge-only" : reason
        let outcome = state == .waiting ? [] : ["1 \(state.rawValue) \(told)"]
        #expect(try database.outboxLines() == ["1 delivered"] + outcome)
    }

    @Test func `a notification for an unregistered topic is kept but not shown`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let arrival = Arrival.notification(Sample.notification(1, topic: "org.example.Other"))
        _ = try Receiver(database).receive([arrival], now: .unixEpoch)
        #expect(try database.inbox.entry(1)?.reason == "unknown-app")
        #expect(try database.inbox.entry(1)?.appID.text.isEmpty == true)
    }

    @Test(arguments: [
        ("org.example.Mail.voip", PushType.voip, "org.example.Mail"), ("org.example.Mail", .voip, "org.example.Mail"),
        ("org.example.Mail.voip", .alert, "org.example.Mail.voip"), (".voip", .voip, ".voip"),
        ("org.example.Mail.voip", nil, "org.example.Mail.voip"),
        ("org.example.Mail.push-type.liveactivity", .liveactivity, "org.example.Mail"),
    ])
    func `the push type's suffix is not part of the registered topic`(
        topic: String, pushType: PushType?, registered: TopicName
    ) {
        #expect(Sample.notification(1, topic: topic, pushType: pushType).registeredTopic == registered)
    }

    @Test func `with the master switch off there is only the inbox entry`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        try database.choose(.master, "off")
        let payload = #"{"aps":{"alert":"x","badge":4,"sound":"default"}}"#
        let arrival = Arrival.notification(Sample.notification(1, payload: payload))
        let reception = try Receiver(database).receive([arrival], now: .unixEpoch)
        #expect(reception == ReceptionResult(arrived: [1], newCount: 1))
        #expect(try database.inbox.entry(1)?.reason == "master-off")
    }

    struct Badge: Sendable {
        var count: Int
        var sequence: Int64
        var acceptedMilliseconds: Int64
    }

    struct BadgeOrder: Sendable {
        var badges: [Badge]
        var expected: UInt32

        init(_ badges: [(count: Int, sequence: Int64, acceptedMilliseconds: Int64)], leave expected: UInt32) {
            self.badges = badges.map {
                Badge(count: $0.count, sequence: $0.sequence, acceptedMilliseconds: $0.acceptedMilliseconds)
            }
            self.expected = expected
        }
    }

    static let badgeOrders = [
        // The sequence decides, whatever the clock says.
        BadgeOrder([(1, 1, 9), (2, 2, 5)], leave: 2), BadgeOrder([(2, 2, 5), (1, 1, 9)], leave: 2),
        // A badge without a sequence is compared by its time.
        BadgeOrder([(2, 5, 50), (3, 0, 51)], leave: 3), BadgeOrder([(2, 5, 50), (3, 0, 50)], leave: 3),
        BadgeOrder([(2, 5, 50), (3, 0, 49)], leave: 2), BadgeOrder([(3, 0, 60), (2, 5, 50)], leave: 3),
        // Zero removes the badge, and an older badge does not restore it.
        BadgeOrder([(4, 1, 1), (0, 2, 2)], leave: 0), BadgeOrder([(0, 2, 2), (4, 1, 1)], leave: 0),
    ]

    @Test(arguments: badgeOrders) func `an older badge that arrives late is ignored`(_ order: BadgeOrder) throws {
        let file = try DatabaseFile()
        let database = try database(file)
        for (number, badge) in order.badges.enumerated() {
            let notification = Sample.notification(
                UInt64(number), sequence: badge.sequence, acceptedMilliseconds: badge.acceptedMilliseconds,
                payload: #"{"aps":{"badge":\#(badge.count)}}"#)
            _ = try Receiver(database).receive([.notification(notification)], now: .unixEpoch)
        }
        #expect(try database.apps.app(id: "org.example.Mail")?.badge == order.expected)
    }

    @Test func `a badge that is not permitted is stored, not shown`() throws {
        let file = try DatabaseFile()
        let mute = AppSwitches(allowsBadge: false, allowsSound: true, allowsAlert: true)
        let database = try database(file, switches: mute)
        let arrival = Arrival.notification(Sample.notification(1, payload: #"{"aps":{"badge":4}}"#))
        #expect(try Receiver(database).receive([arrival], now: .unixEpoch).badges.isEmpty)
        #expect(try database.apps.app(id: "org.example.Mail")?.badge == 4)
    }

    @Test(arguments: [nil, Setting.badge, .master])
    func `a badge that its event type does not permit never becomes the app's`(_ alsoOff: Setting?) throws {
        let file = try DatabaseFile()
        let database = try database(file)
        if let alsoOff { try database.choose(alsoOff, "off", for: alsoOff == .master ? nil : Sample.app.appID) }
        try database.choices.set("off", for: .badge, appID: Sample.app.appID, event: "MAIL")
        for (sequence, members) in [(5, #"71,"category":"MAIL""#), (4, "2"), (3, "1")] as [(Int64, String)] {
            let payload = #"{"aps":{"badge":\#(members)}}"#
            let arrival = Sample.notification(UInt64(sequence), sequence: sequence, payload: payload)
            _ = try Receiver(database).receive([.notification(arrival)], now: .unixEpoch)
        }
        #expect(try database.apps.app(id: Sample.app.appID)?.badge == 2)
    }

    @Test func `a newer notification with the same collapse ID replaces a waiting one`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let receiver = Receiver(database)
        let first = try receiver.receive(
            [
                .notification(Sample.notification(1, collapseID: "a")),
                .notification(Sample.notification(2, collapseID: "b")),
            ],
            now: .unixEpoch)
        #expect(first.waiting == [1, 2])
        let second = try receiver.receive(
            [
                .notification(Sample.notification(3, collapseID: "a")),
                .notification(Sample.notification(4, collapseID: "a")),
            ],
            now: .unixEpoch)
        #expect(second.waiting == [4])
        #expect(second.replaced == [1, 3])
        #expect(try database.inbox.waiting() == [2, 4])
        #expect(try database.outboxLines().contains("1 suppressed replaced"))
    }

    @Test func `a notification without a sequence is not acknowledged`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let arrival = Arrival.notification(Sample.notification(1, sequence: 0))
        #expect(try Receiver(database).receive([arrival], now: .unixEpoch).waiting == [1])
        #expect(try database.outboxLines().isEmpty)
    }

    @Test func `an unreadable event is acknowledged, so that it is not sent again`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let reception = try Receiver(database).receive([.unreadable(sequence: 9)], now: .unixEpoch)
        #expect(reception == ReceptionResult())
        #expect(try database.outboxLines() == ["9 suppressed unreadable"])
    }

    @Test func `a notification that is too large for the database is unreadable, and others are kept`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        var huge = Sample.notification(2, collapseID: "a", payload: #"{"aps":{"alert":"x","badge":7}}"#)
        huge.apnsID = String(repeating: "x", count: 2 << 20)
        let arrivals = [Sample.notification(1, collapseID: "a"), huge, Sample.notification(3)]
        let reception = try Receiver(database).receive(arrivals.map(Arrival.notification), now: .unixEpoch)
        #expect(reception == ReceptionResult(waiting: [1, 2], arrived: [1, 2], newCount: 2))
        #expect(try database.apps.app(id: "org.example.Mail")?.badge == 0)
        #expect(try database.outboxLines() == ["1 delivered", "2 suppressed unreadable", "3 delivered"])
    }

    @Test(arguments: [(5119, true), (5120, true), (5121, false), (60_000, false)])
    func `a payload larger than any provider may send is unreadable`(byteCount: Int, isKept: Bool) throws {
        let file = try DatabaseFile()
        let database = try database(file)
        let frame = #"{"aps":{"badge":4,"alert":""}}"#
        let text = String(repeating: "x", count: byteCount - frame.utf8.count)
        let payload = #"{"aps":{"badge":4,"alert":"\#(text)"}}"#
        let arrival = Arrival.notification(Sample.notification(1, payload: payload))
        let reception = try Receiver(database).receive([arrival], now: .unixEpoch)
        #expect(reception.waiting == (isKept ? [1] : []))
        #expect(try database.inbox.newest(countMax: 9).count == (isKept ? 1 : 0))
        #expect(try database.apps.app(id: "org.example.Mail")?.badge == (isKept ? 4 : 0))
        #expect(try database.outboxLines() == [isKept ? "1 delivered" : "1 suppressed unreadable"])
    }

    @Test func `cleared entries make room for others`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        try database.choose(.inboxCount, "10")
        let receiver = Receiver(database)
        func receive(_ sequences: ClosedRange<UInt64>) throws -> [EntryID] {
            let arrivals = sequences.map { Arrival.notification(Sample.notification($0, payload: "{}")) }
            return try receiver.receive(arrivals, now: .unixEpoch).removed
        }
        #expect(try receive(1...10).isEmpty)
        for entry in (6...10).map(EntryID.init(rawValue:)) { try database.inbox.remove(entry) }
        #expect(try receive(11...15).isEmpty)
        #expect(try receive(16...17) == [1, 2])
    }

    @Test func `the inbox keeps the newest entries up to its limit`() throws {
        let file = try DatabaseFile()
        let database = try database(file)
        try database.choose(.inboxCount, "10")
        let arrivals = (1...14).map {
            Arrival.notification(Sample.notification($0, payload: $0 == 2 ? #"{"aps":{"alert":"x"}}"# : "{}"))
        }
        let reception = try Receiver(database).receive(arrivals, now: .unixEpoch)
        // Entries that still wait to be shown are kept.
        #expect(reception.removed == [1, 3, 4])
        #expect(try database.inbox.newest(countMax: .max).map(\.entry) == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 2])
    }
}
