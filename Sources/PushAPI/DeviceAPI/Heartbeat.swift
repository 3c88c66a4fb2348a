// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The negotiation of the interval between heartbeats on a device's stream.
///
/// A device can request a longer interval in a request field, in seconds. The response contains the granted interval.
/// Without a request, the interval is `Limits.heartbeatInterval`.
package enum Heartbeat {
    /// The name of the field, in the request and in the response.
    package static let fieldName: StaticString = "posthorn-heartbeat"
    /// The name of the field as a string, for lists of fields.
    package static var fieldText: String { "\(fieldName)" }
    /// Returns the interval in seconds that the server grants for a requested interval.
    package static func granted(_ seconds: Int64) -> Int64 {
        min(max(seconds, Limits.heartbeatInterval.components.seconds), Limits.heartbeatIntervalMax.components.seconds)
    }

    /// Returns the negotiated interval.
    ///
    /// - Parameter text: The value of the response's field; nil if the response has none.
    /// - Returns: The interval between heartbeats.
    package static func interval(_ text: String?) -> Duration {
        .seconds(granted(text.flatMap { Decimal.parse($0.utf8.span) } ?? 0))
    }
}
