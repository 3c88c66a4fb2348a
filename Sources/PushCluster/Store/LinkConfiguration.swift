// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The settings of the links of this node.
package struct LinkConfiguration: Sendable {
    /// The address at which other nodes connect to this one.
    package var address: LinkedNode.Address
    /// The authority that issues the certificates of nodes.
    package var authority: ClusterAuthority
    /// The secrets of the cluster, which may change while the node runs; nil if they do not.
    package var keeper: SecretKeeper?
    /// The mailbox of links that other nodes open.
    package var accepted: Mailbox<AcceptedLink.Event>
    package var log: EventLog

    package init(
        address: LinkedNode.Address, authority: ClusterAuthority, accepted: Mailbox<AcceptedLink.Event>, log: EventLog
    ) {
        self.address = address
        self.authority = authority
        self.accepted = accepted
        self.log = log
    }

    /// The authority that issues certificates now.
    var currentAuthority: ClusterAuthority { keeper?.authority ?? authority }
}

extension LinkedNode.Address {
    /// The text that `init(_:)` parses.
    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
