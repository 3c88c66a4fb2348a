// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

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
    func acknowledge(_ acknowledgements: [DeviceAPI.Acknowledgement], of device: DeviceID) throws(SQLError) {
        guard let queue = try queues.queue(of: device) else {
            return deliveryState.noteGlitches(acknowledgements.count)
        }
        var glitchCount = 0
        for acknowledgement in acknowledgements where try !complete(acknowledgement, queue) { glitchCount += 1 }
        deliveryState.noteGlitches(glitchCount)
        if queue.stream != nil, glitchCount < acknowledgements.count { quiet.append(queue) }
    }

    /// Processes one acknowledgement; returns false when it is ignored.
    private func complete(_ acknowledgement: DeviceAPI.Acknowledgement, _ queue: DeviceQueue) throws(SQLError)
        -> Bool
    {
        let sequence = acknowledgement.id
        guard sequence > 0, sequence <= sequences.last else { return false }
        var (isCompleted, isUnwritten) = (false, false)
        if let entry = queues.remove(sequence, from: queue) {
            isUnwritten = !entry.isWritten
            complete(entry, queue)
            histories.noteSent(entry.sequence, entry.topic, to: queue.device, queue.stream)
            isCompleted = true
        }
        let report = try histories.report(
            acknowledgement.outcome, of: sequence, by: queue.device, queue.stream, at: moment)
        guard case .known(let sent, let isFirstTime) = report else { return isCompleted }
        if !isCompleted, !sent.marks.contains(.acknowledged) { isCompleted = try complete(sent, queue) }
        guard isFirstTime else { return isCompleted }
        deliveryState.note(acknowledgement.outcome)
        trace.record(
            acknowledgement, sent.topic, by: queue.device, at: now, withDeletions: hasDeletions && !isUnwritten)
        return true
    }

    /// Completes a notification of the device's queue that is in memory.
    private func complete(_ entry: QueueEntry, _ queue: DeviceQueue) {
        trace.recordLater(
            .acknowledged, of: entry.sequence, entry.topic, on: queue.device, at: now, withDeletions: entry.isWritten)
        if let write = entry.pendingWrite {
            acknowledge(write)
        } else {
            deletions.add(entry, of: queue, isArchived: false, at: moment)
            deliveryState.acknowledge(entry, by: queue, at: moment)
        }
    }

    /// Completes an unacknowledged notification that is not in memory; returns false when it no longer exists.
    ///
    /// It is an archived row, a now-or-never notification or a broadcast.
    ///
    /// - Parameters:
    ///   - sent: The notification's entry in the delivery history.
    ///   - queue: The device's queue.
    /// - Returns: Whether the notification still existed.
    /// - Throws: The error that SQLite returned.
    private func complete(_ sent: DeliveryHistory.Entry, _ queue: DeviceQueue) throws(SQLError) -> Bool {
        let sequence = sent.sequence
        var isDeleted = true
        if queue.archivedCount > 0, !deletions.contains(sequence),
            let row = try tables.archive.find(sequence, of: queue.device)
        {
            let entry = QueueEntry(sequence: sequence, topic: row.topic, collapse: row.collapse)
            deletions.add(entry, of: queue, isArchived: true, at: moment)
            deliveryState.acknowledge(entry, by: queue, at: moment)
        } else if deliveryState.acknowledgeNowOrNever(sequence, by: queue) {
            isDeleted = false
        } else {
            deliveryState.forget(sequence, of: queue)
            guard sent.marks.contains(.broadcast),
                try tables.subscriptions.isWaiting(sequence, for: queue.device)
            else { return false }
            deletions.addAcknowledgement(sequence, by: queue.device, at: moment)
        }
        trace.recordLater(
            .acknowledged, of: sequence, sent.topic, on: queue.device, at: now, withDeletions: isDeleted)
        return true
    }

    /// Accepts a notification that was acknowledged before it was written.
    ///
    /// If it replaces notifications on the disk, it is accepted only after they are deleted, so that none of them is
    /// delivered again.
    private func acknowledge(_ acknowledged: PendingWrite) {
        deliveryState.acknowledge(acknowledged.pending.sequence, by: acknowledged.queue, at: moment)
        if acknowledged.replaced.isEmpty {
            pendingWrites.markGone(acknowledged)
            deliveryState.accept(acknowledged, isAcknowledged: true)
        } else {
            acknowledged.isAcknowledged = true
            pendingWrites.expedite(acknowledged)
        }
    }
}
