// SPDX-License-Identifier: Apache-2.0

/// How often a server says something on a device's stream, as the two ends agree on it.
///
/// A device that asks for nothing gets `Limits.heartbeatInterval`, as ever. One that can wait longer says so in its
/// request, in seconds, and the answer says what it gets.
package enum Heartbeat {
    /// The field, of the request and of the answer.
    package static let fieldName: StaticString = "posthorn-heartbeat"
    /// The same, for lists of fields.
    package static var fieldText: String { "\(fieldName)" }
    /// What a device gets that asks for so many seconds.
    package static func granted(_ seconds: Int64) -> Int64 {
        min(max(seconds, Limits.heartbeatInterval.components.seconds), Limits.heartbeatIntervalMax.components.seconds)
    }

    /// How often a server says something.
    ///
    /// - Parameter text: The answer's field; nil where the server has none.
    /// - Returns: The interval that was agreed.
    package static func interval(_ text: String?) -> Duration {
        .seconds(granted(text.flatMap { Decimal.parse($0.utf8.span) } ?? 0))
    }
}
