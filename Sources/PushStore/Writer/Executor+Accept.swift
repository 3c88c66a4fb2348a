// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    /// Whether a device token may be sent to.
    private enum Standing {
        case live
        case refusedByDevice
        case rejected(RejectionReason, endedUnixMilliseconds: Int64?)
    }

    /// Accepts a notification: into the table, straight to the device, or nowhere.
    func accept(_ notification: Notification, _ answer: ReplyAddress) throws(SQLiteError) {
        switch try standing(of: notification.address) {
        case .rejected(let reason, let ended):
            events.append(.reply(.refused(reason, unregisteredUnixMilliseconds: ended, answer: answer)))
        case .refusedByDevice: discard(notification, .dropped, .refusedByDevice, answer)
        case .live where notification.isNowOrNever:
            let before = lastSequence
            lastSequence += 1
            events.append(.delivery(.nowOrNever(notification, lastSequence, after: before, answer: answer)))
        case .live where notification.isExpired(now: now):
            discard(notification, .expired, .none, answer)
        case .live: try store(notification, answer)
        }
    }

    /// Accepts what nobody will get.
    func discard(
        _ notification: Notification, _ removal: Tally.Removal, _ detail: TraceDetail, _ answer: ReplyAddress
    ) {
        lastSequence += 1
        events.append(.delivery(.acceptedNotStored(notification, lastSequence, removal, detail, answer: answer)))
    }

    private func standing(of address: DeviceTokenContents) throws(SQLiteError) -> Standing {
        guard let device = Int64(exactly: address.device.rawValue) else {
            return .rejected(.badDeviceToken, endedUnixMilliseconds: nil)
        }
        guard let registration = try registrations.find(device: device, topic: address.topic) else {
            guard try devices.wasEnrolled(device) else {
                return .rejected(.badDeviceToken, endedUnixMilliseconds: nil)
            }
            return .rejected(.unregistered, endedUnixMilliseconds: now)
        }
        if let (reason, ended) = registration.rejection(of: address.generation) {
            return .rejected(reason, endedUnixMilliseconds: ended ?? now)
        }
        return registration.isRefused ? .refusedByDevice : .live
    }

    /// Puts a notification at the end of the queue, in place of what it collapses or what exceeds the bound.
    private func store(_ notification: Notification, _ answer: ReplyAddress) throws(SQLiteError) {
        let (device, topic) = (notification.address.device, notification.address.topic)
        if let collapseID = notification.collapseID,
            let older = try pending.collapsible(device: device.stored, topic: topic, collapseID: collapseID)
        {
            try remove(older, of: device, .collapsed)
        }
        if let oldest = try pending.oldest(
            device: device.stored, topic: topic, ifCountReaches: bounds.pendingPerTopicCountMax)
        {
            try remove(oldest, of: device, .dropped, .topicBound)
        }
        lastSequence += 1
        let stored = PendingNotification(sequence: lastSequence, notification: notification)
        let expires = notification.expiryUnixMilliseconds(now: now, retentionSeconds: Limits.retentionSecondsMax)
        try pending.add(stored, expiresUnixMilliseconds: expires)
        events.append(.delivery(.stored(stored, answer: answer)))
    }

    private func remove(
        _ sequence: Int64, of device: DeviceID, _ removal: Tally.Removal, _ detail: TraceDetail = .none
    ) throws(SQLiteError) {
        if let removed = try pending.remove(sequence, of: device) {
            events.append(.delivery(.removed(removed, removal, detail)))
        }
    }
}
