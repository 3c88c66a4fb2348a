// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
package import PushCore
internal import PushCurl

extension RetryPause {
    /// Parses a `Retry-After` field, in seconds or as a date.
    ///
    /// - Parameters:
    ///   - field: The value of the field; nil if it is missing.
    ///   - now: The wall clock.
    /// - Returns: The pause; nil if the field is missing or invalid.
    /// - SeeAlso: RFC 9110, section 10.2.3.
    package static func parse(_ field: String?, now: Timestamp) -> Duration? {
        guard let field else { return nil }
        let isNumber = !field.isEmpty && field.utf8.allSatisfy { (48...57).contains($0) }
        // A number that does not fit counts as the maximum.
        let number = isNumber ? Int64(field) ?? .max : HTTPDate.unixSeconds(field).map { $0 - now.unixSeconds }
        return number.map { min(.seconds(max($0, 0)), StreamMachine.retryAfterMax) }
    }
}
