// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

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

    /// Parses a `Retry-After` field, in seconds or as a date.
    ///
    /// - Parameters:
    ///   - field: The value of the field; nil if it is missing.
    ///   - now: The wall clock in UNIX seconds.
    /// - Returns: The pause; nil if the field is missing or invalid.
    /// - SeeAlso: RFC 9110, section 10.2.3.
    package static func parse(_ field: String?, nowUnixSeconds now: Int64) -> Duration? {
        guard let field else { return nil }
        let isNumber = !field.isEmpty && field.utf8.allSatisfy { (48...57).contains($0) }
        // A number that does not fit counts as the maximum.
        let number = isNumber ? Int64(field) ?? .max : HTTPDate.unixSeconds(field).map { $0 - now }
        return number.map { min(.seconds(max($0, 0)), StreamMachine.retryAfterMax) }
    }
}
