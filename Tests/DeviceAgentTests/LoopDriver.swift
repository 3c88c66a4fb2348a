// SPDX-License-Identifier: Apache-2.0

import PushNet
import TestSupport
import Testing

/// A condition did not come true before its deadline.
struct NeverHappened: Error { let what: String }

extension EventLoop {
    /// Turns until the condition holds, and lets other tests run between the turns: they share few threads.
    func run(_ what: String, until isDone: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        while try !isDone() {
            guard ContinuousClock.now < deadline else { throw NeverHappened(what: what) }
            schedule(after: .milliseconds(3)) { [unowned self] in stop() }
            run()
            await Task.yield()
        }
    }
}
