// SPDX-License-Identifier: Apache-2.0

package import PushSQL
internal import PushSQLite

/// The identity of this device at its server.
package struct Identity: Sendable, Equatable {
    /// The URL `https://host:port`, without a trailing slash.
    package var serverURL: String
    /// The device ID, 16 hexadecimal digits.
    package var deviceID: String
    /// The PEM file with the trusted authorities; empty for the system's.
    package var caFile: String

    package init(serverURL: String, deviceID: String, caFile: String) {
        self.serverURL = serverURL
        self.deviceID = deviceID
        self.caFile = caFile
    }
}

/// The table with at most one identity.
package final class IdentityTable {
    private let select: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        select = try connection.prepare("SELECT server_url, device_id, ca_file FROM identity")
        replace = try connection.prepare("INSERT OR REPLACE INTO identity VALUES (1, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM identity")
    }

    /// Returns the identity; nil before the enrolment.
    package func load() throws(SQLError) -> Identity? {
        defer { select.reset() }
        guard try select.step() else { return nil }
        return Identity(serverURL: select.string(0), deviceID: select.string(1), caFile: select.string(2))
    }

    package func save(_ identity: Identity) throws(SQLError) {
        replace.bind(identity.serverURL, at: 1)
        replace.bind(identity.deviceID, at: 2)
        replace.bind(identity.caFile, at: 3)
        try replace.run()
    }

    package func remove() throws(SQLError) { try delete.run() }
}
