// SPDX-License-Identifier: Apache-2.0

/// The numbers of broadcasts in a cluster, which the node that publishes one has made before.
final class PostgresNumbers: NotificationNumbers {
    /// The number of the broadcast that is being published.
    var assigned: Int64?
    private let lastAnswered: () -> Int64

    /// Creates the numbers of a connection.
    ///
    /// - Parameter lastAnswered: See `PostgresRequests.Environment`.
    init(lastAnswered: @escaping () -> Int64) { self.lastAnswered = lastAnswered }

    var last: Int64 { lastAnswered() }

    func next() -> Int64? { assigned }
}
