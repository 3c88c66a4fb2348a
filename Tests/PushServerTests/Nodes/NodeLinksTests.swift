// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import PushCore
import PushNet
import PushStore
import PushTLS
import TestSupport
import Testing

@testable import PushCluster

/// Links between nodes over real sockets: `NodeLinks` on one end, the port of the server on the other one.
@Suite struct NodeLinksTests {
    private let loop: EventLoop
    private let authority: ClusterAuthority
    private let cluster = TestCluster()

    init() throws {
        loop = try EventLoop()
        authority = try ClusterAuthority.make()
    }

    /// Returns the first instance of a node, or a later one.
    private func instance(_ number: Int, start: Int64 = 1) -> InstanceID {
        InstanceID(rawValue: start << 22 | Int64(number) << 12)
    }

    private func node(
        _ number: Int, start: Int64 = 1, settings: LinkSettings = TestNode.patient,
        serverSettings: LinkSettings = TestNode.patient
    ) throws -> TestNode {
        let credentials = try authority.issueCredentials(for: NodeNumber(rawValue: number))
        return cluster.add(
            try TestNode(
                instance(number, start: start), on: loop, credentials, settings: settings,
                serverSettings: serverSettings))
    }

    private func list(_ nodes: TestNode...) {
        for node in nodes { node.links.setNodes(nodes.map { $0.listed() }) }
    }

    /// Lists two nodes, of which the first connects through a proxy.
    private func list(_ first: TestNode, _ second: TestNode, through proxy: LinkProxy) {
        first.links.setNodes([second.listed(port: proxy.port)])
        second.links.setNodes([first.listed()])
    }

    private func done(_ number: Int64) -> NodeMessage { .done(number: number) }

