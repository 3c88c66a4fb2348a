// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushNet
import Testing

@testable import PushServer

/// Checks the order of requests and TLS handshakes that are ready in the same turn of a loop.
@Suite struct HandshakeOrderTests {
    /// Fewer than the handshakes that one network may have in flight.
    private static let peerCount = 12
    /// A request that the loop itself answers.
    private static let request = EndpointCase(id: "", token: { _ in "abcd" })

    @Test func `a ready request is answered before handshakes, and each turn continues at least one of them`() throws {
        let harness = try EndpointHarness()
        let client = try harness.connect()
        let arrivals = try Arrivals()
        try arrivals.watch(client.descriptor, as: 0)
        _ = try client.ask(Self.request.header(harness.objects), body: Self.request.body)
        var peers: [GreetingPeer] = []
        for number in 1...Self.peerCount {
            let peer = try GreetingPeer(harness.connectEncrypted())
            try arrivals.watch(peer.descriptor, as: number)
            peers.append(peer)
        }
        #expect(try arrivals.take() == [], "nothing is answered before the loop runs")
        var greeted: [Int] = []
        while greeted.count < Self.peerCount {
            let stream = client.open(try Self.request.header(harness.objects), body: Self.request.body)
            harness.turn()
            let order = try arrivals.take()
            try #require(order.first == 0 && order.count > 1, "the order is \(order) after \(greeted)")
            greeted += order.dropFirst()
            #expect(try client.answer(on: stream).reason == "BadDeviceToken")
            // The turn in which the client reads also continues handshakes.
            greeted += try arrivals.take()
        }
        #expect(greeted == Array(1...Self.peerCount))
        #expect(peers.count == Self.peerCount)
    }
}

/// Records the order in which sockets become readable, which is the order of the kernel's list.
private final class Arrivals {
    private final class Watch: EventHandler {
        let number: Int
        unowned let owner: Arrivals

        init(_ number: Int, _ owner: Arrivals) { (self.number, self.owner) = (number, owner) }

        func ready(_ readiness: Readiness) { owner.order.append(number) }
    }

    private let events: EventLoop
    private var registrations: [Int: Registration] = [:]
    private var order: [Int] = []

    init() throws { events = try EventLoop() }

    func watch(_ descriptor: Int32, as number: Int) throws {
        registrations[number] = try events.register(descriptor, for: .readable, handler: Watch(number, self))
    }

    /// Returns the sockets that became readable since the last call; a socket other than the client's counts once.
    func take() throws -> [Int] {
        order = []
        events.schedule(after: .zero) { [unowned events] in events.stop() }
        events.run()
        for number in order where number != 0 {
            if let registration = registrations.removeValue(forKey: number) { events.deregister(registration) }
        }
        return order
    }
}

/// A client that has sent a ClientHello.
private final class GreetingPeer {
    private let socket: FileDescriptor
    var descriptor: Int32 { socket.rawValue }

    init(_ socket: consuming FileDescriptor) throws {
        self.socket = socket
        let hello = Self.hello
        let count = unsafe hello.withUnsafeBytes { unsafe send(self.socket.rawValue, $0.baseAddress, $0.count, 0) }
        try #require(count == hello.count)
    }

    /// A ClientHello of TLS 1.3 with a key share of X25519.
    ///
    /// - SeeAlso: RFC 8446, section 4.1.2
    private static let hello: [UInt8] = {
        let random = Array(repeating: UInt8(7), count: 32)
        let extensions: [(UInt8, [UInt8])] = [
            (43, [2, 3, 4]),  // supported_versions: TLS 1.3
            (10, [0, 2, 0, 29]),  // supported_groups: x25519
            (13, [0, 2, 4, 3]),  // signature_algorithms: ecdsa_secp256r1_sha256
            (51, [0, 36, 0, 29, 0, 32] + Array(repeating: 9, count: 32)),  // key_share
        ]
        var list: [UInt8] = []
        for (type, content) in extensions { list += [0, type, 0, UInt8(content.count)] + content }
        // The version, no session ID, TLS_AES_128_GCM_SHA256, no compression.
        let body: [UInt8] = [3, 3] + random + [0, 0, 2, 0x13, 0x01, 1, 0, 0, UInt8(list.count)] + list
        let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        return [22, 3, 1, 0, UInt8(message.count)] + message
    }()
}
