// SPDX-License-Identifier: Apache-2.0

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
