// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// The tables of the agent's database.
///
///     identity       who we are at which server; at most one row
///     settings       facts about the agent: numbers by name
///     choices        what the person chose, for everything, for an app or for one of its event types
///     policy         what the administrator set, as the server told it
///     event_types    what kinds of events apps declared
///     apps           registered apps and their badge
///     inbox          every notification, until a person clears it, or it is too old or too many have come since
///     seen           ids of notifications that came; outlives the inbox, so that a repetition is known as one
///     outbox         acknowledgements that the server has not confirmed
///     alerts         which alerts are on the screen, and where, so that the next run takes them up
///     filters        what apps' filters made of notifications, and which are still to run
///     hooks          alerts on the screen whose hook has not begun
///     wakes          the newest notification of each app that waits to wake it
///     wake_starts    when apps were woken of late
///     subscriptions  channels that apps listen to, and what the server does not know of it yet
///     installations  apps whose .desktop file was seen, and since when it is gone
enum AgentSchema {
    static let migrations = Migrations([.sql(first), .sql(second), .sql(third), .sql(fourth), .sql(fifth), .sql(sixth)])

    private static let first: StaticString = """
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            server_url TEXT NOT NULL,
            device_id TEXT NOT NULL,
            ca_file TEXT NOT NULL
        ) STRICT;
        CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE apps (
            app_id TEXT PRIMARY KEY,
            topic TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            icon TEXT,
            device_token TEXT NOT NULL,
            badge INTEGER NOT NULL DEFAULT 0,
            badge_sequence INTEGER NOT NULL DEFAULT 0,
            badge_accepted_ms INTEGER NOT NULL DEFAULT 0,
            allows_badge INTEGER NOT NULL DEFAULT 1,
            allows_sound INTEGER NOT NULL DEFAULT 1,
            allows_alert INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID;
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
            reason TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX inbox_unfinished ON inbox (entry) WHERE state IN ('waiting', 'claimed');
        CREATE TABLE seen (position INTEGER PRIMARY KEY AUTOINCREMENT, unique_id TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE outbox (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            sequence INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            reason TEXT
        ) STRICT;
        """

    private static let second: StaticString = """
        CREATE TABLE alerts (
            entry INTEGER PRIMARY KEY,
            owner TEXT NOT NULL,
            number INTEGER NOT NULL UNIQUE
        ) STRICT;
        """

    private static let third: StaticString = """
        ALTER TABLE apps ADD COLUMN environment TEXT NOT NULL DEFAULT 'production';
        ALTER TABLE inbox ADD COLUMN channel TEXT;
        CREATE TABLE subscriptions (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app_id TEXT NOT NULL,
            channel TEXT NOT NULL,
            state TEXT NOT NULL,
            UNIQUE (app_id, channel)
        ) STRICT;
        CREATE INDEX subscriptions_pending ON subscriptions (position) WHERE state <> 'held';
        """

    private static let fourth: StaticString = """
        CREATE TABLE choices (
            app_id TEXT NOT NULL,
            event TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (app_id, event, name)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO choices SELECT '', '', 'master', 'off' FROM settings WHERE name = 'master' AND value = 0;
        DELETE FROM settings WHERE name = 'master';
        INSERT INTO choices SELECT app_id, '', 'badge', 'off' FROM apps WHERE allows_badge = 0;
        INSERT INTO choices SELECT app_id, '', 'sound', 'off' FROM apps WHERE allows_sound = 0;
        INSERT INTO choices SELECT app_id, '', 'alert', 'none' FROM apps WHERE allows_alert = 0;
        ALTER TABLE apps DROP COLUMN allows_badge;
        ALTER TABLE apps DROP COLUMN allows_sound;
        ALTER TABLE apps DROP COLUMN allows_alert;
        ALTER TABLE apps ADD COLUMN manifest BLOB NOT NULL DEFAULT x'';
        CREATE TABLE policy (
            topic TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            is_locked INTEGER NOT NULL,
            PRIMARY KEY (topic, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE event_types (
            app_id TEXT NOT NULL,
            event TEXT NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (app_id, event)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE inbox ADD COLUMN effects TEXT NOT NULL DEFAULT '';
        ALTER TABLE inbox ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0;
        """

    private static let fifth: StaticString = """
        CREATE TABLE installations (app_id TEXT PRIMARY KEY, gone_seconds INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE alerts_of_servers (
            entry INTEGER PRIMARY KEY,
            owner TEXT NOT NULL,
            number INTEGER NOT NULL,
            UNIQUE (owner, number)
        ) STRICT;
        INSERT INTO alerts_of_servers SELECT entry, owner, number FROM alerts;
        DROP TABLE alerts;
        ALTER TABLE alerts_of_servers RENAME TO alerts;
        ALTER TABLE inbox ADD COLUMN thread_id TEXT;
        CREATE TABLE filters (
            entry INTEGER PRIMARY KEY,
            is_due INTEGER NOT NULL,
            payload BLOB,
            note TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE TRIGGER filters_go AFTER DELETE ON inbox BEGIN
            DELETE FROM filters WHERE entry = old.entry;
        END;
        """

    private static let sixth: StaticString = """
        CREATE TABLE hooks (entry INTEGER PRIMARY KEY) STRICT;
        CREATE TRIGGER hooks_go AFTER DELETE ON inbox BEGIN
            DELETE FROM hooks WHERE entry = old.entry;
        END;
        CREATE TABLE wakes (app_id TEXT PRIMARY KEY, entry INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE wake_starts (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app_id TEXT NOT NULL,
            started_ms INTEGER NOT NULL
        ) STRICT;
        """
}
