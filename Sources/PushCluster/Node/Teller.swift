// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Tells the hosts of devices what they must hear: new rows, and later streams on other nodes.
///
/// A writer answers its sender only after the host has heard of the row, or after all nodes find the device in
/// `changes` with their next heartbeats.
final class Teller {
    /// A question to a node.
    private enum Question {
        case wake([DeviceID], [[WaitingNotification]])
        case replaced(DeviceID, epoch: Int64)
    }

    private let context: NodeContext
    private let shard: (DeviceID) -> ShardQueue
    /// The devices to wake on each node, and the notifications that wait for it, of this turn.
    private var wakes: [InstanceID: [DeviceID: [WaitingNotification]]] = [:]
    private var questions: [Int64: (instance: InstanceID, question: Question)] = [:]
    /// The notifications that wait until the host has heard of them by `changes`.
    private var unheard: [(waiting: WaitingNotification, host: InstanceID, since: Int64)] = []
    private var deadlines = FIFOQueue<(number: Int64, due: MonotonicTime)>()

    init(_ context: NodeContext, shard: @escaping (DeviceID) -> ShardQueue) {
        self.context = context
        self.shard = shard
    }

    // MARK: New rows

    /// Tells the host on another node that a notification is written, then answers its sender.
    func tell(_ waiting: WaitingNotification, _ host: ShardResult.Host) {
        // The host has ended the stream without a trace in `hosts`, or is gone and reads before it delivers.
        if host.isSameStream(as: waiting.desertedHost) || !host.isLive {
            return context.step(waiting, .finish(.accepted))
        }
        let since = waiting.writtenAt ?? context.moment
        let isLate = context.moment >= since.advanced(byMilliseconds: context.configuration.tellingMilliseconds)
        waiting.toldHost = host
        guard !isLate, context.links.contains(host.instance) else {
            return shard(waiting.device).announce(waiting.device, for: waiting)
        }
        context.routes.set(.host(host.instance), of: waiting.device)
        wakes[host.instance, default: [:]][waiting.device, default: []].append(waiting)
    }

    /// Takes the answer to a `wake`.
    func woken(_ number: Int64, _ here: [Bool], by instance: InstanceID) {
        guard let (asked, question) = questions[number], asked == instance,
            case .wake(let devices, let notifications) = question, here.count == devices.count
        else { return }
        questions[number] = nil
        for (isHere, waiting) in zip(here, notifications) {
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
    func announced(_ waiting: WaitingNotification, at time: Int64) {
        guard let host = waiting.toldHost?.instance else { return context.step(waiting, .finish(.accepted)) }
        unheard.append((waiting, host, time))
        shard(waiting.device).awaitsHearing = true
    }

    /// Answers what the hosts have heard of, after a heartbeat told how far each node has read.
    func noteHeard(from queue: ShardQueue) {
        var rest: [(waiting: WaitingNotification, host: InstanceID, since: Int64)] = []
        queue.awaitsHearing = false
        for entry in unheard {
            if context.hasHeard(entry.host, since: entry.since) || context.isGone(entry.host) {
                context.step(entry.waiting, .finish(.accepted))
            } else {
                rest.append(entry)
                shard(entry.waiting.device).awaitsHearing = true
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
        guard context.links.contains(instance) else { return shard(device).announce(device) }
        ask(instance, .replaced(device, epoch: epoch)) { .replaced(number: $0, device, epoch: epoch) }
    }

    /// Takes the answer `done`.
    func done(_ number: Int64, by instance: InstanceID) {
        guard questions[number]?.instance == instance else { return }
        questions[number] = nil
    }

    // MARK: Asking

    /// Sends the gathered questions.
    func flush() {
        for (instance, devices) in wakes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let sorted = devices.sorted { $0.key.rawValue < $1.key.rawValue }
            ask(instance, .wake(sorted.map(\.key), sorted.map(\.value))) { .wake(number: $0, sorted.map(\.key)) }
        }
        wakes.removeAll(keepingCapacity: true)
    }

    private func ask(_ instance: InstanceID, _ question: Question, _ message: (Int64) -> NodeMessage) {
        let number = context.nextNumber()
        questions[number] = (instance, question)
        deadlines.append((number, context.moment.advanced(byMilliseconds: context.configuration.answerMilliseconds)))
        context.send(message(number), to: instance)
    }

    /// The time at which the next answer is late.
    var nextDue: MonotonicTime? { deadlines.first?.due }

    /// Asks again what was not answered in time.
    func expire() {
        while let first = deadlines.first, first.due <= context.moment {
            _ = deadlines.popFirst()
            askAgain(first.number)
        }
    }

    /// Asks again what a node did not answer, because the link to it is down.
    func linkEnded(to instance: InstanceID) {
        for number in questions.keys.sorted() where questions[number]?.instance == instance { askAgain(number) }
    }

    private func askAgain(_ number: Int64) {
        guard let (instance, question) = questions.removeValue(forKey: number) else { return }
        switch question {
        case .wake(_, let notifications):
            for waiting in notifications.joined() { lookAgain(waiting) }
        case .replaced(let device, let epoch):
            if !context.isGone(instance) { tellReplaced(device, epoch: epoch, to: instance) }
        }
    }
}
