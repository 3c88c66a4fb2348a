// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

/// Checks that the bound on records in memory does not change the results.
@Suite struct RecordEvictionTests {
    private let deviceCount = 20

    @Test(arguments: [1, 2, 16, 40])
    func `more connected devices than the bound on records receive everything`(deviceQueueCountMax: Int) throws {
        let store = try TestStore { $0.deviceQueueCountMax = deviceQueueCountMax }
        let station = try Station(store)
        let channel = try station.channel()
        let devices = try [station.device] + (2...deviceCount).map { try store.enrol(UInt64($0)) }
        let tokens = try devices.map { try store.register($0) }
        for device in devices { try store.subscribe(device, to: channel) }
        let streams = try devices.map { try store.attach($0).0 }
        let direct = try store.accept(tokens.map { .to($0, "direct") }).1
        #expect(streams.allSatisfy { direct.texts(to: $0) == ["direct"] })
        let broadcast = try store.publish([.to(channel, "broadcast")]).1
        #expect(streams.allSatisfy { broadcast.texts(to: $0) == ["broadcast"] })
        #expect(try store.counts().devicesConnected == deviceCount)

        _ = try store.run(streams.map { .detach(stream: $0) })
        #expect(try store.counts().devicesConnected == 0)
        for number in 100..<110 { _ = try store.attach(try station.another(UInt64(number))) }
        for device in devices { #expect(try store.waiting(device) == ["direct", "broadcast"]) }
    }
}
