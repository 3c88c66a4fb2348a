// SPDX-License-Identifier: Apache-2.0

import PushSQL
import AgentBus
import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import PushSQLite
import LoopTestSupport
import TestSupport
import Testing

/// Checks registrations and subscriptions of a whole agent, at a server that loses data, refuses and fails.
@Suite(.serialized) struct RegistrarTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer
    private static let app: AppID = "org.example.Mail"
    private static let channel = Sample.channel.text
    private static let otherChannel = Sample.otherChannel.text
    private static let channelsPath = "/v1/apps/org.example.Mail/channels"
    private static let channelPath = "\(channelsPath)/%2F%2B%2B%2BAAAAAAAAAAAAAAAAAQ%3D%3D"

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
    }

    private func connected() async throws -> AgentHarness {
        try await .connected(in: directory, to: server)
    }

    /// Starts the next run of the agent and connects it.
    private func restarted() async throws -> AgentHarness {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await harness.loop.run("the stream is open again") { harness.isConnected() }
        return harness
    }

    private func states(_ harness: AgentHarness) -> [String]? {
        try? harness.agent.subscriptions.all(of: Self.app).map { "\($0.channel) \($0.state)" }
    }

    // MARK: Environments

    @Test func `an app has a token for its environment, and another one after changing it`() async throws {
        let harness = try await connected()
        let production = try #require(try harness.agent.registrations.apps().first?.deviceToken)
        let development = try await harness.register(Self.app, environment: .development).get()
        #expect(development != production)
        #expect(server.requests.last == #"PUT /v1/apps/org.example.Mail {"environment":"development"}"#)
        #expect(try harness.agent.registrations.apps().map(\.environment) == [.development])
        #expect(harness.events.filter { $0.hasPrefix("token") }.count == 2)
        #expect(try await harness.register(Self.app).get() == production)
    }

    @Test func `the environment is kept over restarts and server changes`() async throws {
        do {
            let harness = try await connected()
            _ = try await harness.register(Self.app, environment: .development).get()
            try await harness.stop()
        }
        let harness = try await restarted()
        try await harness.loop.run("it was asked for again") {
            server.requests(#"PUT /v1/apps/org.example.Mail {"environment":"development"}"#).count == 2
        }
        let earlier = server.requests("PUT /v1/apps").count
        #expect(try await harness.unenrol() == nil)
        _ = try await harness.enrol(with: server)
        try await harness.loop.run("it has a token") {
            (try? harness.agent.registrations.apps().first?.deviceToken.count) == 64
        }
        #expect(
            server.requests("PUT /v1/apps").dropFirst(earlier)
                == [#"PUT /v1/apps/org.example.Mail {"environment":"development"}"#])
    }

    // MARK: Registrations that the server lost

    @Test func `an expired token and its subscriptions are replaced at the next start, and the app is notified`()
        async throws
    {
        let old: String
        do {
            let harness = try await connected()
            old = try #require(try harness.agent.registrations.apps().first?.deviceToken)
            #expect(try await harness.subscribe(Self.channel) == .success(.active))
            try await harness.stop()
        }
        try await server.expireRegistrations()
        let harness = try await restarted()
        try await harness.loop.run("it has another token") {
            (try? harness.agent.registrations.apps().first?.deviceToken).map { $0 != old && $0.count == 64 } == true
        }
        #expect(
            harness.events.filter { $0.hasPrefix("token") } == [
                "token org.example.Mail 01"
                    + (try harness.agent.registrations.apps()[0].deviceToken.dropFirst(2).prefix(2))
            ])
        try await harness.loop.run("the subscription is there again") {
            states(harness) == ["\(Self.channel) active"] && server.requests("PUT \(Self.channelPath)").count == 2
        }
    }

    @Test func `a start with valid registrations changes nothing`() async throws {
        do {
            let harness = try await connected()
            #expect(try await harness.subscribe(Self.channel) == .success(.active))
            try await harness.stop()
        }
        let harness = try await restarted()
        try await harness.loop.run("the server was asked for both") {
            server.requests("PUT /v1/apps/org.example.Mail {").count == 2
                && server.requests("GET \(Self.channelsPath)").count == 1
        }
        #expect(try await harness.subscribe(Self.otherChannel) == .success(.active), "and continues")
        #expect(!harness.events.contains { $0.hasPrefix("token") })
        #expect(server.requests("PUT \(Self.channelPath)").count == 1)
    }

    @Test func `a new connection of the same run requests only missing registrations`() async throws {
        let harness = try await connected()
        _ = try await harness.register("org.example.Other").get()
        try await server.fail("/v1/apps/org.example.Other", status: 404, word: "UnknownTopic")
        try harness.database.apps.clearToken(of: "org.example.Other")
        let earlier = server.requests("PUT /v1/apps").count
        for round in 1...2 {
            try await server.endStreams()
            try await harness.loop.run("round \(round): it noticed") { !harness.isConnected() }
            try await harness.loop.run("round \(round): it is open again") { harness.isConnected() }
            try await harness.loop.run("round \(round): the server was asked") {
                server.requests("PUT /v1/apps").count == earlier + round
            }
        }
        try await harness.loop.run("it has a token") {
            (try? harness.agent.registrations.apps()[1].deviceToken.count) == 64
        }
        #expect(server.requests("PUT /v1/apps").dropFirst(earlier).allSatisfy { $0.contains("org.example.Other") })
    }

    @Test func `an app whose topic is gone has no token, and gets one when the topic is back`() async throws {
        do { try await connected().stop() }
        try await server.fail("/v1/apps/org.example.Mail", status: 404, word: "UnknownTopic")
        let harness = try await restarted()
        try await harness.loop.run("it has none") {
            (try? harness.agent.registrations.apps().map(\.deviceToken)) == [""]
        }
        try await server.endStreams()
        try await harness.loop.run("it has one again") {
            (try? harness.agent.registrations.apps()[0].deviceToken.count) == 64
        }
    }

    @Test func `a failed check is repeated without waiting for another connection`() async throws {
        do { try await connected().stop() }
        try await server.expireRegistrations()
        try await server.fail("/v1/apps/org.example.Mail", status: 503, count: 2)
        let harness = try await restarted()
        try await harness.loop.run("it has another token") {
            harness.events.contains { $0.hasPrefix("token org.example.Mail 01") }
        }
        #expect(server.requests("GET /v1/stream").count == 2)
    }

    @Test func `an app that is unregistered while it is checked stays unregistered`() async throws {
        do { try await connected().stop() }
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        // The check is running, or about to start.
        #expect(
            try await harness.unregister(Self.app) == nil)
        _ = try await harness.register("org.example.Other").get()
        #expect(try await harness.subscribe(Self.channel, of: "org.example.Other") == .success(.active))
        #expect(try harness.agent.registrations.apps().map(\.appID) == ["org.example.Other"])
    }

    @Test(
        arguments: [
            (nil, 1000, true), (1000, 1000, false), (1000, 1000 + 24 * 3600 - 1, false), (1000, 1000 + 24 * 3600, true),
            (1000, 999, true), (1000, 1_000_000_000, true),
        ] as [(Int64?, Int64, Bool)])
    func `registrations are checked first, and then once a day by the wall clock`(
        last: Int64?, now: Int64, isDue: Bool
    ) {
        #expect(
            RegistrationService.isCheckDue(
                last: last.map(Timestamp.init(unixSeconds:)), now: Timestamp(unixSeconds: now)) == isDue)
    }

    // MARK: Subscriptions

    @Test func `a subscription is sent to the server immediately, and kept over a restart`() async throws {
        do {
            let harness = try await connected()
            #expect(try await harness.subscribe(Self.channel) == .success(.active))
            #expect(server.requests.last == "PUT \(Self.channelPath)")
            #expect(try await harness.subscribe(Self.channel) == .success(.active))
            #expect(server.requests("PUT \(Self.channelPath)").count == 1, "what the server has it is not told again")
            try await harness.stop()
        }
        let harness = try await restarted()
        #expect(states(harness) == ["\(Self.channel) active"])
    }

    @Test func `a subscription without a connection is sent later`() async throws {
        do {
            let harness = try await connected()
            try await harness.stop()
            #expect(try await harness.subscribe(Self.channel) == .success(.pending))
            #expect(try await harness.subscribe(Self.otherChannel) == .success(.pending))
            try harness.agent.subscriptions.unsubscribe(Self.otherChannel, of: Self.app)
            #expect(states(harness) == ["\(Self.channel) pending"])
        }
        #expect(server.requests("PUT \(Self.channelsPath)").isEmpty)
        let harness = try await restarted()
        try await harness.loop.run("the server has it") { states(harness) == ["\(Self.channel) active"] }
        #expect(server.requests("PUT \(Self.channelsPath)") == ["PUT \(Self.channelPath)"])
    }

    @Test func `a subscription change that the server fails to process is retried until it succeeds`() async throws {
        let harness = try await connected()
        try await server.fail(Self.channelPath, status: 503, count: 2)
        #expect(try await harness.subscribe(Self.channel) == .success(.pending))
        try await harness.loop.run("the server has it") { states(harness) == ["\(Self.channel) active"] }
        #expect(server.requests("PUT \(Self.channelPath)").count == 3)
        try await server.fail(Self.channelPath, status: 500)
        try harness.agent.subscriptions.unsubscribe(Self.channel, of: Self.app)
        try await harness.loop.run("the server knows") {
            server.requests("DELETE \(Self.channelPath)").count == 2
                && (try? harness.database.subscriptions.all(of: Self.app).isEmpty) == true
        }
    }

    @Test func `subscriptions move to the next server`() async throws {
        let harness = try await connected()
        #expect(try await harness.subscribe(Self.channel) == .success(.active))
        #expect(try await harness.unenrol() == nil)
        #expect(states(harness) == ["\(Self.channel) pending"])
        #expect(try await harness.subscribe(Self.otherChannel) == .success(.pending))
        try await server.setChannels([])
        _ = try await harness.enrol(with: server)
        try await harness.loop.run("the server has both") {
            states(harness) == ["\(Self.channel) active", "\(Self.otherChannel) active"]
        }
    }

    @Test(arguments: [
        (404, "UnknownChannel", AgentErrorCode.unknownChannel), (429, "TooMany", .tooMany),
        (403, "Ordered", .refused),
        (404, "NotFound", .unknownTopic),
    ])
    func `a channel that the server refuses leaves no subscription`(
        status: Int, word: String, code: AgentErrorCode
    ) async throws {
        let harness = try await connected()
        try await server.fail(Self.channelPath, status: status, word: word)
        guard case .failure(let refusal) = try await harness.subscribe(Self.channel) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == code)
        #expect(states(harness) == [])
        #expect(harness.events.contains("ended org.example.Mail \(Self.channel) \(word)"))
        let notice = harness.agent.status(now: .unixEpoch).notice
        #expect(notice.hasPrefix("The subscription of org.example.Mail to channel \(Self.channel) ended: "))
        #expect(try await harness.subscribe(Self.otherChannel) == .success(.active), "the next one is not held up")
        #expect(try await harness.subscribe(Self.channel) == .success(.active))
        #expect(harness.agent.status(now: .unixEpoch).notice.isEmpty, "a repeated request is not a change")
    }

    @Test func `a channel that was removed in the meantime is detected at the next start`() async throws {
        do {
            let harness = try await connected()
            for channel in [Self.channel, Self.otherChannel] {
                #expect(try await harness.subscribe(channel) == .success(.active))
            }
            try await harness.stop()
        }
        try await server.setChannels([Self.otherChannel])
        try await server.fail(Self.channelPath, status: 404, word: "UnknownChannel")
        let harness = try await restarted()
        try await harness.loop.run("it is gone") { states(harness) == ["\(Self.otherChannel) active"] }
        #expect(harness.agent.status(now: .unixEpoch).notice.contains(Self.channel))
        #expect(harness.events.contains("ended org.example.Mail \(Self.channel) UnknownChannel"))
        #expect(server.requests("PUT \(Self.channelsPath)").count == 3)
    }

    @Test func `a subscription that only the server has is ended`() async throws {
        do {
            let harness = try await connected()
            #expect(try await harness.subscribe(Self.otherChannel) == .success(.active))
            try await harness.stop()
        }
        try await server.setChannels([Self.channel, Self.otherChannel, "no channel ID"])
        let harness = try await restarted()
        try await harness.loop.run("the server was told") { server.requests.last == "DELETE \(Self.channelPath)" }
        #expect(states(harness) == ["\(Self.otherChannel) active"])
    }

    @Test func `a subscription renews a lost registration once and is then sent again`() async throws {
        let harness = try await connected()
        let earlier = server.requests("PUT /v1/apps/org.example.Mail {").count
        try await server.expireRegistrations()
        try await server.fail(Self.channelPath, status: 404, word: "UnknownTopic")
        #expect(try await harness.subscribe(Self.channel) == .success(.active))
        #expect(server.requests("PUT /v1/apps/org.example.Mail {").count == earlier + 1)
        #expect(harness.events.contains { $0.hasPrefix("token org.example.Mail 01") })

        try await server.fail(Self.channelPath, status: 404, word: "UnknownTopic", count: 100)
        try harness.agent.subscriptions.unsubscribe(Self.channel, of: Self.app)
        try await server.fail(
            "\(Self.channelsPath)/%2F%2B%2B%2BAAAAAAAAAAAAAAAAAg%3D%3D", status: 404, word: "UnknownTopic", count: 100)
        #expect(try await harness.subscribe(Self.otherChannel) == .success(.pending))
        #expect(server.requests("PUT /v1/apps/org.example.Mail {").count == earlier + 1, "no endless loop")
    }

    @Test func `another registration keeps the subscriptions, and unregistering ends them`() async throws {
        let harness = try await connected()
        #expect(try await harness.subscribe(Self.channel) == .success(.active))
        _ = try await harness.register(Self.app, environment: .development).get()
        try await harness.loop.run("the server was told again") {
            server.requests("PUT \(Self.channelPath)").count == 2 && states(harness) == ["\(Self.channel) active"]
        }
        #expect(
            try await harness.unregister(Self.app) == nil)
        #expect(try harness.database.subscriptions.all(of: Self.app).isEmpty)
    }

    @Test func `an invalid subscription is refused without a request`() async throws {
        let harness = try await connected()
        let requests = server.requests.count
        for channel in ["", "c", Self.channel + "=", "AAAAAAAAAAAAAAAAAAAAAA==\n", "\u{E9}AAAAAAAAAAAAAAAAAAA=="] {
            guard case .failure(let refusal) = try await harness.subscribe(channel) else {
                throw NeverHappened(what: "a refusal of \(channel)")
            }
            #expect(refusal.code == .badChannelID)
            #expect(throws: AgentRefusal.self) { try harness.agent.subscriptions.unsubscribe(channel, of: Self.app) }
        }
        guard case .failure(let refusal) = try await harness.subscribe(Self.channel, of: "org.example.Other") else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == .unknownApp)
        let unknown = #expect(throws: AgentRefusal.self) {
            try harness.agent.subscriptions.unsubscribe(Self.channel, of: Self.app)
        }
        #expect(unknown?.code == .unknownChannel)
        #expect(server.requests.count == requests)
    }

    @Test func `an app may have the maximum number of channels and not one more`() async throws {
        let harness = try await connected()
        try await harness.stop()
        try harness.database.transaction { () throws(SQLError) in
            for number in 1...UInt64(Limits.subscriptionPerAppCountMax - 1) {
                try harness.database.subscriptions.request(ChannelID(high: 7, low: number).text, of: Self.app)
            }
        }
        #expect(try await harness.subscribe(Self.channel) == .success(.pending))
        guard case .failure(let refusal) = try await harness.subscribe(Self.otherChannel) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == .tooMany)
        #expect(try await harness.subscribe(Self.channel) == .success(.pending), "one that is there is no more")
    }

    // MARK: Broadcasts

    @Test func `a broadcast is shown, and none after unsubscribing`() async throws {
        let harness = try await connected()
        #expect(try await harness.subscribe(Self.channel) == .success(.active))
        try await server.broadcast(1, channel: Self.channel, payload: #"{"aps":{"alert":"1:0"}}"#)
        try await harness.loop.run("it is shown") { harness.screen.contains("[Example Mail] 1:0") }
        try await server.broadcast(2, channel: Self.channel, payload: #"{"aps":{"content-state":{"score":"2:0"}}}"#)
        try harness.agent.subscriptions.unsubscribe(Self.channel, of: Self.app)
        try await server.broadcast(3, channel: Self.channel, payload: #"{"aps":{"alert":"3:0"}}"#)
        try await server.push(4)
        try await harness.loop.run("the last is shown") { harness.screen.contains("Hello") }
        #expect(!harness.screen.contains("3:0"))
        #expect(try harness.agent.inbox.newest(countMax: 9).map(\.body) == ["Hello 4", "1:0"])
        #expect(!server.requests("POST /v1/acks").joined().contains(#""id":0"#))
    }

    @Test func `a broadcast of a channel without a local subscriber ends the subscription at the server`() async throws
    {
        let harness = try await connected()
        try await server.broadcast(1, channel: Self.channel)
        try await harness.loop.run("the server was told") { server.requests.last == "DELETE \(Self.channelPath)" }
        #expect(harness.screen.isEmpty)
    }
}
