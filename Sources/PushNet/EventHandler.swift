// SPDX-License-Identifier: Apache-2.0

/// The events that a descriptor is watched for or is ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    /// Creates a set from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Input, the end of input, or a connection to accept is waiting.
    package static let readable = Readiness(rawValue: 1)
    /// Output can be written.
    package static let writable = Readiness(rawValue: 2)
    /// Error or hang-up; always reported.
    package static let failed = Readiness(rawValue: 4)
}

/// A receiver of a descriptor's events on the loop's thread.
package protocol EventHandler: AnyObject {
    /// Handles the events of a ready descriptor.
    ///
    /// Events are level-triggered: an unhandled event is reported again in the next turn. So the handler must
    /// deregister after `failed`.
    ///
    /// - Parameter readiness: The events of the descriptor.
    func ready(_ readiness: Readiness)
}

/// A registration of a descriptor with a loop; its generation makes stale events detectable.
package struct Registration: Hashable, Sendable {
    /// The index in the loop's table.
    package let slot: UInt32
    /// The number of earlier registrations with this slot.
    package let generation: UInt32
}
