// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The form of a time in the JSON of the APIs: UNIX seconds.
///
/// The few members in UNIX milliseconds, such as those of the trace, are numbers in their types.
extension Timestamp: Codable {
    /// Decodes UNIX seconds.
    public init(from decoder: any Decoder) throws {
        self.init(unixSeconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Encodes UNIX seconds, rounded down.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(unixSeconds)
    }
}
