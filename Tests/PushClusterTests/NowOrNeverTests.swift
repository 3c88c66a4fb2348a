// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// Now-or-never notifications that wait until a stream has read earlier rows.
struct NowOrNeverTests {
    private static let stream = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 0)

    private func pending(_ number: Int64) -> PendingNotification {
        let contents = DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 1), generation: 1)
        return PendingNotification(
            sequence: number,
            notification: Notification(
                address: contents, apnsID: [], uniqueID: UniqueID(high: 1, low: UInt64(number)),
                suffixedTopic: "com.example.App", pushType: .alert, priority: 10, expiration: .unixEpoch,
                collapseID: nil, payload: [], acceptedAt: .unixEpoch))
    }

    // A notification of another node may arrive with a lower number than one that waits. In the order of arrival, both
    // would be sent before a row whose number lies in between.
    @Test func `only notifications with lower numbers than a row are sent before it, in any order of arrival`() {
        let stream = HostedStream(
            DeviceID(rawValue: 1), secretHash: [], Self.stream, epoch: 1, at: .init(nanoseconds: 1))
        for number: Int64 in [7, 2, 9, 4] { stream.waitNowOrNever(pending(number)) }
        #expect(stream.takeNowOrNever(before: 5).map(\.sequence) == [2, 4])
        #expect(stream.takeNowOrNever(before: 5).isEmpty)
        #expect(stream.takeNowOrNever(before: .max).map(\.sequence) == [7, 9])
    }
}
