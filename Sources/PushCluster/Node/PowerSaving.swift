// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Holds non-urgent notifications back from devices that save power.
final class PowerSaving {
    private let context: NodeContext
    /// Lets a stream read and send what was held back.
    private let release: (HostedStream) -> Void
    /// The streams with notifications that are held back, by the end of the delay.
    private var heldBack = FIFOQueue<(stream: HostedStream, end: MonotonicTime)>()

    init(_ context: NodeContext, release: @escaping (HostedStream) -> Void) {
        self.context = context
        self.release = release
    }

    /// Sets whether the device of a stream saves power.
    func set(_ isSaving: Bool, on stream: HostedStream) {
        stream.isSaving = isSaving
        guard !isSaving, stream.heldBackUntil != nil else { return }
        stream.heldBackUntil = nil
        release(stream)
    }

    /// Holds a non-urgent notification back; an urgent one releases those that are held back.
    func holdBack(_ notification: Notification, _ stream: HostedStream) {
        if stream.isSaving, notification.allowsDelay {
            guard stream.heldBackUntil == nil else { return }
            let end = context.moment.advanced(byMilliseconds: context.configuration.powerSavingDelayMilliseconds)
            stream.heldBackUntil = end
            heldBack.append((stream, end))
        } else if stream.heldBackUntil != nil {
            stream.heldBackUntil = nil
            release(stream)
        }
    }

    /// The time of the next delay that ends.
    var nextDue: MonotonicTime? { heldBack.first?.end }

    /// Releases the streams whose delay is over.
    func expire() {
        while let first = heldBack.first, first.end <= context.moment {
            _ = heldBack.popFirst()
            guard first.stream.heldBackUntil == first.end else { continue }
            first.stream.heldBackUntil = nil
            release(first.stream)
        }
    }
}
