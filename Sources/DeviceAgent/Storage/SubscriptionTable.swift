// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// A channel that an app listens to, or did until just now.
package struct Subscription: Sendable, Equatable {
    /// What the server knows of it; the raw values are in the database.
    package enum State: String, Sendable, CaseIterable {
        /// The server is to be told.
        case wanted
        /// The server confirmed it.
        case held
        /// The app does not want it any more, and the server is to be told.
        case unwanted
    }

    /// The app.
    package var appID: String
    /// The channel id, 24 characters.
    package var channel: String
    /// What the server knows of it.
    package var state: State

    /// Joins the parts.
    package init(appID: String, channel: String, state: State) {
        self.appID = appID
        self.channel = channel
        self.state = state
    }
}

/// The table of channels that apps listen to, in the order in which they began.
///
/// ```
///        want          server confirms
///   ──────────▶ wanted ──────────────▶ held
///                 │  ◀── server lost it ─┘
///                 └──unwant──▶ unwanted ◀── unwant ── held
///                                  └── server confirms ──▶ gone
/// ```
package final class SubscriptionTable {
    private let connection: Connection
    private let want: Statement
    private let addUnwanted: Statement
    private let changeState: Statement
    private let delete: Statement
    private let deleteOfApp: Statement
    private let deleteUnwanted: Statement
    private let wantAllAgain: Statement
    private let wantAgain: Statement
    private let selectState: Statement
    private let selectOfApp: Statement
    private let selectPending: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        want = try connection.prepare(
            """
            INSERT INTO subscriptions (app_id, channel, state) VALUES (?, ?, 'wanted')
            ON CONFLICT DO UPDATE SET state = 'wanted' WHERE state = 'unwanted'
            """)
        addUnwanted = try connection.prepare(
            "INSERT OR IGNORE INTO subscriptions (app_id, channel, state) VALUES (?, ?, 'unwanted')")
        changeState = try connection.prepare(
            "UPDATE subscriptions SET state = ?4 WHERE app_id = ?1 AND channel = ?2 AND instr(?3, ' ' || state || ' ')")
        delete = try connection.prepare("DELETE FROM subscriptions WHERE app_id = ? AND channel = ? AND state = ?")
        deleteOfApp = try connection.prepare("DELETE FROM subscriptions WHERE app_id = ?")
        deleteUnwanted = try connection.prepare("DELETE FROM subscriptions WHERE state = 'unwanted'")
        wantAllAgain = try connection.prepare("UPDATE subscriptions SET state = 'wanted' WHERE state = 'held'")
        wantAgain = try connection.prepare(
            "UPDATE subscriptions SET state = 'wanted' WHERE app_id = ? AND state = 'held'")
        selectState = try connection.prepare("SELECT state FROM subscriptions WHERE app_id = ? AND channel = ?")
        selectOfApp = try connection.prepare(
            "SELECT app_id, channel, state FROM subscriptions WHERE app_id = ? ORDER BY position")
        // An app without a device token has no registration that could have subscriptions.
        selectPending = try connection.prepare(
            """
            SELECT subscriptions.app_id, channel, state FROM subscriptions
                JOIN apps ON apps.app_id = subscriptions.app_id AND apps.device_token <> ''
            WHERE state <> 'held' ORDER BY position LIMIT 1
            """)
    }

    // MARK: What apps want

    /// Begins a subscription; one that is there stays.
    package func want(_ channel: String, of appID: String) throws(SQLiteError) {
        want.bind(appID, at: 1)
        want.bind(channel, at: 2)
        try want.run()
    }

    /// Ends a subscription, of which the server is still to be told; false when there is none.
    package func unwant(_ channel: String, of appID: String) throws(SQLiteError) -> Bool {
        try change(channel, of: appID, from: [.wanted, .held], to: .unwanted)
    }

    /// The state of one; nil when there is none.
    package func state(of channel: String, of appID: String) throws(SQLiteError) -> Subscription.State? {
        defer { selectState.reset() }
        selectState.bind(appID, at: 1)
        selectState.bind(channel, at: 2)
        guard try selectState.step() else { return nil }
        return Subscription.State(rawValue: selectState.string(0))
    }

    /// All of an app, also those that the server is still to end.
    package func all(of appID: String) throws(SQLiteError) -> [Subscription] {
        selectOfApp.bind(appID, at: 1)
        return try subscriptions(selectOfApp)
    }

    /// Forgets all of an app: the server forgot them with its registration.
    package func removeAll(of appID: String) throws(SQLiteError) {
        deleteOfApp.bind(appID, at: 1)
        try deleteOfApp.run()
    }

    // MARK: What the server knows

    /// The oldest of which the server is to be told; nil when it knows of all.
    package func firstPending() throws(SQLiteError) -> Subscription? { try subscriptions(selectPending).first }

    /// The server has it.
    package func hold(_ channel: String, of appID: String) throws(SQLiteError) {
        _ = try change(channel, of: appID, from: [.wanted], to: .held)
    }

    /// Forgets one that is still in a state, because the server ended or refused it; false when it is in another.
    package func remove(
        _ channel: String, of appID: String, whileIn state: Subscription.State
    ) throws(SQLiteError) -> Bool {
        delete.bind(appID, at: 1)
        delete.bind(channel, at: 2)
        delete.bind(state.rawValue, at: 3)
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// Remembers to end one at the server that it has and we do not.
    package func addUnwanted(_ channel: String, of appID: String) throws(SQLiteError) {
        addUnwanted.bind(appID, at: 1)
        addUnwanted.bind(channel, at: 2)
        try addUnwanted.run()
    }

    /// Brings what we know of an app's subscriptions at the server up to date.
    package func settle(_ appID: String, serverHas channels: [String]) throws(SQLiteError) {
        let known = Set(channels)
        for subscription in try all(of: appID) {
            switch (subscription.state, known.contains(subscription.channel)) {
            case (.held, false): _ = try change(subscription.channel, of: appID, from: [.held], to: .wanted)
            case (.unwanted, false): _ = try remove(subscription.channel, of: appID, whileIn: .unwanted)
            case (.held, true), (.wanted, _), (.unwanted, true): break
            }
        }
        for channel in channels { try addUnwanted(channel, of: appID) }
    }

    /// After the server lost an app's registration: it is to be told of each subscription again.
    package func wantAgain(_ appID: String) throws(SQLiteError) {
        wantAgain.bind(appID, at: 1)
        try wantAgain.run()
    }

    /// After leaving a server: the next one is to be told of all.
    package func forgetServer() throws(SQLiteError) {
        try deleteUnwanted.run()
        try wantAllAgain.run()
    }

    private func change(
        _ channel: String, of appID: String, from states: [Subscription.State], to state: Subscription.State
    ) throws(SQLiteError) -> Bool {
        changeState.bind(appID, at: 1)
        changeState.bind(channel, at: 2)
        changeState.bind(" " + states.map(\.rawValue).joined(separator: " ") + " ", at: 3)
        changeState.bind(state.rawValue, at: 4)
        try changeState.run()
        return connection.changedRowCount > 0
    }

    private func subscriptions(_ statement: Statement) throws(SQLiteError) -> [Subscription] {
        defer { statement.reset() }
        var subscriptions: [Subscription] = []
        while try statement.step() {
            guard let state = Subscription.State(rawValue: statement.string(2)) else { continue }
            subscriptions.append(
                Subscription(appID: statement.string(0), channel: statement.string(1), state: state))
        }
        return subscriptions
    }
}
