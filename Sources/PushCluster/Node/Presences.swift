// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Sends the state of this node to the other nodes once a second, and keeps the states that they send.
final class Presences {
    private static let intervalMilliseconds: Int64 = 1_000

    private let context: NodeContext
    private let describe: () -> NodeMessage.Presence
    private var heard: [InstanceID: (presence: NodeMessage.Presence, at: MonotonicTime)] = [:]
    private var nextSending = MonotonicTime.past

    init(_ context: NodeContext, describe: @escaping () -> NodeMessage.Presence) {
        self.context = context
        self.describe = describe
    }

    /// Returns the state that a node has sent recently; nil without a link.
    func presence(of instance: InstanceID) -> NodeMessage.Presence? {
        guard let (presence, time) = heard[instance], context.links.contains(instance),
            context.moment.milliseconds(since: time) < context.configuration.leaseMilliseconds
        else { return nil }
        return presence
    }

    /// Whether another node can commit, so that devices are better connected there if this one cannot.
    var othersCommit: Bool { heard.keys.contains { presence(of: $0)?.commits == true } }

    func note(_ presence: NodeMessage.Presence, from instance: InstanceID) {
        heard[instance] = (presence, context.moment)
    }

    func linkEnded(to instance: InstanceID) { heard[instance] = nil }

    /// The time of the next message; nil without links.
    var nextDue: MonotonicTime? { context.links.isEmpty ? nil : nextSending }

    /// Sends the message that is due.
    func expire() {
        guard let due = nextDue, due <= context.moment else { return }
        nextSending = context.moment.advanced(byMilliseconds: Self.intervalMilliseconds)
        let presence = describe()
        for instance in context.links.sorted(by: { $0.rawValue < $1.rawValue }) {
            context.send(.here(number: 0, presence), to: instance)
        }
    }
}
