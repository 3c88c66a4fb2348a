// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Sends notifications to the nodes that host their devices, and waits for the answers.
///
/// Without an answer in time, a notification is written. If the host has written it too, both write the same row.
final class Pusher {
    private struct Outstanding {
        var instance: InstanceID
        var sentAt: MonotonicTime
        /// The notifications; nil where one has its answer.
        var notifications: [WaitingNotification?]
        var unansweredCount: Int
    }

    private let context: NodeContext
    /// The notifications of this turn for each node.
    private var gathered: [InstanceID: [WaitingNotification]] = [:]
    private var outstanding: [Int64: Outstanding] = [:]
    private var deadlines = FIFOQueue<(number: Int64, due: MonotonicTime)>()

    init(_ context: NodeContext) { self.context = context }

    /// Sends a notification to a node at the end of the turn.
    func push(_ waiting: WaitingNotification, to instance: InstanceID) {
        guard context.answers(instance) else { return giveUp(waiting) }
        waiting.wasPushed = true
        gathered[instance, default: []].append(waiting)
    }

    /// Sends what was gathered, in messages of bounded size.
    func flush() {
        for (instance, notifications) in gathered.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var (part, byteCount): ([WaitingNotification], Int) = ([], 0)
            for waiting in notifications {
                let size = waiting.pending.notification.payload.count
                if part.count == NodeMessageLimits.notificationCountMax
                    || byteCount + size > NodeMessageLimits.payloadByteCountMax, !part.isEmpty
                {
                    send(part, to: instance)
                    (part, byteCount) = ([], 0)
                }
                part.append(waiting)
                byteCount += size
            }
            send(part, to: instance)
        }
        gathered.removeAll(keepingCapacity: true)
    }

    private func send(_ notifications: [WaitingNotification], to instance: InstanceID) {
        let number = context.nextNumber()
        outstanding[number] = Outstanding(
            instance: instance, sentAt: context.moment, notifications: notifications,
            unansweredCount: notifications.count)
        let due = context.moment.advanced(byMilliseconds: context.configuration.answerMilliseconds)
        deadlines.append((number, due))
        let pushes = notifications.map { NodeMessage.Push(pending: $0.pending, key: $0.key) }
        context.send(.push(number: number, pushes, until: context.ids.clock.latest(at: due)), to: instance)
    }

    /// Takes answers of a node.
    func take(_ number: Int64, _ results: [(index: Int, result: NodeMessage.PushResult)], from instance: InstanceID) {
        guard outstanding[number]?.instance == instance, let sentAt = outstanding[number]?.sentAt else { return }
        for (index, result) in results {
            guard let waiting = takeNotification(number, index) else { continue }
            context.metrics.push.observe(nanoseconds: context.moment.nanoseconds(since: sentAt))
            context.metrics.notePush(result.end)
            switch result {
            case .accepted: context.step(waiting, .finish(.accepted))
            case .refused(let reason, let ended): context.step(waiting, .finish(.refused(reason, endedAt: ended)))
            case .notHere:
                context.routes.set(.nobody, of: waiting.device)
                waiting.wasPushed = false
                context.step(waiting, .write)
            case .busy: giveUp(waiting)
            }
        }
    }

    private func takeNotification(_ number: Int64, _ index: Int) -> WaitingNotification? {
        guard let count = outstanding[number]?.notifications.count, (0..<count).contains(index),
            let waiting = outstanding[number]?.notifications[index]
        else { return nil }
        outstanding[number]?.notifications[index] = nil
        outstanding[number]?.unansweredCount -= 1
        if outstanding[number]?.unansweredCount == 0 { outstanding[number] = nil }
        return waiting
    }

    // MARK: No answer

    /// The time at which the next answer is late.
    var nextDue: MonotonicTime? { deadlines.first?.due }

    /// Gives up what was not answered in time.
    func expire() {
        while let first = deadlines.first, first.due <= context.moment {
            _ = deadlines.popFirst()
            if let silent = outstanding[first.number]?.instance { context.noteSilence(of: silent) }
            giveUp(first.number)
        }
    }

    /// Gives up what a node did not answer, because the link to it is down.
    func linkEnded(to instance: InstanceID) {
        for number in outstanding.keys.sorted() where outstanding[number]?.instance == instance { giveUp(number) }
    }

    private func giveUp(_ number: Int64) {
        guard let lost = outstanding.removeValue(forKey: number) else { return }
        context.metrics.notePush(.unanswered, count: lost.unansweredCount)
        for case let waiting? in lost.notifications { giveUp(waiting) }
    }

    private func giveUp(_ waiting: WaitingNotification) {
        context.counters.noteSecondTry()
        context.routes.forget(waiting.device)
        context.step(waiting, .write)
    }
}

extension NodeMessage.PushResult {
    /// The result as metrics count it.
    fileprivate var end: ClusterMetrics.PushEnd {
        switch self {
        case .accepted: .accepted
        case .notHere: .notHere
        case .refused: .refused
        case .busy: .busy
        }
    }
}
