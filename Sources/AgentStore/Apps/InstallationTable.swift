// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The registered apps that were once found installed, with the time since which each is missing.
package final class InstallationTable {
    private let selectGone: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        selectGone = try connection.prepare("SELECT gone_seconds FROM installations WHERE app_id = ?")
        replace = try connection.prepare("INSERT OR REPLACE INTO installations (app_id, gone_seconds) VALUES (?, ?)")
        delete = try connection.prepare("DELETE FROM installations WHERE app_id = ?")
    }

    /// Returns the time since which an app is missing; `unixEpoch` if it is installed, nil if it never was.
    package func goneSince(_ appID: AppID) throws(SQLError) -> Timestamp? {
        defer { selectGone.reset() }
        selectGone.bind(appID.text, at: 1)
        return try selectGone.step() ? Timestamp(unixSeconds: selectGone.int64(0)) : nil
    }

    /// Stores the time since which an app is missing; `unixEpoch` if it is installed.
    package func set(_ appID: AppID, goneSince: Timestamp) throws(SQLError) {
        replace.bind(appID.text, at: 1)
        replace.bind(goneSince.unixSeconds, at: 2)
        try replace.run()
    }

    package func remove(_ appID: AppID) throws(SQLError) {
        delete.bind(appID.text, at: 1)
        try delete.run()
    }
}
