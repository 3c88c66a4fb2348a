// SPDX-License-Identifier: Apache-2.0

import AgentStore
import DeviceAgent
import PushCore
import PushSQLite
import Testing

@Suite struct SubscriptionTableTests {
    private let file: DatabaseFile
    private let app = Sample.app.appID

    init() throws { file = try DatabaseFile() }

    private func database() throws -> AgentDatabase {
        let database = try file.open()
        try database.apps.save(Sample.app)
        return database
    }

    /// Returns `channel state` for each subscription, in order.
    private func lines(_ database: AgentDatabase, of appID: String = Sample.app.appID) throws -> [String] {
        try database.subscriptions.all(of: appID).map { "\($0.channel) \($0.state.rawValue)" }
    }

    /// Saves the channel `c` with a state, or does nothing when the state is nil.
    private func prepare(_ database: AgentDatabase, _ state: Subscription.State?) throws {
        let subscriptions = database.subscriptions
        guard let state else { return }
        try subscriptions.want("c", of: app)
        switch state {
        case .wanted: break
        case .held: try subscriptions.hold("c", of: app)
        case .unwanted: #expect(try subscriptions.unwant("c", of: app))
        }
        #expect(try subscriptions.state(of: "c", of: app) == state)
    }

    @Test(
        arguments: [
            (nil, Subscription.State.wanted), (.wanted, .wanted), (.held, .held), (.unwanted, .wanted),
        ] as [(Subscription.State?, Subscription.State)])
    func `a wanted channel is sent to the server unless it knows the channel`(
        before: Subscription.State?, after: Subscription.State
    ) throws {
        let database = try database()
        try prepare(database, before)
        try database.subscriptions.want("c", of: app)
        #expect(try lines(database) == ["c \(after.rawValue)"])
    }

    @Test(
        arguments: [
            (nil, nil), (.wanted, .unwanted), (.held, .unwanted), (.unwanted, nil),
        ] as [(Subscription.State?, Subscription.State?)])
    func `a channel is unsubscribed once, and stays until the server has confirmed`(
        before: Subscription.State?, after: Subscription.State?
    ) throws {
        let database = try database()
        try prepare(database, before)
        #expect(try database.subscriptions.unwant("c", of: app) == (after != nil))
        #expect(try database.subscriptions.state(of: "c", of: app) == (after ?? before))
    }

    @Test(
        arguments: [
            (nil, false, nil), (nil, true, .unwanted), (.wanted, false, .wanted), (.wanted, true, .wanted),
            (.held, false, .wanted), (.held, true, .held), (.unwanted, false, nil), (.unwanted, true, .unwanted),
        ] as [(Subscription.State?, Bool, Subscription.State?)])
    func `the server's list and the wanted channels are merged`(
        before: Subscription.State?, isAtServer: Bool, after: Subscription.State?
    ) throws {
        let database = try database()
        try prepare(database, before)
        try database.subscriptions.settle(app, serverHas: isAtServer ? ["c"] : [])
        #expect(try database.subscriptions.state(of: "c", of: app) == after)
    }

    @Test func `a late confirmation does not restore a channel that was unsubscribed`() throws {
        let database = try database()
        try prepare(database, .unwanted)
        try database.subscriptions.hold("c", of: app)
        #expect(try lines(database) == ["c unwanted"])
        #expect(try !database.subscriptions.remove("c", of: app, whileIn: .wanted))
        #expect(try database.subscriptions.remove("c", of: app, whileIn: .unwanted))
        #expect(try lines(database) == [])
    }

