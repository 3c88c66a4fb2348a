// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// Performs the jobs of a worker on its connections.
final class RequestSession {
    private let configuration: PostgresStoreConfiguration
    private let instance: InstanceID
    private let report: @Sendable (RequestWorker.Outcome) -> Void
    private let connections: ShardConnections
    /// The connections for descriptions of the shards, which must not wait long for one that hangs.
    private let inquiries: ShardConnections
    private let history: HistoryWork
    /// The secrets of the cluster; nil without links.
    private let keeper: SecretKeeper?
    /// The requests with remaining steps, by the numbers of their jobs.
    private var unfinished: [Int64: PostgresRequests.UnfinishedRequest] = [:]

    init(
        _ configuration: PostgresStoreConfiguration, _ instance: InstanceID, _ connections: ShardConnections,
        inquiries: ShardConnections,
        report: @escaping @Sendable (RequestWorker.Outcome) -> Void
    ) {
        self.configuration = configuration
        self.instance = instance
        self.report = report
        self.connections = connections
        self.inquiries = inquiries
        keeper = configuration.links?.keeper
        history = HistoryWork(instance, hasTrace: configuration.store.hasTrace, connections, report: report)
    }

    /// Performs a job, or its next step, and reports the outcome.
    ///
    /// A restart of PostgreSQL closes the connections of an idle worker. The worker notices this in its next job. Then
    /// it performs the job again on a new connection, unless a transaction may have been committed.
    ///
    /// - Parameter turn: The job.
    /// - Returns: Whether no step is left.
    func run(_ turn: RequestQueue.Turn) -> Bool {
        let job = turn.job
        if case .writeHistory(let events, let histories) = job { history.add(events, histories) }
        connections.waitsUntil = job.waitsUntil(
            turn.submittedAt, patienceMilliseconds: configuration.patienceMilliseconds)
        do throws(SQLError) {
            return try performRepeatedly(turn)
        } catch {
            connections.close(after: error)
            refuse(job, error)
            return true
        }
    }

    private func performRepeatedly(_ turn: RequestQueue.Turn) throws(SQLError) -> Bool {
        let commitCount = connections.commitCount
        let rest = unfinished.removeValue(forKey: turn.number)
        do throws(SQLError) {
            return try perform(turn, rest)
        } catch {
            guard error.kind == .disconnected, turn.job.isRepeatable, rest == nil,
                connections.commitCount == commitCount
            else { throw error }
            connections.close(after: error)
            return try perform(turn, nil)
        }
    }

    /// Whether a search has more steps.
    var isSearching: Bool { history.isSearching }

    /// Makes one step of the next search.
    func continueSearch() {
        guard isSearching else { return }
        do {
            try history.continueSearch()
        } catch {
            connections.close(after: error)
            history.refuseSearches(refusal(error))
        }
    }

    private func perform(
        _ turn: RequestQueue.Turn, _ rest: PostgresRequests.UnfinishedRequest?
    ) throws(SQLError) -> Bool {
        if case .perform(let request, let address) = turn.job {
            return try perform(request, address, turn.number, rest)
        }
        try perform(turn.job)
        return true
    }

    private func perform(_ job: RequestWorker.Job) throws(SQLError) {
        switch job {
        case .perform: preconditionFailure("a request has steps")
        case .identify(let credential, let stream, let agent): try identify(credential, stream, agent)
        case .noteSeen(let device, let agent): try connections.requests(of: device).noteSeen([(device, agent)])
        case .readDirectory: report(.directory(try controlData()))
        case .publish(let broadcast, let publication):
            let result = try connections.control().publish(broadcast, number: publication.number) {
                report(.effects($0))
            }
            report(.published(result, publication))
        case .trim(let device):
            try connections.requests(of: device).trim(device) { report(.effects($0)) }
            report(.trimmed)
        case .readBroadcasts(let first): try readBroadcasts(from: first, try connections.control())
        case .changeNode(let change, let address):
            let refusal = try connections.connection(toShard: 0).execute(change, keeper)
            report(.nodeChanged(refusal.map { .failure($0) } ?? .success(.done), answer: address))
        case .changeKeys(let change, let address):
            report(.performed(.init(result: try execute(change)), answer: address))
        case .reviewSecrets:
            guard let keeper else { return }
            if try keeper.review(on: connections.connection(toShard: 0), as: instance) { report(.authorityChanged) }
        case .moveSlots(let step, let address): try moveSlots(step, address)
        case .finishUpgrade(let address):
            let refusal = try connections.connection(toShard: 0).finishUpgrade()
            report(.nodeChanged(refusal.map { .failure($0) } ?? .success(.done), answer: address))
        case .readServerState(let shards, let address):
            let states = (0..<connections.shardCount).map {
                shards.contains($0) ? serverState(ofShard: $0, on: inquiries) : nil
            }
            report(.serverStates(states, answer: address))
        case .sweep(let shard):
            let progress = try connections.requests(ofShard: shard).sweep { report(.effects($0)) }
            report(.swept(shard: shard, expiredCount: progress.expiredCount, isMore: progress.isMore))
        case .writeHistory: try history.write()
        case .search(let query, let address): try history.search(query, address)
        case .confirm: report(.confirmed)
        case .exchangeCounts(let events): try exchangeCounts(events)
        }
    }

