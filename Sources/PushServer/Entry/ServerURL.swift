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
            host = ownName
        }
        return "https://\(authority(host, port))"
    }

    /// Returns the URL of the metrics, with the listening address or this host's name.
    static func metrics(host: String, port: UInt16) -> String {
        "http://\(authority(host == "*" ? ownName : host, port))/metrics"
    }

    private static var ownName: String {
        let own = ProcessInfo.processInfo.hostName
        return own.isEmpty ? "localhost" : own
    }

    private static func authority(_ host: String, _ port: UInt16) -> String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
