// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The positions in the trace from which webhooks report events.
protocol TracePositions: AnyObject {
    /// Whether the trace is enabled.
    var isOn: Bool { get }

    /// Prepares the reports to a webhook that is set; returns the position at which a new one starts.
    func startWebhook() throws(SQLError) -> Int64
}

extension TraceRecorder: TracePositions {
    /// Writes the buffer with the current transaction.
    ///
    /// Otherwise a crash could leave the webhook's position beyond the end of the trace, so the webhook would skip
    /// events.
    ///
    /// - Returns: The position of the next event.
    func startWebhook() -> Int64 {
        flushSoon()
        return nextPosition
    }
}
