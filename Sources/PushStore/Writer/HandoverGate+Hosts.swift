// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The messages of hosts.
extension HandoverGate {
    /// Executes a message of a host.
    func take(_ command: HostCommand) throws(SQLError) {
        switch command {
        case .store(let pending, let answer): try store(pending, answer)
        case .returned(let held, let number): try takeBack(held, broadcast: number)
        case .delivered(let number, let host): dispatcher.deliveryState.confirm(number, by: host)
        case .wake: break
        }
    }

    private func takeBack(_ held: HeldQueue, broadcast number: Int) throws(SQLError) {
        guard let queue = handovers.takeBack(held.device) else { return }
        if let stream = queue.stream, stream.address == held.stream {
            try stream.takeBack(held) { entry throws(SQLError) in
                guard case .stored = entry.state else {
                    return try dispatcher.tables.subscriptions.isWaiting(entry.sequence, for: held.device)
                }
                return queue.archivedCount > 0 || queue.recent.entry(entry.sequence) != nil
            }
        }
        for entry in held.inFlight {
            guard case .unwritten(let notification, let answer) = entry.state else { continue }
            try store(PendingNotification(sequence: entry.sequence, notification: notification), answer)
        }
        dispatcher.deliveryState.takeBackSubscriptions(held, to: queue, broadcast: number)
    }

    /// Stores a notification that a host delivered; it is accepted once it is written.
    private func store(_ pending: PendingNotification, _ answer: ReplyAddress) throws(SQLError) {
        let (notification, sequence) = (pending.notification, pending.sequence)
        let address = notification.address
        guard let queue = try dispatcher.queues.queue(of: address.device) else {
            return dispatcher.deliveryState.replies.shed(answer)
        }
        recordSent(pending, to: queue)
        guard dispatcher.hasSpace else {
            dispatcher.trace.recordLater(
                .dropped, .notWritten, of: sequence, address.topic, on: address.device, at: dispatcher.now)
            return dispatcher.deliveryState.replies.shed(answer)
        }
        let collapse = CollapseHash(notification.collapseID)
        let new = PendingWrite(pending, collapse, of: queue, answer: answer, due: .past, replaced: [])
        // A newer notification of the device may have been stored earlier.
        dispatcher.queues.restore(
            QueueEntry(
                sequence: sequence, topic: address.topic, collapse: collapse,
                expiresAt: dispatcher.expiry(of: notification),
                pendingWrite: new), to: queue)
        dispatcher.pendingWrites.append(new)
    }

    // MARK: Journals

    /// Counts and records what a host did without the store.
    func take(_ record: HostJournal.Record) throws(SQLError) {
        switch record {
        case .delivered(let pending, let acknowledgement, let time):
            let address = pending.notification.address
            let queue = dispatcher.queues.record(of: address.device)
            recordSent(pending, to: queue)
            dispatcher.deliveryState.noteDeliveredByHost()
            try report(acknowledgement, address.topic, by: queue, at: time)
        case .notSent(let pending, let reason, let detail): recordNotSent(pending, reason, detail)
        case .sentNow(let pending):
            let (notification, address) = (pending.notification, pending.notification.address)
            dispatcher.trace.recordAccepted(
                notification, sequence: pending.sequence, isStored: false, at: notification.acceptedAt)
            recordSent([pending], to: address.device, at: notification.acceptedAt)
            dispatcher.deliveryState.noteSentNowByHost(address.topic)
        case .broadcast(let broadcast, let devices, let time):
            let sent = [broadcast.pending]
            for device in devices { recordSent(sent, to: device, at: time) }
            dispatcher.deliveryState.noteSentByHost(broadcast, copyCount: devices.count)
        case .acknowledgedNow(let acknowledgement, let topic, let device, let isBroadcast, let time):
            dispatcher.deliveryState.noteAcknowledged(acknowledgement.id, topic, isBroadcast: isBroadcast)
            try report(acknowledgement, topic, by: dispatcher.queues.record(of: device), at: time)
        }
    }

    private func recordNotSent(_ pending: PendingNotification, _ reason: RemovalReason, _ detail: TraceDetail) {
        let (notification, address) = (pending.notification, pending.notification.address)
        let time = notification.acceptedAt
        dispatcher.trace.recordAccepted(notification, sequence: pending.sequence, isStored: false, at: time)
        dispatcher.trace.recordLater(
            reason == .dropped ? .dropped : .expired, detail, of: pending.sequence, address.topic,
            on: address.device, at: time)
        dispatcher.deliveryState.noteNotSentByHost(reason)
    }

    private func report(
        _ acknowledgement: DeviceAPI.Acknowledgement, _ topic: TopicID, by queue: DeviceQueue, at time: Timestamp
    ) throws(SQLError) {
        let sequence = acknowledgement.id
        dispatcher.trace.recordLater(.acknowledged, of: sequence, topic, on: queue.device, at: time)
        let report = try dispatcher.histories.report(
            acknowledgement.outcome, of: sequence, by: queue.device, queue.stream, at: dispatcher.moment)
        guard case .known(_, isFirstTime: true) = report else { return }
        dispatcher.deliveryState.note(acknowledgement.outcome)
        dispatcher.trace.record(acknowledgement, topic, by: queue.device, at: time)
    }

    /// Records that a host sent notifications which are not acknowledged.
    private func recordSent(_ sent: [PendingNotification], to device: DeviceID, at time: Timestamp) {
        guard let stream = dispatcher.queues.record(of: device).stream else { return }
        dispatcher.histories.noteSent(sent, on: stream, at: dispatcher.moment) { pending in
            dispatcher.trace.recordLater(
                .sent, of: pending.sequence, pending.notification.address.topic, on: device, at: time)
        }
    }

    private func recordSent(_ pending: PendingNotification, to queue: DeviceQueue) {
        let notification = pending.notification
        let (address, acceptedAt) = (notification.address, notification.acceptedAt)
        dispatcher.trace.recordAccepted(notification, sequence: pending.sequence, isStored: false, at: acceptedAt)
        dispatcher.trace.recordLater(.sent, of: pending.sequence, address.topic, on: address.device, at: acceptedAt)
        dispatcher.histories.noteSent(pending.sequence, address.topic, to: address.device, queue.stream)
    }
}
