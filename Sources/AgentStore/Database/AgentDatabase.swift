// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet
package import PushSQL
internal import PushSQLite

/// The agent's database, `agent.sqlite`, with everything that must survive a restart, except the secret.
///
/// Used from one thread. Commits survive a power failure, because the server deletes a notification after its
/// acknowledgement.
package final class AgentDatabase {
    /// The identity of the device at its server.
    package let identity: IdentityTable
    /// The authorities that this device trusts for its server.
    package let authorities: AuthorityTable
    /// The agent's stored state: numbers by name.
    package let state: AgentStateTable
    /// The user's choices.
    package let choices: ChoiceTable
    /// The administrator's settings.
    package let policy: LocalPolicyTable
    /// The event types that apps declared.
    package let eventTypes: EventTypeTable
    /// The effective settings, from choices and policy.
    package let settings: SettingStore
    package let apps: AppTable
    package let inbox: InboxTable
    /// The full-text search in notifications.
    package let search: InboxSearch
    /// The acknowledgements to send.
    package let outbox: OutboxTable
    /// The alerts on the screen.
    package let alerts: AlertTable
    /// Due filters and filter results.
    package let filters: FilterTable
    /// The hooks that must still run.
    package let hooks: HookTable
    /// The notifications to show again.
    package let reminders: ReminderTable
    /// The wakes of apps in the background.
    package let wakes: WakeTable
    /// The apps' subscriptions to channels.
    package let subscriptions: LocalSubscriptionTable
    /// The apps that were once found installed.
    package let installations: InstallationTable

    /// The path, for errors.
    package let path: String
    private let connection: Connection

    /// Opens or creates the database, and migrates it.
    ///
    /// Files of the database that other users can access get mode 0600 first.
    ///
    /// - Parameter path: The path of the database.
    /// - Throws: `StorageError` if a file cannot be used.
    package init(path: String) throws(StorageError) {
        self.path = path
        for name in [path, "\(path)-wal", "\(path)-shm", "\(path)-journal"] { try Self.restrictAccess(to: name) }
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
            authorities = try AuthorityTable(connection)
            state = try AgentStateTable(connection)
            choices = try ChoiceTable(connection)
            policy = try LocalPolicyTable(connection)
            eventTypes = try EventTypeTable(connection)
            settings = SettingStore(choices, policy)
            apps = try AppTable(connection)
            inbox = try InboxTable(connection)
            search = try InboxSearch(connection)
            outbox = try OutboxTable(connection)
            alerts = try AlertTable(connection)
            filters = try FilterTable(connection)
            hooks = try HookTable(connection)
            reminders = try ReminderTable(connection)
            wakes = try WakeTable(connection)
            subscriptions = try LocalSubscriptionTable(connection)
            installations = try InstallationTable(connection)
        } catch {
            throw .opening(path, error)
        }
    }

    /// Sets mode 0600 on a file that other users can access, and logs a warning; a missing file is not an error.
    private static func restrictAccess(to path: String) throws(StorageError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
            return
        }
        guard unsafe chmod(path, 0o600) == 0 else { throw .file(path: path, code: errno) }
        agentLog.warning("database_was_open_to_others", ["path": path])
    }

    /// Runs the body in a transaction, whose changes are on the disk when this function returns.
    package func transaction<Result>(_ body: () throws(SQLError) -> Result) throws(SQLError) -> Result {
        try connection.transaction(body)
    }

    /// Runs the body in a savepoint of the current transaction.
    package func savepoint(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        try connection.savepoint(body)
    }
}

extension StorageError {
    /// Creates the error for a database that could not be opened.
    package static func opening(_ path: String, _ error: SQLError) -> StorageError {
        error.kind == .damaged ? .damagedDatabase(path: path, error) : .database(error)
    }
}
