// SPDX-License-Identifier: Apache-2.0

/// What time it is at the server, as far as the times of its notifications tell.
///
/// The device's own clock may be hours ahead, by another system's idea of the hardware clock or an empty battery. The server
/// delivers nothing that has expired, so that alone must not keep an alert away.
package struct ServerClock: Sendable {
    /// The server's UNIX milliseconds less those of a clock that never jumps, by what came with the least delay.
    private var offset: Int64?

    /// Knows nothing yet.
    package init() {}

    /// Notes that the server had accepted something at a moment.
    ///
    /// - Parameters:
    ///   - accepted: When, by the server's clock, UNIX milliseconds.
    ///   - elapsed: Now, by the clock that never jumps, milliseconds.
    package mutating func note(acceptedUnixMilliseconds accepted: Int64, atElapsedMilliseconds elapsed: Int64) {
        // Numbers from outside: they may be any.
        let offset = accepted &- elapsed
        self.offset = max(self.offset ?? offset, offset)
    }

    /// UNIX milliseconds, not later than it is there; nil when nothing came yet.
    package func unixMilliseconds(atElapsedMilliseconds elapsed: Int64) -> Int64? { offset.map { $0 &+ elapsed } }
}
