// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Sends the statements of a node to a shard: one batch at a time, while the next one gathers.
///
/// ```
/// write, look, attach, read, delete ─▶ next batch ─previous one answered─▶ under way ─▶ results, in order
///            ▲────────────── the connection was lost, or the batch was refused ◀──────┘
/// ```
final class ShardQueue {
    let shard: Int
    private let context: NodeContext
    private var next = GatheredBatch()
    /// The notifications and streams that do not fit into the next batch.
    private var waitingWrites = FIFOQueue<WaitingNotification>()
    private var waitingStreams = FIFOQueue<(stream: HostedStream, attaches: Bool)>()
    private var underWay: (number: Int64, gathered: GatheredBatch)?
    private var lastNumber: Int64 = 0
    private var lastHeartbeat: MonotonicTime?
    /// Whether the next heartbeat must not wait, because other nodes wait for its content.
    private var isHeartbeatUrgent = false
    /// The time before which no batch is sent, after one was refused.
    private var pauseEnd = MonotonicTime.past
    private(set) var lease: Lease
    let load: ShardLoad
    /// The positions of the changes in the last answer to a heartbeat.
    private var heardChanges: Set<Int64> = []
    /// The first transaction whose changes the last answer to a heartbeat may lack.
    private var leastTransaction: Int64 = 0
    private var clock = ShardClock()
    /// Whether the last heartbeat found that the shard's clock was set forward.
    ///
    /// Other nodes may then have considered this node dead, and not sent it a message about the rows that they wrote.
    private(set) var mustReadAgain = false
    /// Whether notifications wait until other nodes have heard of devices in `changes`.
    var awaitsHearing = false
    /// The nodes, as this shard knows them.
    private var nodes: [NodeNumber: ShardResult.Node] = [:]
    /// Whether the connection to the shard is open.
    private(set) var isConnected = false

    init(_ shard: Int, _ context: NodeContext) {
        self.shard = shard
        self.context = context
        load = ShardLoad(context)
        lease = Lease(durationMilliseconds: context.configuration.leaseMilliseconds)
    }

    /// Whether the shard has answered a heartbeat of the last three seconds.
    var isHeard: Bool { lease.isValid(at: context.moment) }
    var hasLease: Bool { isHeard && !context.isClockWrong }

    // MARK: Gathering

    /// Writes a notification, and looks up the host of its device after the commit.
    func write(_ waiting: WaitingNotification) {
        waiting.isOrderedByNumber = true
        guard !next.isFullOfWrites, waitingWrites.isEmpty else { return waitingWrites.append(waiting) }
        addWrite(waiting)
    }

    private func addWrite(_ waiting: WaitingNotification) {
        next.write(waiting, now: context.now, at: context.moment)
        look(.written(waiting), waiting.device)
    }

    /// Looks up the host of a device.
    func look(_ look: GatheredBatch.Look, _ device: DeviceID) { next.look(look, device, at: context.moment) }

    /// Registers a stream in `hosts`, then reads the waiting rows of its device.
    func attach(_ stream: HostedStream) {
        add(stream, attaches: true)
    }

    /// Reads the waiting rows of a device, without those in the window of its stream.
    func read(_ stream: HostedStream) { add(stream, attaches: false) }

    private func add(_ stream: HostedStream, attaches: Bool) {
        guard !next.isFullOfStreams, waitingStreams.isEmpty else { return waitingStreams.append((stream, attaches)) }
        if attaches { next.attach(stream, at: context.moment) }
        next.read(stream, at: context.moment)
    }

    /// Removes the host of a device whose stream has ended.
    func depart(_ departure: ShardBatch.Departure) { next.depart(departure, at: context.moment) }

    func delete(_ row: RowReference) { next.delete(row, at: context.moment) }

    func acknowledge(_ acknowledgement: ShardBatch.Acknowledgement) {
        next.acknowledge(acknowledgement, at: context.moment)
    }

    /// Records that a device needs no earlier broadcasts of a channel.
    func skip(_ skip: ShardBatch.Skip) { next.skip(skip, at: context.moment) }

