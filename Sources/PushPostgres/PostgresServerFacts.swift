// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// The properties of a PostgreSQL server on which the safety of its data depends.
package struct PostgresServerFacts: Sendable, Equatable {
    /// The version as a number, for example 150018 for 15.18.
    package var version: Int
    /// Whether the server waits until its log is on the disk.
    package var usesFsync: Bool
    /// Whether the server can repair pages that a power loss leaves half written.
    package var writesFullPages: Bool
    /// The value of `synchronous_commit` for connections that do not set it.
    package var synchronousCommit: String
    /// The value of `synchronous_standby_names`; empty for no synchronous standby.
    package var synchronousStandbyNames: String
    /// The number of connected synchronous standbys; nil if the role may not see it.
    package var synchronousStandbyCount: Int?
    /// The number of other standbys that stream, which can become synchronous; nil if the role may not see it.
    package var asynchronousStandbyCount: Int?
    /// The role of the connection.
    package var role: String
    /// The host or socket directory of the connection, and the port.
    package var server: String
    /// Whether TLS protects the connection.
    package var usesTLS: Bool
    /// Whether the server is on this machine.
    package var isLocal: Bool
    /// Whether the server is a standby.
    package var isInRecovery: Bool

    package init(
        version: Int, usesFsync: Bool, writesFullPages: Bool, synchronousCommit: String,
        synchronousStandbyNames: String, synchronousStandbyCount: Int?, asynchronousStandbyCount: Int?, role: String,
        server: String, usesTLS: Bool, isLocal: Bool, isInRecovery: Bool
    ) {
        self.version = version
        self.usesFsync = usesFsync
        self.writesFullPages = writesFullPages
        self.synchronousCommit = synchronousCommit
        self.synchronousStandbyNames = synchronousStandbyNames
        self.synchronousStandbyCount = synchronousStandbyCount
        self.asynchronousStandbyCount = asynchronousStandbyCount
        self.role = role
        self.server = server
        self.usesTLS = usesTLS
        self.isLocal = isLocal
        self.isInRecovery = isInRecovery
    }

    /// The problems of the server, the fatal ones first.
    package var findings: [PostgresFinding] {
        var findings: [PostgresFinding] = []
        if version < PostgresFinding.versionMin { findings.append(.oldVersion(version)) }
        if isInRecovery { findings.append(.standby) }
        if !usesFsync { findings.append(.noFsync) }
        if !writesFullPages { findings.append(.noFullPageWrites) }
        if synchronousStandbyNames.allSatisfy(\.isWhitespace) {
            findings.append(.noSynchronousStandby)
        } else if synchronousStandbyCount == 0 {
            findings.append(.noConnectedStandby)
        } else if synchronousStandbyCount == nil {
            findings.append(.hiddenStandbys(role: role))
        }
        if !["on", "remote_apply"].contains(synchronousCommit) {
            findings.append(.weakCommit(synchronousCommit))
        }
        if !usesTLS && !isLocal { findings.append(.noTLS) }
        return findings
    }
}

/// A problem of a PostgreSQL server.
package enum PostgresFinding: Sendable, Equatable {
    /// The oldest version that is supported.
    package static let versionMin = 150_000

    case oldVersion(Int)
    case standby
    case noFsync
    case noFullPageWrites
    case noSynchronousStandby
    case noConnectedStandby
    /// The role may not see the standbys.
    case hiddenStandbys(role: String)
    case weakCommit(String)
    case noTLS

    /// Whether the server must not be used.
    package var isFatal: Bool {
        switch self {
        case .oldVersion, .standby, .noFsync, .noFullPageWrites: true
        case .noSynchronousStandby, .noConnectedStandby, .hiddenStandbys, .weakCommit, .noTLS: false
        }
    }

    /// A word for log lines, metrics and scripts, which never changes.
    package var code: String {
        switch self {
        case .oldVersion: "old-version"
        case .standby: "standby"
        case .noFsync: "no-fsync"
        case .noFullPageWrites: "no-full-page-writes"
        case .noSynchronousStandby: "no-synchronous-standby"
        case .noConnectedStandby: "no-connected-standby"
        case .hiddenStandbys: "hidden-standbys"
        case .weakCommit: "weak-commit"
        case .noTLS: "no-tls"
        }
    }
}

