// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

extension TraceRecorder {
    // MARK: In a transaction

    /// Records the events that a transaction lists.
    func record(_ events: [StoreEvent], at now: Timestamp) {
        guard isOn else { return }
        for event in events {
            switch event {
            case .delivery(let event): record(event, at: now)
            case .broadcast(let event): record(event, at: now)
            case .reply, .finalReply, .stream, .count, .memoryQuery: break
            }
        }
    }

    private func record(_ event: StoreEvent.Delivery, at now: Timestamp) {
        switch event {
        case .acceptedNotStored(let pending, let removal, _):
            let notification = pending.notification
            recordAccepted(notification, sequence: pending.sequence, isStored: true, at: now)
            let device = notification.channel == nil ? notification.address.device : .none
            record(removal.step, of: pending.sequence, notification.address.topic, on: device, at: now)
        case .removed(let removed, let removal, let detail):
            record(removal.step, detail, of: removed.sequence, removed.topic, on: removed.device, at: now)
        }
    }

    private func record(_ event: StoreEvent.BroadcastEvent, at now: Timestamp) {
        switch event {
        case .stored(let pending, _, _):
            recordAccepted(pending.notification, sequence: pending.sequence, isStored: true, at: now)
            record(.stored, of: pending.sequence, pending.notification.address.topic, on: .none, at: now)
        case .nowOrNever(let pending, _, _):
            recordAccepted(pending.notification, sequence: pending.sequence, isStored: false, at: now)
        case .removed(let removed, let removal):
            record(removal.step, of: removed.sequence, removed.topic, on: .none, at: now)
        case .ended: break
        }
    }

    /// Records that a notification is written, and the removal of those that it replaces.
    ///
    /// - Parameters:
    ///   - write: The notification.
    ///   - now: The current time.
    /// - Returns: The trace position for its row; nil if the trace is disabled. After a crash, `TraceRecovery` compares
    ///   it with the end of the trace.
    func recordWritten(_ write: PendingWrite, at now: Timestamp) -> Int64? {
        let address = write.pending.notification.address
        let device = address.device
        let position = isOn ? nextPosition : nil
        if !write.isAcknowledged {
            recordLater(.stored, of: write.pending.sequence, address.topic, on: device, at: now)
        }
        for replaced in write.replaced {
            record(
                replaced.removal.step, replaced.detail, of: replaced.entry.sequence, replaced.entry.topic, on: device,
                at: now)
        }
        return position
    }

    // MARK: Between transactions

    /// Records that a notification could not be written, and neither could the unwritten ones that it replaces.
    func recordRefused(_ write: PendingWrite, at now: Timestamp) {
        let address = write.pending.notification.address
        let device = address.device
        recordLater(.dropped, .notWritten, of: write.pending.sequence, address.topic, on: device, at: now)
        for replaced in write.replaced where replaced.older != nil {
            let entry = replaced.entry
            recordLater(.dropped, .notWritten, of: entry.sequence, entry.topic, on: device, at: now)
        }
    }

    /// Records the outcome that a device reports; ignores an outcome that says only that the notification arrived.
    func record(
        _ acknowledgement: DeviceAPI.Acknowledgement, _ topic: TopicID, by device: DeviceID, at now: Timestamp,
        withDeletions waits: Bool = false
    ) {
        guard isOn, let (step, detail) = acknowledgement.traced else { return }
        recordLater(step, detail, of: acknowledgement.id, topic, on: device, at: now, withDeletions: waits)
    }
}
