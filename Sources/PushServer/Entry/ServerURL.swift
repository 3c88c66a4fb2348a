// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The URL where providers and devices connect, as shown to users.
enum ServerURL {
    /// Returns the URL with the first configured name, else the listening address, else this host's name.
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
