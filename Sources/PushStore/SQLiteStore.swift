// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The embedded store: one SQLite file, one writer thread, group commit.
package final class SQLiteStore: NotificationStore {
    /// What a store is opened with.
    package struct Configuration: Sendable {
        /// The database file.
        package var path: String
        /// Pending notifications of one (device, topic).
        package var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
        /// Pending notifications of one device, of all topics.
        package var pendingPerDeviceCountMax = Limits.pendingPerDeviceCountMax
        /// How long what has no haste is kept back from a device that saves power, in milliseconds.
        package var gatheringMilliseconds: Int64 = 60_000
        /// What an accepted notification survives.
        package var durability = StoreDurability.full
        /// Notifications known in memory alone; beyond it they are settled.
        package var recentCountMax = WriterLimits.recentCountMax
        /// Devices remembered in memory; of those beyond it without recent notifications some are forgotten.
        package var cardCountMax = WriterLimits.cardCountMax
        /// Channels of one app in one environment.
        package var channelPerAppCountMax = Limits.channelPerAppCountMax
        /// How long a device may be unseen before its registrations expire, in seconds; nil for ever.
        package var registrationLifeSeconds: Int64?
        /// Whether it is written down what becomes of notifications.
        package var hasTrace = false
        /// How long that is kept, in seconds.
        package var traceLifeSeconds = Limits.traceLifeSecondsDefault
        /// How much of it is kept, in bytes.
        package var traceByteCountMax = Limits.traceByteCountDefault
        /// How often expired notifications are deleted, in milliseconds; they are not delivered in between either.
        package var sweepIntervalMilliseconds: Int64 = 30_000
        /// Wall clock, UNIX milliseconds; called on the store's thread.
        package var unixMilliseconds: @Sendable () -> Int64
        /// Called on the store's thread with what an administrator should hear of; must return at once.
        package var onNotice: @Sendable (StoreNotice) -> Void = { _ in }

        /// Takes the path and the clock.
        package init(path: String, unixMilliseconds: @escaping @Sendable () -> Int64) {
            self.path = path
            self.unixMilliseconds = unixMilliseconds
        }
    }

    private enum State {
        case opened(OpenedStore)
        case running(Thread)
        case stopped
    }

    private let queue = CommandQueue()
    private let state: Lock<State>

    /// Opens or creates the file and migrates the schema.
    ///
    /// - Parameter configuration: The file, the bounds and the clock.
    /// - Throws: What is wrong with the file; its `remedy` says what to do. `locked` while another store has it open.
    package init(_ configuration: Configuration) throws(StoreError) {
        state = Lock(.opened(try OpenedStore(configuration)))
    }

    deinit { stop() }

    /// Starts the writer thread; once, after which commands are worked on.
    ///
    /// - Parameters:
    ///   - receivers: `receivers[i]` takes the answers for loop i and gets the directory first.
    ///   - onFatal: Called once, on the store's thread, if the disk failed in a way after which nothing may be
    ///     acknowledged any more: the process must end and start again, which recovers. Until then everything is
    ///     refused.
    package func start(receivers: [any StoreReplyReceiver], onFatal: @escaping @Sendable (StoreError) -> Void) {
        state.withLock { state in
            guard case .opened(let opened) = state else { preconditionFailure("a store starts once") }
            let thread = Thread(name: "store") { [queue] in
                Writer(opened, queue: queue, receivers: receivers, onFatal: onFatal).run()
            }
            state = .running(thread)
        }
    }

    /// Hands over a batch from any thread and returns at once; after `stop`, commands are dropped unanswered.
    package func submit(_ commands: inout [StoreCommand]) {
        if !commands.isEmpty { queue.append(&commands) }
    }

    /// Commits what was submitted, sends the answers, closes the file, and ends; blocks until that is done.
    ///
    /// Not from a receiver or `onFatal`, which run on the thread that it waits for. A second call does nothing.
    package func stop() {
        queue.close()
        let thread: Thread? = state.withLock { state in
            defer { state = .stopped }
            guard case .running(let thread) = state else { return nil }
            return thread
        }
        thread?.join()
    }
}
