// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushNet
import TestSupport
import Testing

/// Records the alerts that it should show.
private final class Wall: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    let isAvailable = true
    var alerts: [Alert] = []
    var withdrawn: [EntryID] = []

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        alerts.append(alert)
        completion(.shown(playsSound: true))
    }
    func withdraw(entries: [EntryID]) { withdrawn += entries }
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) { self.alerts += alerts.map(\.alert) }
}

/// Checks the device's handling of broadcasts that arrive on its stream.
@Suite struct BroadcastReceiverTests {
    private let file: DatabaseFile
    private static let alert = alert("Goal")

    private static func alert(_ body: String) -> String {
        #"{"aps":{"alert":{"title":"1:0","body":"\#(body)"},"event":"update"}}"#
    }

    init() throws { file = try DatabaseFile() }

    private func database(switches: AppSwitches = .all) throws -> AgentDatabase {
        let database = try file.open()
        try database.apps.save(Sample.app)
        try switches.choose(for: Sample.app.appID, in: database)
        try database.subscriptions.request(Sample.channel.text, of: Sample.app.appID)
        return database
    }

    private func receive(
        _ notifications: ReceivedNotification..., into database: AgentDatabase
    ) throws -> ReceptionResult {
        try Receiver(database).receive(notifications.map(Arrival.notification), now: .unixEpoch)
    }

    @Test func `a broadcast with an alert is a notification of its app`() throws {
        let database = try database()
        let reception = try receive(Sample.broadcast(1, payload: Self.alert), into: database)
        #expect(reception == ReceptionResult(waiting: [1], arrived: [1], newCount: 1))
        let entry = try #require(try database.inbox.entry(1))
        #expect(entry.appID == "org.example.Mail" && entry.topic == "org.example.Mail")
        #expect(entry.title == "1:0" && entry.channel == Sample.channel.text && entry.collapseID == nil)
        #expect(try database.outboxLines() == [], "one that is delivered now or never is not acknowledged")
    }