    /// Performs a request, or its next step; returns whether no step is left.
    private func perform(
        _ request: StoreRequest, _ address: ReplyAddress, _ number: Int64, _ rest: PostgresRequests.UnfinishedRequest?
    ) throws(SQLError) -> Bool {
        if rest != nil { report(.resumed(number)) }
        var failure: SQLError?
        let committed = { (effects: PostgresEffects) in
            self.report(.effects(effects))
            guard effects.hasDirectoryChanged else { return }
            // The loops must have the new directory before the answer.
            do throws(SQLError) {
                var data = try self.controlData()
                data.nodes = try self.liveNodes()
                self.report(.directory(data))
            } catch {
                failure = error
            }
        }
        let progress =
            if let rest {
                try rest.resume(committed: committed)
            } else {
                try connections.sharded.begin(request, committed: committed)
            }
        if let failure { throw failure }
        switch progress {
        case .answered(let answer):
            report(.performed(answer, answer: address))
            return true
        case .unfinished(let rest):
            unfinished[number] = rest
            report(.suspended(number))
            return false
        }
    }

    private func identify(
        _ credential: DeviceCredential, _ stream: ReplyAddress, _ agent: String
    ) throws(SQLError) {
        let answer = try connections.sharded.perform(.device(.identify, by: credential)) { _ in }
        switch answer.result {
        case .success(.identified(let device)): report(.identified(device, credential, stream: stream, agent: agent))
        case .failure(.busy): report(.performed(answer, answer: stream))
        case .success, .failure: report(.identified(nil, credential, stream: stream, agent: agent))
        }
    }

    private func moveSlots(_ step: SlotMover.Step, _ address: ReplyAddress?) throws(SQLError) {
        let mover = SlotMover(connections: connections, instance: instance)
        let outcome = try mover.perform(step) { () throws(SQLError) in
            var effects = PostgresEffects()
            effects.hasDirectoryChanged = true
            report(.effects(effects))
            var data = try controlData()
            data.nodes = try liveNodes()
            report(.directory(data))
        }
        report(.slotsMoved(outcome, answer: address))
    }

    private func controlData() throws(SQLError) -> RequestWorker.ControlData {
        let requests = try connections.control()
        let (directory, limits) = (try requests.directory(), try requests.quotaLimits())
        // The assignment of devices may be newer than the directory, which does no harm.
        let control = try connections.connection(toShard: 0)
        let slots = try control.slots()
        return .init(
            directory: directory, quotaLimits: limits, slots: slots,
            databases: try control.databases(shardCount: connections.shardCount))
    }

    private func readBroadcasts(from first: Int64, _ requests: PostgresRequests) throws(SQLError) {
        var next: Int64? = first
        while let number = next {
            let page = try requests.storedBroadcasts(
                from: number, countMax: ClusterLimits.broadcastsPerReadingCountMax)
            report(.broadcasts(page.broadcasts))
            next = page.next
        }
    }

    private func execute(_ change: KeyChange?) throws(SQLError) -> Result<StoreAnswer, StoreRefusal> {
        guard let keeper else {
            return .failure(.keysUnchanged(SecretKeeper.noSharedKeys))
        }
        let (result, hasNewAuthority) = try keeper.execute(
            change, on: connections.connection(toShard: 0), as: instance)
        if hasNewAuthority { report(.authorityChanged) }
        return result.map { .clusterKeys($0) }
    }

