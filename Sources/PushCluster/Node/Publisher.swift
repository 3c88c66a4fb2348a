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
/// it. The provider gets its answer when all nodes have confirmed, and every node makes only higher numbers. So the
/// next broadcast of the channel has a higher number, on any node.
final class Publisher {
    /// A broadcast that has no number yet.
    private struct Arrival {
        let answer: ReplyAddress
        let since: MonotonicTime
        /// The end of the provider's patience.
        let due: MonotonicTime
        let check: ControlVersions.Check
        let publish: (Publication) -> Void
    }

    private let context: NodeContext
    private let hasLease: () -> Bool
    /// The number of providers that wait for answers.
    private var waitingCount = 0
    /// The broadcasts that arrived while the node had to read control data, in the order of their arrival.
    private var unchecked: [Arrival] = []
    /// The delivered broadcasts that wait until all nodes make higher numbers, in the order of that time.
    private var passing: [(publication: Publication, due: MonotonicTime)] = []

    init(_ context: NodeContext, hasLease: @escaping () -> Bool) {
        self.context = context
        self.hasLease = hasLease
    }

    /// Numbers a broadcast and begins to publish it, as soon as the node may use its control data.
    ///
    /// - Parameters:
    ///   - answer: The provider, which is refused when its patience ends.
    ///   - publish: Stores the broadcast.
    func begin(_ answer: ReplyAddress, _ publish: @escaping (Publication) -> Void) {
        // A flood of broadcasts must not keep the worker from the requests of devices.
        guard waitingCount < ClusterLimits.publicationCountMax else { return reply(.serviceUnavailable, to: answer) }
        waitingCount += 1
        let end = context.moment.advanced(byMilliseconds: context.configuration.patienceMilliseconds)
        admit(Arrival(answer: answer, since: context.moment, due: end, check: context.check(answer), publish: publish))
    }

    private func admit(_ arrival: Arrival) {
        guard isReady else { return unchecked.append(arrival) }
        let publication = Publication(
            number: context.ids.next(at: context.moment), answer: arrival.answer, since: arrival.since,
            check: arrival.check)
        guard isAllowed(publication) else { return refuse(publication, .serviceUnavailable) }
        arrival.publish(publication)
    }

    /// Whether the node may use its control data, and makes numbers.
    private var isReady: Bool { context.makesNumbers && context.control.areCurrent(at: context.moment) }

    /// Returns whether the check of a broadcast still counts.
    private func isAllowed(_ publication: Publication) -> Bool {
        let end = publication.since.advanced(byMilliseconds: context.configuration.leaseMilliseconds)
        return context.control.allow(publication.check, isRecent: context.moment < end)
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
        let isCurrent = context.control.areCurrent(at: context.moment)
        guard hasLease(), isCurrent, isAllowed(publication) else { return refuse(publication, .serviceUnavailable) }
        waitingCount -= 1
        context.counters.noteAccepted()
        context.reply(.accepted(answer: publication.answer), to: publication.answer)
    }

    /// The time at which the next answer is due.
    var nextDue: MonotonicTime? {
        guard let due = unchecked.first?.due else { return passing.first?.due }
        return passing.first.map { min($0.due, due) } ?? due
    }

    /// Begins, refuses or answers the broadcasts that have waited long enough.
    func expire() {
        if isReady, !unchecked.isEmpty {
            let arrived = unchecked
            unchecked = []
            for arrival in arrived { admit(arrival) }
        }
        while let first = unchecked.first, first.due <= context.moment {
            unchecked.removeFirst()
            waitingCount -= 1
            reply(.serviceUnavailable, to: first.answer)
        }
        while let first = passing.first, first.due <= context.moment {
            passing.removeFirst()
            finish(first.publication)
        }
    }
}
