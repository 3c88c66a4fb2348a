// SPDX-License-Identifier: Apache-2.0

internal import PayloadLint
package import PushCore
package import PushSQL
internal import PushSQLite

/// An app that is registered at the server.
package struct RegisteredApp: Sendable, Equatable {
    /// The name of the .desktop file without `.desktop`.
    package var appID: AppID
    /// The topic that identifies the app at the server.
    package var topic: TopicName
    /// The name at the top of its alerts.
    package var name: String
    /// The name of the icon, or its absolute path.
    package var icon: String?
    /// The device token, 64 hexadecimal digits; empty while a new registration is due.
    package var deviceToken: String
    /// The environment that the device token is valid in.
    package var environment: Environment
    /// The app's manifest as JSON; empty for none.
    package var manifestText: [UInt8] = []
    /// The latest badge number for the app, even if it may not be shown.
    package var badge: UInt32 = 0
    /// Whether the name is from the .desktop file, from an installed manifest or from the user, not from the app's
    /// own call.
    package var isVerified = false
    /// The first time-sensitive notification that "do not disturb" held back; nil for none.
    package var heldBackEntry: EntryID?

    /// Creates an app from its registration.
    package init(
        appID: AppID, topic: TopicName, name: String, icon: String?, deviceToken: String,
        environment: Environment = .production
    ) {
        self.appID = appID
        self.topic = topic
        self.name = name
        self.icon = icon
        self.deviceToken = deviceToken
        self.environment = environment
    }
}

extension RegisteredApp {
    /// The parsed manifest; an invalid one counts as empty.
    package var manifest: AppManifest { (try? AppManifest(parsing: manifestText)) ?? AppManifest() }
    /// The lint findings for the app's author, one line each.
    package var advice: [String] {
        PayloadLinter.findings(appName: name, events: manifest.eventParts).map(\.line)
    }
}

