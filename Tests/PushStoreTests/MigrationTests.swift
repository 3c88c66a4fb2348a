// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushSQLite
import PushStore
import TestSupport
import Testing

@Suite struct MigrationTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let device = TestDevice(number: 1)

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "posthorn.sqlite")
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        try connection.execute(Self.version1)
        try connection.execute(Self.rows)
    }

    @Test func `a file of version 1 keeps everything, and gets the defaults`() throws {
        let store = try TestStore(in: directory)
        guard case .apps(let apps) = try store.succeed(.apps), case .keys(let keys) = try store.succeed(.keys),
            case .certificates(let certificates) = try store.succeed(.certificates)
        else { throw MissingReply(what: "apps, keys and certificates") }
        #expect(apps.map(\.topic) == ["com.example.App"])
        #expect(apps.map(\.name) == ["App"] && apps.map(\.teamID) == ["TEAM000000"])
        #expect(apps.map(\.checks) == [.warn] && apps.map(\.broadcasts) == [false])
        #expect(apps.map(\.registrationCount) == [1] && apps.map(\.pendingCount) == [1])
        #expect(keys.map(\.keyID) == ["KEY0000001", "KEY0000002"])
        #expect(keys.map(\.topics) == [["com.example.App"], nil] && keys.map(\.revokedAt) == [nil, 9])
        #expect(keys.map(\.environment) == [nil, nil])
        #expect(certificates.isEmpty)
        #expect(try store.channels().isEmpty)
        #expect(try store.device(device).name == "desk")
        #expect(try store.device(device).enrolledAt == 5)
        #expect(try store.device(device).pendingCount == 1)
        #expect(try store.refusal(.enrol(TestDevice(number: 2).enrolment(codeHash: [7]))) == nil)
    }

    @Test func `a registration of version 1 is for production and goes on`() throws {
        let store = try TestStore(in: directory)
        let token = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 2), generation: 4)
        #expect(try store.register(device) == token)
        let accepted = try store.accept([.to(token, "new")]).0
        #expect(accepted == [.accepted])
        let (stream, replies) = try store.attach(device)
        let delivered = replies.delivered(to: stream)
        #expect(delivered.map(\.text) == ["old", "new"] && delivered.map(\.sequence) == [41, 43])
        let ended = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 1), generation: 3)
        #expect(try store.accept(.to(ended, "a")) == .refused(.unregistered, ended: 6000))
    }

    @Test func `what a device of version 1 refused it still refuses`() throws {
        let store = try TestStore(in: directory)
        try store.addApp("com.example.Loud")
        let token = try store.register(device, "com.example.Loud")
        #expect(try store.accept(.to(token, "a")) == .accepted)
        #expect(try store.counts().dropped == 1)
    }

    @Test func `a device of version 1 counts as seen when the file is first opened, and not again later`() throws {
        for later in [0, 3_000_000] as [Int64] {
            let store = try TestStore(in: directory)
            store.clock.now += later
            #expect(try store.device(device).seenAt == TestStore.startMilliseconds / 1000)
            store.store.stop()
        }
    }

    @Test func `a migrated file has the tables of a new one`() throws {
        try TestStore(in: directory).store.stop()
        let other = try TemporaryDirectory()
        try TestStore(in: other).store.stop()
        #expect(try schema(of: path) == schema(of: other.path(of: "posthorn.sqlite")))
    }

    private func schema(of path: String) throws -> [String] {
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        let select = try connection.prepare("SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
        var lines: [String] = []
        while try select.step() { lines.append(select.string(0)) }
        try #require(!lines.isEmpty)
        return lines
    }

    /// The schema as version 0.1 made it; it stands here a second time so that nobody changes what has shipped.
    private static let version1: StaticString = """
        CREATE TABLE state(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
        INSERT INTO state VALUES ('last_sequence', 0);

        CREATE TABLE topics(
            id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL,
            added_at_ms INTEGER NOT NULL, removed_at_ms INTEGER) STRICT;
        CREATE UNIQUE INDEX topics_live ON topics(topic) WHERE removed_at_ms IS NULL;

        CREATE TABLE keys(
            id TEXT PRIMARY KEY, team TEXT NOT NULL, scoped INTEGER NOT NULL, public_key BLOB NOT NULL,
            created_at INTEGER NOT NULL, revoked_at INTEGER) WITHOUT ROWID, STRICT;
        CREATE TABLE key_topics(
            key TEXT NOT NULL REFERENCES keys(id), position INTEGER NOT NULL, topic TEXT NOT NULL,
            PRIMARY KEY (key, position)) WITHOUT ROWID, STRICT;

        CREATE TABLE devices(
            id INTEGER PRIMARY KEY, secret_hash BLOB UNIQUE, name TEXT NOT NULL, platform TEXT NOT NULL,
            enrolled_at_ms INTEGER NOT NULL, removed_at_ms INTEGER) STRICT;
        CREATE TABLE enrolment_codes(
            hash BLOB PRIMARY KEY, expires_at INTEGER NOT NULL, used_at_ms INTEGER) WITHOUT ROWID, STRICT;

        CREATE TABLE registrations(
            device INTEGER NOT NULL REFERENCES devices(id), topic INTEGER NOT NULL REFERENCES topics(id),
            generation INTEGER NOT NULL, live INTEGER NOT NULL, refused INTEGER NOT NULL,
            registered_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
            PRIMARY KEY (device, topic)) WITHOUT ROWID, STRICT;
        CREATE INDEX registrations_by_topic ON registrations(topic) WHERE live = 1;
        CREATE TABLE filters(
            device INTEGER NOT NULL REFERENCES devices(id), topic TEXT NOT NULL,
            PRIMARY KEY (device, topic)) WITHOUT ROWID, STRICT;

        CREATE TABLE pending(
            sequence INTEGER PRIMARY KEY, device INTEGER NOT NULL, topic INTEGER NOT NULL,
            generation INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, accepted_at_ms INTEGER NOT NULL,
            unique_high INTEGER NOT NULL, unique_low INTEGER NOT NULL, apns_id BLOB NOT NULL,
            topic_name TEXT NOT NULL, push_type TEXT, priority INTEGER, expiration INTEGER, collapse_id BLOB,
            payload BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
        CREATE INDEX pending_by_device ON pending(device);
        CREATE UNIQUE INDEX pending_by_topic ON pending(device, topic, collapse_id);
        CREATE INDEX pending_by_expiry ON pending(expires_at_ms);
        PRAGMA user_version = 1;
        """

    /// Rows of every table; the notification's checksum is what version 0.1 wrote for it.
    private static let rows: StaticString = """
        UPDATE state SET value = 42 WHERE name = 'last_sequence';
        INSERT INTO topics VALUES (1, 'com.example.Gone', 'Gone', 'TEAM000000', 1000, 6000);
        INSERT INTO topics VALUES (2, 'com.example.App', 'App', 'TEAM000000', 2000, NULL);
        INSERT INTO keys VALUES ('KEY0000001', 'TEAM000000', 1, x'01', 7, NULL);
        INSERT INTO keys VALUES ('KEY0000002', 'TEAM000000', 0, x'02', 8, 9);
        INSERT INTO key_topics VALUES ('KEY0000001', 0, 'com.example.App');
        INSERT INTO devices VALUES
            (1, x'0100000000000000010000000000000001000000000000000100000000000000', 'desk', 'linux', 5000, NULL);
        INSERT INTO devices VALUES (3, NULL, '', '', 3000, 4000);
        INSERT INTO enrolment_codes VALUES (x'07', 1800000099, NULL);
        INSERT INTO registrations VALUES (1, 1, 3, 0, 0, 2500, 6000);
        INSERT INTO registrations VALUES (1, 2, 4, 1, 0, 2600, NULL);
        INSERT INTO filters VALUES (1, 'com.example.Loud');
        INSERT INTO pending VALUES
            (41, 1, 2, 4, 1800000060000, 5500, 1, -1, CAST('id of old' AS BLOB), 'com.example.App', 'alert', 10,
            1800000060, NULL, CAST('old' AS BLOB), -2236241170586623779);
        """
}
