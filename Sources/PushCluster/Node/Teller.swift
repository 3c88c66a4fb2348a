// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Tells other nodes about new rows, later streams, changes of devices and control data, and broadcasts.
///
/// A node that has written a row answers the sender only after the host has learned of the row, over a link or from
/// `changes` with a heartbeat.
final class Teller {
    /// A question to a node.
    private enum Question {
        case wake([DeviceID], [[WaitingNotification]])
        case replaced(DeviceID, epoch: Int64)
        case changed(DeviceID, ChangeGroup)
        case control(version: Int64, ChangeGroup)
        case broadcast(PublishedBroadcast, ChangeGroup)
    }

    /// A notification that waits until its host has heard of a transaction of a shard.
    private typealias Unheard = (waiting: WaitingNotification, host: InstanceID, transaction: Int64, shard: ShardQueue)

    private let context: NodeContext
    private let shard: (DeviceID) -> ShardQueue
    /// The devices to wake on each node, and the notifications that wait for it, of this turn.
    private var wakes: [InstanceID: [DeviceID: [WaitingNotification]]] = [:]
    private var questions: [Int64: (instance: InstanceID, question: Question, askedAt: MonotonicTime)] = [:]
    /// The notifications that wait until the host has heard of them by `changes`.
    private var unheard: [Unheard] = []
    /// The changes that other nodes find with their heartbeats, and the times at which they have.
    private var unappliedChanges = FIFOQueue<(group: ChangeGroup, due: MonotonicTime)>()
    /// The broadcasts that other nodes find with their heartbeats, and the ends of the waits for them.
    private var unconfirmedBroadcasts = FIFOQueue<(group: ChangeGroup, due: MonotonicTime)>()
    private var deadlines = FIFOQueue<(number: Int64, due: MonotonicTime)>()

    init(_ context: NodeContext, shard: @escaping (DeviceID) -> ShardQueue) {
        self.context = context
        self.shard = shard
    }

    // MARK: New rows

    /// Tells the host on another node that a notification is written, then answers its sender.
    func tell(_ waiting: WaitingNotification, _ host: ShardResult.Host) {
        // The host has ended the stream that `hosts` still names, or it is gone and reads before it delivers again.
        if host.isSameStream(as: waiting.desertedHost) || !host.isLive {
            return context.step(waiting, .finish(.accepted))
        }
        let since = waiting.writtenAt ?? context.moment
        let isLate = context.moment >= since.advanced(byMilliseconds: context.configuration.tellingMilliseconds)
        waiting.toldHost = host
        guard !isLate, context.answers(host.instance) else {
            return shard(waiting.device).announce(waiting.device, for: waiting)
        }
        context.routes.set(.host(host.instance), of: waiting.device)
        wakes[host.instance, default: [:]][waiting.device, default: []].append(waiting)
    }

    /// Takes the answer to a `wake`.
    func woken(_ number: Int64, _ here: [Bool], by instance: InstanceID) {
        guard let (asked, question, _) = questions[number], asked == instance,
            case .wake(let devices, let notifications) = question, here.count == devices.count
        else { return }
        questions[number] = nil
        for (isHere, waiting) in zip(here, notifications) {
            context.metrics.noteWake(isHere ? .here : .notHere)
            for waiting in waiting {
                if isHere {
                    context.step(waiting, .finish(.accepted))
                } else {
                    waiting.desertedHost = waiting.toldHost
                    lookAgain(waiting)
                }
            }
        }
    }

    // MARK: Without a link

    /// Waits until the host of a notification has heard of it, after its device was inserted into `changes`.
    func announced(_ waiting: WaitingNotification, by transaction: Int64, in queue: ShardQueue) {
        guard let host = waiting.toldHost?.instance else { return context.step(waiting, .finish(.accepted)) }
        unheard.append((waiting, host, transaction, queue))
        queue.awaitsHearing = true
    }

    /// Answers what the hosts have heard of, after a heartbeat told how far each node has read.
    func noteHeard(from queue: ShardQueue) {
        var rest: [Unheard] = []
        queue.awaitsHearing = false
        for entry in unheard {
            // Only a heartbeat of the same shard, after the transaction, can say that the host is not live.
            if entry.shard.hasHeard(entry.host, of: entry.transaction) {
                context.step(entry.waiting, .finish(.accepted))
            } else {
                rest.append(entry)
                entry.shard.awaitsHearing = true
            }
        }
        unheard = rest
    }

    private func lookAgain(_ waiting: WaitingNotification) {
        context.routes.forget(waiting.device)
        shard(waiting.device).look(.written(waiting), waiting.device)
    }

    // MARK: Later streams

    /// Tells the host of an earlier stream that the device has a later one on this node.
    func tellReplaced(_ device: DeviceID, epoch: Int64, to instance: InstanceID) {
        guard context.answers(instance) else { return shard(device).announce(device) }
        ask(instance, .replaced(device, epoch: epoch)) { .replaced(number: $0, device, epoch: epoch) }
    }

    // MARK: Changes