extension PostgresFinding: CustomStringConvertible {
    /// The problem and the action that it requires.
    package var description: String {
        switch self {
        case .oldVersion(let version):
            "PostgreSQL has the version \(version / 10_000).\(version % 10_000), but at least 15 is required. "
                + "Upgrade PostgreSQL."
        case .standby:
            "The PostgreSQL server is a standby, which accepts no writes. Write the addresses of all servers."
        case .noFsync:
            "PostgreSQL has fsync off, so a power loss destroys accepted data. Set fsync = on and restart PostgreSQL."
        case .noFullPageWrites:
            "PostgreSQL has full_page_writes off, so a power loss can destroy accepted data. Set full_page_writes = on."
        case .noSynchronousStandby:
            "PostgreSQL has no synchronous standby, so the loss of its machine loses accepted data. "
                + "Add two standbys and set synchronous_standby_names = 'ANY 1 (…)'."
        case .noConnectedStandby:
            "No synchronous standby of PostgreSQL is connected, so no commit ends. Start a standby."
        case .hiddenStandbys(let role):
            "The role may not read the state of the standbys. Run GRANT pg_read_all_stats TO \(role)."
        case .weakCommit(let value):
            "PostgreSQL has synchronous_commit = \(value), so other programs can lose their commits. "
                + "Set synchronous_commit = on."
        case .noTLS:
            "The connection to PostgreSQL is not encrypted. Set up TLS and write sslmode=verify-full into the address."
        }
    }
}

extension PostgresConnection {
    /// Reads the properties of the server.
    ///
    /// - Returns: The properties as of now.
    /// - Throws: The error that the server returned.
    package func serverFacts() throws(SQLError) -> PostgresServerFacts {
        // The session sets synchronous_commit, so the server's own value is that after a RESET. A role without the right
        // to see other sessions reads NULL as their state. A base backup and pg_receivewal also stream, but replay
        // nothing; a receiver of logical changes replays, but is no copy of the server.
        let statement = try prepare(
            """
            SELECT current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
              (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
              current_setting('synchronous_standby_names'), pg_is_in_recovery(),
              CASE WHEN is_visible THEN synchronous_count END, CASE WHEN is_visible THEN asynchronous_count END,
              quote_ident(current_user)
            FROM (
              SELECT count(*) = count(sync_state) AS is_visible,
                count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS synchronous_count,
                count(*) FILTER (
                  WHERE sync_state IN ('async', 'potential') AND state = 'streaming' AND replay_lsn IS NOT NULL
                    AND pid NOT IN (
                      SELECT active_pid FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)
                ) AS asynchronous_count
              FROM pg_stat_replication) AS standbys
            """)
        guard try statement.step() else { preconditionFailure("a count has one row") }
        defer { statement.reset() }
        return PostgresServerFacts(
            version: handle.serverVersion, usesFsync: statement.int64(0) == 1, writesFullPages: statement.int64(1) == 1,
            synchronousCommit: statement.string(2), synchronousStandbyNames: statement.string(3),
            synchronousStandbyCount: statement.optionalInt64(5).map(Int.init),
            asynchronousStandbyCount: statement.optionalInt64(6).map(Int.init), role: statement.string(7),
            server: handle.server, usesTLS: handle.usesTLS, isLocal: handle.isLocal,
            isInRecovery: statement.int64(4) == 1)
    }

    /// Reads the age of the oldest transaction of any program, which keeps PostgreSQL from removing deleted rows.
    ///
    /// - Returns: The age in seconds; nil without such a transaction, or if the role may not see any.
    /// - Throws: The error that the server returned.
    package func oldestTransactionSeconds() throws(SQLError) -> Int64? {
        let statement = try prepare(
            """
            SELECT extract(epoch FROM clock_timestamp() - min(since))::bigint FROM (
                SELECT xact_start AS since FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
                UNION ALL SELECT prepared FROM pg_prepared_xacts) AS transactions
            """)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInt64(0) : nil
    }
}
