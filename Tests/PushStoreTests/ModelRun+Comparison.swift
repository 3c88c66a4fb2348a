// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// The comparison of a store with the model.
extension ModelRun {
    /// Returns the texts that were delivered to each stream, in order.
    mutating func texts(in replies: [StoreReply]) -> [ReplyAddress: [String]] {
        var texts: [ReplyAddress: [String]] = [:]
        for case .deliver(let notifications, let stream) in replies {
            for pending in notifications {
                texts[stream, default: []].append(pending.text)
                textBySequence[pending.sequence] = pending.text
            }
        }
        return texts
    }

    /// Returns the difference between the store and the model, or nil.
    mutating func difference(
        delivered: [ReplyAddress: [String]], expected: [ReplyAddress: [String]], isCounted: Bool = true
    ) throws -> String? {
        digest.add(deliveries: delivered, by: model.streams)
        if delivered != expected { return "delivered \(delivered), expected \(expected)" }
        guard isCounted else { return nil }
        return try countDifference() ?? channelDifference()
    }

    private func countDifference() throws -> String? {
        let counts = try store.counts()
        guard model.promises.countsEnds else {
            let (found, modelled) = (
                [counts.apps, counts.devices, counts.registrations, counts.accepted],
                [
                    model.counts.apps, model.counts.devices, model.counts.registrations,
                    model.acceptedBefore + model.counts.accepted,
                ]
            )
            return found == modelled ? nil : "counts \(found), expected \(modelled)"
        }
        let (found, modelled) = ("\(sorted: counts)", "\(sorted: model.counts)")
        guard found == modelled else { return "counts \(found), expected \(modelled)" }
        let gone = counts.acknowledged + counts.collapsed + counts.expired + counts.dropped + counts.unregistered
        guard model.pendingAtStart + counts.accepted == counts.pending + gone else {
            return "the counts do not add up: \(found), and \(model.pendingAtStart) were pending at the start"
        }
        return nil
    }

    private func channelDifference() throws -> String? {
        for topic in topics {
            let found = try store.channels(topic.name).map { "\($0.channelID) \($0.subscriptionCount)" }
            let modelled = channels.compactMap { channel in
                model.channels[channel.id].flatMap { $0.topic == topic.id ? $0.subscribers.count : nil }
                    .map { "\(channel.id.text) \($0)" }
            }
            if found != modelled { return "channels \(found), expected \(modelled)" }
        }
        return nil
    }
}

extension String.StringInterpolation {
    /// Appends counts as one line, always in the same order.
    fileprivate mutating func appendInterpolation(sorted counts: AdminAPI.Counts) {
        let outcomes = counts.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        appendInterpolation(
            """
            apps \(counts.apps) devices \(counts.devices) connected \(counts.devicesConnected) \
            registrations \(counts.registrations) pending \(counts.pending) accepted \(counts.accepted) \
            acknowledged \(counts.acknowledged) collapsed \(counts.collapsed) expired \(counts.expired) \
            dropped \(counts.dropped) unregistered \(counts.unregistered) \(outcomes) glitches \(counts.glitches)
            """)
    }
}
