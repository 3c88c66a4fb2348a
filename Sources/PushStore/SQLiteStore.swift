// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The embedded store: one SQLite file, one writer thread, group commit.
package final class SQLiteStore: NotificationStore {
    /// What a store is opened with.
    package struct Configuration: Sendable {
        /// The database file.
        package var path: String
        /// Pending notifications of one (device, topic).
        package var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
        /// Wall clock, UNIX milliseconds.
        package var unixMilliseconds: @Sendable () -> Int64

        /// Takes the path and the clock.
        package init(path: String, unixMilliseconds: @escaping @Sendable () -> Int64) {
            self.path = path
            self.unixMilliseconds = unixMilliseconds
        }
    }

    /// Opens or creates the file, migrates the schema; throws a `StoreError` that says path and remedy.
    package init(_ configuration: Configuration) throws(StoreError) {
        preconditionFailure("unwritten")
    }

    /// Starts the writer thread; `receivers[i]` takes the answers for loop i and gets the directory first.
    /// `onFatal` is called once if the disk failed in a way after which nothing may be acknowledged any more.
    package func start(receivers: [any StoreReplyReceiver], onFatal: @escaping @Sendable (StoreError) -> Void) {
        preconditionFailure("unwritten")
    }

    package func submit(_ commands: [StoreCommand]) { preconditionFailure("unwritten") }

    package func stop() { preconditionFailure("unwritten") }
}

/// What the disk or the database did.
package enum StoreError: Error, Sendable {
    case unwritten
    package var description: String { "" }
    package var remedy: String { "" }
    package var isLocked: Bool { false }
}
