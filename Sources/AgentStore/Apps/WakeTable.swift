// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The tables of background wakes: the newest waiting one of each app, and the times of the last starts.
package final class WakeTable {
    private let upsertDue: Statement
    private let deleteDue: Statement
    private let selectDue: Statement
    private let insertStart: Statement
    private let deleteStarts: Statement
    private let deleteLastStart: Statement
    private let clampStarts: Statement
    private let selectStarts: Statement

    init(_ connection: Connection) throws(SQLError) {
        upsertDue = try connection.prepare("INSERT OR REPLACE INTO wakes (app_id, entry) VALUES (?, ?)")
        deleteDue = try connection.prepare("DELETE FROM wakes WHERE app_id = ? AND entry <= ?")
        selectDue = try connection.prepare("SELECT app_id, entry FROM wakes ORDER BY entry")
        insertStart = try connection.prepare("INSERT INTO wake_starts (app_id, started_ms) VALUES (?, ?)")
        deleteStarts = try connection.prepare("DELETE FROM wake_starts WHERE started_ms <= ?")
        deleteLastStart = try connection.prepare(
            "DELETE FROM wake_starts WHERE position = (SELECT max(position) FROM wake_starts WHERE app_id = ?)")
        clampStarts = try connection.prepare("UPDATE wake_starts SET started_ms = ?1 WHERE started_ms > ?1")
        selectStarts = try connection.prepare("SELECT app_id, started_ms FROM wake_starts ORDER BY position")
    }

    /// Stores the notification that wakes an app, in place of an older one.
    package func setDue(_ wake: BackgroundWake) throws(SQLError) {
        upsertDue.bind(wake.appID.text, at: 1)
        upsertDue.bind(wake.entry.rawValue, at: 2)
        try upsertDue.run()
    }

    /// Returns the waiting wakes, oldest first.
    package func due() throws(SQLError) -> [BackgroundWake] {
        defer { selectDue.reset() }
        var wakes: [BackgroundWake] = []
        while try selectDue.step() {
            let entry = EntryID(rawValue: selectDue.int64(1))
            wakes.append(.init(appID: AppID(selectDue.string(0)), entry: entry))
        }
        return wakes
    }

    /// Moves a wake from the waiting ones to the starts, and deletes starts that are too old to count.
    package func begin(_ wake: BackgroundWake, now: Timestamp, periodMilliseconds: Int64) throws(SQLError) {
        deleteDue.bind(wake.appID.text, at: 1)
        deleteDue.bind(wake.entry.rawValue, at: 2)
        try deleteDue.run()
        deleteStarts.bind(now.advanced(byMilliseconds: -periodMilliseconds).unixMilliseconds, at: 1)
        try deleteStarts.run()
        insertStart.bind(wake.appID.text, at: 1)
        insertStart.bind(now.unixMilliseconds, at: 2)
        try insertStart.run()
    }

    /// Deletes the last start of an app, because the wake did not start.
    package func forgetLastStart(of appID: AppID) throws(SQLError) {
        deleteLastStart.bind(appID.text, at: 1)
        try deleteLastStart.run()
    }

    /// Returns the times of the starts, oldest first; times in the future, from a clock that was ahead, count as now.
    package func starts(now: Timestamp) throws(SQLError) -> [(appID: AppID, startedAt: Timestamp)] {
        clampStarts.bind(now.unixMilliseconds, at: 1)
        try clampStarts.run()
        defer { selectStarts.reset() }
        var starts: [(appID: AppID, startedAt: Timestamp)] = []
        while try selectStarts.step() {
            starts.append((AppID(selectStarts.string(0)), Timestamp(unixMilliseconds: selectStarts.int64(1))))
        }
        return starts
    }
}
