// SPDX-License-Identifier: Apache-2.0

/// A node of the cluster, as other nodes connect to it.
package struct LinkedNode: Hashable, Sendable {
    /// The address at which a node accepts links.
    package struct Address: Hashable, Sendable {
        /// A name or an IP address.
        package var host: String
        package var port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        /// Parses `host:port`, with an IPv6 address in brackets; nil for any other text.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
            else { return nil }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    package var instance: InstanceID
    package var address: Address

    package init(instance: InstanceID, address: Address) {
        self.instance = instance
        self.address = address
    }
}