    /// Returns a notification of four KiB.
    private func large(_ number: Int64) -> PendingNotification {
        let contents = DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 1), generation: 1)
        return PendingNotification(
            sequence: number,
            notification: Notification(
                address: contents, apnsID: [], uniqueID: UniqueID(high: 1, low: UInt64(number)),
                suffixedTopic: "com.example.App", pushType: .alert, priority: 10, expiration: nil, collapseID: nil,
                payload: [UInt8](repeating: 0, count: 4_096), acceptedAt: .unixEpoch))
    }

    // MARK: Up

    @Test func `two nodes have a link, which each of them is told once`() async throws {
        let (first, second) = (try node(1), try node(2))
        list(first, second)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        #expect(first.changes == [.init(instance: second.instance, isUp: true)])
        #expect(second.changes == [.init(instance: first.instance, isUp: true)])
        #expect(first.links.upCount == 1 && second.links.upCount == 1)
    }

    @Test func `three nodes have links to each other, and messages arrive in order`() async throws {
        let nodes = try (0..<3).map { try node($0) }
        for node in nodes { node.links.setNodes(nodes.map { $0.listed() }) }
        try await loop.run("all links are up") { nodes.allSatisfy { $0.links.upCount == 2 } }
        for round in 0..<20 {
            for from in nodes {
                for to in nodes where to !== from {
                    from.links.send([done(Int64(round) * 2), done(Int64(round) * 2 + 1)], to: to.instance)
                }
            }
            try await loop.run("a turn") { true }
        }
        let expected = (0..<40).map { "\(done(Int64($0)))" }
        for to in nodes {
            for from in nodes where to !== from {
                try await loop.run("all messages arrived") { to.messages(from: from).count == expected.count }
                #expect(to.messages(from: from) == expected)
            }
        }
        #expect(nodes.allSatisfy { $0.changes.count == 2 })
    }

    @Test func `messages of one turn are in one packet`() async throws {
        let (first, second) = (try node(1), try node(2))
        list(first, second)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        for (from, to) in [(first, second), (second, first)] {
            from.links.send([done(1), done(2)], to: to.instance)
            from.links.send([done(3)], to: to.instance)
            try await loop.run("the messages arrived") { to.arrivals.count == 1 }
            #expect(to.arrivals[0].messages.count == 3)
        }
    }

    @Test func `a node that is found by name has a link too`() async throws {
        let (first, second) = (try node(1), try node(2))
        var listed = second.listed()
        listed.address.host = "localhost"
        first.links.setNodes([listed])
        second.links.setNodes([first.listed()])
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
    }

    @Test func `a packet of the maximum size arrives`() async throws {
        let (first, second) = (try node(1), try node(2))
        list(first, second)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        let devices = (0..<65_536).map { DeviceID(rawValue: UInt64($0)) }
        for (from, to) in [(first, second), (second, first)] {
            from.links.send([.wake(number: 1, devices), .wake(number: 2, devices), done(3)], to: to.instance)
            try await loop.run("the messages arrived") { to.arrivals.flatMap(\.messages).count == 3 }
            #expect(to.arrivals.count == 2)
        }
    }

    @Test func `with another authority, links close, and open again when both nodes use it`() async throws {
        let (first, second) = (try node(1), try node(2))
        list(first, second)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        let other = try ClusterAuthority.make()
        try first.links.replace(other.issueCredentials(for: NodeNumber(rawValue: 1)))
        #expect(!first.isUp(to: second))
        try await loop.run("the other end is closed") { !second.isUp(to: first) }
        try first.links.replace(authority.issueCredentials(for: NodeNumber(rawValue: 1)))
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
    }

    // MARK: Instances

    @Test func `messages to an instance without a link are dropped`() async throws {
        let (first, second) = (try node(1), try node(2))
        first.links.send([done(1)], to: second.instance)
        list(first, second)
        first.links.send([done(2)], to: second.instance)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        first.links.send([done(3)], to: instance(2, start: 9))
        first.links.send([done(4)], to: second.instance)
        try await loop.run("a message arrived") { !second.arrivals.isEmpty }
        #expect(second.messages(from: first) == ["\(done(4))"])
    }

    @Test func `a node answers only an instance that it knows`() async throws {
        let (first, second) = (try node(1), try node(2))
        first.links.setNodes([second.listed()])
        // The lower number connects again and again, but is not answered.
        var former = first.listed()
        former.instance = instance(1, start: 0)
        second.links.setNodes([former])
        try await loop.run("the instance is known") {
            second.links.newcomers.values.contains { $0.instance == first.instance }
        }
        #expect(first.changes.isEmpty && second.changes.isEmpty)
        second.links.setNodes([first.listed()])
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        #expect(first.changes.count == 1 && second.changes.count == 1)
    }

    @Test func `another instance at the address of a node has no link`() async throws {
        let (first, second) = (try node(1), try node(2))
        var former = second.listed()
        former.instance = instance(2, start: 0)
        first.links.setNodes([former])
        second.links.setNodes([first.listed()])
        // The second node answers, and sends a message.
        try await loop.run("the link is up at the second node") { second.isUp(to: first) }
        second.links.send([done(1)], to: first.instance)
        for _ in 0..<50 { try await loop.run("a turn") { true } }
        #expect(first.changes.isEmpty && first.arrivals.isEmpty)
        first.links.setNodes([second.listed()])
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        #expect(first.changes == [.init(instance: second.instance, isUp: true)])
    }

    @Test(arguments: [true, false])
    func `a node that has started again has another link`(isConnecting: Bool) async throws {
        let (first, second) = (try node(1), try node(2))
        list(first, second)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        let (earlier, other) = isConnecting ? (first, second) : (second, first)
        earlier.links.stop()
        let later = try node(isConnecting ? 1 : 2, start: 2)
        list(other, later)
        #expect(!other.isUp(to: earlier))
        try await loop.run("the links are up") { later.isUp(to: other) && other.isUp(to: later) }
        #expect(other.changes.map(\.isUp) == [true, false, true])
        #expect(later.changes.map(\.isUp) == [true])
    }

    @Test func `a node that is no longer listed has no link`() async throws {
        let (first, second) = (try node(1), try node(2))
        for (leaving, other) in [(first, second), (second, first)] {
            list(first, second)
            try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
            other.links.setNodes([])
            #expect(!other.isUp(to: leaving))
            try await loop.run("the other end is told") { !leaving.isUp(to: other) }
            leaving.links.setNodes([])
        }
    }

    // MARK: Down

    @Test func `a cut connection is told to both once, and is opened again`() async throws {
        let (first, second) = (try node(1), try node(2))
        let proxy = try LinkProxy(to: second.server.port, on: loop)
        defer { proxy.stop() }
        list(first, second, through: proxy)
        for round in 1...3 {
            try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
            #expect(first.changes.count == 2 * round - 1 && second.changes.count == 2 * round - 1)
            proxy.cut()
            try await loop.run("both links were down") {
                first.changes.count >= 2 * round && second.changes.count >= 2 * round
            }
        }
        for node in [first, second] {
            #expect(node.changes.enumerated().allSatisfy { $1.isUp == ($0 % 2 == 0) })
        }
    }

    @Test func `a node that cannot be reached is tried again until it can`() async throws {
        let (first, second) = (try node(1), try node(2))
        let proxy = try LinkProxy(to: second.server.port, on: loop)
        defer { proxy.stop() }
        proxy.refuses = true
        list(first, second, through: proxy)
        try await loop.run("several attempts failed") { proxy.acceptedCount >= 3 }
        #expect(first.changes.isEmpty)
        proxy.refuses = false
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
    }

    @Test func `a silent node has no link`() async throws {
        var settings = LinkSettings()
        settings.pingMilliseconds = 20
        settings.attemptMilliseconds = 60_000
        let (first, second) = (try node(1, settings: settings), try node(2))
        let proxy = try LinkProxy(to: second.server.port, on: loop)
        defer { proxy.stop() }
        list(first, second, through: proxy)
        try await loop.run("the link is up") { first.isUp(to: second) }
        proxy.isStalled = true
        try await loop.run("the link is down") { !first.isUp(to: second) }
        #expect(first.logText.contains("event=node_link_lost node=2 reason=\"the node does not answer\""))
    }

    @Test(.tags(.slow)) func `an accepting node notices silence too`() async throws {
        var settings = LinkSettings()
        // The server looks once a second.
        settings.pingMilliseconds = 1
        let (first, second) = (try node(1), try node(2, serverSettings: settings))
        let proxy = try LinkProxy(to: second.server.port, on: loop)
        defer { proxy.stop() }
        list(first, second, through: proxy)
        try await loop.run("the link is up") { second.isUp(to: first) }
        proxy.isStalled = true
        try await loop.run("the link is down") { !second.isUp(to: first) }
        #expect(second.logText.contains("event=node_link_lost node=1 reason=\"the node does not answer\""))
    }

    @Test(arguments: [true, false])
    func `a node that does not read has no link when 8 MiB wait`(isConnecting: Bool) async throws {
        let (first, second) = (try node(1), try node(2))
        let proxy = try LinkProxy(to: second.server.port, on: loop)
        defer { proxy.stop() }
        list(first, second, through: proxy)
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
        proxy.isStalled = true
        let (from, to) = isConnecting ? (first, second) : (second, first)
        // Large notifications fill the link fast. Many small values take so long that the kernel ends the connection
        // first.
        let pushes = (0..<128).map { NodeMessage.Push(pending: large($0), key: RowKey(rawValue: $0)) }
        var sentCount = 0
        try await loop.run("the link is down") {
            from.links.send([.push(number: 1, pushes, until: .max)], to: to.instance)
            sentCount += 1
            return !from.isUp(to: to)
        }
        // Half a MiB each; the kernel's buffers take some more.
        #expect(sentCount > 16)
        #expect(from.logText.contains("bytes wait for the node"))
        proxy.cut()
        proxy.isStalled = false
        try await loop.run("both links are up again") { first.isUp(to: second) && second.isUp(to: first) }
    }

    // MARK: Security

    /// Runs two nodes until the first one has failed to connect several times; returns what it logged.
    private func failure(_ first: PeerCredentials, _ second: PeerCredentials) async throws -> (String, String) {
        let nodes = [
            cluster.add(try TestNode(instance(1), on: loop, first)),
            cluster.add(try TestNode(instance(2), on: loop, second)),
        ]
        let proxy = try LinkProxy(to: nodes[1].server.port, on: loop)
        defer { proxy.stop() }
        list(nodes[0], nodes[1], through: proxy)
        try await loop.run("several attempts failed") { proxy.acceptedCount >= 3 }
        #expect(nodes.allSatisfy { $0.changes.isEmpty })
        return (nodes[0].logText, nodes[1].logText)
    }

    private func credentials(_ number: Int, seconds: Int = 600) throws -> PeerCredentials {
        try authority.issueCredentials(for: NodeNumber(rawValue: number), seconds: seconds)
    }

    @Test func `a node does not connect to one of another cluster`() async throws {
        let other = try ClusterAuthority.make().issueCredentials(for: NodeNumber(rawValue: 2))
        let (log, _) = try await failure(credentials(1), other)
        #expect(log.contains("event=node_link_failed node=2 reason=\"peer: the server's certificate is not trusted: "))
    }

    @Test func `a node of another cluster is refused`() async throws {
        var other = try ClusterAuthority.make().issueCredentials(for: NodeNumber(rawValue: 1))
        other.authorities = authority.certificate
        let (log, serverLog) = try await failure(other, credentials(2))
        #expect(log.contains("event=node_link_failed node=2 reason=\"the node answered 403\""))
        #expect(serverLog.contains("event=node_refused"))
    }

    @Test func `a node does not connect to one whose certificate has expired`() async throws {
        let (log, _) = try await failure(credentials(1), credentials(2, seconds: -60))
        #expect(log.contains("certificate has expired"))
    }

    @Test func `a node whose certificate has expired is refused`() async throws {
        let (log, serverLog) = try await failure(credentials(1, seconds: -60), credentials(2))
        #expect(log.contains("reason=\"the node answered 403\""))
        #expect(serverLog.contains("event=node_refused reason=\"certificate has expired\""))
    }

    @Test func `a node does not connect to another one at a wrong address`() async throws {
        let (log, _) = try await failure(credentials(1), credentials(3))
        #expect(log.contains("event=node_link_failed node=2 reason=\"peer: the server's certificate is not trusted: "))
    }

    @Test func `a renewed certificate is used for the next connection`() async throws {
        let first = cluster.add(try TestNode(instance(1), on: loop, credentials(1, seconds: -60)))
        let second = try node(2)
        list(first, second)
        try await loop.run("an attempt failed") { first.logText.contains("node_link_failed") }
        try first.links.renew(credentials(1))
        try await loop.run("both links are up") { first.isUp(to: second) && second.isUp(to: first) }
    }
}
