// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// The trace of nodes on a real PostgreSQL.
@Suite(.needsPostgres) struct NodeTraceTests {
    private func search(_ query: TraceQuery, _ node: TestNode) throws -> TraceFindings {
        guard case .trace(let findings) = try node.succeed(.allDevices(.trace(query))) else {
            throw MissingReply(what: "a trace")
        }
        return findings
    }

    /// Returns the steps of the only app with their reasons, in order of time.
    private func steps(_ node: TestNode) throws -> [String] {
        try search(TraceQuery(.app(topic: TestNode.topic), countMax: 1000), node).entries.map(\.text)
    }

    /// Returns the steps of each notification of the only app with their reasons, in order of the numbers.
    ///
    /// The events of one notification are in order. Between notifications, the node's estimates of the clock may differ.
    private func stepsOfEach(_ node: TestNode) throws -> [[String]] {
        let entries = try search(TraceQuery(.app(topic: TestNode.topic), countMax: 1000), node).entries
        return Dictionary(grouping: entries, by: \.event.sequence).sorted { $0.key < $1.key }
            .map { $0.value.map(\.text) }
    }

    private func report(
        _ acknowledgements: [DeviceAPI.Acknowledgement], _ device: TestDevice, _ node: TestNode
    ) throws {
        try node.succeed(.device(.acknowledge(acknowledgements), by: device.credential))
    }

    private func outcomes(_ node: TestNode) throws -> AdminAPI.Counts {
        guard case .counts(let counts) = try node.succeed(.allDevices(.counts)) else {
            throw MissingReply(what: "counts")
        }
        return counts
    }

    // MARK: Steps

    @Test func `a delivered notification has every step up to the click`() async throws {
        let node = try TestNode(try await PostgresFixture())
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        let answer = node.submit("a", to: device.contents)
        let received = try node.received(1, on: stream)
        node.acknowledge(received, by: device, .shown)
        #expect(try node.answer(to: answer) == nil)
        node.acknowledge(received, by: device, .viewed)
        let entries = try search(TraceQuery(.app(topic: TestNode.topic), countMax: 10), node).entries
        #expect(entries.map(\.text) == ["accepted", "sent", "acknowledged", "shown", "viewed"])
        let origin = try #require(entries[0].origin)
        #expect(entries.allSatisfy { $0.event.sequence == received[0].sequence && $0.origin == origin })
        let found = try search(TraceQuery(.notification(origin.uniqueID), countMax: 10), node)
        #expect(found.entries.map(\.event) == entries.map(\.event))
        #expect(found.entries.map(\.event.at) == found.entries.map(\.event.at).sorted())
        let ofDevice = try search(TraceQuery(.device(device.contents.device), countMax: 10), node)
        #expect(ofDevice.entries.map(\.event) == entries.map(\.event))
    }

    @Test func `a stored notification is traced when it is written, sent, replaced, and acknowledged`() async throws {
        let node = try TestNode(try await PostgresFixture())
        let device = try node.registeredDevice()
        for text in ["1", "2"] { #expect(try node.send(text, to: device.contents, collapseID: "c") == nil) }
        #expect(try stepsOfEach(node) == [["accepted", "stored", "replaced"], ["accepted", "stored"]])
        let stream = try node.attach(device)
        node.acknowledge(try node.received(1, on: stream), by: device)
        try await eventually("the end is traced") { try steps(node).suffix(2) == ["sent", "acknowledged"] }
        #expect(try outcomes(node).collapsed == 1)
    }

    @Test func `the trace of an undelivered notification has the reason`() async throws {
        let node = try TestNode(try await PostgresFixture())
        let device = try node.registeredDevice()
        #expect(try node.answer(to: node.submit("now", to: device.contents, isNowOrNever: true)) == nil)
        #expect(try node.send("waits", to: device.contents) == nil)
        try node.succeed(.device(.setFilter(refusedTopics: [TestNode.topic]), by: device.credential))
        #expect(try node.send("refused", to: device.contents) == nil)
        try node.succeed(.device(.setFilter(refusedTopics: []), by: device.credential))
        #expect(try node.send("left", to: device.contents) == nil)
        try node.succeed(.device(.unregister(topic: TestNode.topic), by: device.credential))
        #expect(try node.send("too late", to: device.contents) == .unregistered)
        let found = try stepsOfEach(node)
        #expect(
            found == [
                ["accepted", "expired/not-connected"], ["accepted", "stored", "dropped/refused-by-device"],
                ["accepted", "dropped/refused-by-device"], ["accepted", "stored", "unregistered"],
            ])
    }

