// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The quota limits of teams, keys and apps, and the usage of each on the last day on which it sent.
///
/// A NULL limit means that the configuration's limit applies. In PostgreSQL, each node has usage rows of its own.
final class QuotaTable {
    private let node: Int64?
    private let selectLimits: any SQLStatement
    private let selectUses: any SQLStatement
    private let upsertLimits: any SQLStatement
    private let deleteLimits: any SQLStatement
    private let upsertUse: any SQLStatement

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - node: The number of this node, for PostgreSQL only.
    /// - Throws: The error that the engine returned.
    init(_ connection: any SQLDatabase, node: Int64?) throws(SQLError) {
        self.node = node
        selectLimits = try connection.prepare("SELECT kind, name, rate, burst, daily, bad_tokens FROM quotas")
        selectUses = try connection.prepare(
            "SELECT kind, name, day, used, NULL FROM quota_uses",
            postgres: "SELECT kind, name, day, used, node FROM quota_uses")
        upsertLimits = try connection.prepare(
            """
            INSERT INTO quotas VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, name) DO UPDATE SET rate = excluded.rate,
                burst = excluded.burst, daily = excluded.daily, bad_tokens = excluded.bad_tokens
            """)
        deleteLimits = try connection.prepare("DELETE FROM quotas WHERE kind = ? AND name = ?")
        upsertUse = try connection.prepare(
            """
            INSERT INTO quota_uses(kind, name, day, used) VALUES (?, ?, ?, ?)
            ON CONFLICT (kind, name) DO UPDATE SET day = excluded.day, used = excluded.used
            """,
            postgres: """
                INSERT INTO quota_uses(kind, name, day, used, node) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (kind, name, node) DO UPDATE SET day = excluded.day, used = excluded.used
                """)
    }

    /// Returns the limits that administrators set.
    func limits() throws(SQLError) -> [QuotaSubject: QuotaLimits] {
        var limits: [QuotaSubject: QuotaLimits] = [:]
        while try selectLimits.step() {
            guard let kind = QuotaSubject.Kind(rawValue: selectLimits.string(0)) else { continue }
            limits[QuotaSubject(kind, selectLimits.string(1))] = QuotaLimits(
                rate: selectLimits.optionalInt64(2), burst: selectLimits.optionalInt64(3),
                daily: selectLimits.optionalInt64(4), badTokens: selectLimits.optionalInt64(5))
        }
        return limits
    }

    /// Returns the recorded usage.
    func uses() throws(SQLError) -> [QuotaUse] {
        var uses: [QuotaUse] = []
        while try selectUses.step() {
            guard let kind = QuotaSubject.Kind(rawValue: selectUses.string(0)) else { continue }
            let subject = QuotaSubject(kind, selectUses.string(1))
            let other = selectUses.optionalInt64(4).flatMap { $0 == node ? nil : $0 }
            uses.append(QuotaUse(subject, day: selectUses.int64(2), count: selectUses.int64(3), node: other))
        }
        return uses
    }

    func set(_ subject: QuotaSubject, _ limits: QuotaLimits) throws(SQLError) {
        upsertLimits.bind(subject.kind.rawValue, at: 1)
        upsertLimits.bind(subject.name, at: 2)
        upsertLimits.bind(limits.rate, at: 3)
        upsertLimits.bind(limits.burst, at: 4)
        upsertLimits.bind(limits.daily, at: 5)
        upsertLimits.bind(limits.badTokens, at: 6)
        try upsertLimits.run()
    }

    func clear(_ subject: QuotaSubject) throws(SQLError) {
        deleteLimits.bind(subject.kind.rawValue, at: 1)
        deleteLimits.bind(subject.name, at: 2)
        try deleteLimits.run()
    }

    func note(_ use: QuotaUse) throws(SQLError) {
        upsertUse.bind(use.subject.kind.rawValue, at: 1)
        upsertUse.bind(use.subject.name, at: 2)
        upsertUse.bind(use.day, at: 3)
        upsertUse.bind(use.count, at: 4)
        if let node { upsertUse.bind(node, at: 5) }
        try upsertUse.run()
    }
}
