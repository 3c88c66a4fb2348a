// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQLite

/// A registered app.
package struct RegisteredApp: Sendable, Equatable {
    /// Name of the .desktop file without `.desktop`.
    package var appID: String
    /// What the server knows it by.
    package var topic: String
    /// The top line of its alerts.
    package var name: String
    /// Icon name or absolute path.
    package var icon: String?
    /// 64 hexadecimal digits; empty while the app is to be registered again.
    package var deviceToken: String
    /// The environment that the device token is for.
    package var environment: Environment
    /// What it said of itself, as JSON; empty for nothing.
    package var manifestText: [UInt8] = []
    /// The number last sent to it, whether it may be shown or not.
    package var badge: UInt32 = 0

    /// Joins what a registration gives.
    package init(
        appID: String, topic: String, name: String, icon: String?, deviceToken: String,
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
    /// What it said of itself.
    package var manifest: AppManifest { (try? AppManifest(parsing: manifestText)) ?? AppManifest() }
    /// What the app's author should think about: lines to read.
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
    private let clearToken: Statement
    private let clearTokens: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        selectAll = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest FROM apps ORDER BY app_id
            """)
        selectByID = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest FROM apps WHERE app_id = ?
            """)
        selectByTopic = try connection.prepare(
            """
            SELECT app_id, topic, name, icon, device_token, badge, environment, manifest FROM apps WHERE topic = ?
            """)
        upsert = try connection.prepare(
            """
            INSERT INTO apps (app_id, topic, name, icon, device_token, environment, manifest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (app_id)
                DO UPDATE SET topic = ?2, name = ?3, icon = ?4, device_token = ?5, environment = ?6, manifest = ?7
            """)
        delete = try connection.prepare("DELETE FROM apps WHERE app_id = ?")
        // An older badge that arrives late never wins. What has no place in the queue is judged by the time at which
        // the server accepted it.
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

    /// All apps by app id.
    package func all() throws(SQLiteError) -> [RegisteredApp] {
        defer { selectAll.reset() }
        var apps: [RegisteredApp] = []
        while try selectAll.step() { apps.append(Self.app(in: selectAll)) }
        return apps
    }

    /// The app of an app id.
    package func app(id: String) throws(SQLiteError) -> RegisteredApp? { try first(selectByID, id) }

    /// The app that a topic belongs to.
    package func app(topic: String) throws(SQLiteError) -> RegisteredApp? { try first(selectByTopic, topic) }

    /// Adds an app, or changes what its registration gives; its badge stays.
    package func save(_ app: RegisteredApp) throws(SQLiteError) {
        upsert.bind(app.appID, at: 1)
        upsert.bind(app.topic, at: 2)
        upsert.bind(app.name, at: 3)
        upsert.bind(app.icon, at: 4)
        upsert.bind(app.deviceToken, at: 5)
        upsert.bind(app.environment.rawValue, at: 6)
        upsert.bind(app.manifestText, at: 7)
        try upsert.run()
    }

    /// Forgets an app's device token: the server does not know the registration any more.
    package func clearToken(of id: String) throws(SQLiteError) {
        clearToken.bind(id, at: 1)
        try clearToken.run()
    }

    /// Forgets an app.
    package func remove(id: String) throws(SQLiteError) {
        delete.bind(id, at: 1)
        try delete.run()
    }

    /// Remembers a badge; false when a newer one is there already.
    package func setBadge(
        _ badge: UInt32, of id: String, sequence: Int64, acceptedUnixMilliseconds: Int64
    ) throws(SQLiteError) -> Bool {
        updateBadge.bind(id, at: 1)
        updateBadge.bind(Int64(badge), at: 2)
        updateBadge.bind(sequence, at: 3)
        updateBadge.bind(acceptedUnixMilliseconds, at: 4)
        try updateBadge.run()
        return connection.changedRowCount > 0
    }

    /// After leaving a server: its tokens are void, and so are its badges, which nobody could change any more.
    package func forgetServer() throws(SQLiteError) { try clearTokens.run() }

    private func first(_ statement: Statement, _ key: String) throws(SQLiteError) -> RegisteredApp? {
        defer { statement.reset() }
        statement.bind(key, at: 1)
        return try statement.step() ? Self.app(in: statement) : nil
    }

    private static func app(in row: Statement) -> RegisteredApp {
        var app = RegisteredApp(
            appID: row.string(0), topic: row.string(1), name: row.string(2), icon: row.optionalString(3),
            deviceToken: row.string(4), environment: Environment(rawValue: row.string(6)) ?? .production)
        app.badge = UInt32(clamping: row.int64(5))
        app.manifestText = row.bytes(7)
        return app
    }
}
