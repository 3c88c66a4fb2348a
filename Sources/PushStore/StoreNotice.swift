// SPDX-License-Identifier: Apache-2.0

/// What an administrator should hear of the store while it goes on.
package enum StoreNotice: Sendable, Equatable {
    /// The disk has no space: new notifications are refused from now, deliveries and acknowledgements go on.
    case diskFull(StoreError)
    /// There is space again, and notifications are accepted.
    case spaceReturned
    /// The disk changed this row; it is dropped, not delivered.
    case damagedRow(sequence: Int64)

    /// The stable word for logs.
    package var code: String {
        switch self {
        case .diskFull: "store-disk-full"
        case .spaceReturned: "store-space-returned"
        case .damagedRow: "store-damaged-row"
        }
    }
}

extension StoreNotice: CustomStringConvertible {
    /// What happened and what to do about it, for a person.
    package var description: String {
        switch self {
        case .diskFull(let error): error.description
        case .spaceReturned: "There is space on the disk again; notifications are accepted."
        case .damagedRow(let sequence):
            "The pending notification \(sequence) is not what was written and was dropped. Check the disk."
        }
    }
}
