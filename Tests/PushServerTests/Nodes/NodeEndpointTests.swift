// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import PushCore
import PushNet
import PushTLS
import PushWebSocket
import TestSupport
import Testing

@testable import PushCluster

/// The server's end of a link, with a client that breaks the rules.
@Suite struct NodeEndpointTests {
    private let loop: EventLoop
    private let authority: ClusterAuthority
    private let node: TestNode

    private static let first = InstanceID(rawValue: 1 << 22 | 1 << 12)
    private static let second = InstanceID(rawValue: 1 << 22 | 2 << 12)

    init() throws {
        loop = try EventLoop()
        authority = try ClusterAuthority.make()
        node = try TestNode(
            Self.second, on: loop, authority.issueCredentials(for: NodeNumber(rawValue: 2)))
    }

    /// Connects as a node, by default as node 1.
    private func client(_ credentials: PeerCredentials? = nil) throws -> RawNodeClient {
        try RawNodeClient(
            credentials ?? authority.issueCredentials(for: NodeNumber(rawValue: 1)),
            to: ClusterAuthority.name(of: NodeNumber(rawValue: 2)), port: node.server.port)
    }

    /// Returns a packet of a node with messages.
    private func packet(_ messages: [NodeMessage] = [], from sender: InstanceID = first) -> [UInt8] {
        var encoder = NodeMessageEncoder(sender: sender)
        for message in messages { encoder.append(message) }
        return encoder.takePackets().first ?? NodeMessageEncoder.greeting(from: sender)
    }

    /// Lists node 1 at the node.
    private func listFirst() {
        node.links.setNodes([LinkedNode(instance: Self.first, address: .init(host: "127.0.0.1", port: 1))])
    }

    // MARK: Requests

    @Test func `a node may open a link`() throws {
        let answer = try client().ask()
        #expect(answer.status == 101)
        #expect(answer.head.contains("sec-websocket-protocol: posthorn.node.v1\r\n"))
    }

    @Test(arguments: ["posthorn.node.v2", "posthorn.v1", "x"])
    func `another subprotocol is refused`(subprotocol: String) throws {
        let answer = try client().ask("GET", "/v1/node", RawNodeClient.linkFields(subprotocol: subprotocol))
        #expect(answer.status == 400)
    }

    @Test func `a request that is no upgrade is refused`() throws {
        #expect(try client().ask("GET", "/v1/node", []).status == 426)
        #expect(try client().ask("POST", "/v1/node", ["Content-Length: 0"]).status == 405)
    }

    @Test func `a certificate of the authority without a node's name is refused`() throws {
        let issued = try CertificateAuthority.issuePeerCertificate(
            name: "1024.node.posthorn.internal", seconds: 600, authorityCertificate: authority.certificate,
            authorityPrivateKey: authority.privateKey)
        var credentials = try authority.issueCredentials(for: NodeNumber(rawValue: 1))
        (credentials.certificate, credentials.privateKey) = issued
        #expect(try client(credentials).ask().status == 403)
        #expect(node.logText.contains("event=node_refused reason=\"the certificate is not that of a node\""))
    }

    @Test func `a client that did not ask for a node's name is refused`() throws {
        var credentials = try authority.issueCredentials(for: NodeNumber(rawValue: 1))
        credentials.authorities = Array(readText(node.server.authorityFile).utf8)
        let client = try RawNodeClient(credentials, to: "localhost", port: node.server.port)
        #expect(try client.ask().status == 403)
        #expect(node.logText.contains("event=node_refused reason=\"no certificate of a node was shown\""))
    }

    @Test func `a node's certificate is no credential of a device or a provider`() throws {
        let client = try client()
        #expect(try client.ask("GET", "/v1/stream", []).status == 401)
        let path = "/3/device/" + String(repeating: "0", count: 64)
        let answer = try client.ask("POST", path, ["Content-Length: 0", "apns-topic: a.b"])
        #expect(answer.status == 403 && answer.body.contains("MissingProviderToken"))
    }

