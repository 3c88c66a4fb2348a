// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushPostgres
internal import PushSQL
internal import PushStore
internal import PushTLS

extension SecretKeeper {
    /// The size of the two 32-byte keys of AES-256-SIV.
    private static let tokenKeyByteCount = 64

    /// The reason for the refusal at a node that shares no keys.
    static let noSharedKeys =
        "This node shares no keys with others, because it has no address in [cluster]. Its keys are in its data directory."

    /// Describes the keys for an administrator, after a change of them if one is given.
    ///
    /// - Parameters:
    ///   - change: The change; nil for none.
    ///   - connection: The connection of the first worker.
    ///   - instance: The instance of this node.
    /// - Returns: The state of the keys, or the reason for the refusal; and whether the authority of links changed.
    /// - Throws: The error of PostgreSQL.
    func execute(
        _ change: KeyChange?, on connection: PostgresConnection, as instance: InstanceID
    ) throws(SQLError) -> (result: Result<ClusterAPI.Keys, StoreRefusal>, hasNewAuthority: Bool) {
        var hasNewAuthority = try review(on: connection, as: instance)
        if let problem { return (.failure(.keysUnchanged(problem)), hasNewAuthority) }
        let table = SecretTable(connection: connection)
        if let change {
            if let refusal = try perform(change, table) { return (.failure(.keysUnchanged(refusal)), hasNewAuthority) }
            hasNewAuthority = try review(on: connection, as: instance) || hasNewAuthority
        }
        return (.success(try description(table)), hasNewAuthority)
    }

    private func description(_ table: SecretTable) throws(SQLError) -> ClusterAPI.Keys {
        let rows = try table.read()
        let readers = try table.readers()
        let names = SealedRows.Name.self
        let keys = rows.opened(by: key)?[names.tokenKeys] ?? []
        let lacking = rows.rotation == 0 ? [] : readers.filter { $0.rotation != rows.rotation }
        return ClusterAPI.Keys(
            tokenKeyCount: keys.split(separator: UInt8(ascii: "\n")).count,
            isTokenKeyWaiting: rows.sealed[names.nextTokenKey] != nil, isClusterKeyWaiting: rows.rotation != 0,
            behind: readers.filter { $0.isLive && $0.version < rows.version }.map(\.name),
            withoutNextKey: lacking.map { .init(name: $0.name, isLive: $0.isLive) }, keyFile: files.path,
            nextKeyFile: files.nextPath)
    }

    /// Performs a change; returns the reason for a refusal.
    private func perform(_ change: KeyChange, _ table: SecretTable) throws(SQLError) -> String? {
        switch change {
        case .rotateTokenKey: return try rotateTokenKey(table)
        case .beginClusterKey: return try beginClusterKey(table)
        case .completeClusterKey: return try completeClusterKey(table)
        case .cancelClusterKey:
            return try changing(table) { rows, _ throws(SQLError) in
                guard rows.rotation != 0 else { return .refused(Self.noRotation) }
                try table.remove(SealedRows.Name.nextKeyCheck)
                try table.setRotation(0)
                return .changed
            }
        }
    }

    private static let noRotation =
        "No new key of the cluster was made. Begin with 'posthorn cluster rotate-cluster-key'."

    /// The result of a change in its transaction.
    private enum Outcome {
        case changed
        /// Everything is as it should be already.
        case unchanged
        /// Nothing was written, for a reason.
        case refused(String)
    }

    /// Runs a change in a transaction, and raises the version of the secrets after it.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - body: Receives the rows and the secrets.
    /// - Returns: The reason for the refusal.
    /// - Throws: The error of PostgreSQL.
    private func changing(
        _ table: SecretTable, _ body: (SealedRows, [String: [UInt8]]) throws(SQLError) -> Outcome
    ) throws(SQLError) -> String? {
        try table.connection.transaction(isolation: .readCommitted) { () throws(SQLError) -> String? in
            try table.lockForTransaction()
            let rows = try table.read()
            guard let secrets = rows.opened(by: key) else {
                return problem ?? "Another node has just replaced the key of the cluster. Try again."
            }
            switch try body(rows, secrets) {
            case .refused(let reason): return reason
            case .unchanged: return nil
            case .changed:
                _ = try table.raiseVersion()
                return nil
            }
        }
    }

    // MARK: Keys of device tokens

