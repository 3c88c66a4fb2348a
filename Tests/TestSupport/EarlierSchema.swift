// SPDX-License-Identifier: Apache-2.0

/// The store's schemas of earlier versions, for migration tests.
///
/// Each schema is repeated here, so that a change of a released schema fails a test.
package enum EarlierSchema {
    /// The steps; step i upgrades version i to i + 1.
    package static let steps = [version1, version2]

    /// SQL that adds rows to the tables of version 1.
    ///
    /// The notification's checksum is the one that version 0.1 wrote.
    package static let rows: StaticString = """
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

    /// The schema that version 0.1 created.
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

    /// Adds environments, payload checks, certificates, channels, and the time when a device was last seen.
    private static let version2: StaticString = """
        ALTER TABLE topics ADD COLUMN checks TEXT NOT NULL DEFAULT 'warn';
        ALTER TABLE topics ADD COLUMN broadcasts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE keys ADD COLUMN environment TEXT;
        ALTER TABLE registrations ADD COLUMN environment TEXT NOT NULL DEFAULT 'production';
        ALTER TABLE registrations ADD COLUMN expired INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE devices ADD COLUMN seen_at_ms INTEGER;
        ALTER TABLE devices ADD COLUMN dormant INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX devices_by_seen ON devices(seen_at_ms) WHERE removed_at_ms IS NULL AND dormant = 0;

        CREATE TABLE certificates(
            fingerprint BLOB PRIMARY KEY, serial_number TEXT NOT NULL, team TEXT NOT NULL, environment TEXT,
            created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER) WITHOUT ROWID, STRICT;
        CREATE TABLE certificate_topics(
            certificate BLOB NOT NULL REFERENCES certificates(fingerprint), position INTEGER NOT NULL,
            topic TEXT NOT NULL, PRIMARY KEY (certificate, position)) WITHOUT ROWID, STRICT;

        CREATE TABLE channels(
            number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE,
            topic INTEGER NOT NULL REFERENCES topics(id), environment TEXT NOT NULL, policy INTEGER NOT NULL,
            created_at_ms INTEGER NOT NULL) STRICT;
        CREATE INDEX channels_by_topic ON channels(topic, environment);
        CREATE TABLE subscriptions(
            position INTEGER PRIMARY KEY, device INTEGER NOT NULL REFERENCES devices(id),
            topic INTEGER NOT NULL REFERENCES topics(id), channel INTEGER NOT NULL REFERENCES channels(number),
            since INTEGER NOT NULL) STRICT;
        CREATE UNIQUE INDEX subscriptions_by_device ON subscriptions(device, topic, channel);
        CREATE INDEX subscriptions_by_channel ON subscriptions(channel);
        CREATE TABLE broadcasts(
            sequence INTEGER PRIMARY KEY, channel INTEGER NOT NULL UNIQUE REFERENCES channels(number),
            expires_at_ms INTEGER NOT NULL, accepted_at_ms INTEGER NOT NULL, unique_high INTEGER NOT NULL,
            unique_low INTEGER NOT NULL, request_id BLOB NOT NULL, topic_name TEXT NOT NULL, priority INTEGER,
            expiration INTEGER NOT NULL, payload BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
        CREATE INDEX broadcasts_by_expiry ON broadcasts(expires_at_ms);
        PRAGMA user_version = 2;
        """
}