    @Test func `requests are sent in order, and none for an app without a token`() throws {
        let database = try database()
        var other = Sample.app
        (other.appID, other.topic, other.deviceToken) = ("org.example.Other", "org.example.Other", "")
        try database.apps.save(other)
        try database.subscriptions.want("first", of: other.appID)
        try database.subscriptions.want("second", of: app)
        try database.subscriptions.want("third", of: app)
        #expect(try database.subscriptions.firstPending()?.channel == "second")
        try database.subscriptions.hold("second", of: app)
        #expect(try database.subscriptions.firstPending()?.channel == "third")
        #expect(try database.subscriptions.unwant("third", of: app))
        #expect(
            try database.subscriptions.firstPending() == Subscription(appID: app, channel: "third", state: .unwanted))
        #expect(try database.subscriptions.remove("third", of: app, whileIn: .unwanted))
        #expect(try database.subscriptions.firstPending() == nil)
        other.deviceToken = Sample.token
        try database.apps.save(other)
        #expect(try database.subscriptions.firstPending()?.channel == "first")
    }

    @Test func `after leaving a server the next one gets all wanted channels`() throws {
        do {
            let database = try database()
            for channel in ["a", "b", "c"] { try database.subscriptions.want(channel, of: app) }
            for channel in ["a", "b"] { try database.subscriptions.hold(channel, of: app) }
            #expect(try database.subscriptions.unwant("b", of: app))
            try database.subscriptions.forgetServer()
        }
        #expect(try lines(try file.open()) == ["a wanted", "c wanted"])
    }

    @Test func `another registration of one app keeps the other apps' subscriptions`() throws {
        let database = try database()
        for appID in [app, "org.example.Other"] {
            try database.subscriptions.want("a", of: appID)
            try database.subscriptions.hold("a", of: appID)
        }
        try database.subscriptions.wantAgain(app)
        #expect(try lines(database) == ["a wanted"] && lines(database, of: "org.example.Other") == ["a held"])
        try database.subscriptions.removeAll(of: "org.example.Other")
        #expect(try lines(database, of: "org.example.Other") == [] && lines(database) == ["a wanted"])
    }

    @Test func `a database from before channels keeps its apps and inbox, for production`() throws {
        do {
            let connection = try Connection(path: file.path, durability: .full, exclusive: true)
            try connection.execute(Self.version2)
        }
        let database = try file.open()
        let app = try #require(try database.apps.app(id: "org.example.Mail"))
        #expect(app.environment == .production && app.deviceToken == "ab" && app.badge == 7)
        let entry = try #require(try database.inbox.entry(3))
        #expect(entry.body == "B" && entry.channel == nil && entry.state == .closed && entry.reason == "r")
        #expect(try database.subscriptions.firstPending() == nil)
        let broadcast = Sample.broadcast(9, payload: #"{"aps":{"alert":"x"}}"#)
        try database.subscriptions.want(Sample.channel.text, of: app.appID)
        let reception = try Receiver(database).receive([.notification(broadcast)], nowUnixMilliseconds: 0)
        #expect(reception.waiting == [4])
        #expect(try database.inbox.entry(4)?.channel == Sample.channel.text)
    }

    /// The part of the schema of version 2 that these tests need.
    ///
    /// A released migration step never changes.
    private static let version2: StaticString = """
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1), server_url TEXT NOT NULL, device_id TEXT NOT NULL,
            ca_file TEXT NOT NULL) STRICT;
        CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE apps (
            app_id TEXT PRIMARY KEY, topic TEXT NOT NULL UNIQUE, name TEXT NOT NULL, icon TEXT,
            device_token TEXT NOT NULL, badge INTEGER NOT NULL DEFAULT 0, badge_sequence INTEGER NOT NULL DEFAULT 0,
            badge_accepted_ms INTEGER NOT NULL DEFAULT 0, allows_badge INTEGER NOT NULL DEFAULT 1,
            allows_sound INTEGER NOT NULL DEFAULT 1, allows_alert INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE inbox (
            entry INTEGER PRIMARY KEY AUTOINCREMENT, unique_id TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL,
            app_id TEXT NOT NULL, topic TEXT NOT NULL, apns_id TEXT NOT NULL, received_ms INTEGER NOT NULL,
            accepted_ms INTEGER NOT NULL, title TEXT, subtitle TEXT, body TEXT, payload BLOB NOT NULL,
            collapse_id BLOB, state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '') STRICT;
        CREATE INDEX inbox_unfinished ON inbox (entry) WHERE state IN ('waiting', 'claimed');
        CREATE TABLE seen (position INTEGER PRIMARY KEY AUTOINCREMENT, unique_id TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE outbox (
            position INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, outcome TEXT NOT NULL,
            reason TEXT) STRICT;
        CREATE TABLE alerts (entry INTEGER PRIMARY KEY, owner TEXT NOT NULL, number INTEGER NOT NULL UNIQUE) STRICT;
        INSERT INTO apps (app_id, topic, name, device_token, badge)
            VALUES ('org.example.Mail', 'org.example.Mail', 'Example Mail', 'ab', 7);
        INSERT INTO inbox VALUES
            (3, 'u', 5, 'org.example.Mail', 'org.example.Mail', 'A', 1, 2, 'T', NULL, 'B', x'7b7d', NULL, 'closed', 'r');
        PRAGMA user_version = 2;
        """
}
