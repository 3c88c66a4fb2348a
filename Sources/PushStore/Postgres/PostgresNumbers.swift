// SPDX-License-Identifier: Apache-2.0

/// The IDs of notifications in a cluster, which the node makes of the time and its number.
final class PostgresNumbers: NotificationNumbers {
    private let make: () -> Int64?
    private var lastMade: Int64 = 0

    /// Creates IDs with a closure, which returns nil when the node may not assign any.
    init(_ make: @escaping () -> Int64?) { self.make = make }

    /// A new ID, because other nodes assign IDs too; the last one of this node when it may not assign any.
    var last: Int64 { next() ?? lastMade }

    func next() -> Int64? {
        guard let id = make() else { return nil }
        lastMade = id
        return id
    }
}
