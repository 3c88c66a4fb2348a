// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// The quota limits of teams, keys and apps, and the usage of each on the last day on which it sent.
///
/// A NULL limit means that the configuration's limit applies.
final class QuotaTable {
    private let selectLimits: Statement
    private let selectUses: Statement
    private let upsertLimits: Statement
    private let deleteLimits: Statement
    private let upsertUse: Statement

    init(_ connection: Connection) throws(SQLError) {
        selectLimits = try connection.prepare("SELECT kind, name, rate, burst, daily, bad_tokens FROM quotas")
        selectUses = try connection.prepare("SELECT kind, name, day, used FROM quota_uses")
        upsertLimits = try connection.prepare("INSERT OR REPLACE INTO quotas VALUES (?, ?, ?, ?, ?, ?)")
        deleteLimits = try connection.prepare("DELETE FROM quotas WHERE kind = ? AND name = ?")
        upsertUse = try connection.prepare("INSERT OR REPLACE INTO quota_uses VALUES (?, ?, ?, ?)")
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
            uses.append(QuotaUse(subject, day: selectUses.int64(2), count: selectUses.int64(3)))
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
        try upsertUse.run()
    }
}
