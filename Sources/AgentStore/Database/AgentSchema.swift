// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// The tables of the agent's database.
///
///     identity       the identity of the device at its server; at most one row
///     authorities    the authorities that this device trusts for its server; empty before the server announced any
///     settings       the state of the agent: numbers by name
///     choices        the user's choices, for the device, for an app or for one of its event types
///     policy         the administrator's settings, as the server sent them
///     event_types    the event types that apps declared
///     apps           registered apps and their badges
///     inbox          all notifications that the user has not cleared, within the limits of age and count
///     seen           IDs of received notifications; outlives the inbox, so that repetitions are recognized
///     outbox         acknowledgements that the server has not confirmed
///     alerts         the alerts on the screen and their positions, for the next run
///     filters        due filters, and the results of those that ran
///     hooks          alerts on the screen whose hook has not started
///     reminders      notifications to show again, with the time
///     wakes          for each app that must be woken, the newest notification
///     wake_starts    the times of recent wakes
///     subscriptions  the apps' channels, with their state at the server
///     installations  apps whose .desktop file was found, and the time since which it is missing
enum AgentSchema {
    static let migrations = Migrations([version1])

    private static let version1: StaticString = """
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            server_url TEXT NOT NULL,
            device_id TEXT NOT NULL,
            ca_file TEXT NOT NULL
        ) STRICT;
        CREATE TABLE authorities (
            certificate TEXT PRIMARY KEY,
            until INTEGER,
            is_confirmed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE choices (
            app_id TEXT NOT NULL,
            event TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (app_id, event, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE policy (
            topic TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            is_locked INTEGER NOT NULL,
            PRIMARY KEY (topic, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE apps (
            app_id TEXT PRIMARY KEY,
            topic TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            icon TEXT,
            device_token TEXT NOT NULL,
            badge INTEGER NOT NULL DEFAULT 0,
            badge_sequence INTEGER NOT NULL DEFAULT 0,
            badge_accepted_ms INTEGER NOT NULL DEFAULT 0,
            environment TEXT NOT NULL DEFAULT 'production',
            manifest BLOB NOT NULL DEFAULT x'',
            is_verified INTEGER NOT NULL DEFAULT 0,
            held_back_entry INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE event_types (
            app_id TEXT NOT NULL,
            event TEXT NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (app_id, event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE subscriptions (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app_id TEXT NOT NULL,
            channel TEXT NOT NULL,
            state TEXT NOT NULL,
            UNIQUE (app_id, channel)
        ) STRICT;
        CREATE INDEX subscriptions_pending ON subscriptions (position) WHERE state <> 'held';
        CREATE TABLE installations (app_id TEXT PRIMARY KEY, gone_seconds INTEGER NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE inbox (
            entry INTEGER PRIMARY KEY AUTOINCREMENT,
            unique_id TEXT NOT NULL UNIQUE,
            sequence INTEGER NOT NULL,
            app_id TEXT NOT NULL,
            topic TEXT NOT NULL,
            apns_id TEXT NOT NULL,
            received_ms INTEGER NOT NULL,
            accepted_ms INTEGER NOT NULL,
            title TEXT,
            subtitle TEXT,
            body TEXT,
            payload BLOB NOT NULL,
            collapse_id BLOB,
            state TEXT NOT NULL,
            reason TEXT NOT NULL DEFAULT '',
            channel TEXT,
            effects TEXT NOT NULL DEFAULT '',
            is_read INTEGER NOT NULL DEFAULT 0,
            thread_id TEXT,
            url TEXT,
            picture TEXT,
            ignored TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX inbox_unfinished ON inbox (entry) WHERE state IN ('waiting', 'claimed');
        CREATE TABLE seen (position INTEGER PRIMARY KEY AUTOINCREMENT, unique_id TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE outbox (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            sequence INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            reason TEXT
        ) STRICT;
        CREATE TABLE alerts (
            entry INTEGER PRIMARY KEY,
            owner TEXT NOT NULL,
            number INTEGER NOT NULL,
            UNIQUE (owner, number)
        ) STRICT;
        CREATE TABLE filters (
            entry INTEGER PRIMARY KEY,
            is_due INTEGER NOT NULL,
            payload BLOB,
            note TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE TRIGGER filters_go AFTER DELETE ON inbox BEGIN
            DELETE FROM filters WHERE entry = old.entry;
        END;
        CREATE TABLE hooks (entry INTEGER PRIMARY KEY) STRICT;
        CREATE TRIGGER hooks_go AFTER DELETE ON inbox BEGIN
            DELETE FROM hooks WHERE entry = old.entry;
        END;
        CREATE TABLE reminders (entry INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT;
        CREATE INDEX reminders_next ON reminders (at_ms);
        CREATE TRIGGER reminders_go AFTER DELETE ON inbox BEGIN
            DELETE FROM reminders WHERE entry = old.entry;
        END;

        CREATE TABLE wakes (app_id TEXT PRIMARY KEY, entry INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE wake_starts (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app_id TEXT NOT NULL,
            started_ms INTEGER NOT NULL
        ) STRICT;
        """
}
