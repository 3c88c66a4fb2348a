// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import Synchronization

/// Rejections that a test ordered for the next answers of the provider API (`POST /v1/ephemeral/fail`).
final class OrderedFailures: Sendable {
    /// A hint without the lock; the lock's value decides.
    private let hasAny = Atomic<Bool>(false)
    private let ordered = Lock<(reason: RejectionReason, count: Int)?>(nil)

    /// Replaces what was ordered before.
    func order(_ reason: RejectionReason, count: Int) {
        ordered.withLock { $0 = count > 0 ? (reason, count) : nil }
        hasAny.store(count > 0, ordering: .releasing)
    }

    /// Takes one, if any is left.
    func take() -> RejectionReason? {
        guard hasAny.load(ordering: .acquiring) else { return nil }
        return ordered.withLock { value in
            guard let (reason, count) = value else { return nil }
            value = count > 1 ? (reason, count - 1) : nil
            if count == 1 { hasAny.store(false, ordering: .releasing) }
            return reason
        }
    }
}
