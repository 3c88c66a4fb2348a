// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// An address to listen on.
package struct ListenAddress: Sendable, Hashable {
    /// A name or an address; `*` is every address, IPv6 and IPv4.
    package var host: String
    /// 0 lets the kernel choose.
    package var port: UInt16

    /// Joins the parts.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`; an IPv6 address stands in brackets.
    ///
    /// - Parameter text: For example `*:2197` or `[::1]:2197`.
    package init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
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

/// What comes in through a network port.
package struct PortRole: Sendable, Hashable {
    /// The environment of its connections; nil where the server name decides.
    package var environment: Environment?
    /// Nothing but channel management, as Apple keeps it on hosts and ports of its own.
    package var isForChannels: Bool

    /// Joins the parts.
    package init(environment: Environment? = nil, isForChannels: Bool = false) {
        self.environment = environment
        self.isForChannels = isForChannels
    }
}

/// A network port with what it is for.
package struct NetworkPort: Sendable, Hashable {
    /// Where it listens.
    package var address: ListenAddress
    /// What comes in.
    package var role: PortRole
}

extension ServerConfiguration {
    /// Every network port, the main one first.
    package var ports: [NetworkPort] {
        let groups: [([ListenAddress], PortRole)] = [
            (listen, PortRole()), (developmentListen, PortRole(environment: .development)),
            (channelListen, PortRole(isForChannels: true)),
            (developmentChannelListen, PortRole(environment: .development, isForChannels: true)),
        ]
        return groups.flatMap { addresses, role in addresses.map { NetworkPort(address: $0, role: role) } }
    }

    /// The environment that a server name means on a port that serves both.
    ///
    /// - Parameter serverName: What the client asked for, in lower case; nil when it asked for none.
    /// - Returns: Development for a configured name and for one with the label `sandbox` or `development`.
    package func environment(ofServerName serverName: String?) -> Environment {
        guard let serverName else { return .production }
        let isNamed = developmentNames.contains { $0.utf8.elementsEqual(serverName.utf8) }
        let isApples = serverName.utf8.split(separator: UInt8(ascii: ".")).contains { label in
            label.elementsEqual("sandbox".utf8) || label.elementsEqual("development".utf8)
        }
        return isNamed || isApples ? .development : .production
    }
}