    /// Tells the host of a device that the device has changed.
    func tellChanged(_ device: DeviceID, _ group: ChangeGroup, to instance: InstanceID) {
        guard context.answers(instance) else { return announceChange(of: device, group) }
        ask(instance, .changed(device, group)) { .changed(number: $0, [device]) }
    }

    /// Tells nodes that the control data have a new version.
    ///
    /// A node without a link finds the version with its next heartbeat.
    func tellControl(version: Int64, _ group: ChangeGroup, to nodes: [InstanceID]) {
        for instance in nodes where instance != context.instance {
            group.await()
            guard context.links.contains(instance) else {
                waitForLeases(group)
                continue
            }
            ask(instance, .control(version: version, group)) { .control(number: $0, version: version) }
        }
    }

    // MARK: Broadcasts

    /// Tells all other nodes to deliver a broadcast.
    func tell(_ broadcast: PublishedBroadcast, _ group: ChangeGroup) {
        for instance in context.otherNodes {
            group.await()
            guard context.links.contains(instance) else {
                waitForHeartbeats(broadcast, group)
                continue
            }
            ask(instance, .broadcast(broadcast, group)) { .broadcast(number: $0, broadcast) }
        }
    }

    /// Waits until a node has probably found a stored broadcast with a heartbeat; one that is not stored is lost there.
    private func waitForHeartbeats(_ broadcast: PublishedBroadcast, _ group: ChangeGroup) {
        guard broadcast.isStored else { return group.applied() }
        let due = context.moment.advanced(byMilliseconds: context.configuration.tellingMilliseconds)
        unconfirmedBroadcasts.append((group, due))
    }

    // MARK: Without a link to a host

    /// Lets the host find the change with its next heartbeat; without one, its lease ends.
    private func announceChange(of device: DeviceID, _ group: ChangeGroup) {
        shard(device).announce(device)
        waitForLeases(group)
    }

    /// Waits until no node can rely on what it knew before a change.
    func giveUp(_ change: DeviceChange) { waitForLeases(change.group) }

    /// Waits until no node has a lease from before a time; nil for the time of this turn.
    private func waitForLeases(_ group: ChangeGroup, since begin: MonotonicTime? = nil) {
        let end = (begin ?? context.moment).advanced(byMilliseconds: context.configuration.leaseMilliseconds)
        unappliedChanges.append((group, end))
    }

    /// Takes the answer `done`.
    func done(_ number: Int64, by instance: InstanceID) {
        guard questions[number]?.instance == instance, let question = questions.removeValue(forKey: number)?.question
        else { return }
        switch question {
        case .changed(_, let group), .control(_, let group), .broadcast(_, let group): group.applied()
        case .wake, .replaced: break
        }
    }

    // MARK: Asking

    /// Sends the gathered questions.
    func flush() {
        for (instance, devices) in wakes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var sorted = devices.sorted { $0.key.rawValue < $1.key.rawValue }[...]
            while !sorted.isEmpty {
                let part = sorted.prefix(NodeMessageLimits.deviceCountMax)
                sorted = sorted.dropFirst(part.count)
                ask(instance, .wake(part.map(\.key), part.map(\.value))) { .wake(number: $0, part.map(\.key)) }
            }
        }
        wakes.removeAll(keepingCapacity: true)
    }

    private func ask(_ instance: InstanceID, _ question: Question, _ message: (Int64) -> NodeMessage) {
        let number = context.nextNumber()
        questions[number] = (instance, question, context.moment)
        deadlines.append((number, context.moment.advanced(byMilliseconds: context.configuration.answerMilliseconds)))
        context.send(message(number), to: instance)
    }

    /// The time at which the next answer is late.
    var nextDue: MonotonicTime? {
        [deadlines.first?.due, unappliedChanges.first?.due, unconfirmedBroadcasts.first?.due].compactMap(\.self).min()
    }

    /// Asks again what was not answered in time.
    func expire() {
        while let first = unappliedChanges.first, first.due <= context.moment {
            _ = unappliedChanges.popFirst()
            first.group.applied()
        }
        while let first = unconfirmedBroadcasts.first, first.due <= context.moment {
            _ = unconfirmedBroadcasts.popFirst()
            first.group.applied()
        }
        while let first = deadlines.first, first.due <= context.moment {
            _ = deadlines.popFirst()
            if let silent = questions[first.number]?.instance { context.noteSilence(of: silent) }
            askAgain(first.number)
        }
    }

    /// Asks again what a node did not answer, because the link to it is down.
    func linkEnded(to instance: InstanceID) {
        for number in questions.keys.sorted() where questions[number]?.instance == instance { askAgain(number) }
    }

    private func askAgain(_ number: Int64) {
        guard let (instance, question, askedAt) = questions.removeValue(forKey: number) else { return }
        switch question {
        case .wake(let devices, let notifications):
            context.metrics.noteWake(.unanswered, count: devices.count)
            for waiting in notifications.joined() { lookAgain(waiting) }
        case .changed(let device, let group): announceChange(of: device, group)
        case .control(_, let group): waitForLeases(group, since: askedAt)
        case .broadcast(let broadcast, let group): waitForHeartbeats(broadcast, group)
        case .replaced(let device, let epoch):
            tellReplaced(device, epoch: epoch, to: instance)
        }
    }
}
