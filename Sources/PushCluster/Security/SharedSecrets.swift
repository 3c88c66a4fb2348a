// SPDX-License-Identifier: Apache-2.0

package import PushPostgres
internal import PushSQL
internal import PushStore
internal import PushTLS

/// The secrets that all nodes of a cluster share, in the table `secrets`, sealed with the key of the cluster.
///
/// While a value exists, other nodes wait to open theirs, so that only the first node creates secrets.
package final class SharedSecrets {
    /// The key of the advisory lock: `Secret` in ASCII.
    private static let lockKey: Int64 = 0x53_6563_7265_74

    private let connection: PostgresConnection
    private let seals: SealedSecrets

    /// Connects, creates the tables if they do not exist, and reads or creates the key of the cluster.
    ///
    /// - Parameters:
    ///   - address: The servers of PostgreSQL.
    ///   - schema: The schema of the tables.
    ///   - keyFile: The file with the key, which is created if the cluster has no secrets yet.
    /// - Throws: The problem, and what to do about it.
    package init(_ address: PostgresAddress, schema: String, keyFile: String) throws(SharedSecretsError) {
        let opened = try Self.postgres { () throws(SQLError) in
            try PostgresConnection(
                to: address, settings: PostgresSettings(applicationName: "posthornd", schema: schema))
        }
        connection = opened
        do throws(StoreError) {
            try PostgresSchema.open(opened, at: "\(address)") { body throws(SQLError) in
                try opened.transaction { () throws(SQLError) in try body() }
            }
        } catch {
            throw .postgres(.schema(error))
        }
        let isEmpty = try Self.postgres { () throws(SQLError) in try Self.lock(opened) }
        let key: ClusterKey
        do throws(ClusterKeyError) {
            let isMissing = isEmpty && !ClusterKey.exists(keyFile)
            key = isMissing ? try ClusterKey.make(file: keyFile) : try ClusterKey(file: keyFile)
        } catch {
            throw .key(error)
        }
        do throws(TLSError) {
            seals = try SealedSecrets(key)
        } catch {
            throw .sealed("The key of the cluster cannot be used: \(error).")
        }
    }

    private static func postgres<Value>(_ body: () throws(SQLError) -> Value) throws(SharedSecretsError) -> Value {
        do throws(SQLError) { return try body() } catch { throw .postgres(.unreachable(error)) }
    }

    /// Waits for other nodes; returns whether the cluster has no secrets.
    private static func lock(_ connection: PostgresConnection) throws(SQLError) -> Bool {
        let lock = try connection.prepare("SELECT pg_advisory_lock(?)")
        lock.bind(lockKey, at: 1)
        try lock.run()
        let count = try connection.prepare("SELECT count(*) FROM secrets")
        defer { count.reset() }
        return try !count.step() || count.int64(0) == 0
    }

    /// Returns a secret; nil if the cluster does not have it yet.
    package func read(_ name: String) throws(SharedSecretsError) -> [UInt8]? {
        let sealed = try Self.postgres { () throws(SQLError) -> [UInt8]? in
            let statement = try connection.prepare("SELECT sealed FROM secrets WHERE name = ?")
            statement.bind(name, at: 1)
            defer { statement.reset() }
            return try statement.step() ? statement.bytes(0) : nil
        }
        guard let sealed else { return nil }
        guard let secret = seals.open(sealed, name: name) else {
            throw .sealed(
                "The cluster's key does not open the secret '\(name)'.\n"
                    + "Copy cluster.key from another node of the cluster.")
        }
        return secret
    }

    /// Adds a secret that the cluster does not have.
    package func add(_ secret: [UInt8], _ name: String) throws(SharedSecretsError) {
        let sealed: [UInt8]
        do throws(TLSError) {
            sealed = try seals.seal(secret, name: name)
        } catch {
            throw .sealed("The secret '\(name)' cannot be sealed: \(error).")
        }
        try Self.postgres { () throws(SQLError) in
            let statement = try connection.prepare("INSERT INTO secrets(name, sealed) VALUES (?, ?)")
            statement.bind(name, at: 1)
            statement.bind(sealed, at: 2)
            try statement.run()
        }
    }

    /// Reads the authority of links, or makes it.
    package func authority() throws(SharedSecretsError) -> ClusterAuthority {
        if let certificate = try read("links.pem"), let key = try read("links.key") {
            return ClusterAuthority(certificate: certificate, privateKey: key)
        }
        let made: ClusterAuthority
        do throws(TLSError) {
            made = try ClusterAuthority.make()
        } catch {
            throw .sealed("The authority of links cannot be made: \(error).")
        }
        try add(made.certificate, "links.pem")
        try add(made.privateKey, "links.key")
        return made
    }
}

/// The reason why the secrets of a cluster cannot be used.
package enum SharedSecretsError: Error, Sendable {
    case postgres(PostgresStoreError)
    case key(ClusterKeyError)
    /// A secret cannot be opened or sealed.
    case sealed(String)
}

extension SharedSecretsError: CustomStringConvertible {
    /// The problem, and the action that it requires.
    package var description: String {
        switch self {
        case .postgres(let error): error.description
        case .key(let error): error.description
        case .sealed(let text): text
        }
    }
}
