// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// An address to listen on.
struct ListenAddress: Sendable, Hashable {
    /// A name or an address; `*` means every address, IPv6 and IPv4.
    var host: String
    /// The port number; 0 lets the kernel choose.
    var port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `host:port`, with an IPv6 address in brackets.
    ///
    /// - Parameter text: For example `*:2197` or `[::1]:2197`.
    init?(_ text: some StringProtocol) {
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

/// The purpose of a network port.
struct PortRole: Sendable, Hashable {
    /// The environment of its connections; nil if the server name decides.
    var environment: Environment?
    /// Whether the port serves only channel management, which Apple keeps on separate hosts and ports.
    var isForChannels: Bool

    init(environment: Environment? = nil, isForChannels: Bool = false) {
        self.environment = environment
        self.isForChannels = isForChannels
    }
}

/// A network port with its purpose.
package struct NetworkPort: Sendable, Hashable {
    var address: ListenAddress
    var role: PortRole
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

    /// Returns the environment that a server name selects on a port that serves both.
    ///
    /// - Parameter serverName: The name that the client requested, in lower case; nil if it requested none.
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
