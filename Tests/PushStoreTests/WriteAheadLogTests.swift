// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

/// Checks how many pages the store writes, which is most of what a notification costs the disk.
@Suite struct WriteAheadLogTests {
    /// The size of a page in the log, with its header.
    private static let frameByteCount = WriterLimits.pageByteCount + 24

    private func pageCount(of store: TestStore) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: store.path + "-wal")
        return try #require(attributes[.size] as? Int) / Self.frameByteCount
    }

    @Test func `a notification for a disconnected device writes fewer than two pages`() throws {
        let store = try TestStore {
            $0.writeDelayMilliseconds = 3_600_000
            $0.pendingPerTopicCountMax = 1000
        }
        let (_, token) = try store.registeredDevice()
        let (count, before) = (200, try pageCount(of: store))
        for _ in 0..<count { try store.acceptAlone(.to(token, "a")) }
        #expect(try pageCount(of: store) - before < 2 * count)
    }

    @Test func `an acknowledgement on a stream is written with others, and not with the next notification`() throws {
        let store = try TestStore { $0.deletionDelayMilliseconds = 3_600_000 }
        let (device, token) = try store.registeredDevice()
        let other = try store.register(try store.enrol(2))
        let count = Limits.unacknowledgedCountMax
        _ = try store.accept((0..<count).map { .to(token, "\($0)") })
        let (stream, replies) = try store.attach(device)
        let delivered = replies.delivered(to: stream)
        try #require(delivered.count == count)
        let before = try pageCount(of: store)
        for pending in delivered {
            let acknowledgement = DeviceAPI.Acknowledgement(id: pending.sequence, outcome: .delivered)
            store.store.submit([.acknowledge([acknowledgement], by: device.id)])
            try store.acceptAlone(.to(other, "a"))
        }
        #expect(try pageCount(of: store) - before < 2 * count)
    }

    @Test func `a checkpoint copies a log that is not long yet`() throws {
        let store = try TestStore {
            $0.writeDelayMilliseconds = 0
            $0.pendingPerTopicCountMax = 10_000
        }
        let (_, token) = try store.registeredDevice()
        let text = String(repeating: "a", count: Limits.payloadByteCountMax)
        for _ in 0..<60 { _ = try store.accept((0..<30).map { _ in .to(token, text) }) }
        #expect(try pageCount(of: store) < 2 * WriterLimits.checkpointPageCount)
    }
}
