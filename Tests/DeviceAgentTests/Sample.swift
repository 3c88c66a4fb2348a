// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushSQLite
import TestSupport

/// Notifications, apps and databases for the tests of the agent.
enum Sample {
    static let token = String(repeating: "ab", count: 32)

    static func notification(
        _ number: UInt64, sequence: Int64? = nil, topic: String = "org.example.Mail", pushType: PushType? = nil,
        acceptedMilliseconds: Int64 = 1000, collapseID: String? = nil, channel: ChannelID? = nil,
        payload: String? = nil
    ) -> ReceivedNotification {
        let payload = payload ?? #"{"aps":{"alert":"Hello \#(number)"}}"#
        return ReceivedNotification(
            sequence: sequence ?? Int64(number), uniqueID: UniqueID(high: 1, low: number), suffixedTopic: topic,
            app: nil,
            apnsID: "2C33C3C4-0000-4000-8000-000000000000", pushType: pushType, priority: nil,
            expiration: nil, collapseID: collapseID.map { Array($0.utf8) },
            acceptedAt: Timestamp(unixMilliseconds: acceptedMilliseconds), payload: Array(payload.utf8),
            channel: channel)
    }

    /// A broadcast as it arrives on the stream.
    static func broadcast(
        _ number: UInt64, sequence: Int64 = 0, channel: ChannelID = Sample.channel, payload: String
    ) -> ReceivedNotification {
        notification(
            number, sequence: sequence, topic: "org.example.Mail.push-type.liveactivity", pushType: .liveactivity,
            channel: channel, payload: payload)
    }

    /// A channel whose ID has a slash, a plus sign and padding.
    static let channel = ChannelID(high: 0xFFEF_BE00_0000_0000, low: 1)
    static let otherChannel = ChannelID(high: 0xFFEF_BE00_0000_0000, low: 2)

    static let app = {
        var app = RegisteredApp(
            appID: "org.example.Mail", topic: "org.example.Mail", name: "Example Mail", icon: nil, deviceToken: token)
        app.isVerified = true
        return app
    }()
}

/// A database file that can be closed and opened again, as after a kill.
final class DatabaseFile {
    let directory: TemporaryDirectory
    var path: String { directory.path(of: "agent.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    func open() throws -> AgentDatabase { try AgentDatabase(path: path) }

    /// Makes a database that refuses to change an entry, as on a full disk, while the setting `inbox-days` is 99.
    func openFillable() throws -> AgentDatabase {
        try Self.makeFillable(path)
        return try open()
    }

    static func makeFillable(_ path: String) throws {
        _ = try AgentDatabase(path: path)
        try Connection(path: path, durability: .normal, exclusive: true).execute(
            """
            CREATE TRIGGER full BEFORE UPDATE ON inbox
            WHEN EXISTS (SELECT 1 FROM choices WHERE name = 'inbox-days' AND value = '99')
            BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END
            """)
    }
}

extension AgentDatabase {
    /// Returns the content of the outbox, as `sequence outcome reason`.
    func outboxLines() throws -> [String] {
        try outbox.oldest(countMax: 1000)?.acknowledgements.map {
            "\($0.id) \($0.outcome.rawValue)\($0.reason.map { " \($0)" } ?? "")"
        } ?? []
    }
}

/// The permissions that a test's user grants an app.
struct AppSwitches: Sendable, Equatable {
    var allowsBadge = true
    var allowsSound = true
    var allowsAlert = true

    static let all = AppSwitches()

    /// Saves the permissions that differ from the default.
    func choose(for appID: AppID, in database: AgentDatabase) throws {
        if !allowsBadge { try database.choose(.badge, "off", for: appID) }
        if !allowsSound { try database.choose(.sound, "off", for: appID) }
        if !allowsAlert { try database.choose(.alert, "none", for: appID) }
    }
}

extension AgentDatabase {
    /// Fills the disk of `openFillable`, or makes space.
    func fill(_ isFull: Bool) throws { try choose(.inboxDays, isFull ? "99" : "30") }

    /// Saves a setting as if the user had chosen it.
    func choose(_ setting: Setting, _ value: String, for appID: AppID? = nil) throws {
        try choices.set(value, for: setting, appID: appID, event: "")
    }
}