/// The table of registered apps.
package final class AppTable {
    private let connection: Connection
    private let selectAll: Statement
    private let selectByID: Statement
    private let selectByTopic: Statement
    private let upsert: Statement
    private let delete: Statement
    private let updateBadge: Statement
    private let updateName: Statement
    private let updateHeldBackEntry: Statement
    private let clearToken: Statement
    private let clearTokens: Statement

    init(_ connection: Connection) throws(SQLError) {
        self.connection = connection
        selectAll = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest, is_verified, held_back_entry
            FROM apps ORDER BY app_id
            """)
        selectByID = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest, is_verified, held_back_entry
            FROM apps WHERE app_id = ?
            """)
        selectByTopic = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest, is_verified, held_back_entry
            FROM apps WHERE topic = ?
            """)
        upsert = try connection.prepare(
            """
            INSERT INTO apps (app_id, topic, name, icon, device_token, environment, manifest, is_verified)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (app_id) DO UPDATE SET topic = ?2, name = ?3, icon = ?4, device_token = ?5, environment = ?6,
                manifest = ?7, is_verified = ?8
            """)
        updateName = try connection.prepare(
            "UPDATE apps SET name = ?2, icon = ?3, is_verified = 1 WHERE app_id = ?1")
        updateHeldBackEntry = try connection.prepare(
            "UPDATE apps SET held_back_entry = ?2 WHERE app_id = ?1 AND held_back_entry = 0")
        delete = try connection.prepare("DELETE FROM apps WHERE app_id = ?")
        // A badge that arrives late never replaces a newer one. Without a sequence number, the time at which the server
        // accepted it decides.
        updateBadge = try connection.prepare(
            """
            UPDATE apps SET badge = ?2, badge_sequence = ?3, badge_accepted_ms = ?4
            WHERE app_id = ?1 AND CASE WHEN ?3 > 0 AND badge_sequence > 0
                THEN ?3 > badge_sequence ELSE ?4 >= badge_accepted_ms END
            """)
        clearToken = try connection.prepare("UPDATE apps SET device_token = '' WHERE app_id = ?")
        clearTokens = try connection.prepare(
            "UPDATE apps SET device_token = '', badge = 0, badge_sequence = 0, badge_accepted_ms = 0")
    }

    /// Returns all apps, ordered by app ID.
    package func all() throws(SQLError) -> [RegisteredApp] {
        defer { selectAll.reset() }
        var apps: [RegisteredApp] = []
        while try selectAll.step() { apps.append(Self.app(in: selectAll)) }
        return apps
    }

    /// Returns the app with an app ID.
    package func app(id: AppID) throws(SQLError) -> RegisteredApp? { try first(selectByID, id.text) }

    /// Returns the app that registered a topic.
    package func app(topic: TopicName) throws(SQLError) -> RegisteredApp? { try first(selectByTopic, topic.text) }

    /// Adds an app or updates its registration; its badge remains.
    package func save(_ app: RegisteredApp) throws(SQLError) {
        upsert.bind(app.appID.text, at: 1)
        upsert.bind(app.topic.text, at: 2)
        upsert.bind(app.name, at: 3)
        upsert.bind(app.icon, at: 4)
        upsert.bind(app.deviceToken, at: 5)
        upsert.bind(app.environment.rawValue, at: 6)
        upsert.bind(app.manifestText, at: 7)
        upsert.bind(app.isVerified ? 1 : 0, at: 8)
        try upsert.run()
    }

    /// Replaces an app's name and icon with those of its .desktop file.
    package func verify(_ id: AppID, name: String, icon: String?) throws(SQLError) {
        updateName.bind(id.text, at: 1)
        updateName.bind(name, at: 2)
        updateName.bind(icon, at: 3)
        try updateName.run()
    }

    /// Stores the first time-sensitive notification that "do not disturb" held back; later ones change nothing.
    package func setHeldBackEntry(_ entry: EntryID, of id: AppID) throws(SQLError) {
        updateHeldBackEntry.bind(id.text, at: 1)
        updateHeldBackEntry.bind(entry.rawValue, at: 2)
        try updateHeldBackEntry.run()
    }

    /// Deletes an app's device token, because the server does not know the registration any more.
    package func clearToken(of id: AppID) throws(SQLError) {
        clearToken.bind(id.text, at: 1)
        try clearToken.run()
    }

    package func remove(id: AppID) throws(SQLError) {
        delete.bind(id.text, at: 1)
        try delete.run()
    }

    /// Stores a badge; returns false if a newer one is already stored.
    package func setBadge(
        _ badge: UInt32, of id: AppID, sequence: Int64, acceptedAt: Timestamp
    ) throws(SQLError) -> Bool {
        updateBadge.bind(id.text, at: 1)
        updateBadge.bind(Int64(badge), at: 2)
        updateBadge.bind(sequence, at: 3)
        updateBadge.bind(acceptedAt.unixMilliseconds, at: 4)
        try updateBadge.run()
        return connection.changedRowCount > 0
    }

    /// Deletes the tokens and badges of all apps after the device left its server; no server could update the badges
    /// any more.
    package func forgetServer() throws(SQLError) { try clearTokens.run() }

    private func first(_ statement: Statement, _ key: String) throws(SQLError) -> RegisteredApp? {
        defer { statement.reset() }
        statement.bind(key, at: 1)
        return try statement.step() ? Self.app(in: statement) : nil
    }

    private static func app(in row: Statement) -> RegisteredApp {
        var app = RegisteredApp(
            appID: AppID(row.string(0)), topic: TopicName(row.string(1)), name: row.string(2),
            icon: row.optionalString(3),
            deviceToken: row.string(4), environment: Environment(rawValue: row.string(6)) ?? .production)
        app.badge = UInt32(clamping: row.int64(5))
        app.manifestText = row.bytes(7)
        app.isVerified = row.int64(8) != 0
        app.heldBackEntry = row.int64(9) > 0 ? EntryID(rawValue: row.int64(9)) : nil
        return app
    }
}
