// SPDX-License-Identifier: Apache-2.0

internal import PushServing

/// The state of the APIs for one connection on a network port.
final class NetworkPeer {
    /// The provider API's state, created for the first request of a provider.
    var provider: ProviderConnection?
    /// The teams of the exchanges whose answers are long lists, by exchange ID.
    var listings: [Int32: String] = [:]
    /// Whether a credential was checked before the peer had proven one.
    var hasTriedCredential = false
    /// The number of wrong credentials that the peer sent.
    var wrongCredentialCount: UInt16 = 0
    /// Whether an exchange is, or was, a device's stream; most connections have none and skip the search for it.
    var carriesStream = false
}

extension ServerConnection {
    /// The APIs' state of a connection on a network port.
    var peer: NetworkPeer {
        guard let peer = context as? NetworkPeer else {
            preconditionFailure("a connection of the public API has no state")
        }
        return peer
    }
}
