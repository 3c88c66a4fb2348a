// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushNet

/// The settings of a store.
package struct StoreConfiguration: Sendable {
    var path: String
    /// The maximum number of pending notifications of one topic on one device.
    package var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
    /// The maximum number of pending notifications of one device, of all topics.
    package var pendingPerDeviceCountMax = Limits.pendingPerDeviceCountMax
    /// The time after the end of a device's stream until `pendingPerTopicCountMax` applies, in milliseconds.
    var awayMilliseconds = Limits.awayAfter.components.seconds * 1000
    /// The time for which non-urgent notifications are held back from a device that saves power, in milliseconds.
    package var powerSavingDelayMilliseconds: Int64 = 60_000
    /// The failures that an accepted notification survives.
    package var durability = StoreDurability.full
    /// The maximum number of recent notifications, which only memory indexes by device; more are archived in
    /// `archived`.
    var recentCountMax = WriterLimits.recentCountMax
    /// The time for which deletions wait to share a transaction, in milliseconds.
    var deletionDelayMilliseconds = WriterLimits.deletionDelayMilliseconds
    /// The time for which trace events wait in memory for a transaction, and the minimum time between two checkpoints
    /// while the log is shorter than the reserve, in milliseconds.
    var writeDelayMilliseconds = WriterLimits.writeDelayMilliseconds
    /// The maximum number of device records in memory.
    ///
    /// Above it, some records without recent notifications are evicted.
    var deviceQueueCountMax = WriterLimits.deviceQueueCountMax
    /// The number of notifications sent to one device for which outcomes are recorded.
    var deliveryHistoryCountMax = Limits.deliveryHistoryCountMax
    /// The number of delivery history entries of all devices in memory.
    ///
    /// Above it, histories are evicted and read again on demand.
    var deliveryHistoryInAllCountMax = WriterLimits.historyEntryCountMax
    /// The maximum number of channels of one app in one environment.
    var channelPerAppCountMax = Limits.channelPerAppCountMax
    /// The time after which the registrations of an unseen device expire, in seconds; nil for never.
    package var registrationLifeSeconds: Int64?
    /// Whether the store records the events of each notification in the trace.
    package var hasTrace = false
    /// The time for which trace events are kept, in seconds.
    package var traceLifeSeconds = Limits.traceLifeSecondsDefault
    /// The maximum size of the trace, in bytes.
    package var traceByteCountMax = Limits.traceByteCountDefault
    /// The interval of deleting expired notifications, in milliseconds.
    ///
    /// They are not delivered in between either.
    var sweepIntervalMilliseconds: Int64 = 30_000
    /// Returns the wall-clock time; called on the store's thread.
    package var now: @Sendable () -> Timestamp
    /// Returns the time that bounds the time slices of requests; called on the store's thread.
    var monotonicTime: @Sendable () -> MonotonicTime = { .now }
    /// Returns the monotonic time of a turn, from which graces count.
    var turnTime: @Sendable () -> MonotonicTime = { .now }
    /// Called on the store's thread with notices for administrators; must return immediately.
    package var onNotice: @Sendable (StoreNotice) -> Void = { _ in }

    /// Creates a configuration with default values.
    package init(path: String, now: @escaping @Sendable () -> Timestamp) {
        self.path = path
        self.now = now
    }
}
