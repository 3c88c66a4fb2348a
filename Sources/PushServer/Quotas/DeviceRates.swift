// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing

/// The request rates of device tokens.
final class DeviceRates: Sendable {
    private struct DeviceToken: Hashable {
        let device: DeviceID
        let topic: TopicID
    }

    typealias TakeResult = RateTable.TakeResult

    let bucket: TokenBucket
    private let table: RateTable

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - bucket: The rate of each device token.
    ///   - countMax: The number of slots: a power of two, at least 4.
    init(_ bucket: TokenBucket, countMax: Int = Limits.deviceRateCountMax) {
        self.bucket = bucket
        table = RateTable(bucket, countMax: countMax)
    }

    /// Takes a request to a device token.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - topic: The app on the device.
    ///   - now: The current time.
    /// - Returns: The remaining requests, or the time to wait.
    func take(_ device: DeviceID, _ topic: TopicID, now: MonotonicTime) -> TakeResult {
        table.take(DeviceToken(device: device, topic: topic), now: now)
    }
}
