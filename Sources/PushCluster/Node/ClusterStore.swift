// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushNet
package import PushStore

/// The store of a node of a cluster: finds the host of each notification, delivers on the streams of this node, and
/// writes to the shards what was not acknowledged in time.
///
/// ```
/// provider ─▶ route ─▶ this node's streams ─acknowledged─▶ answer
///               │  └─▶ link to the host's node ─▶ its streams ─▶ answer over the link
///               └────▶ shard: write, commit, look up the host, tell it ─▶ answer
/// ```
/// The store runs on one thread and never blocks. It takes commands, results of shards and messages of nodes, and sends
/// batches, messages and replies at the end of each turn. The tests run the same code in a simulator. The rules for
/// the order of notifications are in docs/decisions/0046-order-among-nodes.md.
package final class ClusterStore {
    let context: NodeContext
    /// The owner of the store.
    private unowned let output: any ClusterOutput
    let shards: ClusterShards
    let host: Host
    private let pusher: Pusher
    private let edge: Edge
    let teller: Teller
    let answers: Answers
    let publisher: Publisher
    let goodbyes: StreamGoodbyes
    let presences: Presences
    private let review: StreamReview
    private var hadLease: [Bool]
    /// The time of the next removal of queue entries that are no longer needed.
    var removalDue = MonotonicTime.past
    /// Whether an administrator wants the node to send its devices away.
    var isDraining = false
    /// The time since which the node has no lease; nil with one.
    var suspendedSince: MonotonicTime?
    /// The numbers of events since the start.
    package var counters: NodeCounters { context.counters }
    /// The number of streams on this node.
    package var streamCount: Int { host.count }
    /// Whether the table `nodes` no longer has this instance, so that the node must stop and trust no other result.
    package private(set) var isSuperseded = false

    /// Creates the store of a node without connections.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the node.
    ///   - slots: The shards of all devices.
    ///   - shardCount: The number of shards.
    ///   - output: The receiver of batches, messages and replies, which owns the store.
    package init(
        _ configuration: NodeConfiguration, slots: SlotMap, shardCount: Int, output: any ClusterOutput
    ) {
        let context = NodeContext(configuration)
        let shards = ClusterShards(slots, count: shardCount, context)
        let shard: (DeviceID) -> ShardQueue = { shards[$0] }
        self.context = context
        self.output = output
        self.shards = shards
        host = Host(context, shards)
        pusher = Pusher(context)
        teller = Teller(context, shard: shard)
        answers = Answers(context, shards)
        edge = Edge(context, shards, host, pusher, teller, answers)
        publisher = Publisher(context) { shards.first.hasLease }
        goodbyes = StreamGoodbyes(context, host)
        presences = Presences(context) { [host] in Self.presence(context, shards, host) }
        review = StreamReview(context, host, shard: shard)
        hadLease = Array(repeating: false, count: shardCount)
    }

    // MARK: Turns

    /// Starts a turn.
    package func beginTurn(at moment: MonotonicTime) {
        context.moment = moment
        context.now = context.configuration.now()
        noteLeases()
    }

    /// Carries out the steps of notifications, and sends everything that the turn collected.
    package func endTurn() {
        noteLeases()
        host.expire()
        pusher.expire()
        teller.expire()
        answers.expire()
        publisher.expire()
        review.expire()
        presences.expire()
        decideAboutDevices()
        goodbyes.expire()
        while let (waiting, step) = context.nextStep() { edge.carryOut(step, of: waiting) }
        pusher.flush()
        teller.flush()
        host.flush()
        answers.flush()
        noteDrained()
        removeObsolete()
        for shard in shards.queues { shard.sendIfDue(to: output) }
        // Late writes are finished while batches are sent.
        while let (waiting, step) = context.nextStep() { edge.carryOut(step, of: waiting) }
        answers.flush()
        context.flush(to: output)
    }

    /// The time of the next turn, if nothing arrives before.
    package var nextDue: MonotonicTime {
        var due = MonotonicTime.future
        let parts = [
            host.nextDue, pusher.nextDue, teller.nextDue, answers.nextDue, publisher.nextDue, goodbyes.nextDue,
            presences.nextDue, review.nextDue,
        ]
        for next in parts { due = min(due, next ?? due) }
        for (shard, had) in zip(shards.queues, hadLease) {
            due = min(due, shard.nextDue ?? due)
            if had { due = min(due, shard.lease.end) }
        }
        return due
    }

    /// Reacts to leases that ended or began, and to control data that the node may use again.
    private func noteLeases() {
        context.judgeClock()
        for (index, shard) in shards.queues.enumerated() where shard.hasLease != hadLease[index] {
            hadLease[index] = shard.hasLease
            guard hadLease[index] else {
                host.leaseEnded(of: shard)
                continue
            }
            answers.release()
            host.leaseBegan(of: shard)
        }
        if context.control.becameCurrent(at: context.moment) { answers.release() }
    }

    // MARK: Commands

    /// Takes a notification of a provider.
    package func accept(_ notification: Notification, answer: ReplyAddress) {
        guard context.makesNumbers, answers.hasRoom(for: notification) else {
            return context.reply(.refused(.serviceUnavailable, unregisteredAt: nil, answer: answer), to: answer)
        }
        let id = context.ids.next(at: context.moment)
        let check = context.check(answer)
        let waiting = WaitingNotification(
            PendingNotification(sequence: id, notification: notification),
            RowKey(of: notification, id: id), from: .provider(answer, check), at: context.moment)
        answers.add(waiting)
        answers.admit(waiting, checkedBy: check)
    }

    /// Opens the stream of a device.
    package func attach(_ device: DeviceID, secretHash: [UInt8], stream: ReplyAddress) {
        guard context.makesNumbers else {
            let refusal = StoreRefusal.unavailable("the node has no connection to PostgreSQL, or a wrong clock")
            return context.reply(.performed(.failure(refusal), answer: stream), to: stream)
        }
        guard !goodbyes.isOn else { return context.reply(.performed(.failure(.draining), answer: stream), to: stream) }
        host.attach(device, secretHash: secretHash, stream)
    }

    /// Returns the devices to which the bounds of waiting notifications must be applied.
    package func takeDevicesToTrim() -> [DeviceID] { context.writtenCounts.takeDue() }

    /// Counts notifications that expired in the shard.
    package func noteExpired(_ count: Int) { context.counters.noteExpired(count) }

    package func detach(stream: ReplyAddress) { host.detach(stream) }

    package func acknowledge(_ acknowledgements: [DeviceAPI.Acknowledgement], by device: DeviceID) {
        host.acknowledge(acknowledgements, by: device)
    }

    // MARK: Messages

    /// Takes a message of another node.
    package func take(_ message: NodeMessage, from instance: InstanceID) {
        switch message {
        case .push(let number, let pushes, let end):
            for (index, push) in pushes.enumerated() {
                let waiting = WaitingNotification(
                    push.pending, push.key, from: .node(instance, number: number, index: index), at: context.moment,
                    until: end)
                context.step(waiting, .offer)
            }
        case .pushed(let number, let results):
            context.silences[instance] = nil
            pusher.take(number, results, from: instance)
        case .wake(let number, let devices):
            context.send(.woken(number: number, devices.map(host.mark)), to: instance)
        case .woken(let number, let here):
            context.silences[instance] = nil
            teller.woken(number, here, by: instance)
        case .replaced(let number, let device, let epoch):
            host.replace(device, epoch: epoch)
            context.send(.done(number: number), to: instance)
        case .changed(let number, let devices):
            for device in devices { _ = host.reattach(device) }
            context.send(.done(number: number), to: instance)
        case .saving(let device, let isSaving): setSaving(isSaving, of: device)
        case .done(let number): teller.done(number, by: instance)
        case .broadcast(let number, let broadcast):
            host.deliver(broadcast)
            context.send(.done(number: number), to: instance)
        // `ClusterThread` takes these messages, so they do not arrive here.
        case .rates: break
        // The thread reads the control data first.
        case .control(let number, _): context.send(.done(number: number), to: instance)
        case .here(_, let presence): presences.note(presence, from: instance)
        }
    }

    /// Records that the link to another node is up or down.
    package func linkChanged(to instance: InstanceID, isUp: Bool) {
        context.silences[instance] = nil
        if isUp {
            context.links.insert(instance)
        } else if context.links.remove(instance) != nil {
            presences.linkEnded(to: instance)
            pusher.linkEnded(to: instance)
            teller.linkEnded(to: instance)
        }
    }

    // MARK: Results

    /// Takes the result of a batch.
    package func take(_ result: ShardResult, of number: Int64, fromShard index: Int) {
        let shard = shards.queues[index]
        guard let gathered = shard.take(number) else { return }
        if let heartbeat = result.heartbeat { take(heartbeat, of: gathered, from: shard) }
        guard !isSuperseded else { return }
        // The shard read its clock shortly before this answer arrived, so the bounds of its clock become narrow.
        if let time = result.lookedAt, shard === shards.first {
            _ = context.ids.clock.refine(time, asked: gathered.sentAt, answered: context.moment)
        }
        let result = shard.corrected(result, sentAt: gathered.sentAt)
        for (stream, result) in zip(gathered.attachments, result.attachments) {
            guard let earlier = host.attached(stream, result) else { continue }
            teller.tellReplaced(stream.device, epoch: stream.epoch, to: earlier.instance)
        }
        if result.heartbeat != nil, !shard.isHeard {
            // The heartbeat was committed so late that writers may have found this node without a heartbeat meanwhile.
            host.askAgain(gathered)
        } else {
            for ((stream, number), reading) in zip(gathered.readings, result.readings) {
                host.read(stream, number: number, reading)
            }
        }
        take(result.writes, of: gathered.writes, from: shard)
        traceReplaced(result.replaced, by: gathered.writes)
        if let announcement = result.announcement {
            for waiting in gathered.announced { teller.announced(waiting, by: announcement, in: shard) }
        }
        for ((looks, found), device) in zip(zip(gathered.looks, result.looks), gathered.batch.looks) {
            for look in looks { take(found, for: look, device) }
        }
    }

    private func take(
        _ results: [ShardResult.Write], of notifications: [[WaitingNotification]], from shard: ShardQueue
    ) {
        for (group, result) in zip(notifications, results) {
            if case .written = result { context.traceWritten(group) }
            for waiting in group {
                switch result {
                case .written:
                    if waiting.writtenAt == nil { context.writtenCounts.note(waiting.device) }
                    waiting.writtenAt = waiting.writtenAt ?? context.moment
                    host.written(waiting)
                case .dropped:
                    context.counters.noteDropped()
                    context.trace(.dropped, .refusedByDevice, of: waiting)
                    host.refused(waiting)
                    context.step(waiting, .finish(.accepted))
                case .refused(let reason, let ended):
                    host.refused(waiting)
                    let end = reason == .badDeviceToken ? nil : ended ?? context.now
                    context.step(waiting, .finish(.refused(reason, endedAt: end)))
                case .failed:
                    shard.pause()
                    context.step(waiting, .write)
                }
            }
        }
    }

    private func take(_ found: ShardResult.Host?, for look: GatheredBatch.Look, _ device: DeviceID) {
        switch look {
        case .changed(let change):
            guard let found, found.isLive, found.instance != context.instance else { return change.group.applied() }
            teller.tellChanged(device, change.group, to: found.instance)
        case .saving(let isSaving):
            if let found, found.isLive { context.send(.saving(device, isSaving), to: found.instance) }
        case .route(let waiting):
            context.routes.set(context.route(to: found), of: waiting.device)
            context.step(waiting, .route)
        case .written(let waiting):
            if waiting.writtenAt != nil { context.step(waiting, .tell(found)) }
        case .stream(let stream):
            if let found, found.epoch > stream.epoch { host.replace(stream.device, epoch: found.epoch) }
        }
    }

    func take(_ heartbeat: ShardResult.Heartbeat, of batch: GatheredBatch, from shard: ShardQueue) {
        guard !heartbeat.isTaken else { return isSuperseded = true }
        let heartbeat = shard.corrected(heartbeat, sentAt: batch.sentAt)
        if shard.mustReadAgain { host.leaseEnded(of: shard) }
        if shard === shards.first {
            context.take(heartbeat, of: batch)
            noteDraining(heartbeat.nodes)
            context.control.note(heartbeat.controlVersion, inHeartbeatSentAt: batch.sentAt)
        }
        for device in shard.heard(heartbeat, sentAt: batch.sentAt) where host.reattach(device) {
            if let stream = host.stream(of: device) { shard.look(.stream(stream), device) }
        }
        teller.noteHeard(from: shard)
    }
}
