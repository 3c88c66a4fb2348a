// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServing

@Suite struct ConnectionLimiterTests {
    private static let now = MonotonicTime(nanoseconds: 1)
    private static let home = SourceAddress(ipv4: 0x7F00_0001)
    private static let other = SourceAddress(ipv4: 0x7F00_0002)

    private static func limiter(all: Int = 100, strangers: Int = 50, perNetwork: Int = 10) -> ConnectionLimiter {
        ConnectionLimiter(
            ConnectionLimiter.Caps(
                descriptorCount: 1000, memoryByteCount: 1 << 30, all: all, strangers: strangers, perNetwork: perNetwork)
        )
    }

    @Test(arguments: [(20_000, 18_750), (1024, 960), (300, 236), (48, 8), (0, 8)])
    func `descriptors are reserved for the store and the administrator`(descriptors: Int, connections: Int) {
        let caps = ConnectionLimiter.Caps(descriptorCount: descriptors, memoryByteCount: 1 << 30)
        #expect(caps.all == connections)
        #expect(caps.strangers < caps.all && caps.perNetwork < caps.all)
    }

    @Test(arguments: [(0, 8), (256 << 20, 16_384), (8 << 30, 18_750)])
    func `a process with little memory accepts fewer connections than it has descriptors`(memory: Int, connections: Int)
    {
        #expect(ConnectionLimiter.Caps(descriptorCount: 20_000, memoryByteCount: memory).all == connections)
        #expect(ConnectionLimiter.Caps(descriptorCount: 20_000, memoryByteCount: memory, all: 5).all == 5)
        let strangers = ConnectionLimiter.Caps(descriptorCount: 20_000, memoryByteCount: memory).strangers
        #expect(strangers == max(1, min(connections / 4 * 3, memory / Limits.strangerByteCount)))
    }

    @Test func `one connection above a network's limit exceeds it, and another network's does not`() {
        let limiter = Self.limiter()
        for _ in 0..<10 { #expect(limiter.admit(Self.home, now: Self.now).excess == .none) }
        #expect(limiter.admit(Self.home, now: Self.now).excess == .network)
        #expect(limiter.admit(Self.other, now: Self.now).excess == .none)
        limiter.closed(Self.home, .stranger)
        limiter.closed(Self.home, .stranger)
        #expect(limiter.admit(Self.home, now: Self.now).excess == .none)
        #expect(limiter.counts.overLimit == 1)
    }

    @Test func `strangers share a limit, and a verified credential frees a place`() {
        let limiter = Self.limiter(strangers: 2)
        for _ in 0..<2 { _ = limiter.admit(Self.home, now: Self.now) }
        #expect(limiter.admit(Self.other, now: Self.now).excess == .strangers)
        limiter.authenticated(as: .device)
        limiter.authenticated(as: .provider)
        #expect(limiter.admit(Self.other, now: Self.now).excess == .none)
        #expect((limiter.counts.strangers, limiter.counts.devices, limiter.counts.providers) == (2, 1, 1))
        #expect(!limiter.isFull)
        limiter.closed(Self.home, .device)
        #expect(limiter.counts.devices == 0)
    }

    @Test func `handshakes above a network's rate are marked, and those of others are not`() {
        let limiter = Self.limiter(all: 100_000, strangers: 100_000, perNetwork: 100_000)
        for _ in 0..<Limits.handshakeBurst { #expect(!limiter.admit(Self.home, now: Self.now).isOverRate) }
        #expect(limiter.admit(Self.home, now: Self.now).isOverRate)
        #expect(!limiter.admit(Self.other, now: Self.now).isOverRate)
        let later = Self.now.advanced(byNanoseconds: 1_000_000_000 / Limits.handshakeRate)
        #expect(!limiter.admit(Self.home, now: later).isOverRate)
    }
}
