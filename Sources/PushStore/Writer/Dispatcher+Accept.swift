// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

extension Dispatcher {
    /// Refuses a notification, or accepts it: offers it to its device's stream and adds a pending write.
    func accept(_ notification: Notification, _ answer: ReplyAddress) throws(SQLError) {
        // A now-or-never notification needs no space, because it is never stored.
        guard hasSpace || notification.isNowOrNever else { return deliveryState.replies.shed(answer) }
        let address = notification.address
        guard let queue = try queues.queue(of: address.device) else {
            return deliveryState.replies.refuse(.badDeviceToken, endedAt: nil, answer)
        }
        guard let registration = queue.registration(of: address.topic) else {
            return deliveryState.replies.refuse(.unregistered, endedAt: now, answer)
        }
        if let (reason, ended) = registration.rejection(of: address.generation) {
            return deliveryState.replies.refuse(reason, endedAt: ended ?? now, answer)
        }
        guard let sequence = sequences.next() else { return deliveryState.replies.shed(answer) }
        let pending = PendingNotification(sequence: sequence, notification: notification)
        trace.recordAccepted(notification, sequence: sequence, isStored: false, at: now)
        if registration.isRefused {
            trace.recordLater(
                .dropped, .refusedByDevice, of: sequence, address.topic, on: address.device, at: now)
            deliveryState.acceptNotStored(pending, .dropped, answer)
        } else if notification.isNowOrNever {
            deliveryState.acceptNowOrNever(pending, queue, answer)
        } else if notification.isExpired(now: now) {
            trace.recordLater(.expired, of: sequence, address.topic, on: address.device, at: now)
            deliveryState.acceptNotStored(pending, .expired, answer)
        } else {
            try enqueue(pending, queue, answer)
        }
    }

    /// Appends a notification to its device's queue; removes those that it collapses or that exceed a bound.
    private func enqueue(
        _ pending: PendingNotification, _ queue: DeviceQueue, _ answer: ReplyAddress
    ) throws(SQLError) {
        let topic = pending.notification.address.topic
        let collapse = CollapseHash(pending.notification.collapseID)
        var replaced: [PendingWrite.Replaced] = []
        if let collapseID = pending.notification.collapseID {
            try removeCollapsible(collapseID, collapse, topic, queue, &replaced)
            // An older one that was acknowledged must not come back after a crash, behind this one.
            deletions.expedite(queue.device, topic, collapse)
        }
        if isFull(queue, of: topic, bounds.pendingPerTopicCountMax), isAway(queue) {
            try removeOldest(of: topic, queue, .topicBound, &replaced)
        }
        if isFull(queue, of: nil, bounds.pendingPerDeviceCountMax) {
            try makeRoomOnDevice(for: topic, queue, &replaced)
        }
        let offer = deliveryState.offer(pending, to: queue, at: moment)
        let due = replaced.isEmpty || configuration.durability == .relaxed ? dueMoment(offer) : .past
        let new = PendingWrite(pending, collapse, of: queue, answer: answer, due: due, replaced: replaced)
        queues.append(
            QueueEntry(
                sequence: pending.sequence, topic: topic, collapse: collapse,
                expiresAt: expiry(of: pending.notification), pendingWrite: new), to: queue)
        pendingWrites.append(new)
        guard configuration.durability == .relaxed else { return }
        new.isAnswered = true
        deliveryState.answer(new)
    }

    /// Returns the expiration of a notification, at most the retention time from now; nil without an expiration.
    func expiry(of notification: Notification) -> Timestamp? {
        notification.expiry(now: now, retentionSeconds: Limits.retentionSecondsMax)
    }

    /// Returns the deadline for writing a notification, given the stream's answer to the offer.
    private func dueMoment(_ offer: DeviceStream.Offer) -> MonotonicTime {
        guard configuration.durability != .relaxed else {
            return moment.advanced(byMilliseconds: WriterLimits.relaxedMilliseconds)
        }
        let isBusy = pendingWrites.count >= WriterLimits.busyCount
        let grace = isBusy ? WriterLimits.busyGraceMilliseconds : WriterLimits.graceMilliseconds
        guard case .sent(let expected) = offer, expected <= grace else { return .past }
        return max(moment.advanced(byMilliseconds: grace), pendingWrites.lastDue)
    }

    // MARK: Collapsing

    private func removeCollapsible(
        _ collapseID: [UInt8], _ collapse: CollapseHash, _ topic: TopicID, _ queue: DeviceQueue,
        _ replaced: inout [PendingWrite.Replaced]
    ) throws(SQLError) {
        for entry in queue.recent.all where entry.collapse == collapse && entry.topic == topic {
            // Compare the collapse IDs, because two IDs may have the same hash.
            guard try hasCollapseID(collapseID, entry, queue.device) else { continue }
            return push(entry, queue, .collapsed, .none, &replaced)
        }
        guard queue.archivedCount(of: topic) > 0 else { return }
        for row in try tables.archive.collapsible(of: queue.device, topic: topic, collapse) {
            let entry = QueueEntry(sequence: row.sequence, topic: topic, collapse: collapse)
            guard !deletions.contains(row.sequence), try hasCollapseID(collapseID, entry, queue.device) else {
                continue
            }
            return pushArchived(entry, queue, .collapsed, .none, &replaced)
        }
    }

    private func hasCollapseID(
        _ collapseID: [UInt8], _ entry: QueueEntry, _ device: DeviceID
    ) throws(SQLError) -> Bool {
        if let write = entry.pendingWrite { return write.pending.notification.collapseID == collapseID }
        let row = try tables.pending.read(entry.sequence, of: device)
        return row?.notification?.notification.collapseID == collapseID
    }

    // MARK: Pushing out

    func push(
        _ entry: QueueEntry, _ queue: DeviceQueue, _ removal: RemovalReason, _ detail: TraceDetail,
        _ replaced: inout [PendingWrite.Replaced]
    ) {
        guard queues.remove(entry.sequence, from: queue) != nil else { return }
        deliveryState.forget(entry.sequence, of: queue)
        let older = entry.pendingWrite
        // The new notification now also replaces those that the replaced one would have replaced.
        if let older { replaced += older.replaced }
        replaced.append(
            PendingWrite.Replaced(
                entry: entry, isArchived: false, older: older.map { ($0.answer, $0.isAnswered) }, removal: removal,
                detail: detail))
        if let older { pendingWrites.markGone(older) }
    }

    func pushArchived(
        _ entry: QueueEntry, _ queue: DeviceQueue, _ removal: RemovalReason, _ detail: TraceDetail,
        _ replaced: inout [PendingWrite.Replaced]
    ) {
        queue.changeArchived(entry.topic, by: -1)
        deliveryState.forget(entry.sequence, of: queue)
        deletions.addReplaced(entry.sequence)
        replaced.append(
            PendingWrite.Replaced(entry: entry, isArchived: true, older: nil, removal: removal, detail: detail))
    }
}
