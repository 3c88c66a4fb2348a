// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore

extension Host {
    /// Counts and records the end of a row that is not delivered.
    func noteUnwanted(_ row: ShardResult.Row, _ stream: HostedStream) {
        let isExpired =
            row.notification?.isExpired(now: context.now) ?? false || row.expiresAt ?? .distantFuture < context.now
        let (reason, detail): (RemovalReason, TraceDetail) =
            row.notification == nil ? (.dropped, .damaged) : (isExpired ? .expired : .unregistered, .none)
        context.counters.note(reason)
        context.trace?.record(
            reason.step, detail, of: row.id, row.topic, on: stream.device, at: context.nextTraceTime())
    }

    /// Records the acceptance of a notification again, under a higher number.
    func traceRaised(_ pending: PendingNotification) {
        context.trace?.recordAccepted(pending, isAgain: true, at: context.nextTraceTime())
    }
}
