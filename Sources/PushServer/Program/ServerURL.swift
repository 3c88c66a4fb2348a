// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Where providers and devices connect, as it is told to people.
enum ServerURL {
    /// The first configured name, else the address that is listened on, else this host's name.
    static func text(_ configuration: ServerConfiguration, port: UInt16) -> String {
        let host: String
        if let name = configuration.names.first {
            host = name
        } else if configuration.host != "*" {
            host = configuration.host
        } else {
            let own = ProcessInfo.processInfo.hostName
            host = own.isEmpty ? "localhost" : own
        }
        return "https://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
