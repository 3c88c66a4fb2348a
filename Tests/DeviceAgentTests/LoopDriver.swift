// SPDX-License-Identifier: Apache-2.0

import PushNet
import TestSupport
import Testing

/// A condition did not hold before its deadline.
struct NeverHappened: Error { let what: String }

extension EventLoop {
    /// Runs the loop until the condition holds, and suspends between turns, because all tests share few threads.
    ///
    /// A busy machine may permit few turns in the given time. So the function also requires some hundreds of turns
    /// before it gives up.
    func run(_ what: String, until isDone: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        var turnCount = 0
        while try !isDone() {
            guard ContinuousClock.now < deadline || turnCount < 300 else { throw NeverHappened(what: what) }
            turnCount += 1
            schedule(after: .milliseconds(3)) { [unowned self] in stop() }
            run()
            await Task.yield()
        }
    }
}
