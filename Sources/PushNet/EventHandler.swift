// SPDX-License-Identifier: Apache-2.0

/// What a descriptor is watched for, and what it is ready for.
package struct Readiness: OptionSet, Sendable {
    /// The set as bits.
    package let rawValue: UInt8
    /// Makes a set of bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Input waits, or the end of input, or a connection to accept.
    package static let readable = Readiness(rawValue: 1)
    /// Output has room.
    package static let writable = Readiness(rawValue: 2)
    /// Error or hang-up; always reported.
    package static let failed = Readiness(rawValue: 4)
}

/// Gets a descriptor's events on the loop's thread.
package protocol EventHandler: AnyObject {
    /// The descriptor is ready. Level-triggered: what is not dealt with is reported again in the next turn, so after
    /// `failed` the handler must deregister.
    func ready(_ readiness: Readiness)
}

/// One registration of a descriptor with a loop; carries a generation, so that a stale event is dropped.
package struct Registration: Hashable, Sendable {
    /// The place in the loop's table.
    package let slot: UInt32
    /// How often the place was given away before.
    package let generation: UInt32
}