    @Test(arguments: [
        (#"{"aps":{"content-state":{"score":"1:0"},"event":"update","timestamp":1}}"#, "7 suppressed nothing-to-show"),
        (#"{}"#, "7 suppressed nothing-to-show"), (#"{"aps":{"badge":3}}"#, "7 shown"),
        (#"{"aps":{"badge":0,"content-state":{}}}"#, "7 shown"),
    ])
    func `a broadcast without an alert is acknowledged and leaves no empty entry`(
        payload: String, outcome: String
    ) throws {
        let database = try database()
        let reception = try receive(Sample.broadcast(1, sequence: 7, payload: payload), into: database)
        #expect(reception.waiting == [])
        #expect(try database.inbox.newest(countMax: 9).isEmpty)
        #expect(try database.outboxLines() == ["7 delivered", outcome])
        #expect(try receive(Sample.broadcast(1, sequence: 7, payload: payload), into: database).repeatedCount == 1)
    }

    @Test func `badge and sound of a broadcast work without an alert`() throws {
        let database = try database()
        let badge = try receive(Sample.broadcast(1, payload: #"{"aps":{"badge":3}}"#), into: database)
        #expect(badge.badges == ["org.example.Mail": 3])
        let sound = try receive(Sample.broadcast(2, payload: #"{"aps":{"sound":"default"}}"#), into: database)
        #expect(sound.waiting.count == 1)
    }

    @Test(arguments: [
        (AppSwitches(allowsBadge: true, allowsSound: true, allowsAlert: false), true, "switched-off"),
        (AppSwitches.all, false, "master-off"),
    ])
    func `settings apply to broadcasts and to other notifications alike`(
        switches: AppSwitches, isMasterOn: Bool, reason: String
    ) throws {
        let database = try database(switches: switches)
        try database.choose(.master, isMasterOn ? "on" : "off")
        let reception = try receive(Sample.broadcast(1, payload: Self.alert), into: database)
        #expect(reception.waiting == [])
        #expect(try database.inbox.entry(1)?.reason == reason)
    }

    @Test func `a newer broadcast replaces a pending one of its channel, and no other`() throws {
        let database = try database()
        try database.subscriptions.request(Sample.otherChannel.text, of: Sample.app.appID)
        let text = Sample.channel.text
        let first = try receive(
            Sample.broadcast(1, sequence: 1, payload: Self.alert),
            Sample.broadcast(2, channel: Sample.otherChannel, payload: Self.alert("2")),
            Sample.notification(3, collapseID: text), Sample.notification(4), into: database)
        #expect(first.waiting == [1, 2, 3, 4])
        let second = try receive(Sample.broadcast(5, payload: Self.alert("5")), into: database)
        #expect(second.waiting == [5] && second.replaced == [1])
        #expect(try database.inbox.waiting() == [2, 3, 4, 5])
        #expect(try database.outboxLines().contains("1 suppressed replaced"))
        let third = try receive(Sample.notification(6, collapseID: text), into: database)
        #expect(third.replaced == [3], "a collapse ID that looks like a channel is none")
    }

    @Test func `an update without an alert leaves its channel's alert in place`() throws {
        let database = try database()
        _ = try receive(Sample.broadcast(1, payload: Self.alert), into: database)
        let update = try receive(
            Sample.broadcast(2, payload: #"{"aps":{"content-state":{"score":"2:0"}}}"#), into: database)
        #expect(update.replaced == [] && update.newCount == 1)
        #expect(try database.inbox.waiting() == [1])
    }

    @Test func `a channel has one place on the screen, which no collapse ID shares`() throws {
        let database = try database()
        try database.subscriptions.request(Sample.otherChannel.text, of: Sample.app.appID)
        let wall = Wall()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: wall, sounds: nil)
        let notifications = [
            Sample.broadcast(1, payload: Self.alert), Sample.notification(2, collapseID: Sample.channel.text),
            Sample.broadcast(3, channel: Sample.otherChannel, payload: Self.alert("3")),
            Sample.notification(4, collapseID: "channel \(Sample.channel.text)"),
            Sample.broadcast(5, payload: Self.alert("5")),
        ]
        for notification in notifications {
            queue.entriesArrived(try receive(notification, into: database).waiting)
        }
        #expect(wall.alerts.map(\.entry) == [1, 2, 3, 4, 5])
        let places = wall.alerts.map(\.collapseID)
        #expect(places[0] == places[4] && places[0] != nil)
        #expect(Set(places).count == 4)
    }

    @Test(arguments: [nil, Subscription.State.ending])
    func `a broadcast of a channel that the app left is not shown, and the server is notified`(
        state: Subscription.State?
    ) throws {
        let database = try database()
        #expect(try database.subscriptions.requestEnd(Sample.channel.text, of: Sample.app.appID))
        if state == nil {
            #expect(
                try database.subscriptions.remove(
                    Sample.channel.text, of: Sample.app.appID, whileIn: .ending))
        }
        let payload = #"{"aps":{"alert":"x","badge":3}}"#
        let reception = try receive(Sample.broadcast(1, sequence: 4, payload: payload), into: database)
        #expect(reception == ReceptionResult(hasUnwantedChannel: true, newCount: 1))
        #expect(try database.inbox.newest(countMax: 9).isEmpty)
        #expect(try database.apps.app(id: Sample.app.appID)?.badge == 0)
        #expect(try database.outboxLines() == ["4 delivered", "4 suppressed unsubscribed"])
        #expect(try database.subscriptions.firstPending()?.state == .ending)
    }

    @Test func `an unreadable broadcast is saved as such`() throws {
        let database = try database()
        _ = try receive(Sample.broadcast(1, sequence: 4, payload: #"{"aps":"#), into: database)
        #expect(try database.inbox.entry(1)?.reason == "unreadable")
    }

    @Test func `View passes the channel to the app`() throws {
        let database = try database()
        _ = try receive(Sample.broadcast(1, payload: "{\"aps\":{\"alert\":\"x\"}}"), into: database)
        let entry = try #require(try database.inbox.entry(1))
        let json = try JSONValue(parsing: entry.notificationJSON.span)
        #expect(json["channel_id"]?.string == Sample.channel.text)
        _ = try receive(Sample.notification(2), into: database)
        let other = try #require(try database.inbox.entry(2))
        #expect(try JSONValue(parsing: other.notificationJSON.span)["channel_id"] == nil)
    }
}
