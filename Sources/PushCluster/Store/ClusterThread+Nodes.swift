// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The other nodes, and the versions of the control data that nodes use.
extension ClusterThread {
    func noteHeartbeat(_ heartbeat: ShardResult.Heartbeat, ofShard index: Int) {
        if sweepsDue[index] <= .now, workers[ofShard: index].submit(.sweep(shard: index)) {
            sweepsDue[index] = .future
        }
        guard index == 0 else { return }
        noteClock()
        noteNodes(heartbeat)
        endAbandonedMove()
    }

    /// Reports each change of the agreement between this machine's clock and PostgreSQL's.
    private func noteClock() {
        guard let difference = store?.context.clockDifferenceMilliseconds else { return }
        let agreement = ClockAgreement(differenceMilliseconds: difference)
        guard agreement != clock else { return }
        clock = agreement
        configuration.onClock(agreement, difference)
    }

    /// Connects to the nodes that a heartbeat found, and reads the control data if they have another version.
    func noteNodes(_ heartbeat: ShardResult.Heartbeat) {
        observer.note(heartbeat, at: .now)
        // A node that is cut off from PostgreSQL must learn over its links that other nodes are not.
        let recent = heartbeat.nodes.filter { $0.heartbeatAgeMilliseconds < ClusterLimits.linkMilliseconds }
        let nodes = recent.compactMap { node in
            node.address.flatMap { LinkedNode.Address($0) }.map { LinkedNode(instance: node.instance, address: $0) }
        }
        links?.setNodes(nodes)
        certificates?.renewIfDue()
        reviewSecrets(heartbeat)
        let isLate = lastHeartbeat.advanced(byMilliseconds: ClusterLimits.broadcastMilliseconds / 2) < .now
        lastHeartbeat = .now
        if isLate {
            // Heartbeats name only broadcasts that were stored lately.
            _ = workers.directory.submit(.readBroadcasts(from: 0))
        } else if let number = store?.leastUnknownBroadcast(of: heartbeat.broadcasts) {
            _ = workers.directory.submit(.readBroadcasts(from: number))
        }
        guard let directoryVersion, heartbeat.controlVersion > Int64(directoryVersion) else { return }
        _ = workers.directory.submit(.readDirectory)
    }

    /// Lets a worker read the secrets if they may have changed.
    private func reviewSecrets(_ heartbeat: ShardResult.Heartbeat) {
        guard let keeper = configuration.links?.keeper, let store,
            keeper.noteHeartbeat(
                leaseMilliseconds: store.leaseMilliseconds, controlVersion: heartbeat.controlVersion, at: .elapsed)
        else { return }
        if !workers.directory.submit(.reviewSecrets) { keeper.endReview() }
    }

    func answerStatus(_ states: [ServerState?], to address: ReplyAddress, _ store: ClusterStore) {
        let report = observer.report(store, slots.withLock { $0 }, states, metrics.cluster, at: .now)
        reply(.performed(.success(.cluster(report)), answer: address), to: address)
    }

    func linkChanged(to instance: InstanceID, isUp: Bool) {
        turn { $0.linkChanged(to: instance, isUp: isUp) }
    }

    func take(_ messages: [NodeMessage], from instance: InstanceID) {
        turn { store in
            for message in messages {
                switch message {
                case .rates(let uses): quotas?.charge(uses, from: instance)
                case .control(let number, let version):
                    controlQuestions.append((number, version, instance))
                    if Int64(directoryVersion ?? 0) < version { _ = workers.directory.submit(.readDirectory) }
                default: store.take(message, from: instance)
                }
            }
            answerControl(store)
        }
    }

    /// Answers the nodes that wait until this one uses a version of the control data.
    func answerControl(_ store: ClusterStore) {
        store.usesControl(version: Int64(directoryVersion ?? 0), changed: checksVersion)
        let version = settlement?.formerVersion ?? Int64(directoryVersion ?? 0)
        for question in controlQuestions where question.version <= version {
            links?.send([.done(number: question.number)], to: question.from)
        }
        controlQuestions.removeAll { $0.version <= version }
    }
}
