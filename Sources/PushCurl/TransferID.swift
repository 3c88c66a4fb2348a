// SPDX-License-Identifier: Apache-2.0

/// A running request.
package struct TransferID: Hashable, Sendable {
    /// Counts the requests of one client, from 1.
    let rawValue: UInt64
}
