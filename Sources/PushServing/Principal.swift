// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushNet

/// The party that budgets and rates are counted for.
package enum Principal: Hashable, Sendable {
    /// A peer without a proven credential, by its network (/32 or /64).
    case stranger(SourceAddress)
    case device(DeviceID)
    /// A provider, by the ID of its signing key or client certificate.
    case provider(String)
    /// Another node of the cluster, by its number.
    case node(Int)
    case administrator
    /// A peer on the port for monitoring, which has no credential and needs none.
    case monitor

    /// Whether the peer has not proven a credential.
    package var isStranger: Bool {
        if case .stranger = self { true } else { false }
    }
}
