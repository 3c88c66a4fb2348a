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

    let secrets: SharedSecrets
    private let directory: String

    /// Gets the shared files that the cluster has, before the installation is opened.
    ///
    /// - Parameters:
    ///   - address: The servers of PostgreSQL.
    ///   - configuration: The data directory and the file with the cluster's key.
    /// - Throws: The problem, and what to do about it.
    init(
        _ address: PostgresAddress, _ configuration: ServerConfiguration
    ) throws(ServerError) {
        let directory = configuration.dataDirectory
        self.directory = directory
        try ServerError.wrapping { () throws(NetError) in try PrivateFile.makeDirectory(directory) }
        let keyFile = Self.keyFile(configuration)
        secrets = try ServerError.refusing { () throws(SharedSecretsError) in
            try SharedSecrets(address, schema: "posthorn", keyFile: keyFile)
        }
        for name in Self.names {
            guard let shared = name == "token.keys" ? nonempty(secrets.tokenKeys) : secrets.read(name) else { continue }
            try get(name, shared)
        }
    }

    /// The file with the key of the cluster.
    static func keyFile(_ configuration: ServerConfiguration) -> String {
        configuration.clusterKeyFile ?? "\(configuration.dataDirectory)/cluster.key"
    }

    private func nonempty(_ bytes: [UInt8]) -> [UInt8]? { bytes.isEmpty ? nil : bytes }

    private func get(_ name: String, _ shared: [UInt8]) throws(ServerError) {
        let path = "\(directory)/\(name)"
        if PrivateFile.exists(path) {
            let own = try ServerError.wrapping { () throws(NetError) in try PrivateFile.read(path) }
            guard own != shared else { return }
            // The cluster may have got another key of device tokens while this node was away.
            guard name == "token.keys", Self.hasLines(of: own, shared) else {
                throw .installation(
                    InstallationError(
                        path: path, problem: "The file differs from that of the cluster.",
                        remedy: "Start the node with a data directory that has no file but cluster.key."))
            }
        }
        try ServerError.wrapping { () throws(NetError) in
            try PrivateFile.write(shared, to: path, mode: name.hasSuffix(".pem") ? 0o644 : 0o600)
        }
    }

    /// Returns whether all lines of a file are in another one.
    private static func hasLines(of file: [UInt8], _ other: [UInt8]) -> Bool {
        let newline = UInt8(ascii: "\n")
        return Set(file.split(separator: newline)).isSubset(of: other.split(separator: newline))
    }

    /// Shares the files that the cluster does not have, and makes the authority of links.
    func share() throws(ServerError) {
        for name in Self.names where secrets.read(name) == nil {
            let path = "\(directory)/\(name)"
            let own = try ServerError.wrapping { () throws(NetError) in try PrivateFile.read(path) }
            try ServerError.refusing { () throws(SharedSecretsError) in try secrets.add(own, name) }
        }
        try ServerError.refusing { () throws(SharedSecretsError) in try secrets.makeAuthority() }
    }
}

extension ServerError {
    fileprivate static func refusing<Value>(
        _ body: () throws(SharedSecretsError) -> Value
    ) throws(ServerError) -> Value {
        do throws(SharedSecretsError) {
            return try body()
        } catch {
            switch error {
            case .postgres(let error): throw .store(error)
            case .key(let error):
                throw .configuration(
                    ConfigurationError(place: error.path, problem: error.problem, remedy: error.remedy))
            case .authority(let text): throw .refused(text)
            }
        }
    }
}
