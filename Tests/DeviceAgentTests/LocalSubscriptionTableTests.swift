// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushSQLite
import Testing

@Suite struct LocalSubscriptionTableTests {
    private let file: DatabaseFile
    private let app = Sample.app.appID

    init() throws { file = try DatabaseFile() }

    private func database() throws -> AgentDatabase {
        let database = try file.open()
        try database.apps.save(Sample.app)
        return database
    }

    /// Returns `channel state` for each subscription, in order.
    private func lines(_ database: AgentDatabase, of appID: AppID = Sample.app.appID) throws -> [String] {
        try database.subscriptions.all(of: appID).map { "\($0.channel) \($0.state.rawValue)" }
    }

    /// Saves the channel `c` with a state, or does nothing when the state is nil.
    private func prepare(_ database: AgentDatabase, _ state: Subscription.State?) throws {
        let subscriptions = database.subscriptions
        guard let state else { return }
        try subscriptions.request("c", of: app)
        switch state {
        case .requested: break
        case .confirmed: try subscriptions.confirm("c", of: app)
        case .ending: #expect(try subscriptions.requestEnd("c", of: app))
        }
        #expect(try subscriptions.state(of: "c", of: app) == state)
    }

    @Test(
        arguments: [
            (nil, Subscription.State.requested), (.requested, .requested), (.confirmed, .confirmed),
            (.ending, .requested),
        ] as [(Subscription.State?, Subscription.State)])
    func `a requested channel is sent to the server unless it knows the channel`(
        before: Subscription.State?, after: Subscription.State
    ) throws {
        let database = try database()
        try prepare(database, before)
        try database.subscriptions.request("c", of: app)
        #expect(try lines(database) == ["c \(after.rawValue)"])
    }

    @Test(
        arguments: [
            (nil, nil), (.requested, .ending), (.confirmed, .ending), (.ending, nil),
        ] as [(Subscription.State?, Subscription.State?)])
    func `a channel is unsubscribed once, and stays until the server has confirmed`(
        before: Subscription.State?, after: Subscription.State?
    ) throws {
        let database = try database()
        try prepare(database, before)
        #expect(try database.subscriptions.requestEnd("c", of: app) == (after != nil))
        #expect(try database.subscriptions.state(of: "c", of: app) == (after ?? before))
    }

    @Test(
        arguments: [
            (nil, false, nil), (nil, true, .ending), (.requested, false, .requested), (.requested, true, .requested),
            (.confirmed, false, .requested), (.confirmed, true, .confirmed), (.ending, false, nil),
            (.ending, true, .ending),
        ] as [(Subscription.State?, Bool, Subscription.State?)])
    func `the server's list and the requested channels are merged`(
        before: Subscription.State?, isAtServer: Bool, after: Subscription.State?
    ) throws {
        let database = try database()
        try prepare(database, before)
        try database.subscriptions.settle(app, serverHas: isAtServer ? ["c"] : [])
        #expect(try database.subscriptions.state(of: "c", of: app) == after)
    }

    @Test func `a late confirmation does not restore a channel that was unsubscribed`() throws {
        let database = try database()
        try prepare(database, .ending)
        try database.subscriptions.confirm("c", of: app)
        #expect(try lines(database) == ["c unwanted"])
        #expect(try !database.subscriptions.remove("c", of: app, whileIn: .requested))
        #expect(try database.subscriptions.remove("c", of: app, whileIn: .ending))
        #expect(try lines(database) == [])
    }

    @Test func `requests are sent in order, and none for an app without a token`() throws {
        let database = try database()
        var other = Sample.app
        (other.appID, other.topic, other.deviceToken) = ("org.example.Other", "org.example.Other", "")
        try database.apps.save(other)
        try database.subscriptions.request("first", of: other.appID)
        try database.subscriptions.request("second", of: app)
        try database.subscriptions.request("third", of: app)
        #expect(try database.subscriptions.firstPending()?.channel == "second")
        try database.subscriptions.confirm("second", of: app)
        #expect(try database.subscriptions.firstPending()?.channel == "third")
        #expect(try database.subscriptions.requestEnd("third", of: app))
        #expect(
            try database.subscriptions.firstPending() == Subscription(appID: app, channel: "third", state: .ending))
        #expect(try database.subscriptions.remove("third", of: app, whileIn: .ending))
        #expect(try database.subscriptions.firstPending() == nil)
        other.deviceToken = Sample.token
        try database.apps.save(other)
        #expect(try database.subscriptions.firstPending()?.channel == "first")
    }

    @Test func `after leaving a server the next one gets all requested channels`() throws {
        do {
            let database = try database()
            for channel in ["a", "b", "c"] { try database.subscriptions.request(channel, of: app) }
            for channel in ["a", "b"] { try database.subscriptions.confirm(channel, of: app) }
            #expect(try database.subscriptions.requestEnd("b", of: app))
            try database.subscriptions.forgetServer()
        }
        #expect(try lines(try file.open()) == ["a wanted", "c wanted"])
    }

    @Test func `another registration of one app keeps the other apps' subscriptions`() throws {
        let database = try database()
        for appID in [app, "org.example.Other"] {
            try database.subscriptions.request("a", of: appID)
            try database.subscriptions.confirm("a", of: appID)
        }
        try database.subscriptions.requestAgain(app)
        #expect(try lines(database) == ["a wanted"] && lines(database, of: "org.example.Other") == ["a held"])
        try database.subscriptions.removeAll(of: "org.example.Other")
        #expect(try lines(database, of: "org.example.Other") == [] && lines(database) == ["a wanted"])
    }
}
