// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

struct StreamGoodbyesTests {
    private let context: NodeContext
    private let host: Host
    private let goodbyes: StreamGoodbyes

    init() {
        let context = NodeContext(NodeConfiguration(InstanceID(rawValue: 1)) { .unixEpoch })
        let shards = ClusterShards(SlotMap(shardCount: 1), count: 1, context)
        (self.context, host) = (context, Host(context, shards))
        goodbyes = StreamGoodbyes(context, host)
        context.moment = MonotonicTime(nanoseconds: 0)
    }

    private func attach(_ count: UInt64) {
        for number in 1...count {
            let address = ReplyAddress(loop: 0, slot: UInt32(number), generation: 0, exchange: 0)
            host.attach(DeviceID(rawValue: number), secretHash: [], address)
        }
    }

    private func expire(atSeconds seconds: Double) -> Int {
        context.moment = MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
        goodbyes.expire()
        return host.count
    }

    @Test func `many streams end over a minute, at an even rate`() {
        attach(6_000)
        goodbyes.set(isOn: true, spreadOver: 60_000)
        #expect(expire(atSeconds: 0) == 5_999)
        #expect(expire(atSeconds: 15.005) == 4_499)
        #expect(expire(atSeconds: 30.005) == 2_999 && goodbyes.emptySince == nil)
        #expect(expire(atSeconds: 60) == 0 && goodbyes.emptySince == context.moment && goodbyes.nextDue == nil)
    }

    @Test func `few streams end one after the other, without long pauses`() {
        attach(3)
        goodbyes.set(isOn: true, spreadOver: 60_000)
        #expect(expire(atSeconds: 0) == 2)
        #expect(goodbyes.nextDue == MonotonicTime(nanoseconds: 100_000_000))
        #expect(expire(atSeconds: 0.1) == 1)
        host.detach(ReplyAddress(loop: 0, slot: 3, generation: 0, exchange: 0))
        #expect(expire(atSeconds: 0.15) == 0 && goodbyes.emptySince == context.moment)
    }

    @Test func `a node that takes devices again ends no further stream`() {
        attach(3)
        goodbyes.set(isOn: true, spreadOver: 60_000)
        #expect(expire(atSeconds: 0) == 2)
        goodbyes.set(isOn: false, spreadOver: 60_000)
        #expect(expire(atSeconds: 9) == 2 && goodbyes.nextDue == nil && goodbyes.emptySince == nil)
    }
}
