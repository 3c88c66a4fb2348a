// SPDX-License-Identifier: Apache-2.0

/// The ascending numbers of notifications and broadcasts.
protocol NotificationNumbers: AnyObject {
    /// A number that is not below any assigned one.
    var last: Int64 { get }

    /// Returns the next number; nil if none can be assigned now.
    func next() -> Int64?
}
