// SPDX-License-Identifier: Apache-2.0

/// The delays between attempts to connect: random, growing, and at most a second.
package struct ReconnectDelay {
    private static let milliseconds = 50.0
    private static let millisecondsMax = 1_000.0

    private var attemptCount = 0

    package init() {}

    /// Returns the delay before the next attempt.
    ///
    /// - Parameter random: A number from 0 to 1, so that many clients do not connect at the same time.
    /// - Returns: The delay.
    package mutating func next(random: Double) -> Duration {
        let limit = min(Self.millisecondsMax, Self.milliseconds * Double(1 << min(attemptCount, 10)))
        attemptCount += 1
        return .microseconds(Int64(limit * random * 1_000))
    }

    /// Starts again with short delays, after a connection was made.
    package mutating func reset() { attemptCount = 0 }
}
