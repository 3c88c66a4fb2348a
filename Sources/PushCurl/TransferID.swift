// SPDX-License-Identifier: Apache-2.0

/// The ID of a running request.
package struct TransferID: Hashable, Sendable {
    /// The number of the request within its client, from 1.
    let rawValue: UInt64
}
