// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQLite

/// The messages of hosts.
extension HandoverGate {
    /// Executes a message of a host.
    func take(_ command: HostCommand) throws(SQLiteError) {
        switch command {
        case .store(let pending, let answer): try store(pending, answer)
        case .returned(let held):
            guard let queue = handovers.takeBack(held.device) else { return }
            if let stream = queue.stream, stream.address == held.stream {
                stream.takeBack(held) { sequence in
                    queue.archivedCount > 0 || queue.recent.entry(sequence) != nil
                }
            }
            for entry in held.inFlight {
                guard case .unwritten(let notification, let answer) = entry.state else { continue }
                try store(PendingNotification(sequence: entry.sequence, notification: notification), answer)
            }
        case .wake: break
        }
    }

    /// Stores a notification that a host delivered; it is accepted once it is written.
    private func store(_ pending: PendingNotification, _ answer: ReplyAddress) throws(SQLiteError) {
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

    /// Records a notification that a host delivered and its device acknowledged.
    func complete(_ record: HostJournal.Record) throws(SQLiteError) {
        let address = record.pending.notification.address
        let (sequence, acknowledgement) = (record.pending.sequence, record.acknowledgement)
        let queue = dispatcher.queues.record(of: address.device)
        recordSent(record.pending, to: queue)
        dispatcher.trace.recordLater(
            .acknowledged, of: sequence, address.topic, on: address.device, at: record.acknowledgedAt)
        dispatcher.deliveryState.noteDeliveredByHost()
        let report = try dispatcher.histories.report(
            acknowledgement.outcome, of: sequence, by: address.device, queue.stream, at: dispatcher.moment)
        guard case .known(_, isFirstTime: true) = report else { return }
        dispatcher.deliveryState.note(acknowledgement.outcome)
        dispatcher.trace.record(acknowledgement, address.topic, by: address.device, at: record.acknowledgedAt)
    }

    private func recordSent(_ pending: PendingNotification, to queue: DeviceQueue) {
        let notification = pending.notification
        let (address, acceptedAt) = (notification.address, notification.acceptedAt)
        dispatcher.trace.recordAccepted(notification, sequence: pending.sequence, isStored: false, at: acceptedAt)
        dispatcher.trace.recordLater(.sent, of: pending.sequence, address.topic, on: address.device, at: acceptedAt)
        dispatcher.histories.noteSent(pending.sequence, address.topic, to: address.device, queue.stream)
    }
}