    @Test func `without a trace, nothing is recorded, and a search is refused`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, hasTrace: false)
        let device = try node.registeredDevice()
        #expect(try node.send("a", to: device.contents) == nil)
        let query = TraceQuery(.app(topic: TestNode.topic), countMax: 10)
        guard case .failure(.traceOff) = try node.perform(.allDevices(.trace(query))) else {
            throw MissingReply(what: "a refusal")
        }
        let webhook = StoreRequest.control(.setWebhook(topic: TestNode.topic, url: "https://a", secret: [1]))
        guard case .failure(.traceOff) = try node.perform(webhook) else { throw MissingReply(what: "a refusal") }
        #expect(try await postgres.sql("SELECT count(*) FROM trace") == "0")
    }

    // MARK: Several nodes and starts

    @Test func `the events of several nodes are one stream in order of time, and a search continues at a position`()
        async throws
    {
        let postgres = try await PostgresFixture()
        let nodes = try ["n1", "n2"].map { try TestNode(postgres, name: $0, isOneOfSeveral: true) }
        let device = try nodes[0].registeredDevice()
        for number in 0..<20 { #expect(try nodes[number % 2].send("\(number)", to: device.contents) == nil) }
        // The other node writes its events within about a second.
        try await eventually("all events are written") {
            try await postgres.sql("SELECT count(DISTINCT node) FROM trace") == "2" && steps(nodes[0]).count == 40
        }
        let whole = try search(TraceQuery(.device(device.contents.device), countMax: 1000), nodes[1])
        #expect(whole.entries.map(\.event.at) == whole.entries.map(\.event.at).sorted() && !whole.isMore)
        var (positions, after) = ([Int64](), Int64(0))
        while true {
            let page = try search(TraceQuery(.device(device.contents.device), after: after, countMax: 7), nodes[0])
            positions += page.entries.map(\.position)
            after = page.next
            guard page.isMore else { break }
            #expect(page.entries.count == 7)
        }
        #expect(Set(positions) == Set(whole.entries.map(\.position)) && positions.count == 40)
        #expect(
            try await postgres.sql(
                """
                SELECT bool_and(position = before) FROM (
                    SELECT position, lag(position + octet_length(events), 1, 0::bigint) OVER (ORDER BY position) AS before
                    FROM trace) AS rows
                """) == "t")
    }

    @Test func `the acceptance is recorded again if the node that accepted was killed, and is listed once`()
        async throws
    {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let device = try #require(try node?.registeredDevice())
        for text in ["lost", "kept"] { #expect(try node?.send(text, to: device.contents) == nil) }
        node = nil
        // A killed node does not write the events of its last second.
        _ = try await postgres.sql("DELETE FROM trace")
        _ = try await postgres.sql("UPDATE trace_end SET position = 5000")
        let next = try TestNode(postgres)
        for _ in 1...2 {
            let stream = try next.attach(device)
            #expect(try next.received(2, on: stream).map(\.text) == ["lost", "kept"])
        }
        #expect(try steps(next).filter { $0 == "accepted" }.count == 2)
        let entries = try search(TraceQuery(.app(topic: TestNode.topic), countMax: 100), next).entries
        #expect(entries.allSatisfy { $0.origin != nil && $0.position >= 5000 })
        let origin = try #require(entries[0].origin)
        let found = try search(TraceQuery(.notification(origin.uniqueID), countMax: 10), next).entries
        #expect(found.map(\.text) == ["accepted", "sent", "sent"])
    }

    @Test func `a clean restart loses no event, and the acceptance is not listed again`() async throws {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let device = try #require(try node?.registeredDevice())
        #expect(try node?.send("a", to: device.contents) == nil)
        node = nil
        let next = try TestNode(postgres)
        node = next
        let stream = try next.attach(device)
        next.acknowledge(try next.received(1, on: stream), by: device)
        try await eventually("everything is traced") {
            try steps(next) == ["accepted", "stored", "sent", "acknowledged"]
        }
        let id = try #require(try search(TraceQuery(.app(topic: TestNode.topic), countMax: 1), next).entries[0].origin)
        let found = try search(TraceQuery(.notification(id.apnsID), countMax: 10), next).entries
        #expect(found.map(\.text) == ["accepted", "stored", "sent", "acknowledged"])
    }

    @Test func `events wait while PostgreSQL refuses them, and are written once`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        _ = try await postgres.sql("ALTER TABLE trace RENAME TO hidden")
        #expect(try node.send("a", to: device.contents) == nil)
        let query = TraceQuery(.app(topic: TestNode.topic), countMax: 10)
        guard case .failure(.unavailable) = try node.perform(.allDevices(.trace(query))) else {
            throw MissingReply(what: "a refusal")
        }
        _ = try await postgres.sql("ALTER TABLE hidden RENAME TO trace")
        try await eventually("the events are written") { try steps(node) == ["accepted", "stored"] }
    }

    @Test func `old events are deleted, and all of them when the trace is off`() async throws {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let device = try #require(try node?.registeredDevice())
        #expect(try node?.send("a", to: device.contents) == nil)
        node = nil
        #expect(try await postgres.sql("SELECT count(*) FROM trace") == "1")
        _ = try await postgres.sql(
            "INSERT INTO trace VALUES (-100, 0, 0, 0, 0, 0, repeat('x', 100)::bytea)")
        node = try TestNode(postgres)
        try await eventually("the old row is deleted") {
            try await postgres.sql("SELECT min(position) FROM trace") == "0"
        }
        node = nil
        _ = try await postgres.sql("DELETE FROM state WHERE name = 'swept_at_ms'")
        node = try TestNode(postgres, hasTrace: false)
        try await eventually("no row is left") { try await postgres.sql("SELECT count(*) FROM trace") == "0" }
    }

    // MARK: Outcomes

    @Test func `each outcome counts once, and only for a notification of the device`() async throws {
        let node = try TestNode(try await PostgresFixture())
        let (device, stranger) = (try node.registeredDevice(1), try node.registeredDevice(2))
        let stream = try node.attach(device)
        _ = try node.attach(stranger)
        #expect(try node.send("a", to: device.contents) == nil)
        let received = try node.received(1, on: stream)
        for _ in 1...3 {
            for outcome in [DeviceAPI.Outcome.delivered, .shown] { node.acknowledge(received, by: device, outcome) }
        }
        node.acknowledge(received, by: stranger, .viewed)
        try report([.init(id: received[0].sequence, outcome: .closed)], stranger, node)
        try await eventually("six are ignored") { try outcomes(node).glitches == 6 }
        let counts = try outcomes(node)
        #expect(counts.acknowledged == 1)
        #expect(counts.outcomes == ["delivered": 1, "shown": 1, "viewed": 0, "closed": 0, "suppressed": 0])
    }

    @Test func `an acknowledgement in a request counts for a waiting notification, and a repeated one does not`()
        async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        #expect(try node.send("a", to: device.contents) == nil)
        let id = Int64(try await postgres.sql("SELECT id FROM pending")) ?? 0
        for _ in 1...2 {
            try report([.init(id: id, outcome: .shown), .init(id: id + 1, outcome: .shown)], device, node)
        }
        #expect(try steps(node) == ["accepted", "stored", "acknowledged", "shown"])
        let counts = try outcomes(node)
        #expect(counts.outcomes["shown"] == 1 && counts.glitches == 3 && counts.acknowledged == 1)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
    }

    @Test func `a click counts the next morning, at another node and after all nodes have started again`()
        async throws
    {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres, name: "n1", isOneOfSeveral: true)
        let device = try #require(try node?.registeredDevice())
        var received: [PendingNotification] = []
        if let node {
            let stream = try node.attach(device)
            let answers = ["a", "b"].map { node.submit($0, to: device.contents) }
            received = try node.received(2, on: stream)
            node.acknowledge(received, by: device)
            for answer in answers { #expect(try node.answer(to: answer) == nil) }
        }
        node = nil
        let next = try TestNode(postgres, name: "n2", isOneOfSeveral: true)
        _ = try next.attach(device)
        next.acknowledge([received[0]], by: device, .viewed)
        let later = try TestNode(postgres, name: "n3", isOneOfSeveral: true)
        try report([.init(id: received[1].sequence, outcome: .viewed)], device, later)
        try await eventually("each click counts at its node") {
            next.store.metrics.count(of: .viewed) == 1 && later.store.metrics.count(of: .viewed) == 1
        }
        try await eventually("both clicks count in all") {
            try outcomes(next).outcomes["viewed"] == 2 && outcomes(later).outcomes["viewed"] == 2
        }
        try await eventually("both are traced") { try steps(next).count { $0 == "viewed" } == 2 }
    }

    @Test func `an acknowledgement at another node completes a notification in the window of the host`() async throws {
        let postgres = try await PostgresFixture()
        let nodes = try ["n1", "n2"].map { try TestNode(postgres, name: $0, isOneOfSeveral: true) }
        let device = try nodes[0].registeredDevice()
        let stream = try nodes[0].attach(device)
        #expect(try nodes[0].send("a", to: device.contents) == nil)
        let received = try nodes[0].received(1, on: stream)
        try report([.init(id: received[0].sequence, outcome: .delivered)], device, nodes[1])
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
        let again = try nodes[0].attach(device)
        #expect(try nodes[0].send("b", to: device.contents) == nil)
        #expect(try nodes[0].received(1, on: again).map(\.text) == ["b"])
    }

    // MARK: Webhooks

    @Test func `one node delivers to a webhook, and another one continues when its lease is over`() async throws {
        let postgres = try await PostgresFixture()
        var first: TestNode? = try TestNode(postgres, name: "n1", isOneOfSeveral: true)
        let second = try TestNode(postgres, name: "n2", isOneOfSeveral: true)
        let device = try #require(try first?.registeredDevice())
        try first?.succeed(.control(.setWebhook(topic: TestNode.topic, url: "https://a", secret: [1])))
        let query = TraceQuery(.app(topic: TestNode.topic), countMax: 10, isForWebhook: true)
        let found = try #require(
            try first.map { node in
                for text in ["a", "b", "c"] {
                    _ = try node.answer(to: node.submit(text, to: device.contents, isNowOrNever: true))
                }
                return try search(query, node)
            })
        #expect(found.entries.map(\.text) == Array(repeating: "expired/not-connected", count: 3))
        #expect(found.entries.allSatisfy { $0.token?.contents == device.contents })
        #expect(try search(query, second).entries.isEmpty)
        try first?.succeed(.control(.advanceWebhook(device.contents.topic, to: found.entries[2].position)))
        first = nil
        // The second node has an old position, and continues at the stored one.
        var rest: [TraceEntry] = []
        try await eventually("the other node delivers") {
            rest = try search(query, second).entries
            return !rest.isEmpty
        }
        #expect(rest.map(\.position) == [found.entries[2].position])
    }
}

extension TraceEntry {
    /// The step, followed by a slash and the reason if there is one.
    fileprivate var text: String { event.step.word + (event.detail.word.map { "/\($0)" } ?? "") }
}
