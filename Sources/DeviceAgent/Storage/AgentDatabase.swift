// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet
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
    /// Hooks that are still to run.
    package let hooks: HookTable
    /// Wakes in the background.
    package let wakes: WakeTable
    /// Channels that apps listen to.
    package let subscriptions: SubscriptionTable
    /// Which apps were seen to be installed.
    package let installations: InstallationTable

    /// The file, for errors.
    let path: String
    private let connection: Connection

    /// Opens the file, or makes it, and brings it up to date.
    ///
    /// What others may read or write of it is taken back from them first.
    package init(path: String) throws(StorageError) {
        self.path = path
        for name in [path, "\(path)-wal", "\(path)-shm", "\(path)-journal"] { try Self.close(name) }
        do {
            connection = try Connection(path: path, durability: .full, exclusive: true)
        } catch {
            throw .opening(path, error)
        }
        do {
            try AgentSchema.migrations.apply(to: connection)
        } catch {
            switch error {
            case .newer(let found, let known): throw .newerDatabase(path: path, found: found, known: known)
            case .failed(_, let error): throw .opening(path, error)
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
            hooks = try HookTable(connection)
            wakes = try WakeTable(connection)
            subscriptions = try SubscriptionTable(connection)
            installations = try InstallationTable(connection)
        } catch {
            throw .opening(path, error)
        }
    }

    /// Gives a file that others may use mode 0600, with a warning; one that is not there is no error.
    private static func close(_ path: String) throws(StorageError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
            return
        }
        guard unsafe chmod(path, 0o600) == 0 else { throw .file(path: path, code: errno) }
        agentLog.warning("database_was_open_to_others", ["path": path])
    }

    /// Does all of the body or nothing; when it returns, it is on the disk.
    package func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try connection.transaction(body)
    }

    /// Inside a transaction, does all of the body or nothing.
    func part(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) { try connection.part(body) }
}

extension StorageError {
    /// What SQLite said of a file that was to be opened.
    static func opening(_ path: String, _ error: SQLiteError) -> StorageError {
        error.isCorrupt ? .damagedDatabase(path: path, error) : .database(error)
    }
}
