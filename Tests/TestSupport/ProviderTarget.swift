// SPDX-License-Identifier: Apache-2.0

/// What a provider must know of a server: where it is, whom to trust, and how to sign.
package struct ProviderTarget: Codable, Sendable {
    /// The host.
    package var host: String
    /// The port.
    package var port: Int
    /// The authority to trust, PEM.
    package var caFile: String
    /// The signing key, .p8.
    package var keyFile: String
    /// Its key id.
    package var keyID: String
    /// Its team id.
    package var teamID: String
    /// The topic of notifications that name none.
    package var topic: String

    /// Joins the parts.
    package init(
        host: String, port: Int, caFile: String, keyFile: String, keyID: String, teamID: String, topic: String
    ) {
        self.host = host
        self.port = port
        self.caFile = caFile
        self.keyFile = keyFile
        self.keyID = keyID
        self.teamID = teamID
        self.topic = topic
    }

    /// The server's address for curl.
    package var url: String { "https://\(host):\(port)" }

    private enum CodingKeys: String, CodingKey {
        case host, port, topic
        case caFile = "ca_file"
        case keyFile = "key_file"
        case keyID = "key_id"
        case teamID = "team_id"
    }
}