    private func rotateTokenKey(_ table: SecretTable) throws(SQLError) -> String? {
        var line: [UInt8] = []
        Hex.append(SecureRandom.bytes(count: Self.tokenKeyByteCount).span, to: &line)
        line.append(UInt8(ascii: "\n"))
        return try changing(table) { rows, secrets throws(SQLError) in
            // The key of an interrupted command is used.
            guard rows.sealed[SealedRows.Name.nextTokenKey] == nil else { return .unchanged }
            let keys = secrets[SealedRows.Name.tokenKeys] ?? []
            guard keys.split(separator: UInt8(ascii: "\n")).count < ClusterLimits.tokenKeyCountMax else {
                return .refused(
                    "The cluster has \(ClusterLimits.tokenKeyCountMax) keys of device tokens, which is the maximum, "
                        + "because a token stays valid as long as its key exists.")
            }
            try table.set(line, SealedRows.Name.nextTokenKey, sealedBy: key)
            return .changed
        }
    }

    // MARK: The key of the cluster

    private func beginClusterKey(_ table: SecretTable) throws(SQLError) -> String? {
        let rows = try table.read()
        if rows.rotation != 0, !files.nextExists { return missingNextKey }
        let next: ClusterKey
        do throws(ClusterKeyError) {
            if let known = try files.next() { next = known } else { next = try .make(file: files.nextPath) }
        } catch {
            guard !files.nextExists else { return error.line }
            return "\(error.line) Or make the file as the server's user: "
                + "(umask 077; openssl rand -hex 32 > \(files.nextPath)), and try again."
        }
        if rows.rotation != 0 { return rows.isNext(next) ? nil : otherNextKey }
        guard next.bytes != key.bytes else {
            return "\(files.nextPath) contains the key in use. Remove the file, and try again."
        }
        return try announce(next, table)
    }

    /// Stores a text that only the next key opens, so that each node can check its file.
    private func announce(_ next: ClusterKey, _ table: SecretTable) throws(SQLError) -> String? {
        try changing(table) { rows, _ throws(SQLError) in
            guard rows.rotation == 0 else { return .refused(otherNextKey) }
            try table.set(Array("next".utf8), SealedRows.Name.nextKeyCheck, sealedBy: next)
            try table.setRotation(rows.version + 1)
            return .changed
        }
    }

    private var missingNextKey: String {
        "A new key of the cluster was made at another node. Copy its cluster.key.next to \(files.nextPath), "
            + "or cancel with 'posthorn cluster rotate-cluster-key --cancel'."
    }

    private var otherNextKey: String {
        "\(files.nextPath) does not contain the new key of the cluster. Copy the file from the node where the key was "
            + "made, or cancel with 'posthorn cluster rotate-cluster-key --cancel'."
    }

    private func completeClusterKey(_ table: SecretTable) throws(SQLError) -> String? {
        let next: ClusterKey?
        do throws(ClusterKeyError) { next = try files.next() } catch { return error.line }
        // A machine with the earlier key may know the authority of links, too.
        let authority: ClusterAuthority
        do throws(TLSError) { authority = try ClusterAuthority.make() } catch { return Self.noAuthority(error) }
        return try changing(table) { rows, secrets throws(SQLError) in
            guard rows.rotation != 0 else { return .refused(Self.noRotation) }
            guard let next else { return .refused(missingNextKey) }
            guard rows.isNext(next) else { return .refused(otherNextKey) }
            let lacking = try table.readers().filter { $0.isLive && $0.rotation != rows.rotation }.map(\.name)
            guard lacking.isEmpty else {
                return .refused(
                    "These nodes do not have the new key: \(lacking.joined(separator: ", ")). "
                        + "Copy \(files.nextPath) to the same place on each of them.")
            }
            let fresh = secrets.merging(authority.secrets) { $1 }
            for (name, secret) in fresh { try table.set(secret, name, sealedBy: next) }
            try table.remove(SealedRows.Name.nextKeyCheck)
            try table.setRotation(0)
            return .changed
        }
    }

    // MARK: The authority of links

    private static func noAuthority(_ error: TLSError) -> String { "Cannot make a new authority of links: \(error)." }

    /// Removes a node, and replaces the authority of links in the same transaction.
    ///
    /// - Parameters:
    ///   - connection: The connection of the first worker.
    ///   - delete: Deletes the row of the node, and returns the reason for a refusal.
    /// - Returns: The reason for the refusal.
    /// - Throws: The error of PostgreSQL.
    func replaceAuthority(
        on connection: PostgresConnection, removing delete: () throws(SQLError) -> StoreRefusal?
    ) throws(SQLError) -> StoreRefusal? {
        let made: ClusterAuthority
        do throws(TLSError) { made = try ClusterAuthority.make() } catch {
            return .keysUnchanged(Self.noAuthority(error))
        }
        let table = SecretTable(connection: connection)
        var refusal: StoreRefusal?
        let problem = try changing(table) { _, _ throws(SQLError) in
            refusal = try delete()
            guard refusal == nil else { return .unchanged }
            for (name, secret) in made.secrets { try table.set(secret, name, sealedBy: key) }
            return .changed
        }
        return refusal ?? problem.map { .keysUnchanged($0) }
    }
}
