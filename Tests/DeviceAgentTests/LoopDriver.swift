// SPDX-License-Identifier: Apache-2.0

import PushNet
import TestSupport
import Testing

/// A condition did not come true before its deadline.
struct NeverHappened: Error { let what: String }

extension EventLoop {
    /// Turns until the condition holds.
    func run(_ what: String, until isDone: @escaping () -> Bool) throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        check(deadline, isDone)
        run()
        guard isDone() else { throw NeverHappened(what: what) }
    }

    private func check(_ deadline: ContinuousClock.Instant, _ isDone: @escaping () -> Bool) {
        guard !isDone(), ContinuousClock.now < deadline else { return stop() }
        schedule(after: .milliseconds(3)) { [unowned self] in check(deadline, isDone) }
    }
}
