// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// Answers the senders of notifications: providers on loops of this node, and other nodes that pushed them.
///
/// A notification is accepted only with a lease. If its number defines its order, it is accepted only when every node
/// makes only higher numbers. The next notification of its sender then has a higher number on any node.
final class Answers {
    private struct PushAnswer: Hashable {
        var instance: InstanceID
        var number: Int64
    }

    private let context: NodeContext
    private let shards: ClusterShards
    /// The notifications of providers, in the order of their arrival, until their patience ends.
    private var patience = FIFOQueue<(waiting: WaitingNotification, due: MonotonicTime)>()
    /// The notifications of providers that arrived while the node had to read control data.
    private var unchecked: [WaitingNotification] = []
    /// The accepted notifications that wait for the lease, or for control data.
    private var held: [WaitingNotification] = []
    /// The accepted notifications that wait until all nodes make higher numbers, in the order of that time.
    private var passing: [(waiting: WaitingNotification, due: MonotonicTime)] = []
    /// The answers to pushes of other nodes, of this turn.
    private var pushed: [PushAnswer: [(index: Int, result: NodeMessage.PushResult)]] = [:]

    init(_ context: NodeContext, _ shards: ClusterShards) {
        self.context = context
        self.shards = shards
    }

    // MARK: Waiting

    /// Returns whether another notification of a provider may wait.
    func hasRoom(for notification: Notification) -> Bool {
        shards[notification.address.device].load.hasRoom(for: notification)
    }

    /// Adds a notification of a provider, which is refused when its patience ends.
    func add(_ waiting: WaitingNotification) {
        waiting.load = shards[waiting.device].load
        waiting.load?.add(waiting.pending.notification)
        let end = context.moment.advanced(byMilliseconds: context.configuration.patienceMilliseconds)
        patience.append((waiting, end))
    }

    /// Routes a notification of a provider as soon as the node may use its control data.
    ///
    /// Otherwise, a device might show a notification of a revoked provider.
    func admit(_ waiting: WaitingNotification, checkedBy check: ControlVersions.Check) {
        guard context.control.areCurrent(at: context.moment) else { return unchecked.append(waiting) }
        let isAllowed = context.control.allow(check, isRecent: isRecent(waiting))
        context.step(waiting, isAllowed ? .route : .finish(.unavailable))
    }

    /// The arrival of the oldest notification that a provider waits for; nil without one.
    var oldestSince: MonotonicTime? { patience.first?.waiting.since }

    /// The time at which an answer is due.
    var nextDue: MonotonicTime? {
        guard let due = patience.first?.due else { return passing.first?.due }
        return passing.first.map { min($0.due, due) } ?? due
    }

    /// Refuses the notifications that have waited too long, and accepts those whose numbers have passed.
    func expire() {
        while let first = patience.first, first.waiting.isAnswered || first.due <= context.moment {
            _ = patience.popFirst()
            context.step(first.waiting, .finish(.unavailable))
        }
        let passed = passing.prefix { $0.due <= context.moment }
        guard !passed.isEmpty else { return }
        passing.removeFirst(passed.count)
        for entry in passed { context.step(entry.waiting, .finish(.accepted)) }
    }

    /// Accepts or refuses the notifications that waited for a lease or for control data.
    func release() {
        let arrived = unchecked
        unchecked = []
        for waiting in arrived {
            if case .provider(_, let check) = waiting.sender { admit(waiting, checkedBy: check) }
        }
        for waiting in held { context.step(waiting, .finish(.accepted)) }
        held = []
    }

    /// Removes the notifications that were refused while they were held.
    func removeObsolete() {
        held.removeAll(where: \.isAnswered)
        unchecked.removeAll(where: \.isAnswered)
    }

    // MARK: Answering

    /// Answers the sender of a notification, unless it is answered.
    func finish(_ waiting: WaitingNotification, _ result: WaitingNotification.Result) {
        guard !waiting.isAnswered else { return }
        if case .accepted = result {
            let isDecided = !waiting.isOfProvider || context.control.areCurrent(at: context.moment)
            guard shards.hasLease(of: waiting.device), isDecided else { return held.append(waiting) }
            guard hasPassed(waiting) else { return }
        }
        waiting.isAnswered = true
        switch waiting.sender {
        case .provider(let answer, let check): reply(result, of: waiting, checkedBy: check, to: answer)
        case .node(let instance, let number, let index):
            pushed[PushAnswer(instance: instance, number: number), default: []].append((index, result.push))
        }
    }

    /// Returns whether the order of a notification is certain; otherwise, its sender is answered later.
    ///
    /// The order is certain if it does not depend on the number, or if every node makes only higher numbers.
    private func hasPassed(_ waiting: WaitingNotification) -> Bool {
        guard waiting.isOrderedByNumber else { return true }
        let due = context.ids.passes(waiting.pending.sequence, after: context.moment)
        guard due > context.moment else { return true }
        let place = passing.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        passing.insert((waiting, due), at: place)
        return false
    }

    private func reply(
        _ result: WaitingNotification.Result, of waiting: WaitingNotification, checkedBy check: ControlVersions.Check,
        to answer: ReplyAddress
    ) {
        waiting.load?.remove(waiting.pending.notification)
        switch result {
        case .accepted where !context.control.allow(check, isRecent: isRecent(waiting)), .notHere, .unavailable:
            if waiting.isTraced { context.trace(.dropped, .notWritten, of: waiting) }
            context.reply(.refused(.serviceUnavailable, unregisteredAt: nil, answer: answer), to: answer)
        case .accepted:
            context.counters.noteAccepted()
            context.reply(.accepted(answer: answer), to: answer)
        case .refused(let reason, let ended):
            context.reply(.refused(reason, unregisteredAt: ended, answer: answer), to: answer)
        }
    }

    private func isRecent(_ waiting: WaitingNotification) -> Bool {
        context.moment < waiting.since.advanced(byMilliseconds: context.configuration.leaseMilliseconds)
    }

    /// Sends the answers to other nodes.
    func flush() {
        for (answer, results) in pushed.sorted(by: {
            ($0.key.number, $0.key.instance.rawValue) < ($1.key.number, $1.key.instance.rawValue)
        }) {
            context.send(.pushed(number: answer.number, results), to: answer.instance)
        }
        pushed.removeAll(keepingCapacity: true)
    }
}

extension WaitingNotification.Result {
    /// The answer to the node that pushed the notification.
    fileprivate var push: NodeMessage.PushResult {
        switch self {
        case .accepted: .accepted
        case .refused(let reason, let ended): .refused(reason, endedAt: ended)
        case .notHere: .notHere
        case .unavailable: .busy
        }
    }
}
