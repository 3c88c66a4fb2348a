// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore
import Testing

@testable import PushServer

@Suite struct DeviceSecretCacheTests {
    private func secret(_ number: Int) -> DeviceCredential {
        let middle = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return DeviceCredential(
            device: nil, secretHash: Array(repeating: 7, count: 8) + middle + Array(repeating: 9, count: 16))
    }

    @Test func `the secrets of a removed device are forgotten, and those of others are kept`() {
        let cache = DeviceSecretCache(deviceCountMax: 8)
        let secrets = (0..<6).map {
            DeviceCredential(device: nil, secretHash: [UInt8](repeating: UInt8($0), count: 32))
        }
        // Enough entries that both halves of the map have some.
        for (index, secret) in secrets.enumerated() { cache.insert(DeviceID(rawValue: UInt64(index % 2)), for: secret) }
        cache.remove(DeviceID(rawValue: 1))
        for (index, secret) in secrets.enumerated() {
            #expect(cache.find(secret) == (index % 2 == 0 ? .device(DeviceID(rawValue: 0)) : nil))
        }
    }

    @Test func `a secret belongs to a device, or is unknown to the store or to the cache, and the last insert counts`()
    {
        let cache = DeviceSecretCache()
        #expect(cache.find(secret(1)) == nil)
        cache.insert(DeviceID(rawValue: 5), for: secret(1))
        #expect(cache.find(secret(1)) == .device(DeviceID(rawValue: 5)) && cache.find(secret(2)) == nil)
        cache.insertUnknown(secret(1))
        #expect(cache.find(secret(1)) == .unknown)
        cache.insert(DeviceID(rawValue: 6), for: secret(1))
        #expect(cache.find(secret(1)) == .device(DeviceID(rawValue: 6)))
    }

    @Test func `guesses do not evict devices`() {
        let cache = DeviceSecretCache(deviceCountMax: 16, unknownCountMax: 8)
        for number in 0..<7 { cache.insert(DeviceID(rawValue: UInt64(number)), for: secret(number)) }
        for number in 1000..<3000 { cache.insertUnknown(secret(number)) }
        #expect((0..<7).allSatisfy { cache.find(secret($0)) == .device(DeviceID(rawValue: UInt64($0))) })
        #expect(cache.find(secret(2999)) == .unknown && cache.find(secret(1000)) == nil)
    }
}

@Suite struct UnansweredRequestsTests {
    private func place(_ exchange: Int32) -> ReplyAddress {
        ReplyAddress(loop: 0, slot: 0, generation: 1, exchange: exchange)
    }

    @Test func `each device has one pending request of a kind until the store answers`() {
        var requests = UnansweredRequests()
        func begins(_ kind: UnansweredRequests.Kind, _ device: UInt64, _ exchange: Int32) -> Bool {
            requests.begin(.request(kind, of: DeviceID(rawValue: device)), at: place(exchange))
        }
        let first = [begins(.policy, 1, 1), begins(.policy, 1, 3), begins(.filter, 1, 5), begins(.policy, 2, 7)]
        #expect(first == [true, false, true, true])
        requests.end(place(3))
        let refused = begins(.policy, 1, 9)
        #expect(!refused, "the end of a refused one frees nothing")
        requests.end(place(1))
        let later = [begins(.policy, 1, 11), begins(.filter, 1, 13)]
        #expect(later == [true, false])
    }

    @Test func `a second enrolment with a request ID is refused until the first is answered`() {
        var requests = UnansweredRequests()
        func begins(_ requestHash: [UInt8], _ exchange: Int32) -> Bool {
            requests.begin(.enrolment(requestHash), at: place(exchange))
        }
        let first = [begins([1], 1), begins([1], 3), begins([2], 5)]
        #expect(first == [true, false, true])
        requests.end(place(1))
        let again = begins([1], 7)
        #expect(again)
    }
}

@Suite struct ChannelListingsTests {
    private func place(_ exchange: Int32) -> ReplyAddress {
        ReplyAddress(loop: 0, slot: 0, generation: 1, exchange: exchange)
    }

    @Test func `a team has two lists at the store and eight unread, independent of other teams`() {
        var listings = ChannelListings()
        var next: Int32 = 0
        func begins(_ team: String) -> Bool {
            next += 1
            return listings.begin(of: team, at: place(next))
        }
        for _ in 0..<4 {
            let results = [begins("A"), begins("A"), begins("A")]
            #expect(results == [true, true, false])
            for exchange in 1...next { listings.answered(place(exchange)) }
        }
        let full = begins("A")
        #expect(!full, "nothing was read")
        listings.end(of: "A")
        let others = ["A", "A", "B", "B", "B", "C", "C", "D", "D", "E", "E"].map(begins)
        #expect(others == [true, false, true, true, false, true, true, true, true, true, false])
    }

    @Test func `a list that is reset occupies its slot until the store has answered`() {
        var listings = ChannelListings()
        for exchange in 1...2 as ClosedRange<Int32> {
            _ = listings.begin(of: "A", at: place(exchange))
            listings.end(of: "A")
        }
        let early = listings.begin(of: "A", at: place(3))
        listings.answered(place(1))
        let late = listings.begin(of: "A", at: place(3))
        #expect(!early && late)
    }
}
