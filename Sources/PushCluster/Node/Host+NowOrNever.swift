// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore

extension Host {
    /// Sends the waiting now-or-never notifications; if the window has no space for one, it expires.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: The number of the row that is sent next. Only notifications with lower numbers are sent.
    func sendNowOrNever(_ stream: HostedStream, before number: Int64 = .max) {
        for var pending in stream.takeNowOrNever(before: number) {
            guard stream.hasSpace else {
                expire(pending.sequence, pending.notification.address.topic, .windowFull, stream)
                continue
            }
            let accepted = pending.sequence
            raise(&pending, on: stream)
            if pending.sequence != accepted { traceRaised(pending) }
            send(pending, RowKey(rawValue: pending.sequence), .nowOrNever, on: stream)
        }
    }

    /// Records the now-or-never notifications of a closed stream as expired.
    func expireNowOrNever(_ stream: HostedStream) {
        for sent in stream.window {
            if case .nowOrNever = sent.state { expire(sent.id, sent.topic, .notConnected, stream) }
        }
        for pending in stream.takeNowOrNever(before: .max) {
            expire(pending.sequence, pending.notification.address.topic, .notConnected, stream)
        }
    }

    private func expire(_ id: Int64, _ topic: TopicID, _ detail: TraceDetail, _ stream: HostedStream) {
        context.counters.note(.expired)
        context.trace?.record(.expired, detail, of: id, topic, on: stream.device, at: context.nextTraceTime())
    }
}
