// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushStore

/// The settings of a node's part of the store.
package struct NodeConfiguration: Sendable {
    /// The duration of a lease, and the time after which a node without a heartbeat is not live.
    static let leaseMilliseconds: Int64 = 3_000

    package var instance: InstanceID
    /// The maximum number of routes in memory.
    package var routeCountMax = 1 << 20
    /// The time that notifications wait for PostgreSQL until they are refused, in milliseconds.
    package var patienceMilliseconds: Int64 = 10_000
    /// The duration of a lease, in milliseconds.
    package var leaseMilliseconds: Int64 = Self.leaseMilliseconds
    package var heartbeatMilliseconds: Int64 = 1_000
    /// The time between two heartbeats while a notification waits until another node has heard of it, in milliseconds.
    package var hearingMilliseconds: Int64 = 100
    /// The time for which an answer of another node is awaited, in milliseconds.
    package var answerMilliseconds: Int64 = 500
    /// The time after which a row that its host has not heard of is announced in `changes`, in milliseconds.
    package var tellingMilliseconds: Int64 = 2_000
    /// The time for which a delivered notification stays unwritten, because its acknowledgement may arrive, in
    /// milliseconds.
    package var graceMilliseconds: Int64 = 15
    /// The same time while `busyCount` or more notifications wait.
    package var busyGraceMilliseconds: Int64 = 150
    /// The number of waiting notifications from which longer times gather larger batches.
    package var busyCount = 64
    /// The time for which a batch gathers while `busyCount` or more notifications wait, in milliseconds.
    package var gatheringMilliseconds: Int64 = 5
    /// The maximum number of notifications for the devices of a shard, of all providers, that wait.
    package var waitingCountMax = 20_000
    /// The maximum size of their payloads, in bytes.
    package var waitingByteCountMax = 32 << 20
    /// The time for which non-urgent notifications are held back from a device that saves power, in milliseconds.
    package var powerSavingDelayMilliseconds: Int64 = 60_000
    /// The time over which the ends of streams are spread when the node sends its devices away, in milliseconds.
    package var goodbyeMilliseconds: Int64 = 60_000
    /// The maximum pause between two of these ends, in milliseconds.
    package var goodbyePauseMillisecondsMax: Int64 = 100
    /// The time without a lease after which the node sends its devices away if another node commits, in milliseconds.
    package var cutOffMilliseconds: Int64 = 10_000
    /// The time over which the ends of streams are then spread, in milliseconds.
    package var cutOffGoodbyeMilliseconds: Int64 = 10_000
    /// Whether the node records the events of each notification.
    package var hasTrace = false
    /// The number of notifications sent to one device for which outcomes are recorded.
    package var historyEntryCountMax = Limits.deliveryHistoryCountMax
    /// The time in which all streams are compared with the shard, in milliseconds.
    package var reviewMilliseconds: Int64 = 60_000
    /// The maximum difference between the clocks of the machine and of PostgreSQL at which the node still serves.
    package var clockDifferenceMillisecondsMax = ClockAgreement.suspensionDifferenceMax
    /// The metrics of the node.
    package var metrics = StoreMetrics(cluster: ClusterMetrics())
    /// Returns the wall-clock time.
    package var now: @Sendable () -> Timestamp
    /// Called with the number of each row whose record is damaged, which is not delivered.
    package var onDamagedRow: @Sendable (Int64) -> Void = { _ in }

    package init(_ instance: InstanceID, now: @escaping @Sendable () -> Timestamp) {
        self.instance = instance
        self.now = now
    }
}
