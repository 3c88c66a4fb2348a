// SPDX-License-Identifier: Apache-2.0

package import PushNet
internal import PushPostgres
internal import PushSQL

/// The secrets of a cluster in a running node, which reads them again when they change.
///
/// ```
/// heartbeat: another version ──▶ worker: review ─▶ use them ─▶ confirm in `nodes`
///                                                   └─▶ all nodes confirmed the next token key? ─▶ use it for new tokens
/// ```
/// Only the first worker reads and changes secrets. Other threads use the results.
package final class SecretKeeper: Sendable {
    /// The receivers of changes, which the worker calls.
    package struct Handlers: Sendable {
        /// The keys of device tokens in the format of `token.keys`: the first one seals, and all of them open.
        package var tokenKeys: @Sendable ([UInt8]) -> Void
        package var authority: @Sendable (ClusterAuthority) -> Void

        package init(
            tokenKeys: @escaping @Sendable ([UInt8]) -> Void,
            authority: @escaping @Sendable (ClusterAuthority) -> Void
        ) {
            self.tokenKeys = tokenKeys
            self.authority = authority
        }
    }

    /// The use of the secrets.
    private struct State {
        var key: ClusterKey
        var secrets: [String: [UInt8]]
        /// The version at which the rotation of the cluster's key began; 0 without one.
        var rotation: Int64 = 0
        /// The reason why the secrets could not be read the last time; nil after a success.
        var problem: String?
        /// The last problem with the file of the next key.
        var nextProblem: String?
        var handlers: Handlers?
    }

    /// The age of the secrets in use.
    private struct Freshness {
        /// The version of the control data at the last review.
        var controlVersion: Int64 = -1
        var isReviewing = false
        var leaseEnd = MonotonicTime.past
        /// The number of times that the node had no lease.
        var lapseCount = 1
        /// The value of `lapseCount` at the start of the last review.
        var reviewedLapse = 0
    }

    let files: ClusterKeyFiles
    private let log: EventLog
    private let state: Lock<State>
    private let freshness = Lock(Freshness())

    init(_ files: ClusterKeyFiles, _ key: ClusterKey, _ secrets: [String: [UInt8]], _ log: EventLog) {
        self.files = files
        self.log = log
        state = Lock(State(key: key, secrets: secrets))
    }

    /// Sets the receivers of changes; call it before the store starts.
    package func observe(_ handlers: Handlers) { state.withLock { $0.handlers = handlers } }

    /// The authority that issues the certificates of nodes.
    package var authority: ClusterAuthority? { state.withLock { ClusterAuthority(secrets: $0.secrets) } }

    /// The key of the cluster that opens the secrets.
    var key: ClusterKey { state.withLock { $0.key } }

    /// The reason why the secrets could not be read the last time; nil after a success.
    var problem: String? { state.withLock { $0.problem } }

    /// The keys of device tokens in the format of `token.keys`: the first one seals, and all of them open.
    var tokenKeys: [UInt8] { Self.tokenKeys(in: state.withLock { $0.secrets }) }

    // MARK: When to read

    /// Whether every device token of the cluster can be opened at this time.
    ///
    /// The cluster uses a new key of device tokens when each node with a lease can open its tokens. A node that had no
    /// lease must read the keys again before it may call a token invalid.
    package func isCurrent(at moment: MonotonicTime) -> Bool {
        freshness.withLock { $0.reviewedLapse == $0.lapseCount && moment < $0.leaseEnd }
    }

    /// Notes a heartbeat, on the thread of the store.
    ///
    /// - Parameters:
    ///   - leaseMilliseconds: The rest of the lease.
    ///   - controlVersion: The version of the control data in PostgreSQL.
    ///   - moment: The current time.
    /// - Returns: Whether the caller must let a worker review the secrets.
    func noteHeartbeat(leaseMilliseconds: Int64, controlVersion: Int64, at moment: MonotonicTime) -> Bool {
        let isRotating = state.withLock { $0.rotation != 0 || $0.secrets[SealedRows.Name.nextTokenKey] != nil }
        return freshness.withLock { freshness in
            if moment >= freshness.leaseEnd { freshness.lapseCount += 1 }
            freshness.leaseEnd = moment.advanced(byMilliseconds: leaseMilliseconds)
            let isDue =
                isRotating || freshness.controlVersion != controlVersion
                || freshness.reviewedLapse != freshness.lapseCount
            guard isDue, !freshness.isReviewing else { return false }
            freshness.isReviewing = true
            return true
        }
    }

    /// Notes that a review has ended, or cannot begin.
    func endReview() { freshness.withLock { $0.isReviewing = false } }

    // MARK: Reading

    /// Reads the secrets and uses them, on the first worker.
    ///
    /// - Parameters:
    ///   - connection: The connection of the worker.
    ///   - instance: The instance of this node, which confirms what it has read.
    /// - Returns: Whether the authority of links is another one than before.
    /// - Throws: The error of PostgreSQL.
    func review(on connection: PostgresConnection, as instance: InstanceID) throws(SQLError) -> Bool {
        defer { endReview() }
        let lapse = freshness.withLock { $0.lapseCount }
        let table = SecretTable(connection: connection)
        let rows = try table.read()
        guard let hasNewAuthority = use(rows) else { return false }
        try table.confirm(instance, version: rows.version, rotation: hasNextKey(rows) ? rows.rotation : 0)
        freshness.withLock { freshness in
            freshness.controlVersion = rows.controlVersion
            freshness.reviewedLapse = lapse
        }
        if rows.sealed[SealedRows.Name.nextTokenKey] != nil { try useNextTokenKey(table) }
        return hasNewAuthority
    }

    /// Uses the secrets of rows; returns whether the authority changed, and nil if no key opens them.
    private func use(_ rows: SealedRows) -> Bool? {
        let former = state.withLock { $0 }
        guard let (key, secrets) = open(rows, former.key) else { return nil }
        state.withLock { state in
            (state.key, state.secrets, state.rotation, state.problem) = (key, secrets, rows.rotation, nil)
        }
        let isSameKey = key.bytes == former.key.bytes
        if !isSameKey { store(key) }
        // Without another key, the rotation was canceled.
        if isSameKey, former.rotation != 0, rows.rotation == 0 { files.forgetNext() }
        if Self.tokenKeys(in: secrets) != Self.tokenKeys(in: former.secrets) {
            former.handlers?.tokenKeys(Self.tokenKeys(in: secrets))
            log.info("token_keys_read", ["version": "\(rows.version)"])
        }
        let authority = ClusterAuthority(secrets: secrets)
        guard let authority, authority.certificate != ClusterAuthority(secrets: former.secrets)?.certificate else {
            return false
        }
        former.handlers?.authority(authority)
        log.info("cluster_authority_read", ["version": "\(rows.version)"])
        return true
    }

    private func open(_ rows: SealedRows, _ key: ClusterKey) -> (ClusterKey, [String: [UInt8]])? {
        if let secrets = rows.opened(by: key) { return (key, secrets) }
        do throws(ClusterKeyError) {
            return try files.open(rows)
        } catch {
            let problem = error.line
            if isNew(problem, \.problem) { log.error("cluster_secrets_not_read", ["error": problem]) }
            return nil
        }
    }

    /// Records a problem, and returns whether it differs from the last one.
    private func isNew(_ problem: String?, _ place: WritableKeyPath<State, String?>) -> Bool {
        state.withLock { state in
            defer { state[keyPath: place] = problem }
            return state[keyPath: place] != problem
        }
    }

    /// Returns whether this node has the next key of a rotation.
    private func hasNextKey(_ rows: SealedRows) -> Bool {
        guard rows.rotation != 0, files.nextExists else { return false }
        var problem = "\(files.nextPath) does not contain the new key of the cluster. Copy it again."
        do throws(ClusterKeyError) {
            if let next = try files.next(), rows.isNext(next) { return true }
        } catch {
            problem = error.line
        }
        if isNew(problem, \.nextProblem) { log.warning("cluster_key_not_accepted", ["error": problem]) }
        return false
    }

    /// Makes the file of the key in use contain another key.
    private func store(_ key: ClusterKey) {
        do throws(ClusterKeyError) {
            try files.use(key)
            log.info("cluster_key_replaced", ["file": files.path])
        } catch {
            log.warning(
                "cluster_key_not_stored",
                ["error": error.line, "remedy": "run mv \(files.nextPath) \(files.path)"])
        }
    }

    // MARK: Keys of device tokens

    /// Returns all keys of device tokens in the format of `token.keys`; empty without any.
    static func tokenKeys(in secrets: [String: [UInt8]]) -> [UInt8] {
        lines(secrets[SealedRows.Name.tokenKeys] ?? [], secrets[SealedRows.Name.nextTokenKey] ?? [])
    }

    /// Uses the next key for new tokens if all nodes that may have a lease can open its tokens.
    private func useNextTokenKey(_ table: SecretTable) throws(SQLError) {
        try table.connection.transaction(isolation: .readCommitted) { () throws(SQLError) in
            try table.lockForTransaction()
            let rows = try table.read()
            guard let secrets = rows.opened(by: key), let next = secrets[SealedRows.Name.nextTokenKey],
                let keys = secrets[SealedRows.Name.tokenKeys],
                try table.readers().allSatisfy({ !$0.isLive || $0.version >= rows.version })
            else { return }
            try table.set(Self.lines(next, keys), SealedRows.Name.tokenKeys, sealedBy: key)
            try table.remove(SealedRows.Name.nextTokenKey)
            _ = try table.raiseVersion()
        }
    }

    /// Appends a file of lines to another one.
    static func lines(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        return first.isEmpty || first.last == newline ? first + second : first + [newline] + second
    }
}

extension ClusterAuthority {
    /// Takes the authority from the secrets of a cluster; nil without one.
    init?(secrets: [String: [UInt8]]) {
        guard let certificate = secrets[SealedRows.Name.authorityCertificate],
            let privateKey = secrets[SealedRows.Name.authorityKey]
        else { return nil }
        self.init(certificate: certificate, privateKey: privateKey)
    }

    /// The authority as secrets of a cluster.
    var secrets: [String: [UInt8]] {
        [SealedRows.Name.authorityCertificate: certificate, SealedRows.Name.authorityKey: privateKey]
    }
}
