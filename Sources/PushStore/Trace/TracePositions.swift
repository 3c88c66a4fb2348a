// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The positions in the trace from which webhooks report events.
protocol TracePositions: AnyObject {
    /// Whether the trace is enabled.
    var isOn: Bool { get }
    /// The position of the next event.
    var nextPosition: Int64 { get }

    /// Prepares the reports to the webhook of an app, after the webhook was set.
    func noteWebhook(of topic: TopicID) throws(SQLError)
}

extension TraceRecorder: TracePositions {
    /// Writes the buffer with the current transaction.
    ///
    /// Otherwise a crash could leave the webhook's position beyond the end of the trace, so the webhook would skip
    /// events.
    func noteWebhook(of topic: TopicID) { flushSoon() }
}
