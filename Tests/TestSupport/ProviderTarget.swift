// SPDX-License-Identifier: Apache-2.0

/// The data that a provider needs: the server's address, the authority to trust, and the signing key.
package struct ProviderTarget: Codable, Sendable {
    package var host: String
    package var port: Int
    /// The path of the certificate authority to trust, PEM.
    package var caFile: String
    /// The path of the signing key, .p8.
    package var keyFile: String
    /// The key ID of the signing key.
    package var keyID: String
    /// The team ID of the signing key.
    package var teamID: String
    /// The default topic of notifications.
    package var topic: String

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

    /// The server's URL for curl.
    package var url: String { "https://\(host):\(port)" }

    private enum CodingKeys: String, CodingKey {
        case host, port, topic
        case caFile = "ca_file"
        case keyFile = "key_file"
        case keyID = "key_id"
        case teamID = "team_id"
    }
}
