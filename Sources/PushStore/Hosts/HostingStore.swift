// SPDX-License-Identifier: Apache-2.0

/// A store that a server opens, starts and reloads.
package protocol ServerStore: HostingStore {
    /// The bounds, which may change while the store runs.
    var bounds: StoreBounds { get }
    var metrics: StoreMetrics { get }

    /// Starts to execute commands.
    ///
    /// Call it once.
    ///
    /// - Parameters:
    ///   - receivers: `receivers[i]` receives the replies for loop i. The first one is the directory.
    ///   - onFatal: Called once, on the store's thread, after a failure that makes further acknowledgements unsafe. The
    ///     process must exit and restart, which recovers.
    func start(receivers: [any StoreReplyReceiver], onFatal: @escaping @Sendable (any StoreFailure) -> Void)

    /// Keeps the quotas in step with those of other servers that use the same database; call it once.
    func share(_ quotas: any SharedQuotas)
}

/// A store that hands the queues of connected devices to the hosts of loops.
package protocol HostingStore: NotificationStore {
    /// Creates the host of a loop, through which the loop then submits its commands and receives its replies.
    ///
    /// - Parameters:
    ///   - loop: The index of the loop among the receivers.
    ///   - metrics: The numbers of the host.
    ///   - deliver: Receives the replies for the loop.
    /// - Returns: The host.
    func makeHost(loop: UInt32, metrics: HostMetrics, deliver: @escaping (StoreReply) -> Void) -> LoopHost
}
