// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushNet
internal import PushPostgres

/// The files of the data directory that all nodes of a cluster share, through the secrets in PostgreSQL.
///
/// The first node shares its own files. Every other node gets them before it would create files of its own.
final class ClusterFiles {
    /// The keys of device tokens, the authority that devices trust, and the team.
    private static let names = ["token.keys", "authority.key", "authority.pem", "team-id"]

    private let secrets: SharedSecrets
    private let directory: String

    /// Gets the shared files that the cluster has, before the installation is opened.
    ///
    /// - Parameters:
    ///   - address: The servers of PostgreSQL.
    ///   - configuration: The data directory and the file with the cluster's key.
    /// - Throws: The problem, and what to do about it.
    init(_ address: PostgresAddress, _ configuration: ServerConfiguration) throws(ServerError) {
        let directory = configuration.dataDirectory
        self.directory = directory
        try ServerError.wrapping { () throws(NetError) in try PrivateFile.makeDirectory(directory) }
        let keyFile = configuration.clusterKeyFile ?? "\(directory)/cluster.key"
        secrets = try ServerError.refusing { () throws(SharedSecretsError) in
            try SharedSecrets(address, schema: "posthorn", keyFile: keyFile)
        }
        for name in Self.names { try get(name) }
    }

    private func get(_ name: String) throws(ServerError) {
        guard let shared = try ServerError.refusing({ () throws(SharedSecretsError) in try secrets.read(name) }) else {
            return
        }
        let path = "\(directory)/\(name)"
        guard PrivateFile.exists(path) else {
            return try ServerError.wrapping { () throws(NetError) in
                try PrivateFile.write(shared, to: path, mode: name.hasSuffix(".pem") ? 0o644 : 0o600)
            }
        }
        let own = try ServerError.wrapping { () throws(NetError) in try PrivateFile.read(path) }
        guard own == shared else {
            throw .refused(
                "\(path) differs from that of the cluster.\n"
                    + "Start the node with a data directory that has no file but cluster.key.")
        }
    }

    /// Shares the files that the cluster does not have; returns the authority of links.
    func share() throws(ServerError) -> ClusterAuthority {
        for name in Self.names {
            let known = try ServerError.refusing { () throws(SharedSecretsError) in try secrets.read(name) }
            guard known == nil else { continue }
            let path = "\(directory)/\(name)"
            let own = try ServerError.wrapping { () throws(NetError) in try PrivateFile.read(path) }
            try ServerError.refusing { () throws(SharedSecretsError) in try secrets.add(own, name) }
        }
        return try ServerError.refusing { () throws(SharedSecretsError) in try secrets.authority() }
    }
}

extension ServerError {
    fileprivate static func refusing<Value>(
        _ body: () throws(SharedSecretsError) -> Value
    ) throws(ServerError) -> Value {
        do throws(SharedSecretsError) { return try body() } catch { throw .refused("\(error)") }
    }
}
