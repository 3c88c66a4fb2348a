// SPDX-License-Identifier: Apache-2.0

/// The layout of a notification's number in a cluster.
///
/// ```
/// 63 bits: milliseconds since 2026 (41) ▏ number of the node (10) ▏ counter (12)
/// ```
package enum NotificationIDLayout {
    package static let counterBitCount = 12
    package static let nodeBitCount = 10
    package static let timeShift = counterBitCount + nodeBitCount
    /// The UNIX time of 2026-01-01 in milliseconds.
    package static let startMilliseconds: Int64 = 1_767_225_600_000

    /// Returns the least number of a UNIX time in milliseconds.
    package static func least(at milliseconds: Int64) -> Int64 { max(milliseconds - startMilliseconds, 0) << timeShift }

    /// Returns the UNIX time of a number in milliseconds.
    package static func milliseconds(of id: Int64) -> Int64 { id >> timeShift + startMilliseconds }
}
