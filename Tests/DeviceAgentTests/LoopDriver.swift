// SPDX-License-Identifier: Apache-2.0

import PushNet
import TestSupport
import Testing

/// A condition did not come true before its deadline.
struct NeverHappened: Error { let what: String }

extension EventLoop {
    /// Turns until the condition holds, and lets other tests run between the turns: they share few threads.
    ///
    /// Where those leave it few turns, the time alone says nothing: it gives up after some hundreds of turns, too.
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
