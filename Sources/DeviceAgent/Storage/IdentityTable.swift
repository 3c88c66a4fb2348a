// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// Who this device is, and at which server.
package struct Identity: Sendable, Equatable {
    /// `https://host:port`, without a slash at the end.
    package var serverURL: String
    /// Sixteen hexadecimal digits.
    package var deviceID: String
    /// Authorities to trust; empty for the system's.
    package var caFile: String

    /// Joins the parts.
    package init(serverURL: String, deviceID: String, caFile: String) {
        self.serverURL = serverURL
        self.deviceID = deviceID
        self.caFile = caFile
    }
}

/// The table of at most one identity.
package final class IdentityTable {
    private let select: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT server_url, device_id, ca_file FROM identity")
        replace = try connection.prepare("INSERT OR REPLACE INTO identity VALUES (1, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM identity")
    }

    /// The identity; nil before enrolment.
    package func load() throws(SQLiteError) -> Identity? {
        defer { select.reset() }
        guard try select.step() else { return nil }
        return Identity(serverURL: select.string(0), deviceID: select.string(1), caFile: select.string(2))
    }

    /// Remembers the identity.
    package func save(_ identity: Identity) throws(SQLiteError) {
        replace.bind(identity.serverURL, at: 1)
        replace.bind(identity.deviceID, at: 2)
        replace.bind(identity.caFile, at: 3)
        try replace.run()
    }

    /// Forgets the identity.
    package func remove() throws(SQLiteError) { try delete.run() }
}
