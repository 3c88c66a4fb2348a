// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushWebSocket

/// The numbers of all threads; each is written by one thread.
final class ServerMetrics: Sendable {
    /// The numbers of the loops, by loop index; those of the control loop come last.
    let loops: [LoopMetrics]
    /// The numbers of the APIs, by loop index.
    let apis: [APIMetrics]
    let store: StoreMetrics
    let webhooks = WebhookMetrics()

    init(loops: [LoopMetrics], store: StoreMetrics) {
        self.loops = loops
        self.store = store
        apis = loops.map { _ in APIMetrics() }
    }
}

/// The numbers of the APIs of one loop, which its thread writes.
final class APIMetrics: Sendable {
    /// The times from a complete request to its acceptance.
    let accept = DurationHistogram()
    /// The times from the arrival of a notification to its delivery, for devices that were connected.
    let delivery = DurationHistogram()
    let webSockets = WebSocketMetrics()
    private let rejections = MetricCells(count: RejectionReason.allCases.count)
    /// The refusals by the send API, by the index in `SendRefusal.allCases`.
    private let sendRefusals = MetricCells(count: SendRefusal.allCases.count)

    init() {}

    /// Counts a rejection.
    func note(_ reason: RejectionReason) { rejections.add(to: reason.index) }

    func count(of reason: RejectionReason) -> Int64 { rejections[reason.index] }

    /// Counts a refusal by the send API for a reason that only this API has.
    func note(_ reason: SendRefusal) {
        if let index = SendRefusal.allCases.firstIndex(of: reason) { sendRefusals.add(to: index) }
    }

    func count(of reason: SendRefusal) -> Int64 {
        SendRefusal.allCases.firstIndex(of: reason).map { sendRefusals[$0] } ?? 0
    }

    /// Counts notifications that a device gets now, if it was connected when they arrived.
    ///
    /// - Parameters:
    ///   - notifications: The notifications.
    ///   - connectionMilliseconds: The time since the device connected.
    func noteDelivered(_ notifications: [PendingNotification], connectionMilliseconds: Int64) {
        let now = Timestamp.now.unixMilliseconds
        for index in notifications.indices {
            let age = now - notifications[index].notification.acceptedAt.unixMilliseconds
            if age <= connectionMilliseconds { delivery.observe(nanoseconds: age * 1_000_000) }
        }
    }
}

/// The numbers of the webhooks, which the webhook thread writes.
final class WebhookMetrics: Sendable {
    /// The number of requests that a back-end accepted.
    let acceptedRequests = MetricCell()
    let failedRequests = MetricCell()
    /// The number of times that the trace had lost events before a back-end received them.
    let gaps = MetricCell()
    /// The time since which the slowest back-end has not received everything, in nanoseconds of `MonotonicTime`; 0 if
    /// all have.
    let behindSince = MetricCell()
    /// The least position in the trace of the back-ends that have not received everything.
    let position = MetricCell()

    init() {}
}

extension RejectionReason {
    /// The index in `allCases`.
    ///
    /// A search would cost more than everything else that a rejection counts. An enum without associated values is
    /// stored as the number of its case; a test compares all of them.
    var index: Int { unsafe Int(unsafeBitCast(self, to: UInt8.self)) }
}