    /// Announces a device to the heartbeats of all nodes, then answers the notification.
    func announce(_ device: DeviceID, for waiting: WaitingNotification? = nil) {
        next.announce(device, for: waiting, at: context.moment)
    }

    // MARK: Sending

    /// Sends the next batch if it is due.
    func sendIfDue(to output: any ClusterOutput) {
        guard let due = nextDue, due <= context.moment else { return }
        removeLateWrites()
        next.removeEndedStreams(at: context.moment)
        if nextHeartbeat <= context.moment {
            lastHeartbeat = context.moment
            next.beat(
                .init(
                    idCeiling: context.idCeiling(), leastTransaction: leastTransaction,
                    leastBroadcast: context.leastBroadcast, isDrained: context.isDrained))
            isHeartbeatUrgent = false
        }
        lastNumber += 1
        next.batch.reportsReplaced = context.trace != nil
        next.sentAt = context.moment
        let batch = next.batch
        underWay = (lastNumber, next)
        next = GatheredBatch()
        refill()
        output.send(batch, number: lastNumber, toShard: shard)
    }

    /// Moves notifications and streams that waited for space to the next batch.
    private func refill() {
        while !next.isFullOfWrites, let waiting = waitingWrites.popFirst() { addWrite(waiting) }
        while !next.isFullOfStreams, let (stream, attaches) = waitingStreams.popFirst() {
            if attaches { next.attach(stream, at: context.moment) }
            next.read(stream, at: context.moment)
        }
    }

    /// Removes entries that are no longer needed, so that a long outage of the shard needs little memory.
    func removeObsolete() {
        next.removeObsolete(now: context.now, at: context.moment)
        for _ in 0..<waitingWrites.count {
            if let waiting = waitingWrites.popFirst(), !waiting.isObsolete { waitingWrites.append(waiting) }
        }
        for _ in 0..<waitingStreams.count {
            if let waiting = waitingStreams.popFirst(), !waiting.stream.hasEnded { waitingStreams.append(waiting) }
        }
        refill()
    }

    /// Removes the notifications that their senders write themselves, because the batch had to wait too long.
    private func removeLateWrites() {
        let late = next.removeWrites(where: context.isLate, now: context.now, at: context.moment)
        for waiting in late { context.step(waiting, .finish(.unavailable)) }
    }

    /// The time at which the next batch can be sent; nil while one is under way, or without a connection.
    var nextDue: MonotonicTime? {
        guard isConnected, underWay == nil else { return nil }
        guard let since = next.since else { return max(nextHeartbeat, pauseEnd) }
        let gathering = load.isBusy ? context.configuration.gatheringMilliseconds : 0
        return max(min(nextHeartbeat, since.advanced(byMilliseconds: gathering)), pauseEnd)
    }

    /// The time at which the next heartbeat is due.
    ///
    /// Without a recent answer, each batch has a heartbeat: a reading before the heartbeat may lack rows that no writer
    /// reports.
    private var nextHeartbeat: MonotonicTime {
        guard let lastHeartbeat, !isHeartbeatUrgent, isHeard else { return .past }
        let (normal, hearing) = (context.configuration.heartbeatMilliseconds, context.configuration.hearingMilliseconds)
        return lastHeartbeat.advanced(byMilliseconds: awaitsHearing ? hearing : normal)
    }

    // MARK: Results

    /// Takes the result of the batch that is under way; returns nil for any other one.
    func take(_ number: Int64) -> GatheredBatch? {
        guard let (current, gathered) = underWay, current == number else { return nil }
        underWay = nil
        return gathered
    }

    /// Ignores the streams of the batch that is under way, because its results may be outdated, and sends a heartbeat
    /// with the batch that registers them again.
    func leaseEnded() {
        underWay?.gathered.forgetStreams()
        isHeartbeatUrgent = true
    }

