// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import Synchronization

/// The bounds of a store, which any thread may change while it runs.
///
/// The store's thread reads each bound when it uses it, so relaxed ordering suffices.
package final class StoreBounds: Sendable {
    private let topicCountMax: Atomic<Int>
    private let deviceCountMax: Atomic<Int>
    private let delay: Atomic<Int64>
    /// Negative if registrations never expire.
    private let registrationLife: Atomic<Int64>
    private let traceLife: Atomic<Int64>
    private let traceSizeMax: Atomic<Int64>

    package init(_ configuration: StoreConfiguration) {
        topicCountMax = Atomic(max(configuration.pendingPerTopicCountMax, 1))
        deviceCountMax = Atomic(max(configuration.pendingPerDeviceCountMax, 1))
        delay = Atomic(configuration.powerSavingDelayMilliseconds)
        registrationLife = Atomic(Self.stored(configuration.registrationLifeSeconds))
        traceLife = Atomic(configuration.traceLifeSeconds)
        traceSizeMax = Atomic(configuration.traceByteCountMax)
    }

    /// Replaces the bounds by those of another configuration.
    package func change(to configuration: StoreConfiguration) {
        topicCountMax.store(max(configuration.pendingPerTopicCountMax, 1), ordering: .relaxed)
        deviceCountMax.store(max(configuration.pendingPerDeviceCountMax, 1), ordering: .relaxed)
        delay.store(configuration.powerSavingDelayMilliseconds, ordering: .relaxed)
        registrationLife.store(Self.stored(configuration.registrationLifeSeconds), ordering: .relaxed)
        traceLife.store(configuration.traceLifeSeconds, ordering: .relaxed)
        traceSizeMax.store(configuration.traceByteCountMax, ordering: .relaxed)
    }

    private static func stored(_ life: Int64?) -> Int64 { life.map { max($0, 0) } ?? -1 }

    /// The maximum number of pending notifications of one topic on one device.
    var pendingPerTopicCountMax: Int { topicCountMax.load(ordering: .relaxed) }
    /// The maximum number of pending notifications of one device, of all topics.
    var pendingPerDeviceCountMax: Int { deviceCountMax.load(ordering: .relaxed) }
    /// The time for which non-urgent notifications are held back from a device that saves power, in milliseconds.
    ///
    /// A change affects the streams that are attached later.
    var powerSavingDelayMilliseconds: Int64 { delay.load(ordering: .relaxed) }
    /// The time after which the registrations of an unseen device expire, in seconds; nil for never.
    var registrationLifeSeconds: Int64? {
        let seconds = registrationLife.load(ordering: .relaxed)
        return seconds < 0 ? nil : seconds
    }
    /// The time for which trace events are kept, in seconds.
    var traceLifeSeconds: Int64 { traceLife.load(ordering: .relaxed) }
    /// The maximum size of the trace, in bytes.
    var traceByteCountMax: Int64 { traceSizeMax.load(ordering: .relaxed) }
}
