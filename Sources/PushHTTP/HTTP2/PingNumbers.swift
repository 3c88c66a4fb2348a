// SPDX-License-Identifier: Apache-2.0

/// The numbers in the opaque data of our PING frames.
struct PingNumbers {
    /// The number in our last PING.
    private(set) var sent: UInt64 = 0
    /// The number in the last acknowledged PING.
    private(set) var answered: UInt64 = 0

    /// Returns the opaque data of the next PING.
    mutating func next() -> InlineArray<8, UInt8> {
        sent += 1
        var opaque = InlineArray<8, UInt8>(repeating: 0)
        for index in 0..<8 { opaque[index] = UInt8(truncatingIfNeeded: sent >> UInt64(8 * index)) }
        return opaque
    }

    /// Takes an acknowledgement; returns false if it is repeated or not for one of our PINGs.
    mutating func take(answer number: UInt64) -> Bool {
        guard number > answered, number <= sent else { return false }
        answered = number
        return true
    }
}
