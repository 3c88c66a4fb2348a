// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore

/// Carries out the steps of notifications on the node where their senders wait for answers.
final class Edge {
    private let context: NodeContext
    private let shards: ClusterShards
    private let host: Host
    private let pusher: Pusher
    private let teller: Teller
    private let answers: Answers

    init(
        _ context: NodeContext, _ shards: ClusterShards, _ host: Host, _ pusher: Pusher, _ teller: Teller,
        _ answers: Answers
    ) {
        self.context = context
        self.shards = shards
        self.host = host
        self.pusher = pusher
        self.teller = teller
        self.answers = answers
    }

    /// Carries out a step of a notification.
    func carryOut(_ step: Step, of waiting: WaitingNotification) {
        switch step {
        case .route: route(waiting)
        case .look: shards[waiting.device].look(.route(waiting), waiting.device)
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
        // A now-or-never notification is never written. If it gets here, no node has confirmed its delivery.
        if notification.isNowOrNever || notification.isExpired(now: context.now) {
            context.counters.noteExpired()
            context.trace(.expired, notification.isNowOrNever ? .notConnected : .none, of: waiting)
            return context.step(waiting, .finish(.accepted))
        }
        shards[waiting.device].write(waiting)
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
