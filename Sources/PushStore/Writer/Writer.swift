// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQLite

/// The store's writer thread: drains the queue, applies commands in memory, commits durable changes, and sends replies.
///
/// ```
/// queue ─take▶ dispatcher: notifications, acknowledgements, streams ▶ deliveries
///                  │ due writes           requests, broadcasts: a slice of 2 ms, the rest waits │
///                  └────────▶ committer: one transaction ▶ answers
/// ```
/// Between transactions it reads for streams that need a refill, runs checkpoints, archives and sweeps.
final class Writer {
    private let queue: CommandQueue
    private let committer: Committer
    private let dispatcher: Dispatcher
    private let sweep: SweepSchedule
    private let feeder: StreamFeeder
    private let delayed: DelayedWrites
    private let gate: HandoverGate
    private let metrics: StoreMetrics
    /// The requests and broadcasts that wait for their slice.
    private let waiting = FairQueue<StoreTask>()
    /// The commands of this turn; a property, so that its storage is reused.
    private var taken = CommandQueue.Taken()
    /// Whether this turn's slice has started.
    private var hasUsedSlice = false

    init(
        _ opened: OpenedStore, queue: CommandQueue, _ sharing: HostSharing,
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) {
        self.queue = queue
        metrics = opened.metrics
        dispatcher = Dispatcher(
            opened.executor,
            DeliveryState(
                counters: opened.counters, opened.bounds, opened.executor, receivers: sharing.receivers,
                opened.metrics),
            opened.configuration, opened.bounds)
        gate = HandoverGate(dispatcher, sharing)
        committer = Committer(opened, dispatcher, waiting, onFatal: onFatal)
        sweep = SweepSchedule(committer)
        feeder = StreamFeeder(committer, sweep)
        delayed = DelayedWrites(committer)
    }

    /// Runs until the queue is closed and empty, then closes the database.
    func run() {
        begin()
        while turn(until: nextWork) {}
        close()
    }

    /// Runs one turn.
    ///
    /// - Parameter deadline: The time until which the turn waits for commands; in the past to wait for none.
    /// - Returns: Whether more turns follow; false after the queue was closed.
    func turn(until deadline: MonotonicTime) -> Bool {
        queue.take(until: deadline, into: &taken)
        metrics.beginTurn(at: .now)
        defer {
            publishCounts()
            metrics.endTurn(at: .now)
        }
        beginTurn()
        gate.takeJournals()
        for answer in taken.shed { dispatcher.deliveryState.replies.shed(answer) }
        for answer in taken.shedRequests { dispatcher.deliveryState.replies.refuse(.busy, answer) }
        process(taken.commands)
        serveWaiting(all: taken.isLast)
        handOver()
        dispatcher.sendReplies()
        committer.commitDue()
        feeder.feedStreams()
        searchTrace()
        dispatcher.sendReplies()
        delayed.flushTraceIfDue()
        delayed.writeHistoriesIfDue()
        committer.checkpointIfLong()
        committer.synchronizeIfDue()
        guard !taken.isLast else { return false }
        committer.executor.backups.step()
        delayed.archiveIfMany { gate.recallAll() }
        sweep.sweepIfDue()
        return true
    }

    /// Publishes the directory, before the first turn.
    func begin() {
        defer { publishCounts() }
        let configuration = committer.configuration
        committer.publishDirectory()
        if !committer.space.isHeld { configuration.onNotice(.diskFull(.noReserve(path: configuration.path))) }
        sweep.noteRunning([])
    }

    /// The time until which the writer may sleep.
    private var nextWork: MonotonicTime {
        guard committer.failure == nil else { return sweep.next }
        let isBusy =
            delayed.isArchiving || !dispatcher.deliveryState.searches.isEmpty || committer.executor.backups.isRunning
            || !waiting.isEmpty
        if isBusy || dispatcher.deliveryState.streams.anyNeedsRefill { return .past }
        var next = sweep.next
        if let due = delayed.nextDue { next = min(next, due) }
        if let due = dispatcher.nextDue { next = min(next, due) }
        if let end = dispatcher.deliveryState.streams.nextHeldBackEnd { next = min(next, end) }
        if let due = committer.synchronizationDue { next = min(next, due) }
        return next
    }

    private func beginTurn() {
        hasUsedSlice = false
        dispatcher.now = committer.configuration.now()
        dispatcher.deliveryState.now = dispatcher.now
        dispatcher.moment = committer.configuration.turnTime()
        dispatcher.deliveryState.moment = dispatcher.moment
        dispatcher.hasSpace = committer.hasSpace()
        dispatcher.deliveryState.streams.endGathering(by: dispatcher.moment)
    }

    /// Writes the counts to the metrics.
    private func publishCounts() {
        dispatcher.deliveryState.counters.publish(to: metrics)
        metrics.set(.devicesConnected, to: dispatcher.deliveryState.streams.count)
        metrics.set(.unwritten, to: dispatcher.pendingWrites.count)
        metrics.set(.waitingRequests, to: waiting.count)
        metrics.set(.traceEnd, to: Int(dispatcher.trace.nextPosition))
    }

