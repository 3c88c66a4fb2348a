// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushPostgres
internal import PushSQL
internal import PushStore
internal import PushTLS

/// The secrets that all nodes of a cluster share, in the table `secrets`, sealed with the key of the cluster.
///
/// While a value exists, other nodes wait to open theirs, so that only the first node creates secrets.
package final class SharedSecrets {
    private let table: SecretTable
    private let files: ClusterKeyFiles
    private let key: ClusterKey
    private var secrets: [String: [UInt8]]
    /// The problems of PostgreSQL that do not prevent its use.
    package let findings: [PostgresFinding]
    /// Whether the database has apps.
    package let hasApps: Bool

    /// Connects, creates the tables if they do not exist, and reads or creates the key of the cluster.
    ///
    /// - Parameters:
    ///   - address: The servers of PostgreSQL.
    ///   - schema: The schema of the tables.
    ///   - keyFile: The file with the key, which is created if the cluster has no secrets yet.
    /// - Throws: The problem, and what to do about it.
    package init(
        _ address: PostgresAddress, schema: String, keyFile: String
    ) throws(SharedSecretsError) {
        let connection = try Self.postgres { () throws(SQLError) in
            try PostgresConnection(
                to: address, settings: PostgresSettings(applicationName: "posthornd", schema: schema))
        }
        findings = try Self.postgres { () throws(SQLError) in try connection.serverFacts().findings }
        if let fatal = findings.first(where: \.isFatal) { throw .postgres(.unsafe(fatal)) }
        do throws(StoreError) {
            try PostgresSchema.open(connection, at: "\(address)") { body throws(SQLError) in
                try connection.transaction { () throws(SQLError) in try body() }
            }
        } catch {
            throw .postgres(.schema(error))
        }
        let table = SecretTable(connection: connection)
        let (rows, hasApps) = try Self.postgres { () throws(SQLError) in
            try table.lockForSession()
            return (try table.read(), try connection.prepare("SELECT 1 FROM topics LIMIT 1").step())
        }
        self.hasApps = hasApps
        self.table = table
        files = ClusterKeyFiles(path: keyFile)
        do throws(ClusterKeyError) {
            if rows.sealed.isEmpty {
                // A machine with a key belongs to a cluster, so an empty database is another one.
                guard !files.exists else { throw ClusterKeyError(withoutCluster: keyFile) }
                key = try ClusterKey.make(file: keyFile)
                secrets = [:]
            } else {
                (key, secrets) = try files.open(rows)
                // If the file cannot be written, the node accepts the file of the next key.
                try? files.use(key)
            }
        } catch {
            throw .key(error)
        }
    }

    private static func postgres<Value>(_ body: () throws(SQLError) -> Value) throws(SharedSecretsError) -> Value {
        do throws(SQLError) { return try body() } catch { throw .postgres(.unreachable(error)) }
    }

    /// Returns a secret; nil if the cluster does not have it yet.
    package func read(_ name: String) -> [UInt8]? { secrets[name] }

    /// The keys of device tokens in the format of `token.keys`, with the one that is not used yet; empty without any.
    package var tokenKeys: [UInt8] { SecretKeeper.tokenKeys(in: secrets) }

    /// Adds a secret that the cluster does not have.
    package func add(_ secret: [UInt8], _ name: String) throws(SharedSecretsError) {
        try Self.postgres { () throws(SQLError) in try table.set(secret, name, sealedBy: key) }
        secrets[name] = secret
    }

    /// Makes the authority of links, unless the cluster has one.
    package func makeAuthority() throws(SharedSecretsError) {
        guard ClusterAuthority(secrets: secrets) == nil else { return }
        let made: ClusterAuthority
        do throws(TLSError) {
            made = try ClusterAuthority.make()
        } catch {
            throw .authority("The authority of links cannot be made: \(error).")
        }
        for (name, secret) in made.secrets { try add(secret, name) }
    }

    /// Returns the keeper of the secrets in a running node.
    package func makeKeeper(_ log: EventLog) -> SecretKeeper { SecretKeeper(files, key, secrets, log) }
}

/// The reason why the secrets of a cluster cannot be used.
package enum SharedSecretsError: Error, Sendable {
    case postgres(PostgresStoreError)
    case key(ClusterKeyError)
    /// The authority of links cannot be made.
    case authority(String)
}

extension SharedSecretsError: CustomStringConvertible {
    /// The problem, and the action that it requires.
    package var description: String {
        switch self {
        case .postgres(let error): error.description
        case .key(let error): error.description
        case .authority(let text): text
        }
    }
}
