// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushStore

extension ClusterStore {
    /// The events of this node that a worker writes; nil without a trace.
    package var trace: NodeTrace? { context.trace }

    /// Removes and returns the delivery histories that a worker must write.
    ///
    /// - Parameter isLast: Whether all changed ones are due, because the node ends.
    /// - Returns: The histories.
    package func takeHistories(isLast: Bool) -> [DeliveryHistory.Copy] { host.histories.take(isLast: isLast) }

    /// Sets the apps, whose teams share the capacity of a device's history.
    package func setTeams(of topics: [TopicID: Topic]) {
        var numbers: [String: Int] = [:]
        context.teams = topics.mapValues { topic in
            let number = numbers[topic.teamID] ?? numbers.count
            numbers[topic.teamID] = number
            return number
        }
    }

    /// Counts and records the effects of a transaction that a worker has committed.
    package func note(_ effects: PostgresEffects) {
        for (reason, count) in effects.removalCounts { context.counters.note(reason, count) }
        for outcome in effects.outcomes { context.counters.note(outcome) }
        context.counters.noteTrimmed(effects.trimmedCount)
        context.counters.noteIgnored(effects.ignoredAcknowledgementCount)
        context.trace?.record(effects, at: context.nextTraceTime())
    }

    /// Takes acknowledgements that a device sends in a request; returns false unless its stream is on this node.
    package func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], by credential: DeviceCredential
    ) -> Bool {
        guard let device = credential.device, let stream = host.stream(of: device), stream.attachedAt != nil,
            credential.hasHash(stream.secretHash)
        else { return false }
        host.acknowledge(acknowledgements, by: device)
        return true
    }

    /// Records the rows that were replaced, or that have replaced a notification.
    func traceReplaced(_ rows: [ShardResult.Replaced], by notifications: [[WaitingNotification]]) {
        guard let trace = context.trace, !rows.isEmpty else { return }
        for group in notifications {
            guard let newest = group.max(by: { $0.pending.sequence < $1.pending.sequence }), newest.key.isCollapsible,
                let row = rows.first(where: { $0.device == newest.device && $0.key == newest.key })
            else { continue }
            if row.id < newest.pending.sequence {
                trace.record(.replaced, of: row.id, row.topic, on: row.device, at: context.nextTraceTime())
                context.counters.note(.collapsed)
            } else if row.id > newest.pending.sequence {
                context.trace(.replaced, of: newest)
                context.counters.note(.collapsed)
            }
        }
    }
}
