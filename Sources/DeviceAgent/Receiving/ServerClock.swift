// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An estimate of the server's clock from the times of its notifications.
///
/// The device's own clock may be hours ahead, because another system set the hardware clock differently or its battery
/// is empty. The server does not deliver expired notifications, so the device's clock alone must not suppress an alert.
struct ServerClock: Sendable {
    /// The server's time in UNIX milliseconds minus the monotonic clock's, from the notification with the least delay.
    private var offset: Int64?

    /// Creates a clock without an estimate.
    init() {}

    /// Records the time at which the server accepted a notification.
    ///
    /// - Parameters:
    ///   - accepted: The server's clock at that time.
    ///   - elapsed: The monotonic clock now, in milliseconds.
    mutating func note(acceptedAt accepted: Timestamp, atElapsedMilliseconds elapsed: Int64) {
        // The numbers come from outside, so they can overflow.
        let offset = accepted.unixMilliseconds &- elapsed
        self.offset = max(self.offset ?? offset, offset)
    }

    /// Returns a time that is never later than the server's clock; nil before the first notification.
    func time(atElapsedMilliseconds elapsed: Int64) -> Timestamp? {
        offset.map { Timestamp(unixMilliseconds: $0 &+ elapsed) }
    }
}
