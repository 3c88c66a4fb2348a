// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import Synchronization

/// The rejections that a test ordered for the next responses of the provider API (`POST /v1/ephemeral/fail`).
final class InjectedFailures: Sendable {
    /// A hint that is read without the lock; the value under the lock decides.
    private let hasAny = Atomic<Bool>(false)
    private let ordered = Lock<(reason: RejectionReason, count: Int)?>(nil)

    /// Orders rejections in place of earlier ones.
    func order(_ reason: RejectionReason, count: Int) {
        ordered.withLock { $0 = count > 0 ? (reason, count) : nil }
        hasAny.store(count > 0, ordering: .releasing)
    }

    /// Takes one rejection, if any is left.
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
