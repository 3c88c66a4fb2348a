// SPDX-License-Identifier: Apache-2.0

/// The settings of a connection to PostgreSQL that are not part of its address.
package struct PostgresSettings: Sendable {
    /// The servers that a connection accepts.
    package enum Target: Sendable {
        /// A server that accepts writes.
        case primary
        /// Any server, which may be a standby.
        case any
    }

    /// The name of the program in `pg_stat_activity`.
    package var applicationName: String
    /// The schema of the tables, which need not exist yet.
    package var schema: String
    /// The servers that the connection accepts.
    package var target = Target.primary
    /// The timeout of the connection to each host in seconds, at least 2.
    package var connectTimeoutSeconds = 2
    /// The time after which the server ends a statement, and a transaction that waits for its next statement.
    package var statementTimeout = Duration.seconds(5)
    /// The time after which a connection without an answer to a statement counts as lost; a pipeline waits without limit.
    ///
    /// A commit waits without a limit when no standby answers, so the statement timeout does not end it.
    package var answerTimeout = Duration.seconds(15)
    /// Whether all statements find rows by keys, so that the server excludes plans that scan tables.
    package var findsRowsByKey = false
    /// The file with passwords; nil for `~/.pgpass`.
    package var passwordFile: String?
    /// The time without traffic after which the kernel checks the connection, in seconds.
    package var keepaliveIdleSeconds = 5
    /// The time between two checks in seconds.
    package var keepaliveIntervalSeconds = 2
    /// The number of unanswered checks after which the connection is lost.
    package var keepaliveCount = 3
    /// The time for which sent bytes may stay unacknowledged in milliseconds.
    package var unacknowledgedMillisecondsMax = 10_000

    /// Creates settings with the default times.
    package init(applicationName: String, schema: String) {
        self.applicationName = applicationName
        self.schema = schema
    }

    /// The parameters of libpq for these settings.
    var parameters: [PostgresAddress.Parameter] {
        var parameters: [PostgresAddress.Parameter] = [
            .init("application_name", applicationName),
            .init("client_encoding", "UTF8"),
            .init("connect_timeout", "\(max(2, connectTimeoutSeconds))"),
            .init("keepalives", "1"),
            .init("keepalives_idle", "\(keepaliveIdleSeconds)"),
            .init("keepalives_interval", "\(keepaliveIntervalSeconds)"),
            .init("keepalives_count", "\(keepaliveCount)"),
            .init("tcp_user_timeout", "\(unacknowledgedMillisecondsMax)"),
            .init("target_session_attrs", target == .primary ? "read-write" : "any"),
        ]
        if let passwordFile { parameters.append(.init("passfile", passwordFile)) }
        return parameters
    }

    /// Selects lz4 for the compression of large values, if the server supports it; only the trace has large values.
    ///
    /// The default method uses half of the primary's CPU time for notifications that are only traced.
    private var compression: String {
        """
        SELECT set_config(name, 'lz4', false) FROM pg_settings
        WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)
        """
    }

    /// The statements that prepare a session.
    var script: String {
        let milliseconds =
            statementTimeout.components.seconds * 1_000
            + statementTimeout.components.attoseconds / 1_000_000_000_000_000
        let schema = schema.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
        // Plans that scan tables are fast while a table is small, and the server keeps them while the table grows.
        let plans =
            findsRowsByKey ? "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;" : ""
        return """
            SET plan_cache_mode = force_generic_plan;
            SET jit = off;
            \(plans)
            \(compression);
            SET synchronous_commit = on;
            SET standard_conforming_strings = on;
            SET statement_timeout = \(milliseconds);
            SET idle_in_transaction_session_timeout = \(milliseconds);
            SET search_path = "\(schema)"
            """
    }
}
