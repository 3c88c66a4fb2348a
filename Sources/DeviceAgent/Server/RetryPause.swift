// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

/// How long to wait after a request that failed: around a second at first, then twice as long each time, up to a minute.
///
/// Random between half of that and all of it, so that devices do not come back all at once; what the server asks for by
/// `Retry-After` comes before it.
package struct RetryPause: Sendable {
    /// The longest first wait.
    package static let first: Duration = .seconds(1)
    /// The longest wait.
    package static let longest: Duration = .seconds(60)
    private var failureCount = 0

    /// Nothing failed yet.
    package init() {}

    /// One more failed.
    ///
    /// - Parameters:
    ///   - asked: What the server asked for.
    ///   - fraction: Random, from 0 to 1.
    /// - Returns: How long to wait.
    package mutating func next(asked: Duration?, fraction: Double = .random(in: 0...1)) -> Duration {
        defer { failureCount += 1 }
        let ceiling = min(Self.longest, Self.first * (1 << min(failureCount, 10)))
        return (asked ?? .zero) + ceiling * (0.5 + 0.5 * min(max(fraction, 0), 1))
    }

    /// One succeeded.
    package mutating func reset() { failureCount = 0 }

    /// Reads a `Retry-After`, seconds or a date; nil for what is neither.
    ///
    /// - SeeAlso: RFC 9110, section 10.2.3.
    package static func parse(_ field: String?, nowUnixSeconds now: Int64) -> Duration? {
        guard let field else { return nil }
        let isNumber = !field.isEmpty && field.utf8.allSatisfy { (48...57).contains($0) }
        // More digits than fit are a very long time.
        let number = isNumber ? Int64(field) ?? .max : HTTPDate.unixSeconds(field).map { $0 - now }
        return number.map { min(.seconds(max($0, 0)), StreamMachine.retryAfterMax) }
    }
}
