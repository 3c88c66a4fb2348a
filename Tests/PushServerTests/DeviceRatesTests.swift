// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushServing
import Synchronization
import Testing

@testable import PushServer

@Suite struct DeviceRatesTests {
    private static let begin = MonotonicTime.past.advanced(bySeconds: 100)

    private func taken(
        _ rates: DeviceRates, _ device: UInt64, topic: UInt32 = 1, of count: Int, at now: MonotonicTime
    ) -> Int {
        (0..<count).count { _ in
            if case .taken = rates.take(DeviceID(rawValue: device), TopicID(rawValue: topic), now: now) { return true }
            return false
        }
    }

    @Test func `each app on each device has a rate of its own`() {
        let rates = DeviceRates(TokenBucket(of: 5, refilledBy: 10))
        let now = Self.begin
        #expect(taken(rates, 1, of: 9, at: now) == 5)
        #expect(taken(rates, 1, topic: 2, of: 9, at: now) == 5)
        #expect(taken(rates, 2, of: 9, at: now) == 5)
        #expect(
            rates.take(DeviceID(rawValue: 1), TopicID(rawValue: 1), now: now)
                == .refused(waitNanoseconds: 100_000_000))
        #expect(taken(rates, 1, of: 9, at: now.advanced(byMilliseconds: 100)) == 1)
        #expect(rates.take(DeviceID(rawValue: 3), TopicID(rawValue: 1), now: now) == .taken(remaining: 4))
    }

    @Test func `a sender within its rate is never refused, even if a flooder shares its small table`() {
        let rates = DeviceRates(TokenBucket(of: 1, refilledBy: 10), countMax: 8)
        var now = Self.begin
        for _ in 0..<200 {
            for device in 1...50 as ClosedRange<UInt64> {
                #expect(taken(rates, device, of: 1, at: now) == 1, "device \(device)")
                _ = taken(rates, 1000, of: 20, at: now)
            }
            now = now.advanced(byMilliseconds: 100)
        }
    }

    @Test func `a flooder is limited while others come and go in the same set`() {
        let rates = DeviceRates(TokenBucket(of: 10, refilledBy: 10), countMax: 4)
        var now = Self.begin
        var taken = 0
        for step in 0..<1000 as Range<UInt64> {
            taken += self.taken(rates, 7, of: 5, at: now)
            // Only one other device sends at a time. So the slot with the smallest debt is that device's, and never
            // the flooder's.
            _ = self.taken(rates, 100 + step, of: 1, at: now)
            now = now.advanced(byMilliseconds: 10)
        }
        #expect((100...115).contains(taken), "\(taken) in ten seconds")
    }

    @Test func `a table with room for all devices gives each exactly its burst`() {
        let rates = DeviceRates(TokenBucket(of: 3, refilledBy: 1))
        let now = Self.begin
        for device in 1...500 as ClosedRange<UInt64> { #expect(taken(rates, device, of: 5, at: now) == 3) }
    }

    /// Rates and counters that several threads share.
    private final class Shared: Sendable {
        let rates = DeviceRates(TokenBucket(of: 1000, refilledBy: 1), countMax: 4)
        let taken = Atomic<Int>(0)
    }

    @Test func `threads that send to the same device share its rate`() {
        let shared = Shared()
        let threads = (0..<4).map { number in
            Thread(name: "taker-\(number)") {
                for _ in 0..<2000 {
                    let taking = shared.rates.take(DeviceID(rawValue: 1), TopicID(rawValue: 1), now: Self.begin)
                    if case .taken = taking { shared.taken.wrappingAdd(1, ordering: .relaxed) }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(shared.taken.load(ordering: .relaxed) == 1000)
    }
}
