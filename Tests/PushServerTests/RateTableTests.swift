// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushServing
import Testing

@testable import PushServer

@Suite struct RateTableTests {
    @Test func `a request may cost several tokens, and takes no more than there are`() {
        let table = RateTable(TokenBucket(of: 10, refilledBy: 10), countMax: 16)
        let now = MonotonicTime.past.advanced(bySeconds: 100)
        #expect(table.take("a", count: 6, now: now) == .taken(remaining: 4))
        #expect(table.take("a", count: 6, now: now) == .refused(waitNanoseconds: 200_000_000))
        #expect(table.take("a", count: 4, now: now) == .taken(remaining: 0))
        #expect(table.isEmpty("a", now: now) && !table.isEmpty("b", now: now))
        #expect(table.take("b", count: 1_000_000, now: now) == .taken(remaining: 0))
        #expect(!table.isEmpty("a", now: now.advanced(bySeconds: 1)))
    }

    @Test func `an attacker's many networks neither refuse an honest one nor clear a large debt`() {
        let table = RateTable(TokenBucket(of: 100, refilledBy: 1), countMax: 64)
        let now = MonotonicTime.past.advanced(bySeconds: 100)
        _ = table.take(SourceAddress(ipv6High: 1, low: 0), count: 100, now: now)
        for network in 2..<10_000 as Range<UInt64> {
            _ = table.take(SourceAddress(ipv6High: network, low: 0), now: now)
        }
        #expect(table.isEmpty(SourceAddress(ipv6High: 1, low: 0), now: now))
        for network in 20_000..<20_100 as Range<UInt64> {
            guard case .taken = table.take(SourceAddress(ipv6High: network, low: 0), now: now) else {
                Issue.record("network \(network) was refused")
                return
            }
        }
    }

    @Test func `refusals are counted by principal and cause`() {
        var limits = PrincipalLimits()
        limits.deviceStreams = .init(1, burst: 2)
        limits.deviceRequests = .init(0)
        let rates = PrincipalRates(limits)
        let device = DeviceID(rawValue: 7)
        let now = MonotonicTime.past.advanced(bySeconds: 100)
        let streams = (0..<5).map { _ in rates.takeStream(of: device, now: now) }
        #expect(streams == [nil, nil, 1, 1, 1])
        #expect((0..<10_000).allSatisfy { _ in rates.takeRequest(of: device, now: now) == nil })
        #expect(rates.refusals == [AdminAPI.Refusal(principal: "device", cause: "streams", count: 3)])
    }
}
