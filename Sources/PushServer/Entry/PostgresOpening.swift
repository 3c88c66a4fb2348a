// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushStore

/// Opens the store in PostgreSQL, and logs its connections.
enum PostgresOpening {
    static func open(
        _ address: PostgresAddress, _ configuration: ServerConfiguration, _ installation: Installation,
        _ options: StoreConfiguration, _ links: LinkConfiguration?, _ log: EventLog
    ) throws(ServerError) -> any ServerStore {
        var store = PostgresStoreConfiguration(
            address: address, node: configuration.nodeName ?? ProcessFacts.hostName, version: ProductVersion.text,
            store: options)
        store.patienceMilliseconds = configuration.acceptPatienceSeconds * 1_000
        store.links = links
        store.furtherShards = configuration.shardAddresses
        try takeOver(installation.nodeFile, &store)
        store.onFinding = { finding in
            log.warning("postgres_warning", ["code": finding.code, "warning": "\(finding)"])
        }
        // An attempt to connect may fail several times a second, so only changes are logged.
        let last = Lock<[Int: String]>([:])
        let addresses = [address] + configuration.shardAddresses
        store.onConnection = { shard, reason in
            let isNew = last.withLock { last in
                let text = reason ?? ""
                defer { last[shard] = text }
                return last[shard] ?? "" != text
            }
            guard isNew else { return }
            if let reason {
                log.warning("postgres_disconnected", ["shard": "\(shard)", "reason": reason])
            } else {
                log.info("postgres_connected", ["shard": "\(shard)", "server": "\(addresses[shard])"])
            }
        }
        store.onFailedRequest = { log.warning("postgres_request_failed", ["reason": $0]) }
        store.onLease = { shard, isHeld in
            if isHeld {
                log.info("node_resumed", ["shard": "\(shard)"])
            } else {
                log.warning("node_suspended", ["shard": "\(shard)"])
            }
        }
        store.onClock = { agreement, difference in
            let fields: KeyValuePairs = ["milliseconds": "\(difference)"]
            switch agreement {
            case .agrees: log.info("clock_agrees", fields)
            case .differs: log.warning("clock_differs", fields)
            case .suspends: log.error("clock_suspends", fields)
            }
        }
        do throws(PostgresStoreError) {
            return try PostgresStore(store)
        } catch {
            throw .store(error)
        }
    }

    /// Locks the node, and takes over the number of the earlier instance, which cannot run any more.
    private static func takeOver(
        _ file: String, _ store: inout PostgresStoreConfiguration
    ) throws(ServerError) {
        store.lock = try ServerError.wrapping { () throws(NetError) in try FileLock.take("\(file).lock") }
        guard store.lock != nil else {
            let text = "the server of this data directory runs"
            throw .store(StoreError.locked(path: "\(file).lock", code: "flock", text: text))
        }
        if PrivateFile.exists(file) {
            let bytes = try ServerError.wrapping { () throws(NetError) in try PrivateFile.read(file, byteCountMax: 64) }
            store.earlierInstance = Int64(String(decoding: bytes, as: UTF8.self)).map(InstanceID.init)
        }
        store.onRegistered = { instance in
            // Without the file, the next start waits until the last heartbeat is too old.
            try? PrivateFile.write(Array("\(instance.rawValue)".utf8), to: file)
        }
    }
}
