// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// The store's tables; docs/explanation/architecture.md describes who writes them.
///
/// Columns `_at_ms` are UNIX milliseconds, and columns `_at` are UNIX seconds. Removed apps stay as rows, and removed
/// devices as rows without content. Their old device tokens are therefore answered with `Unregistered`, and their
/// numbers are never reused.
///
/// - `pending` has no foreign keys. Its rows are checked against `registrations` in the same transaction, and each key
///   would cost a lookup for every notification. `expires_at_ms` is NULL if the provider set no expiration. Such rows
///   expire by age. `trace_position` is the position of the row's event *stored* in the trace. It is NULL without a
///   trace, and after `TraceRecovery` has recorded the event.
/// - `archived` indexes older rows of `pending` by device, and `archived_counts` counts them for each topic.
/// - `subscriptions` refer to a channel by its `number`, which is shorter than its ID. `since` is the last sequence
///   that a subscription skips.
/// - `broadcasts` holds the broadcast that a channel stores, under a sequence of the counter that also numbers
///   `pending`.
/// - In `enrolment_codes`, `device` is the device that used a code. `request_hash` is NULL without a request ID.
/// - In `devices`, `enrolled_under` is the SHA-256 of the server's own authority that the device trusted at its
///   enrolment; NULL if the server had a configured certificate. `authority_version` is the last set of announced
///   authorities that the device confirmed.
/// - `trace` and `webhooks` count the bytes of all events; `TraceTable` defines a position.
enum Schema {
    static let migrations = Migrations([version1])

    private static let version1: StaticString = """
        CREATE TABLE state(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
        INSERT INTO state VALUES ('last_sequence', 0);

        CREATE TABLE topics(
            id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL,
            added_at_ms INTEGER NOT NULL, removed_at_ms INTEGER, checks TEXT NOT NULL DEFAULT 'warn',
            broadcasts INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE UNIQUE INDEX topics_live ON topics(topic) WHERE removed_at_ms IS NULL;

        CREATE TABLE keys(
            id TEXT PRIMARY KEY, team TEXT NOT NULL, scoped INTEGER NOT NULL, public_key BLOB NOT NULL,
            created_at INTEGER NOT NULL, revoked_at INTEGER, environment TEXT) WITHOUT ROWID, STRICT;
        CREATE INDEX keys_by_age ON keys(created_at, id);
        CREATE TABLE key_topics(
            key TEXT NOT NULL REFERENCES keys(id), position INTEGER NOT NULL, topic TEXT NOT NULL,
            PRIMARY KEY (key, position)) WITHOUT ROWID, STRICT;
        CREATE TABLE certificates(
            fingerprint BLOB PRIMARY KEY, serial_number TEXT NOT NULL, team TEXT NOT NULL, environment TEXT,
            created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER) WITHOUT ROWID, STRICT;
        CREATE INDEX certificates_by_age ON certificates(created_at, fingerprint);
        CREATE TABLE certificate_topics(
            certificate BLOB NOT NULL REFERENCES certificates(fingerprint), position INTEGER NOT NULL,
            topic TEXT NOT NULL, PRIMARY KEY (certificate, position)) WITHOUT ROWID, STRICT;
        CREATE TABLE send_tokens(
            id BLOB PRIMARY KEY, hash BLOB NOT NULL UNIQUE, topic INTEGER NOT NULL REFERENCES topics(id),
            name TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER) WITHOUT ROWID, STRICT;

        CREATE TABLE devices(
            id INTEGER PRIMARY KEY, secret_hash BLOB UNIQUE, name TEXT NOT NULL, platform TEXT NOT NULL,
            enrolled_at_ms INTEGER NOT NULL, removed_at_ms INTEGER, seen_at_ms INTEGER,
            dormant INTEGER NOT NULL DEFAULT 0, agent TEXT NOT NULL DEFAULT '', enrolled_under BLOB,
            authority_version INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE INDEX devices_by_seen ON devices(seen_at_ms) WHERE removed_at_ms IS NULL AND dormant = 0;
        CREATE INDEX devices_by_enrolment ON devices(enrolled_at_ms, id) WHERE removed_at_ms IS NULL;
        CREATE TABLE enrolment_codes(
            hash BLOB PRIMARY KEY, expires_at INTEGER NOT NULL, used_at_ms INTEGER, device INTEGER,
            request_hash BLOB) WITHOUT ROWID, STRICT;

        CREATE TABLE registrations(
            device INTEGER NOT NULL REFERENCES devices(id), topic INTEGER NOT NULL REFERENCES topics(id),
            generation INTEGER NOT NULL, live INTEGER NOT NULL, refused INTEGER NOT NULL,
            registered_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
            environment TEXT NOT NULL DEFAULT 'production', expired INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (device, topic)) WITHOUT ROWID, STRICT;
        CREATE INDEX registrations_by_topic ON registrations(topic) WHERE live = 1;
        CREATE TABLE filters(
            device INTEGER NOT NULL REFERENCES devices(id), topic TEXT NOT NULL,
            PRIMARY KEY (device, topic)) WITHOUT ROWID, STRICT;
        CREATE TABLE policies(
            device INTEGER NOT NULL, topic TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
            locked INTEGER NOT NULL, PRIMARY KEY (device, topic, name)) WITHOUT ROWID, STRICT;

        CREATE TABLE pending(
            sequence INTEGER PRIMARY KEY, device INTEGER NOT NULL, topic INTEGER NOT NULL, collapse INTEGER,
            expires_at_ms INTEGER, trace_position INTEGER, record BLOB NOT NULL) STRICT;
        CREATE INDEX pending_by_expiry ON pending(expires_at_ms) WHERE expires_at_ms IS NOT NULL;
        CREATE TABLE archived(
            device INTEGER NOT NULL, sequence INTEGER NOT NULL, topic INTEGER NOT NULL, collapse INTEGER,
            PRIMARY KEY (device, sequence)) WITHOUT ROWID, STRICT;
        CREATE TABLE archived_counts(topic INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
        CREATE TABLE delivery_histories(device INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;

        CREATE TABLE channels(
            number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE,
            topic INTEGER NOT NULL REFERENCES topics(id), environment TEXT NOT NULL, policy INTEGER NOT NULL,
            created_at_ms INTEGER NOT NULL) STRICT;
        CREATE INDEX channels_by_topic ON channels(topic, environment);
        CREATE INDEX channels_of_topic ON channels(topic, number);
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

        CREATE TABLE quotas(
            kind TEXT NOT NULL, name TEXT NOT NULL, rate INTEGER, burst INTEGER, daily INTEGER, bad_tokens INTEGER,
            PRIMARY KEY (kind, name)) WITHOUT ROWID, STRICT;
        CREATE TABLE quota_uses(
            kind TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL, used INTEGER NOT NULL,
            PRIMARY KEY (kind, name)) WITHOUT ROWID, STRICT;

        CREATE TABLE trace(
            position INTEGER PRIMARY KEY, first_at_ms INTEGER NOT NULL, last_at_ms INTEGER NOT NULL,
            last_sequence INTEGER NOT NULL, events BLOB NOT NULL) STRICT;
        CREATE INDEX trace_by_sequence ON trace(last_sequence);
        CREATE TABLE webhooks(
            topic INTEGER PRIMARY KEY REFERENCES topics(id), url TEXT NOT NULL, secret BLOB NOT NULL,
            position INTEGER NOT NULL, failing_at_ms INTEGER, problem TEXT) STRICT;
        """
}