    /// Returns the refusal of a job after an error.
    ///
    /// A commit that waits for a standby for too long, or whose answer is lost, may be complete.
    private func refusal(_ error: SQLError) -> StoreRefusal {
        let isUncertain = error.kind == .disconnected || error.code == Self.timeoutCode
        return isUncertain ? .unconfirmed("PostgreSQL: \(error.message)") : .unavailable("PostgreSQL: \(error.message)")
    }

    /// The code of a statement that took too long, `query_canceled`.
    private static let timeoutCode = "57014"

    /// Returns the instances with recent heartbeats; others read the control data when they start.
    private func liveNodes() throws(SQLError) -> [InstanceID] {
        let statement = try connections.connection(toShard: 0).prepare(
            "SELECT instance FROM nodes WHERE seen_at > clock_timestamp() - interval '3 seconds'")
        var nodes: [InstanceID] = []
        while try statement.step() { nodes.append(InstanceID(rawValue: statement.int64(0))) }
        return nodes
    }

    private func exchangeCounts(_ events: AdminAPI.Counts) throws(SQLError) {
        var sizes = try connections.control().exchangeCounts(events, instance: instance.rawValue)
        var states = [serverState(ofShard: 0, on: connections, sizes)]
        for shard in 1..<max(connections.shardCount, 1) {
            do throws(SQLError) {
                let shardSizes = try connections.requests(ofShard: shard).sizes()
                sizes.add(shardSizes)
                states.append(serverState(ofShard: shard, on: connections, shardSizes))
            } catch {
                connections.close(after: error)
                states.append(nil)
            }
        }
        report(.counts((sizes, states)))
    }

    /// Reads the state of a shard, and the sizes of its tables if they are not known yet.
    private func serverState(
        ofShard shard: Int, on connections: ShardConnections, _ sizes: StoreSizes? = nil, isRepeated: Bool = false
    ) -> ServerState? {
        do throws(SQLError) {
            let sizes = if let sizes { sizes } else { try connections.requests(ofShard: shard).sizes() }
            let connection = try connections.connection(toShard: shard)
            return ServerState(
                facts: try connection.serverFacts(), liveNodes: try connection.liveNodes(),
                oldestTransactionSeconds: try connection.oldestTransactionSeconds(),
                oldRetentions: try connection.oldRowRetentions(), waitingCount: sizes.pendingCount)
        } catch {
            connections.close(after: error)
            // The first statement after a fail-over finds that the connection is lost.
            guard error.kind == .disconnected, !isRepeated else { return nil }
            return serverState(ofShard: shard, on: connections, sizes, isRepeated: true)
        }
    }

    /// Reports that a job failed; the directory is read again with the next heartbeat that finds a new version.
    private func refuse(_ job: RequestWorker.Job, _ error: SQLError) {
        var refusal = refusal(error)
        if job.isOfStranger {
            configuration.onFailedRequest(error.message)
            refusal = .unavailable("its database did not perform the request")
        }
        switch job {
        case .changeNode(_, let address): report(.nodeChanged(.failure(refusal), answer: address))
        case .perform(_, let address), .search(_, let address), .changeKeys(_, let address):
            report(.performed(.init(result: .failure(refusal)), answer: address))
        case .identify(_, let stream, _):
            // The device connects again.
            report(.performed(.init(result: .failure(refusal)), answer: stream))
        case .publish(_, let publication): report(.published(.refused(.serviceUnavailable), publication))
        case .trim: report(.trimmed)
        case .moveSlots(_, let address): report(.slotsMoved(.failed(refusal), answer: address))
        case .finishUpgrade(let address): report(.nodeChanged(.failure(refusal), answer: address))
        case .readServerState(_, let address): report(.serverStates([], answer: address))
        case .noteSeen, .readDirectory, .readBroadcasts: break
        case .confirm: report(.confirmed)
        case .reviewSecrets: keeper?.endReview()
        case .sweep(let shard): report(.swept(shard: shard, expiredCount: 0, isMore: false))
        case .exchangeCounts: report(.counts(nil))
        case .writeHistory: history.noteFailedWrite()
        }
    }
}
