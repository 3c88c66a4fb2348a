// SPDX-License-Identifier: Apache-2.0

package import PushNet
internal import TestSupport

/// The error for a condition that did not hold before its deadline.
package struct NeverHappened: Error {
    package let what: String

    package init(what: String) { self.what = what }
}

extension EventLoop {
    /// Runs the loop until the condition holds, and suspends between turns, because all tests share few threads.
    ///
    /// A busy machine may permit few turns before the deadline. So the function also completes some hundreds of turns
    /// before it fails.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - isDone: Returns whether the condition holds.
    /// - Throws: `NeverHappened`, or the condition's error.
    package func run(_ what: String, until isDone: () throws -> Bool) async throws {
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
