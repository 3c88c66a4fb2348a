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
///               └────▶ shard: write, commit, look who is the host, tell it ─▶ answer
/// ```
/// The store runs on one thread and never blocks. It takes commands, results of shards and messages of nodes, and sends
/// batches, messages and replies at the end of each turn. The tests run the same code in a simulator. Its rules are in
/// docs/decisions/0046-order-among-nodes.md.
package final class ClusterStore {
    let context: NodeContext
    private let output: any ClusterOutput
    let shards: [ShardQueue]
    let host: Host
    private let pusher: Pusher
    let teller: Teller
    let answers: Answers
    let publisher: Publisher
    let goodbyes: StreamGoodbyes
    let presences: Presences
    private let review: StreamReview
    private var hadLease: [Bool]
    /// Whether an administrator wants the node to send its devices away.
    var isDraining = false
    /// The time since which the node has no lease; nil with one.
    var suspendedSince: MonotonicTime?
    /// The numbers of events since the start.
    package var counters: NodeCounters { context.counters }
    /// The number of streams on this node.
    package var streamCount: Int { host.count }
    /// Whether another instance has this node's number, so that the node must stop.
    package private(set) var isSuperseded = false

    /// Creates the store of a node without connections.
    package init(_ configuration: NodeConfiguration, shardCount: Int, output: any ClusterOutput) {
        let context = NodeContext(configuration)
        let shards = (0..<shardCount).map { ShardQueue($0, context) }
        let shard: (DeviceID) -> ShardQueue = { shards[Slots.shard(of: $0, count: shards.count)] }
        self.context = context
        self.output = output
        self.shards = shards
        host = Host(context, shard: shard)
        pusher = Pusher(context)
        teller = Teller(context, shard: shard)
        answers = Answers(context) { shard($0).hasLease && shards[0].hasLease }
        publisher = Publisher(context) { shards[0].hasLease }
        goodbyes = StreamGoodbyes(context, host)
        let host = host
        presences = Presences(context) { Self.presence(context, shards, host) }
        review = StreamReview(context, host, shard: shard)
        hadLease = Array(repeating: false, count: shardCount)
    }

    func shard(of device: DeviceID) -> ShardQueue { shards[Slots.shard(of: device, count: shards.count)] }

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
        while let (waiting, step) = context.nextStep() { carryOut(step, of: waiting) }
        pusher.flush()
        teller.flush()
        host.flush()
        answers.flush()
        noteDrained()
        for shard in shards { shard.sendIfDue(to: output) }
        // Late writes are finished while batches are sent.
        while let (waiting, step) = context.nextStep() { carryOut(step, of: waiting) }
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
        for (shard, had) in zip(shards, hadLease) {
            due = min(due, shard.nextDue ?? due)
            if had { due = min(due, shard.lease.end) }
        }
        return due
    }

    /// Notices leases that ended or began.
    private func noteLeases() {
        for (index, shard) in shards.enumerated() where shard.hasLease != hadLease[index] {
            hadLease[index] = shard.hasLease
            if hadLease[index] { answers.leaseBegan() } else { host.leaseEnded(of: shard) }
        }
    }

    // MARK: Commands

    /// Takes a notification of a provider.
    package func accept(_ notification: Notification, answer: ReplyAddress) {
        // Before the first heartbeat, the node has no time to make numbers from.
        guard context.ids.clock.isKnown, answers.hasRoom(for: notification) else {
            return context.reply(
                .refused(.serviceUnavailable, unregisteredAt: nil, answer: answer), to: answer)
        }
        let id = context.ids.next(at: context.moment)
        let waiting = WaitingNotification(
            PendingNotification(sequence: id, notification: notification),
            RowKey(of: notification, id: id), from: .provider(answer), at: context.moment,
            controlVersion: context.controlVersion)
        answers.add(waiting)
        context.step(waiting, .route)
    }

    /// Opens the stream of a device.
    package func attach(_ device: DeviceID, secretHash: [UInt8], stream: ReplyAddress) {
        guard context.ids.clock.isKnown else {
            let refusal = StoreRefusal.unavailable("The node has no connection to PostgreSQL yet.")
            return context.reply(.performed(.failure(refusal), answer: stream), to: stream)
        }
        guard !goodbyes.isOn else {
            return context.reply(.performed(.failure(.draining), answer: stream), to: stream)
        }
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
                    controlVersion: context.controlVersion, until: end)
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
        // The thread takes these before they get here.
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

    // MARK: Shards

    /// Records that a connection to a shard is open.
    package func connected(toShard index: Int) { shards[index].connected() }

    /// Records that the connection to a shard is lost, and with it the answer to the batch that was under way.
    package func disconnected(fromShard index: Int) {
        let shard = shards[index]
        let lost = shard.disconnected()
        host.connectionLost(to: shard)
        if let lost { askAgain(lost, shard) }
    }

    /// Records that a shard refused a batch, which is sent again after a pause.
    package func refused(_ number: Int64, byShard index: Int) {
        let shard = shards[index]
        guard let refused = shard.refused(number) else { return }
        host.askAgain(refused)
        askAgain(refused, shard)
    }

    /// Asks a shard again for everything but streams.
    private func askAgain(_ lost: GatheredBatch, _ shard: ShardQueue) {
        for waiting in lost.writes.joined() { context.step(waiting, .write) }
        for looks in lost.looks {
            for look in looks {
                switch look {
                case .route(let waiting): context.step(waiting, .look)
                // The notification was not written yet. The repeated write looks up its host.
                case .written(let waiting) where waiting.writtenAt == nil: break
                case .written(let waiting): shard.look(look, waiting.device)
                case .stream(let stream): shard.look(look, stream.device)
                // Without an answer, every node finds the change, or its lease ends.
                case .changed(let change): teller.giveUp(change)
                // The device tells it again with its next stream.
                case .saving: break
                }
            }
        }
        for row in lost.batch.deletions { shard.delete(row) }
        for acknowledgement in lost.batch.acknowledgements { shard.acknowledge(acknowledgement) }
        for skip in lost.batch.skips { shard.skip(skip) }
        for departure in lost.batch.departures { shard.depart(departure) }
        for waiting in lost.announced { shard.announce(waiting.device, for: waiting) }
        for device in Set(lost.batch.changes).subtracting(lost.announced.map(\.device)) { shard.announce(device) }
    }

    /// Takes the result of a batch.
    package func take(_ result: ShardResult, of number: Int64, fromShard index: Int) {
        let shard = shards[index]
        guard let gathered = shard.take(number) else { return }
        if let heartbeat = result.heartbeat, let sentAt = gathered.heartbeatSentAt {
            take(heartbeat, sentAt: sentAt, from: shard)
        }
        for (stream, result) in zip(gathered.attachments, result.attachments) {
            guard let earlier = host.attached(stream, result) else { continue }
            teller.tellReplaced(stream.device, epoch: stream.epoch, to: earlier.instance)
        }
        for ((stream, number), reading) in zip(gathered.readings, result.readings) {
            host.read(stream, number: number, reading)
        }
        take(result.writes, of: gathered.writes)
        traceReplaced(result.replaced, by: gathered.writes)
        if let time = result.announcedAt { for waiting in gathered.announced { teller.announced(waiting, at: time) } }
        for ((looks, found), device) in zip(zip(gathered.looks, result.looks), gathered.batch.looks) {
            for look in looks { take(found, for: look, device) }
        }
    }

    private func take(_ results: [ShardResult.Write], of notifications: [[WaitingNotification]]) {
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
            context.routes.set(route(to: found), of: waiting.device)
            context.step(waiting, .route)
        case .written(let waiting):
            if waiting.writtenAt != nil { context.step(waiting, .tell(found)) }
        case .stream(let stream):
            if let found, found.epoch > stream.epoch { host.replace(stream.device, epoch: found.epoch) }
        }
    }

    private func route(to host: ShardResult.Host?) -> Routes.Route {
        guard let host, host.isLive else { return .nobody }
        // A row of this node whose stream has ended.
        if host.instance == context.instance { return .nobody }
        return .host(host.instance)
    }

    private func take(_ heartbeat: ShardResult.Heartbeat, sentAt: MonotonicTime, from shard: ShardQueue) {
        guard !heartbeat.isTaken else { return isSuperseded = true }
        if shard.shard == 0 { context.ids.clock.add(heartbeat.time, asked: sentAt, answered: context.moment) }
        context.setNodes(heartbeat.nodes)
        if shard.shard == 0 { noteDraining(heartbeat.nodes) }
        if shard.shard == 0 { context.controlVersion = max(context.controlVersion, heartbeat.controlVersion) }
        for device in shard.heard(heartbeat, sentAt: sentAt) where host.reattach(device) {
            if let stream = host.stream(of: device) { shard.look(.stream(stream), device) }
        }
        teller.noteHeard(from: shard)
    }

    // MARK: Steps

    private func carryOut(_ step: Step, of waiting: WaitingNotification) {
        switch step {
        case .route: route(waiting)
        case .look: shard(of: waiting.device).look(.route(waiting), waiting.device)
        case .push(let instance): pusher.push(waiting, to: instance)
        case .offer: host.offer(waiting)
        case .write: write(waiting)
        case .tell(let found): tell(waiting, found)
        case .finish(.notHere) where waiting.isOfProvider: context.step(waiting, .write)
        case .finish(let result): answers.finish(waiting, result)
        }
    }

    private func route(_ waiting: WaitingNotification) {
        if host.stream(of: waiting.device) != nil { return context.step(waiting, .offer) }
        switch context.routes[waiting.device] {
        case .host(let instance) where instance != context.instance: context.step(waiting, .push(instance))
        case .nobody: context.step(waiting, .write)
        case .host, nil: context.step(waiting, .look)
        }
    }

    private func write(_ waiting: WaitingNotification) {
        let notification = waiting.pending.notification
        guard !context.isLate(waiting) else { return context.step(waiting, .finish(.unavailable)) }
        // A now-or-never notification is never written, and nobody hosts its device.
        if notification.isNowOrNever || notification.isExpired(now: context.now) {
            context.counters.noteExpired()
            context.trace(.expired, notification.isNowOrNever ? .notConnected : .none, of: waiting)
            return context.step(waiting, .finish(.accepted))
        }
        shard(of: waiting.device).write(waiting)
    }

    private func tell(_ waiting: WaitingNotification, _ found: ShardResult.Host?) {
        guard let found, found.isLive else {
            context.routes.set(.nobody, of: waiting.device)
            return context.step(waiting, .finish(.accepted))
        }
        guard found.instance == context.instance else { return teller.tell(waiting, found) }
        if !host.hasSent(waiting) { _ = host.mark(waiting.device) }
        context.step(waiting, .finish(.accepted))
    }
}