    // MARK: Commands

    /// Executes commands in their order.
    ///
    /// Consecutive requests and broadcasts share a transaction. After the turn's slice is over, requests and broadcasts
    /// wait, while the dispatcher executes the commands after them.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - isAdmitted: Whether the commands have waited for the queues that they need.
    private func process(_ commands: [StoreCommand], isAdmitted: Bool = false) {
        var next = 0
        while next < commands.count || committer.failure != nil {
            if let failure = committer.failure {
                for command in commands[next...] + gate.removeParked() {
                    dispatcher.deliveryState.refuse(command, failure.description)
                }
                break
            }
            if !isAdmitted, !gate.admits(commands[next]) {
                next += 1
            } else if isForDispatcher(commands[next]) {
                dispatch(commands[next])
                next += 1
                if case .host(.returned) = commands[next - 1] { process(gate.takeReady(), isAdmitted: true) }
            } else if !waiting.isEmpty || hasUsedSlice && committer.executor.slice.isOver {
                wait(for: commands[next])
                next += 1
            } else {
                beginSlice()
                let first = next
                committer.commitRequests {
                    // The gate has admitted the first command above. This asks it about each of the others.
                    guard next < commands.count, !self.isForDispatcher(commands[next]) else { return nil }
                    guard next == first || isAdmitted || self.gate.isFree(commands[next]) else { return nil }
                    defer { next += 1 }
                    return StoreTask(commands[next])
                }
            }
        }
        dispatcher.sendReplies()
    }

    /// Hands the queues that became quiet to their hosts, unless requests wait, which may need them.
    private func handOver() {
        guard committer.failure == nil, waiting.isEmpty, !delayed.needsQueues else { return gate.forgetQuiet() }
        gate.handOver()
    }

    /// Queues a request or broadcast, or refuses it when too many wait already.
    private func wait(for command: StoreCommand) {
        guard !waiting.append(StoreTask(command)) else { return }
        switch command {
        case .publish(_, let answer): dispatcher.deliveryState.replies.shed(answer)
        case .perform(_, let answer): dispatcher.deliveryState.replies.refuse(.busy, answer)
        case .accept, .attach, .detach, .acknowledge, .usesDirectory, .host: break
        }
    }

    /// Executes waiting requests for one slice, unless this turn has had its slice; executes all of them when the store
    /// closes.
    private func serveWaiting(all isLast: Bool) {
        guard !hasUsedSlice || isLast else { return }
        while committer.failure == nil, !waiting.isEmpty {
            hasUsedSlice = false
            beginSlice()
            committer.commitRequests {
                let task = self.waiting.next()
                self.committer.executor.slice.isShared = self.waiting.hasTurn
                return task
            }
            guard isLast else { return }
        }
    }

    /// Starts the turn's slice, unless it was started.
    private func beginSlice() {
        committer.executor.slice.isShared = false
        guard !hasUsedSlice else { return }
        hasUsedSlice = true
        committer.executor.slice.begin()
    }

    private func isForDispatcher(_ command: StoreCommand) -> Bool {
        switch command {
        case .accept, .acknowledge, .attach, .detach, .perform(.device(.acknowledge, _), _),
            .perform(.device(.identify, _), _), .usesDirectory, .host:
            true
        case .publish, .perform: false
        }
    }

    private func dispatch(_ command: StoreCommand) {
        do {
            if case .host(let message) = command { try gate.take(message) } else { try dispatcher.take(command) }
        } catch {
            // The dispatcher only reads here, so the file is at fault.
            let error = StoreError(error, path: committer.configuration.path)
            dispatcher.deliveryState.refuse(command, error.description)
            committer.fail(error)
        }
    }

    // MARK: The trace

    /// Executes a bounded step of the next search.
    private func searchTrace() {
        guard committer.failure == nil, let search = dispatcher.deliveryState.searches.popFirst() else { return }
        do {
            if try committer.executor.traces.step(search) {
                dispatcher.deliveryState.searches.putBack(search)
            } else {
                dispatcher.deliveryState.replies.answer(.trace(search.findings), search.answer)
            }
        } catch {
            committer.fail(StoreError(error, path: committer.configuration.path))
        }
    }

    // MARK: The end

    /// Writes the last-seen times and everything buffered, and removes the write-ahead log.
    func close() {
        committer.isClosing = true
        committer.executor.backups.end(
            .failed(path: committer.configuration.path, code: "4", text: "the server stopped"))
        if committer.failure == nil { committer.commit(.all) }
        dispatcher.deliveryState.now = committer.configuration.now()
        dispatcher.deliveryState.noteConnectedSeen()
        sweep.noteRunning(dispatcher.deliveryState.takeSeen(countMax: .max))
        delayed.flushTrace()
        delayed.writeAllHistories()
        if committer.failure == nil { committer.checkpoint(.truncate) }
        dispatcher.sendReplies()
    }
}
