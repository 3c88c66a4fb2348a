// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// A channel that an app is subscribed to, or is being unsubscribed from.
package struct Subscription: Sendable, Equatable {
    /// The state of a subscription at the server; the database has the raw values.
    package enum State: String, Sendable, CaseIterable {
        /// The server does not know the subscription yet.
        case requested = "wanted"
        /// The server confirmed the subscription.
        case confirmed = "held"
        /// The app unsubscribed, and the server does not know it yet.
        case ending = "unwanted"
    }

    package var appID: AppID
    /// The channel ID, 24 characters.
    package var channel: String
    package var state: State

    package init(appID: AppID, channel: String, state: State) {
        self.appID = appID
        self.channel = channel
        self.state = state
    }
}

/// The table of the apps' subscriptions, in the order of their creation.
///
/// ```
///        request         server confirms
///   ─────────▶ requested ──────────────▶ confirmed
///                 │   ◀── server lost it ───┘
///                 └── requestEnd ──▶ ending ◀── requestEnd ── confirmed
///                                      └── server confirms ──▶ gone
/// ```
package final class LocalSubscriptionTable {
    private let connection: Connection
    private let insertRequested: Statement
    private let addEnding: Statement
    private let changeState: Statement
    private let delete: Statement
    private let deleteOfApp: Statement
    private let deleteEnding: Statement
    private let requestAllAgain: Statement
    private let requestAgain: Statement
    private let selectState: Statement
    private let selectOfApp: Statement
    private let selectPending: Statement

    init(_ connection: Connection) throws(SQLError) {
        self.connection = connection
        insertRequested = try connection.prepare(
            """
            INSERT INTO subscriptions (app_id, channel, state) VALUES (?, ?, 'wanted')
            ON CONFLICT DO UPDATE SET state = 'wanted' WHERE state = 'unwanted'
            """)
        addEnding = try connection.prepare(
            "INSERT OR IGNORE INTO subscriptions (app_id, channel, state) VALUES (?, ?, 'unwanted')")
        changeState = try connection.prepare(
            "UPDATE subscriptions SET state = ?4 WHERE app_id = ?1 AND channel = ?2 AND instr(?3, ' ' || state || ' ')")
        delete = try connection.prepare("DELETE FROM subscriptions WHERE app_id = ? AND channel = ? AND state = ?")
        deleteOfApp = try connection.prepare("DELETE FROM subscriptions WHERE app_id = ?")
        deleteEnding = try connection.prepare("DELETE FROM subscriptions WHERE state = 'unwanted'")
        requestAllAgain = try connection.prepare("UPDATE subscriptions SET state = 'wanted' WHERE state = 'held'")
        requestAgain = try connection.prepare(
            "UPDATE subscriptions SET state = 'wanted' WHERE app_id = ? AND state = 'held'")
        selectState = try connection.prepare("SELECT state FROM subscriptions WHERE app_id = ? AND channel = ?")
        selectOfApp = try connection.prepare(
            "SELECT app_id, channel, state FROM subscriptions WHERE app_id = ? ORDER BY position")
        // An app without a device token has no registration at the server, and so no subscriptions there.
        selectPending = try connection.prepare(
            """
            SELECT subscriptions.app_id, channel, state FROM subscriptions
                JOIN apps ON apps.app_id = subscriptions.app_id AND apps.device_token <> ''
            WHERE state <> 'held' ORDER BY position LIMIT 1
            """)
    }

    // MARK: Requests of apps

    /// Adds a subscription, or keeps an existing one.
    package func request(_ channel: String, of appID: AppID) throws(SQLError) {
        insertRequested.bind(appID.text, at: 1)
        insertRequested.bind(channel, at: 2)
        try insertRequested.run()
    }

    /// Ends a subscription and leaves the report to the server for later; returns false if there was no subscription.
    package func requestEnd(_ channel: String, of appID: AppID) throws(SQLError) -> Bool {
        try change(channel, of: appID, from: [.requested, .confirmed], to: .ending)
    }

    /// Returns the state of a subscription; nil if there is no subscription.
    package func state(of channel: String, of appID: AppID) throws(SQLError) -> Subscription.State? {
        defer { selectState.reset() }
        selectState.bind(appID.text, at: 1)
        selectState.bind(channel, at: 2)
        guard try selectState.step() else { return nil }
        return Subscription.State(rawValue: selectState.string(0))
    }

    /// Returns all subscriptions of an app, including those that the server has yet to end.
    package func all(of appID: AppID) throws(SQLError) -> [Subscription] {
        selectOfApp.bind(appID.text, at: 1)
        return try subscriptions(selectOfApp)
    }

    /// Deletes all subscriptions of an app, because the server deleted them with its registration.
    package func removeAll(of appID: AppID) throws(SQLError) {
        deleteOfApp.bind(appID.text, at: 1)
        try deleteOfApp.run()
    }

    // MARK: State at the server

    /// Returns the oldest subscription that the server must be told about; nil if it knows all.
    package func firstPending() throws(SQLError) -> Subscription? { try subscriptions(selectPending).first }

    /// Records that the server has a subscription.
    package func confirm(_ channel: String, of appID: AppID) throws(SQLError) {
        _ = try change(channel, of: appID, from: [.requested], to: .confirmed)
    }

    /// Deletes a subscription that the server ended or refused; returns false if its state has changed in the meantime.
    package func remove(
        _ channel: String, of appID: AppID, whileIn state: Subscription.State
    ) throws(SQLError) -> Bool {
        delete.bind(appID.text, at: 1)
        delete.bind(channel, at: 2)
        delete.bind(state.rawValue, at: 3)
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// Schedules the end of a subscription that only the server has.
    package func addEnding(_ channel: String, of appID: AppID) throws(SQLError) {
        addEnding.bind(appID.text, at: 1)
        addEnding.bind(channel, at: 2)
        try addEnding.run()
    }

    /// Updates an app's subscriptions from the list that the server has.
    package func settle(_ appID: AppID, serverHas channels: [String]) throws(SQLError) {
        let known = Set(channels)
        for subscription in try all(of: appID) {
            switch (subscription.state, known.contains(subscription.channel)) {
            case (.confirmed, false):
                _ = try change(subscription.channel, of: appID, from: [.confirmed], to: .requested)
            case (.ending, false): _ = try remove(subscription.channel, of: appID, whileIn: .ending)
            case (.confirmed, true), (.requested, _), (.ending, true): break
            }
        }
        for channel in channels { try addEnding(channel, of: appID) }
    }

    /// Marks an app's subscriptions as unknown to the server, after the server lost the app's registration.
    package func requestAgain(_ appID: AppID) throws(SQLError) {
        requestAgain.bind(appID.text, at: 1)
        try requestAgain.run()
    }

    /// Marks all subscriptions as unknown to the server, after the device left its server.
    package func forgetServer() throws(SQLError) {
        try deleteEnding.run()
        try requestAllAgain.run()
    }

    private func change(
        _ channel: String, of appID: AppID, from states: [Subscription.State], to state: Subscription.State
    ) throws(SQLError) -> Bool {
        changeState.bind(appID.text, at: 1)
        changeState.bind(channel, at: 2)
        changeState.bind(" " + states.map(\.rawValue).joined(separator: " ") + " ", at: 3)
        changeState.bind(state.rawValue, at: 4)
        try changeState.run()
        return connection.changedRowCount > 0
    }

    private func subscriptions(_ statement: Statement) throws(SQLError) -> [Subscription] {
        defer { statement.reset() }
        var subscriptions: [Subscription] = []
        while try statement.step() {
            guard let state = Subscription.State(rawValue: statement.string(2)) else { continue }
            subscriptions.append(
                Subscription(appID: AppID(statement.string(0)), channel: statement.string(1), state: state))
        }
        return subscriptions
    }
}
