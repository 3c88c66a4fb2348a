// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The connection of a worker, which is opened again after a loss.
final class RequestSession {
    private static let pauseMilliseconds = 200
    /// The number of attempts to connect for one job, which take about as long as a fail-over.
    private static let attemptCountMax = 40

    private let configuration: PostgresStoreConfiguration
    private let instance: InstanceID
    private let bounds: StoreBounds
    private let report: @Sendable (RequestWorker.Outcome) -> Void
    private var open: (connection: PostgresConnection, requests: PostgresRequests)?
    private let history: HistoryWork

    init(
        _ configuration: PostgresStoreConfiguration, _ instance: InstanceID, _ bounds: StoreBounds,
        report: @escaping @Sendable (RequestWorker.Outcome) -> Void
    ) {
        self.configuration = configuration
        self.instance = instance
        self.bounds = bounds
        self.report = report
        history = HistoryWork(instance, hasTrace: configuration.store.hasTrace, report: report)
    }

    /// Performs a job, and reports its outcome.
    func run(_ job: RequestWorker.Job) {
        if case .writeHistory(let events, let histories) = job { history.add(events, histories) }
        do {
            try perform(job, try requests())
        } catch {
            if error.kind == .disconnected || open?.connection.isUsable == false { open = nil }
            refuse(job, error)
        }
    }

    /// Whether a search has more steps.
    var isSearching: Bool { history.isSearching }

    /// Makes one step of the next search.
    func continueSearch() {
        guard isSearching else { return }
        do {
            try history.continueSearch(try requests())
        } catch {
            if error.kind == .disconnected || open?.connection.isUsable == false { open = nil }
            history.refuseSearches(refusal(error))
        }
    }

    private func perform(_ job: RequestWorker.Job, _ requests: PostgresRequests) throws(SQLError) {
        switch job {
        case .perform(let request, let address):
            var failure: SQLError?
            let answer = try requests.perform(request) { effects in
                report(.effects(effects))
                guard effects.hasDirectoryChanged else { return }
                // The loops must have the new directory before the answer.
                do throws(SQLError) {
                    report(
                        .directory(try requests.directory(), try requests.quotaLimits(), nodes: try liveNodes()))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            report(.performed(answer, answer: address))
        case .identify(let credential, let stream, let agent):
            report(.identified(try requests.identify(credential), credential, stream: stream, agent: agent))
        case .noteSeen(let device, let agent): try requests.noteSeen([(device, agent)])
        case .readDirectory: report(.directory(try requests.directory(), try requests.quotaLimits()))
        case .publish(let broadcast, let publication):
            let result = try requests.publish(broadcast, number: publication.number) { report(.effects($0)) }
            report(.published(result, publication))
        case .trim(let device):
            try requests.trim(device) { report(.effects($0)) }
            report(.trimmed)
        case .readBroadcasts(let first): try readBroadcasts(from: first, requests)
        case .changeNode(let change, let address):
            let refusal = try open?.connection.execute(change)
            report(.nodeChanged(refusal.map { .failure($0) } ?? .success(.done), answer: address))
        case .readServerState(let address): report(.serverState(try serverState(), answer: address))
        case .sweep:
            let progress = try requests.sweep { report(.effects($0)) }
            report(.swept(expiredCount: progress.expiredCount, isMore: progress.isMore))
        case .writeHistory: try history.write(to: requests)
        case .search(let query, let address): try history.search(query, address, requests)
        }
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

    private func refusal(_ error: SQLError) -> StoreRefusal { .unavailable("PostgreSQL: \(error.message)") }

    /// Returns the instances with recent heartbeats; others read the control data when they start.
    private func liveNodes() throws(SQLError) -> [InstanceID] {
        guard let connection = open?.connection else { return [] }
        let statement = try connection.prepare(
            "SELECT instance FROM nodes WHERE seen_at > clock_timestamp() - interval '3 seconds'")
        var nodes: [InstanceID] = []
        while try statement.step() { nodes.append(InstanceID(rawValue: statement.int64(0))) }
        return nodes
    }

    private func serverState() throws(SQLError) -> ServerState? {
        guard let connection = open?.connection else { return nil }
        return ServerState(
            facts: try connection.serverFacts(), oldestTransactionSeconds: try connection.oldestTransactionSeconds())
    }

    /// Reports that a job failed; the directory is read again with the next heartbeat that finds a new version.
    private func refuse(_ job: RequestWorker.Job, _ error: SQLError) {
        let refusal = refusal(error)
        switch job {
        case .changeNode(_, let address): report(.nodeChanged(.failure(refusal), answer: address))
        case .perform(_, let address), .search(_, let address):
            report(.performed(.init(result: .failure(refusal)), answer: address))
        case .identify(_, let stream, _):
            // The device connects again.
            report(.performed(.init(result: .failure(refusal)), answer: stream))
        case .publish(_, let publication): report(.published(.refused(.serviceUnavailable), publication))
        case .trim: report(.trimmed)
        case .readServerState(let address): report(.serverState(nil, answer: address))
        case .noteSeen, .readDirectory, .readBroadcasts: break
        case .sweep: report(.swept(expiredCount: 0, isMore: false))
        case .writeHistory: history.noteFailedWrite()
        }
    }

    // MARK: The connection

    private func requests() throws(SQLError) -> PostgresRequests {
        if let open, open.connection.isUsable { return open.requests }
        var attempt = 1
        while true {
            do {
                let connection = try PostgresConnection(to: configuration.address, settings: configuration.session)
                let requests = try makeRequests(on: connection)
                open = (connection, requests)
                return requests
            } catch {
                guard attempt < Self.attemptCountMax else { throw error }
                attempt += 1
                ElapsedPause.wait(milliseconds: Self.pauseMilliseconds)
            }
        }
    }

    private func makeRequests(on connection: PostgresConnection) throws(SQLError) -> PostgresRequests {
        let clock = try connection.prepare("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        let now = configuration.store.now
        let time: () -> Timestamp = {
            defer { clock.reset() }
            guard let isRow = try? clock.step(), isRow else { return now() }
            return Timestamp(unixMilliseconds: clock.int64(0))
        }
        var environment = PostgresRequests.Environment(
            node: Int64(instance.node.rawValue), now: configuration.requestTime ?? time,
            lastAnswered: { NotificationIDLayout.least(at: time().unixMilliseconds) - 1 },
            transaction: { body throws(SQLError) in
                try connection.transaction { () throws(SQLError) in try body() }
            }, pause: { range in ElapsedPause.wait(milliseconds: .random(in: range)) })
        environment.hasTrace = configuration.store.hasTrace
        return try PostgresRequests(connection, bounds, environment)
    }
}
