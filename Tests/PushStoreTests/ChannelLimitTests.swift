// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite struct ChannelLimitTests {
    private func create(_ number: UInt64) -> StoreRequest {
        .control(
            .createChannel(
                ChannelID(high: .max, low: number), topic: Station.topic, environment: .production,
                policy: .noMessageStored))
    }

    @Test(.tags(.slow)) func `an app can have ten thousand channels in an environment and not one more`() throws {
        let store = try TestStore()
        try store.addBroadcastApp()
        let replies = try store.run(
            (0..<UInt64(Limits.channelPerAppCountMax)).map { .perform(create($0), answer: store.address()) })
        let done = replies.count { if case .performed(.success(.done), _) = $0 { true } else { false } }
        #expect(done == Limits.channelPerAppCountMax)
        #expect(try store.refusal(create(.max)) == .tooMany)
        #expect(try store.channels().count == Limits.channelPerAppCountMax)
    }

    @Test(.tags(.slow)) func `an app on a device can have a thousand subscriptions and not one more`() throws {
        let store = try TestStore()
        let station = try Station(store)
        let channels = (0...UInt64(Limits.subscriptionPerAppCountMax)).map { ChannelID(high: .max, low: $0) }
        func subscribe(_ channel: ChannelID) -> StoreRequest {
            .device(.subscribe(topic: Station.topic, channel: channel), by: station.device.credential)
        }
        _ = try store.run(channels.indices.map { .perform(create(UInt64($0)), answer: store.address()) })
        _ = try store.run(channels.dropLast().map { .perform(subscribe($0), answer: store.address()) })
        #expect(try store.subscriptions(station.device) == Array(channels.dropLast()))
        #expect(try store.refusal(subscribe(channels[1000])) == .tooMany)
        #expect(try store.refusal(subscribe(channels[0])) == nil)
    }
}
