// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// A broadcast whose provider waits for the answer.
package struct Publication: Sendable {
    /// The number of the broadcast.
    package let number: Int64
    let answer: ReplyAddress
    let since: MonotonicTime
    let check: ControlVersions.Check
}

/// Answers the providers of broadcasts.
///
/// A broadcast is stored first, if its channel stores it. Then each node delivers it to its subscribers, and confirms
/// it. The provider has its answer after that, and when every node makes only higher numbers: so the next broadcast of
/// the channel, on any node, is the later one.
final class Publisher {
    private let context: NodeContext
    private let hasLease: () -> Bool
    /// The number of providers that wait for answers.
    private var waitingCount = 0
    /// The delivered broadcasts that wait until all nodes make higher numbers, in the order of that time.
    private var passing: [(publication: Publication, due: MonotonicTime)] = []

    init(_ context: NodeContext, hasLease: @escaping () -> Bool) {
        self.context = context
        self.hasLease = hasLease
    }

    /// Numbers a broadcast; returns nil while the node cannot answer it.
    func begin(_ answer: ReplyAddress) -> Publication? {
        let check = context.check(answer)
        // A flood of broadcasts must not keep the worker from the requests of devices.
        guard context.ids.clock.isKnown, waitingCount < ClusterLimits.publicationCountMax,
            context.control.areCurrent(at: context.moment), context.control.allow(check, isRecent: true)
        else {
            reply(.serviceUnavailable, to: answer)
            return nil
        }
        waitingCount += 1
        return Publication(
            number: context.ids.next(at: context.moment), answer: answer, since: context.moment,
            check: check)
    }

    func refuse(_ publication: Publication, _ reason: RejectionReason) {
        waitingCount -= 1
        reply(reason, to: publication.answer)
    }

    private func reply(_ reason: RejectionReason, to answer: ReplyAddress) {
        context.reply(.refused(reason, unregisteredAt: nil, answer: answer), to: answer)
    }

    /// Answers a broadcast that all nodes have, once its number has passed.
    func finish(_ publication: Publication) {
        let due = context.ids.passes(publication.number, after: context.moment)
        guard due > context.moment else { return accept(publication) }
        let place = passing.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        passing.insert((publication, due), at: place)
    }

    private func accept(_ publication: Publication) {
        let end = publication.since.advanced(byMilliseconds: context.configuration.leaseMilliseconds)
        let isAllowed =
            context.control.areCurrent(at: context.moment)
            && context.control.allow(publication.check, isRecent: context.moment < end)
        guard hasLease(), isAllowed else { return refuse(publication, .serviceUnavailable) }
        waitingCount -= 1
        context.counters.noteAccepted()
        context.reply(.accepted(answer: publication.answer), to: publication.answer)
    }

    /// The time at which the next answer is due.
    var nextDue: MonotonicTime? { passing.first?.due }

    /// Answers the broadcasts whose numbers have passed.
    func expire() {
        while let first = passing.first, first.due <= context.moment {
            passing.removeFirst()
            accept(first.publication)
        }
    }
}