    /// Takes the answer to a heartbeat: renews the lease, and returns the devices that this node hears of now.
    func heard(_ heartbeat: ShardResult.Heartbeat, sentAt moment: MonotonicTime) -> [DeviceID] {
        lease.renew(sentAt: moment)
        for row in heartbeat.nodes { nodes[row.instance.node] = row }
        let new = heartbeat.changes.filter { !heardChanges.contains($0.position) }
        heardChanges = Set(heartbeat.changes.map(\.position))
        // The number is lower only if a new primary lacks later transactions. The next heartbeat then reads everything.
        let isLater = heartbeat.leastUnendedTransaction >= leastTransaction
        leastTransaction = isLater ? heartbeat.leastUnendedTransaction : 0
        // Another node may wait until this one has heard of them.
        if !new.isEmpty { isHeartbeatUrgent = true }
        return Array(Set(new.map(\.device))).sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: A clock that was set

    /// Takes the shard's time from the answer to a heartbeat, and returns the answer with corrected nodes.
    ///
    /// If the shard's clock was set forward, the heartbeats of live nodes look too old, although these nodes deliver.
    func corrected(_ heartbeat: ShardResult.Heartbeat, sentAt: MonotonicTime) -> ShardResult.Heartbeat {
        let agrees = clock.refine(heartbeat.time, asked: sentAt, answered: context.moment)
        if !agrees { clock.add(heartbeat.time, asked: sentAt, answered: context.moment) }
        mustReadAgain = !agrees && clock.wasSetForward(at: context.moment)
        guard clock.wasSetForward(at: context.moment) else { return heartbeat }
        var heartbeat = heartbeat
        for (index, row) in heartbeat.nodes.enumerated() where wasLive(row.instance) {
            heartbeat.nodes[index].isLive = true
        }
        return heartbeat
    }

    /// Returns a result with corrected hosts, of which some may look dead because the shard's clock was set forward.
    func corrected(_ result: ShardResult, sentAt: MonotonicTime) -> ShardResult {
        guard let time = result.lookedAt else { return result }
        let agrees = clock.refine(time, asked: sentAt, answered: context.moment)
        if !agrees { isHeartbeatUrgent = true }
        guard !agrees || clock.wasSetForward(at: context.moment) else { return result }
        var result = result
        for index in result.looks.indices {
            if let host = result.looks[index], wasLive(host.instance) { result.looks[index]?.isLive = true }
        }
        return result
    }

    private func wasLive(_ instance: InstanceID) -> Bool {
        guard let known = nodes[instance.node] else { return false }
        return known.instance == instance && known.isLive
    }

    /// Returns whether a node has heard of the devices that a transaction inserted into `changes`, or need not.
    ///
    /// A node without a heartbeat reads all waiting rows again before it delivers anything.
    func hasHeard(_ instance: InstanceID, of transaction: Int64) -> Bool {
        guard let known = nodes[instance.node] else { return false }
        guard known.instance == instance else { return known.instance.rawValue > instance.rawValue }
        return known.heardTransaction > transaction || !known.isLive
    }

    /// Sends a heartbeat at once, because an administrator has changed a node.
    func beatSoon() { isHeartbeatUrgent = true }

    /// Removes and returns everything that was not sent.
    func takeUnsent() -> GatheredBatch {
        while let waiting = waitingWrites.popFirst() { addWrite(waiting) }
        while let (stream, attaches) = waitingStreams.popFirst() {
            if attaches { next.attach(stream, at: context.moment) }
            next.read(stream, at: context.moment)
        }
        defer { next = GatheredBatch() }
        return next
    }

    /// The number of the batch that is under way; nil without one.
    var numberUnderWay: Int64? { underWay?.number }

    /// Returns whether a batch is no longer under way.
    func hasAnswered(_ number: Int64) -> Bool { underWay?.number != number }

    /// Whether the shard has answered everything.
    var isIdle: Bool { underWay == nil && next.since == nil }

    func connected() {
        isConnected = true
        lastHeartbeat = nil
    }

    /// Records that the connection is lost; returns the batch whose answer is lost too.
    func disconnected() -> GatheredBatch? {
        isConnected = false
        defer { underWay = nil }
        return underWay?.gathered
    }

    /// Records that the shard refused the batch that is under way; returns it.
    func refused(_ number: Int64) -> GatheredBatch? {
        guard let gathered = take(number) else { return nil }
        pause()
        return gathered
    }

    /// Delays the next batch, because the shard refused a part of the last one.
    func pause() { pauseEnd = context.moment.advanced(byMilliseconds: ClusterLimits.retryMilliseconds) }
}
