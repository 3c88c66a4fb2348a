// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQLite

extension Dispatcher {
    /// Processes acknowledgements of a device and counts those that are ignored.
    ///
    /// A device may send any number. Neither a number that was not sent to it nor a repeated outcome costs a statement,
    /// and both leave only the count behind.
    ///
    /// - Parameters:
    ///   - acknowledgements: The acknowledgements.
    ///   - device: The device.
    /// - Throws: The error that SQLite returned.
    func settle(_ acknowledgements: [DeviceAPI.Acknowledgement], of device: DeviceID) throws(SQLiteError) {
        guard let card = try cards.card(of: device) else { return deliveryState.noteGlitches(acknowledgements.count) }
        for acknowledgement in acknowledgements {
            let isNews = try settle(acknowledgement, card)
            if !isNews { deliveryState.noteGlitches() }
        }
    }

    /// Processes one acknowledgement; returns false when it is ignored.
    private func settle(_ acknowledgement: DeviceAPI.Acknowledgement, _ card: DeviceQueue) throws(SQLiteError) -> Bool {
        let sequence = acknowledgement.id
        guard sequence > 0, sequence <= sequences.last else { return false }
        var isSettled = false
        if let entry = cards.remove(sequence, from: card) {
            settle(entry, card)
            histories.noteSent(entry.sequence, entry.topic, to: card.device, card.stream)
            isSettled = true
        }
        let report = try histories.report(
            acknowledgement.outcome, of: sequence, by: card.device, card.stream, at: moment)
        guard case .known(let sent, let isFirstTime) = report else { return isSettled }
        if !isSettled, !sent.marks.contains(.acknowledged) { isSettled = try settle(sent, card) }
        guard isFirstTime else { return isSettled }
        deliveryState.note(acknowledgement.outcome)
        trace.record(acknowledgement, sent.topic, by: card.device, at: now)
        return true
    }

    /// Completes a notification of the device's queue that is in memory.
    private func settle(_ entry: QueueEntry, _ card: DeviceQueue) {
        trace.recordLater(.acknowledged, of: entry.sequence, entry.topic, on: card.device, at: now)
        if let unwritten = entry.unwritten {
            acknowledge(unwritten)
        } else {
            deletions.add(entry, of: card, isSettled: false, at: moment)
            deliveryState.acknowledge(entry, by: card, at: moment)
        }
    }

    /// Completes an unacknowledged notification that is not in memory; returns false when it no longer exists.
    ///
    /// It is an archived row, a now-or-never notification or a broadcast.
    ///
    /// - Parameters:
    ///   - sent: The notification's entry in the delivery history.
    ///   - card: The device's record.
    /// - Returns: Whether the notification still existed.
    /// - Throws: The error that SQLite returned.
    private func settle(_ sent: DeliveryHistory.Entry, _ card: DeviceQueue) throws(SQLiteError) -> Bool {
        let sequence = sent.sequence
        if card.settledCount > 0, !deletions.contains(sequence),
            let topic = try tables.archive.topic(of: sequence, of: card.device)
        {
            let entry = QueueEntry(sequence: sequence, topic: topic, collapse: CollapseHash())
            deletions.add(entry, of: card, isSettled: true, at: moment)
            deliveryState.acknowledge(entry, by: card, at: moment)
        } else if !deliveryState.acknowledgeNowOrNever(sequence, by: card) {
            deliveryState.forget(sequence, of: card)
            guard sent.marks.contains(.broadcast),
                try tables.subscriptions.isWaiting(sequence, for: card.device)
            else { return false }
            deletions.addAcknowledgement(sequence, by: card.device, at: moment)
        }
        trace.recordLater(.acknowledged, of: sequence, sent.topic, on: card.device, at: now)
        return true
    }

    /// Accepts a notification that was acknowledged before it was written.
    ///
    /// If it replaces notifications on the disk, it is accepted only after they are deleted, so that none of them is
    /// delivered again.
    private func acknowledge(_ acknowledged: PendingWrite) {
        deliveryState.acknowledge(acknowledged.pending.sequence, by: acknowledged.card, at: moment)
        if acknowledged.replaced.isEmpty {
            unwritten.leaveOut(acknowledged)
            deliveryState.accept(acknowledged, isAcknowledged: true)
        } else {
            acknowledged.isAcknowledged = true
            unwritten.expedite(acknowledged)
        }
    }
}
