// SPDX-License-Identifier: Apache-2.0

/// The wait after a failed request, about a second at first and doubled with each failure, up to a minute.
///
/// The wait is random between half of that and all of it, so that devices do not come back all at once. A pause that
/// the server requests with `Retry-After` is added in front.
package struct RetryPause: Sendable {
    /// The maximum of the first wait.
    package static let first: Duration = .seconds(1)
    /// The maximum of every wait.
    package static let longest: Duration = .seconds(60)
    private var failureCount = 0

    /// Creates a pause without a failure.
    package init() {}

    /// Records a failure and returns the time to wait.
    ///
    /// - Parameters:
    ///   - asked: The pause that the server requested.
    ///   - fraction: A random number from 0 to 1.
    /// - Returns: The time to wait.
    package mutating func next(asked: Duration?, fraction: Double = .random(in: 0...1)) -> Duration {
        defer { failureCount += 1 }
        let ceiling = min(Self.longest, Self.first * (1 << min(failureCount, 10)))
        return (asked ?? .zero) + ceiling * (0.5 + 0.5 * min(max(fraction, 0), 1))
    }

    /// Resets the failures after a success.
    package mutating func reset() { failureCount = 0 }
}
