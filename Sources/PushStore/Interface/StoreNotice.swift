// SPDX-License-Identifier: Apache-2.0

/// A condition of the running store that an administrator should know.
package enum StoreNotice: Sendable, Equatable {
    /// The disk has no space.
    ///
    /// New notifications are refused from now on, while deliveries and acknowledgements continue.
    case diskFull(StoreError)
    /// The disk has space again, and notifications are accepted.
    case spaceReturned
    /// The checksum of this row is wrong; the row is dropped and not delivered.
    case damagedRow(sequence: Int64)

    /// The stable identifier of the notice in logs.
    package var code: String {
        switch self {
        case .diskFull: "store-disk-full"
        case .spaceReturned: "store-space-returned"
        case .damagedRow: "store-damaged-row"
        }
    }
}

extension StoreNotice: CustomStringConvertible {
    /// A description of what happened and what to do about it, for administrators.
    package var description: String {
        switch self {
        case .diskFull(let error): error.description
        case .spaceReturned: "There is space on the disk again; notifications are accepted."
        case .damagedRow(let sequence):
            "Pending notification \(sequence) has a wrong checksum and was dropped. Check the disk."
        }
    }
}
