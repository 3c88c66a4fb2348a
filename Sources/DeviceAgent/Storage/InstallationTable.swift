// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// Which registered apps were seen to be installed, and since when one is not.
package final class InstallationTable {
    private let selectGone: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        selectGone = try connection.prepare("SELECT gone_seconds FROM installations WHERE app_id = ?")
        replace = try connection.prepare("INSERT OR REPLACE INTO installations (app_id, gone_seconds) VALUES (?, ?)")
        delete = try connection.prepare("DELETE FROM installations WHERE app_id = ?")
    }

    /// Since when an app is gone, UNIX seconds: 0 for one that is there, nil for one that was never seen.
    package func goneUnixSeconds(_ appID: String) throws(SQLiteError) -> Int64? {
        defer { selectGone.reset() }
        selectGone.bind(appID, at: 1)
        return try selectGone.step() ? selectGone.int64(0) : nil
    }

    /// Remembers since when an app is gone; 0 for one that is there.
    package func set(_ appID: String, goneUnixSeconds: Int64) throws(SQLiteError) {
        replace.bind(appID, at: 1)
        replace.bind(goneUnixSeconds, at: 2)
        try replace.run()
    }

    /// Forgets an app.
    package func remove(_ appID: String) throws(SQLiteError) {
        delete.bind(appID, at: 1)
        try delete.run()
    }
}
