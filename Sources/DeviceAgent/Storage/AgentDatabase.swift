// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// The agent's database, `agent.sqlite`: everything that must survive a restart, except the secret.
///
/// One thread. Commits survive a loss of power, because an acknowledgement lets the server forget.
package final class AgentDatabase {
    /// Who we are.
    package let identity: IdentityTable
    /// Facts about the agent: numbers by name.
    package let facts: FactTable
    /// What the person chose.
    package let choices: ChoiceTable
    /// What the administrator set.
    package let policy: PolicyTable
    /// What kinds of events apps declared.
    package let eventTypes: EventTypeTable
    /// What holds, of choices and policy.
    package let settings: SettingStore
    /// Registered apps.
    package let apps: AppTable
    /// Notifications.
    package let inbox: InboxTable
    /// Finds notifications by their words.
    package let search: InboxSearch
    /// Acknowledgements to send.
    package let outbox: OutboxTable
    /// Alerts on the screen.
    package let alerts: AlertTable
    /// What apps' filters made of notifications.
    package let filters: FilterTable
    /// Channels that apps listen to.
    package let subscriptions: SubscriptionTable
    /// Which apps were seen to be installed.
    package let installations: InstallationTable

    private let connection: Connection

    /// Opens the file, or makes it, and brings it up to date.
    package init(path: String) throws(StorageError) {
        do {
            connection = try Connection(path: path, durability: .full, exclusive: true)
        } catch {
            throw .database(error)
        }
        do {
            try AgentSchema.migrations.apply(to: connection)
        } catch {
            switch error {
            case .newer(let found, let known): throw .newerDatabase(path: path, found: found, known: known)
            case .failed(_, let error): throw .database(error)
            }
        }
        do {
            identity = try IdentityTable(connection)
            facts = try FactTable(connection)
            choices = try ChoiceTable(connection)
            policy = try PolicyTable(connection)
            eventTypes = try EventTypeTable(connection)
            settings = SettingStore(choices, policy)
            apps = try AppTable(connection)
            inbox = try InboxTable(connection)
            search = try InboxSearch(connection)
            outbox = try OutboxTable(connection)
            alerts = try AlertTable(connection)
            filters = try FilterTable(connection)
            subscriptions = try SubscriptionTable(connection)
            installations = try InstallationTable(connection)
        } catch {
            throw .database(error)
        }
    }

    /// Does all of the body or nothing; when it returns, it is on the disk.
    package func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try connection.transaction(body)
    }

    /// Inside a transaction, does all of the body or nothing.
    func part(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) { try connection.part(body) }
}