    // MARK: Messages

    /// Opens a link by hand until the node has answered with its instance.
    private func openLink() async throws -> RawNodeClient {
        listFirst()
        let client = try client()
        #expect(try client.ask().status == 101)
        try client.send(packet())
        try await loop.run("the link is up") { node.links.upCount == 1 }
        try client.receive()
        #expect(client.packets == [packet(from: Self.second)])
        return client
    }

    @Test func `packets of another version, another node or with an error are dropped`() async throws {
        listFirst()
        let client = try client()
        #expect(try client.ask().status == 101)
        var other = packet()
        other[0] = 2
        try client.send(other)
        try client.send([])
        try client.send(packet(from: InstanceID(rawValue: 1 << 22 | 3 << 12)))
        #expect(node.changes.isEmpty)
        try client.send(packet())
        try await loop.run("the link is up") { node.links.upCount == 1 }
        other = packet([.done(number: 1)])
        other[0] = 2
        try client.send(other)
        try client.send(packet([.done(number: 2)]) + [99])
        try client.send(packet([.done(number: 3)], from: InstanceID(rawValue: 2 << 22 | 1 << 12)))
        try client.send(packet([.done(number: 4)]))
        try await loop.run("a message arrived") { !node.arrivals.isEmpty }
        #expect(node.arrivals.flatMap(\.messages).map { "\($0)" } == ["\(NodeMessage.done(number: 4))"])
    }

    @Test func `a text message ends the link`() async throws {
        let client = try await openLink()
        try client.sendText("{}")
        try client.receive()
        #expect(client.closure?.code == WebSocketCloseCode(rawValue: 1003))
        try await loop.run("the link is down") { node.links.upCount == 0 }
    }

    @Test func `a packet of more than 1 MiB ends the link`() async throws {
        let client = try await openLink()
        // The server closes while it is sent.
        try? client.send([UInt8](repeating: 1, count: (1 << 20) + 1))
        try await loop.run("the link is down") { node.links.upCount == 0 }
        #expect(node.changes.map(\.isUp) == [true, false])
    }

    @Test func `a second connection of a node takes the place of the first one`() async throws {
        let former = try await openLink()
        let client = try client()
        #expect(try client.ask().status == 101)
        try client.send(packet())
        try await loop.run("the link was down") { node.changes.map(\.isUp) == [true, false, true] }
        try client.receive()
        #expect(client.packets == [packet(from: Self.second)])
        try former.receive()
        #expect(former.closure?.reason == "the peer closed" || former.isClosed)
    }

    @Test func `the node with the higher number may not connect`() async throws {
        let client = try client(authority.issueCredentials(for: NodeNumber(rawValue: 3)))
        #expect(try client.ask().status == 101)
        let third = InstanceID(rawValue: 1 << 22 | 3 << 12)
        node.links.setNodes([LinkedNode(instance: third, address: .init(host: "127.0.0.1", port: 1))])
        try client.send(packet(from: third))
        try await loop.run("the connection is closed") {
            try client.receiveArrived()
            return client.closure != nil || client.isClosed
        }
        #expect(node.changes.isEmpty && node.links.newcomers.isEmpty)
    }

    @Test func `packets do not gather without bound while nothing reads them`() throws {
        let client = try client()
        #expect(try client.ask().status == 101)
        let devices = (0..<65_536).map { DeviceID(rawValue: UInt64($0)) }
        let packet = packet([.changed(number: 1, devices)])
        // The loop of the links does not run in this test, so nothing is read after the packets.
        // No packet follows the first one above the limit: the kernel resets a connection that is closed with unread
        // bytes, and the client may lose the reason.
        for _ in 0...LinkSettings.waitingByteCountMax / packet.count { try client.send(packet) }
        try client.receive()
        #expect(client.closure?.code == .goingAway && client.closure?.isByPeer == true)
    }
}
