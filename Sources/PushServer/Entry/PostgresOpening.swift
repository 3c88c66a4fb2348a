// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushStore

/// Opens the store in PostgreSQL, and logs its connections.
enum PostgresOpening {
    static func open(
        _ address: PostgresAddress, _ configuration: ServerConfiguration, _ options: StoreConfiguration, _ log: EventLog
    ) throws(ServerError) -> any ServerStore {
        var store = PostgresStoreConfiguration(
            address: address, node: configuration.nodeName ?? ProcessFacts.hostName, version: ProductVersion.text,
            store: options)
        store.patienceMilliseconds = configuration.acceptPatienceSeconds * 1_000
        store.onFinding = { finding in
            log.warning("postgres_warning", ["code": finding.code, "warning": "\(finding)"])
        }
        // An attempt to connect may fail several times a second, so only changes are logged.
        let last = Lock<String?>(nil)
        store.onConnection = { reason in
            let isNew = last.withLock { last in
                defer { last = reason }
                return last != reason
            }
            guard isNew else { return }
            if let reason {
                log.warning("postgres_disconnected", ["reason": reason])
            } else {
                log.info("postgres_connected", ["server": "\(address)"])
            }
        }
        do throws(PostgresStoreError) {
            return try PostgresStore(store)
        } catch {
            throw .postgres(error)
        }
    }
}
