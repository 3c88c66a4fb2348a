// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Dispatcher {
    /// Accepts a notification: to its device's stream, and among those to be written; or refuses it.
    func accept(_ notification: Notification, _ answer: ReplyAddress) throws(SQLiteError) {
        // What is now or never is stored nowhere.
        guard hasSpace || notification.isNowOrNever else { return ledger.shed(answer) }
        let address = notification.address
        guard let card = try cards.card(of: address.device) else {
            return ledger.refuse(.badDeviceToken, endedUnixMilliseconds: nil, answer)
        }
        guard let registration = card.registration(of: address.topic) else {
            return ledger.refuse(.unregistered, endedUnixMilliseconds: now, answer)
        }
        if let (reason, ended) = registration.rejection(of: address.generation) {
            return ledger.refuse(reason, endedUnixMilliseconds: ended ?? now, answer)
        }
        guard let sequence = executor.sequences.next() else { return ledger.shed(answer) }
        let pending = PendingNotification(sequence: sequence, notification: notification)
        executor.trace.recordAccepted(notification, sequence: sequence, isStored: false, at: now)
        if registration.isRefused {
            executor.trace.recordLater(.dropped, .refusedByDevice, of: sequence, on: address.device, at: now)
            ledger.acceptNotStored(pending, .dropped, answer)
        } else if notification.isNowOrNever {
            ledger.acceptNowOrNever(pending, answer)
        } else if notification.isExpired(now: now) {
            executor.trace.recordLater(.expired, of: sequence, on: address.device, at: now)
            ledger.acceptNotStored(pending, .expired, answer)
        } else {
            try enqueue(pending, card, answer)
        }
    }

    /// Puts a notification at the end of its device's queue, in place of what it collapses or what exceeds a bound.
    private func enqueue(
        _ pending: PendingNotification, _ card: DeviceCard, _ answer: ReplyAddress
    ) throws(SQLiteError) {
        let topic = pending.notification.address.topic
        let collapse = CollapseHash(pending.notification.collapseID)
        var replaced: [Unwritten.Replaced] = []
        if let collapseID = pending.notification.collapseID {
            try removeCollapsible(collapseID, collapse, topic, card, &replaced)
        }
        if card.waitingCount(of: topic) >= executor.bounds.pendingPerTopicCountMax {
            try removeOldest(of: topic, card, &replaced)
        }
        if card.waitingCount >= executor.bounds.pendingPerDeviceCountMax { try removeOldest(of: nil, card, &replaced) }
        let offer = ledger.offer(pending, to: stream(of: card), at: moment)
        let due = replaced.isEmpty || durability == .relaxed ? dueMoment(offer) : .past
        let new = Unwritten(pending, collapse, of: card, answer: answer, due: due, replaced: replaced)
        cards.append(
            QueueEntry(
                sequence: pending.sequence, topic: topic, collapse: collapse,
                expiresUnixMilliseconds: expiry(of: pending.notification), unwritten: new), to: card)
        unwritten.append(new)
        guard durability == .relaxed else { return }
        new.isAnswered = true
        ledger.answer(new)
    }

    /// Until when a notification waits, if it has an expiration.
    func expiry(of notification: Notification) -> Int64? {
        notification.expiryUnixMilliseconds(now: now, retentionSeconds: Limits.retentionSecondsMax)
    }

    /// By when one must be written that was offered to its device's stream.
    private func dueMoment(_ offer: DeviceStream.Offer) -> MonotonicTime {
        guard durability != .relaxed else {
            return moment.advanced(byMilliseconds: WriterLimits.relaxedMilliseconds)
        }
        let isBusy = unwritten.count >= WriterLimits.busyCount
        let grace = isBusy ? WriterLimits.busyGraceMilliseconds : WriterLimits.graceMilliseconds
        guard case .sent(let expected) = offer, expected <= grace else { return .past }
        return max(moment.advanced(byMilliseconds: grace), unwritten.lastDue)
    }

    // MARK: What makes room

    private func removeCollapsible(
        _ collapseID: [UInt8], _ collapse: CollapseHash, _ topic: TopicID, _ card: DeviceCard,
        _ replaced: inout [Unwritten.Replaced]
    ) throws(SQLiteError) {
        for entry in card.recent.all where entry.collapse == collapse && entry.topic == topic {
            // Two ids may have one hash.
            guard try hasCollapseID(collapseID, entry, card.device) else { continue }
            return push(entry, card, .collapsed, .none, &replaced)
        }
        guard card.settledCount(of: topic) > 0 else { return }
        for row in try executor.settled.collapsible(of: card.device, topic: topic, collapse) {
            let entry = QueueEntry(sequence: row.sequence, topic: topic, collapse: collapse)
            guard !isBeingDeleted(row.sequence), try hasCollapseID(collapseID, entry, card.device) else { continue }
            return pushSettled(entry, card, .collapsed, .none, &replaced)
        }
    }

    private func hasCollapseID(
        _ collapseID: [UInt8], _ entry: QueueEntry, _ device: DeviceID
    ) throws(SQLiteError) -> Bool {
        if let unwritten = entry.unwritten { return unwritten.pending.notification.collapseID == collapseID }
        let row = try executor.pending.read(entry.sequence, of: device)
        return row?.notification?.notification.collapseID == collapseID
    }

    private func removeOldest(
        of topic: TopicID?, _ card: DeviceCard, _ replaced: inout [Unwritten.Replaced]
    ) throws(SQLiteError) {
        // What expired and was not swept yet makes room first.
        if let expired = try expiredSettled(of: topic, card) {
            return pushSettled(expired, card, .expired, .none, &replaced)
        }
        let isOfTopic = { (entry: QueueEntry) in topic == nil || entry.topic == topic }
        if let expired = card.recent.all.first(where: { isOfTopic($0) && $0.isExpired(now: now) }) {
            return push(expired, card, .expired, .none, &replaced)
        }
        let settledCount = topic.map { card.settledCount(of: $0) } ?? card.settledCount
        if settledCount > 0, let row = try oldestSettled(of: topic, card) {
            let entry = QueueEntry(sequence: row.sequence, topic: row.topic, collapse: CollapseHash())
            return pushSettled(entry, card, .dropped, topic == nil ? .deviceBound : .topicBound, &replaced)
        }
        let oldest = card.recent.all.first(where: isOfTopic)
        if let oldest { push(oldest, card, .dropped, topic == nil ? .deviceBound : .topicBound, &replaced) }
    }

    /// The oldest settled one that has expired and is not to be deleted already.
    private func expiredSettled(of topic: TopicID?, _ card: DeviceCard) throws(SQLiteError) -> QueueEntry? {
        guard card.settledCount > 0, card.settledNextExpiry < now else { return nil }
        var found: QueueEntry?
        var next = Int64.max
        for entry in try executor.settled.expiring(of: card.device) where !isBeingDeleted(entry.sequence) {
            if found == nil, topic == nil || entry.topic == topic, entry.isExpired(now: now) {
                found = entry
            } else {
                next = min(next, entry.expiresUnixMilliseconds ?? .max)
            }
        }
        card.settledNextExpiry = next
        return found
    }

    /// The oldest settled one that is not to be deleted already.
    private func oldestSettled(of topic: TopicID?, _ card: DeviceCard) throws(SQLiteError) -> SettledTable.Row? {
        guard let oldest = try executor.settled.oldest(of: card.device, topic: topic) else { return nil }
        guard isBeingDeleted(oldest.sequence) else { return oldest }
        var last = oldest.sequence
        while true {
            let rows = try executor.settled.rows(of: card.device, after: last, countMax: 64)
            for row in rows where (topic == nil || row.topic == topic) && !isBeingDeleted(row.sequence) { return row }
            guard let end = rows.last else { return nil }
            last = end.sequence
        }
    }

    private func push(
        _ entry: QueueEntry, _ card: DeviceCard, _ removal: Tally.Removal, _ detail: TraceDetail,
        _ replaced: inout [Unwritten.Replaced]
    ) {
        guard cards.remove(entry.sequence, from: card) != nil else { return }
        ledger.forget(entry.sequence, of: card.device)
        let older = entry.unwritten
        // What it had pushed out is now this one's business.
        if let older { replaced += older.replaced }
        replaced.append(
            Unwritten.Replaced(
                entry: entry, isSettled: false, older: older.map { ($0.answer, $0.isAnswered) }, removal: removal,
                detail: detail))
        if let older { unwritten.leaveOut(older) }
    }

    private func pushSettled(
        _ entry: QueueEntry, _ card: DeviceCard, _ removal: Tally.Removal, _ detail: TraceDetail,
        _ replaced: inout [Unwritten.Replaced]
    ) {
        card.changeSettled(entry.topic, by: -1)
        ledger.forget(entry.sequence, of: card.device)
        noteBeingReplaced(entry.sequence)
        replaced.append(Unwritten.Replaced(entry: entry, isSettled: true, older: nil, removal: removal, detail: detail))
    }
}
