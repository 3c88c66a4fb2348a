// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet

/// The writer's delivery state in memory: streams, subscribers, counters and replies.
///
/// Committed events, the dispatcher and the writer change it, all on the writer's thread.
struct DeliveryState {
    var streams: DeviceStreamIndex
    var counters: StoreCounters
    var subscribers = SubscriberIndex()
    var hostedSubscribers = HostedSubscribers()
    var replies: ReplyBatch
    /// The times at which devices were last seen that are not written yet.
    private var seen: [DeviceID: Timestamp] = [:]
    let queues: DeviceQueues
    private let trace: TraceRecorder
    private let histories: DeliveryHistories
    /// The number of unacknowledged copies of each now-or-never broadcast, by sequence.
    ///
    /// A host that has not confirmed the broadcast counts as one copy.
    var copies: [Int64: Int] = [:]
    var searches = TraceSearchQueue()
    /// The wall-clock time of this turn.
    var now = Timestamp.unixEpoch
    /// The monotonic time of this turn.
    var moment = MonotonicTime.now

    init(
        counters: StoreCounters, _ bounds: StoreBounds, _ executor: Executor,
        receivers: [any StoreReplyReceiver], _ metrics: StoreMetrics
    ) {
        queues = executor.queues
        trace = executor.trace
        histories = executor.histories
        streams = DeviceStreamIndex(bounds, metrics.acknowledgement)
        self.counters = counters
        replies = ReplyBatch(receivers: receivers)
    }

    /// Applies committed events to memory, in order.
    ///
    /// The answers wait for `sendReplies`.
    mutating func apply(_ events: [StoreEvent]) {
        for event in events {
            switch event {
            case .reply(let reply): replies.add(reply)
            case .finalReply(let result, let answer): replies.relay(result, to: answer)
            case .delivery(let event): apply(event)
            case .broadcast(let event): apply(event)
            case .stream(let event): apply(event)
            case .count(let event): apply(event)
            case .memoryQuery(let query, let address): answer(query, address)
            }
        }
    }

    // MARK: Answers

    /// Refuses a command because the disk failed or is full.
    mutating func refuse(_ command: StoreCommand, _ text: String) {
        if case .detach(let stream) = command {
            _ = detach(stream)
        } else if case .host(.returned(let held, _)) = command {
            for entry in held.inFlight {
                if case .unwritten(_, let answer) = entry.state { replies.shed(answer) }
            }
        } else if let (reply, address) = StoreReply.unavailable(command, text) {
            replies.add(reply, to: address)
        }
    }

    /// Delivers all replies to the loops: answers, then notifications, and last the answers to accepted notifications.
    mutating func sendReplies(now: Timestamp) {
        streams.takeOutgoing(now: now) { notifications, stream in
            histories.noteSent(notifications, on: stream, at: moment) { sent in
                trace.recordLater(
                    .sent, of: sent.sequence, sent.notification.address.topic, on: stream.device, at: now)
            }
            replies.add(.deliver(notifications, stream: stream.address), to: stream.address)
        }
        replies.send()
    }

    /// Sends a directory to all loops.
    func publish(_ directory: Directory) {
        histories.setTeams(directory.topics)
        replies.publish(directory)
    }

    // MARK: Reading for streams

    /// Sends the rows that were read for a device's stream, up to a sequence.
    mutating func refill(_ queue: DeviceQueue, _ read: [PendingNotification], through last: Int64, isComplete: Bool) {
        expire(streams.refill(queue, read, through: last, isComplete: isComplete))
    }

    // MARK: Last-seen times

    /// Returns devices whose last-seen time must be written, at most `countMax`, and removes them from the list.
    mutating func takeSeen(countMax: Int) -> [(device: DeviceID, at: Timestamp)] {
        let taken = seen.prefix(countMax).map { (device: $0.key, at: $0.value) }
        for (device, _) in taken { seen[device] = nil }
        return taken
    }

    /// Adds devices whose last-seen time must be written, unless a later time is in the list.
    mutating func noteSeen(_ devices: some Sequence<(device: DeviceID, at: Timestamp)>) {
        for (device, time) in devices { seen[device] = max(seen[device] ?? time, time) }
    }

    /// Records that all devices with an open stream are seen now.
    mutating func noteConnectedSeen() { noteSeen(streams.openDevices.map { (device: $0, at: now) }) }

    // MARK: Notifications

    /// Records that a notification is accepted, because it is on the disk or its device acknowledged it.
    mutating func accept(_ write: PendingWrite, isAcknowledged: Bool) {
        let address = write.pending.notification.address
        if write.isAnswered { counters.addAccepted() } else { accept(write.answer) }
        if isAcknowledged { counters.addGone(.acknowledged) } else { counters.addPending(of: address.topic) }
        for replaced in write.replaced {
            if let older = replaced.older {
                if older.isAnswered { counters.addAccepted() } else { accept(older.answer) }
                counters.addGone(replaced.removal)
            } else {
                counters.removePending(of: replaced.entry.topic, replaced.removal)
            }
        }
    }

    /// Answers that a notification is accepted although it is written later.
    mutating func answer(_ write: PendingWrite) { replies.accept(write.answer) }

    /// Refuses a notification that could not be written, and the unwritten ones that it replaced.
    mutating func refuse(_ write: PendingWrite) {
        refuse(write.answer, isAnswered: write.isAnswered)
        for replaced in write.replaced {
            if let older = replaced.older { refuse(older.answer, isAnswered: older.isAnswered) }
        }
    }

    /// Refuses a notification.
    ///
    /// One that was answered before the write is lost, which its durability allows.
    private mutating func refuse(_ answer: ReplyAddress, isAnswered: Bool) {
        guard isAnswered else { return replies.shed(answer) }
        counters.addAccepted()
        counters.addGone(.dropped)
    }

    /// Accepts a notification that is not delivered.
    mutating func acceptNotStored(
        _ pending: PendingNotification, _ removal: RemovalReason, _ answer: ReplyAddress
    ) {
        accept(answer)
        counters.addGone(removal)
    }

    /// Accepts a now-or-never notification and offers it to its device's stream.
    mutating func acceptNowOrNever(_ pending: PendingNotification, _ queue: DeviceQueue, _ answer: ReplyAddress) {
        accept(answer)
        if streams.offerNow(pending, to: queue) {
            counters.addPending(of: pending.notification.address.topic)
        } else {
            counters.addGone(.expired)
            let address = pending.notification.address
            let detail: TraceDetail = queue.stream != nil ? .windowFull : .notConnected
            trace.recordLater(.expired, detail, of: pending.sequence, address.topic, on: address.device, at: now)
        }
    }

    /// Offers a notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to queue: DeviceQueue, at moment: MonotonicTime
    ) -> DeviceStream.Offer {
        streams.offer(pending, to: queue, at: moment)
    }

    /// Records the acknowledgement of a now-or-never notification; returns false when the sequence is not one.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by queue: DeviceQueue) -> Bool {
        guard let never = streams.acknowledgeNowOrNever(sequence, by: queue) else { return false }
        noteAcknowledged(sequence, never.topic, isBroadcast: never.isBroadcast)
        return true
    }

    /// Counts the acknowledgement of a now-or-never notification, or of a copy of such a broadcast.
    mutating func noteAcknowledged(_ sequence: Int64, _ topic: TopicID, isBroadcast: Bool) {
        // The first acknowledgement of a broadcast counts for all its copies.
        if !isBroadcast || copies.removeValue(forKey: sequence) != nil {
            counters.removePending(of: topic, .acknowledged)
        }
    }

    /// Removes a notification from its device's stream.
    mutating func forget(_ sequence: Int64, of queue: DeviceQueue) { streams.forget(sequence, of: queue) }

    /// Records that a device acknowledged a pending notification.
    mutating func acknowledge(_ entry: QueueEntry, by queue: DeviceQueue, at moment: MonotonicTime) {
        counters.removePending(of: entry.topic, .acknowledged)
        streams.acknowledge(entry.sequence, by: queue, at: moment)
    }

    /// Records that a device acknowledged a notification that is not written.
    mutating func acknowledge(_ sequence: Int64, by queue: DeviceQueue, at moment: MonotonicTime) {
        streams.acknowledge(sequence, by: queue, at: moment)
    }

    /// Counts an outcome that a device reports for the first time.
    mutating func note(_ outcome: DeviceAPI.Outcome) { counters.add(outcome) }

    /// Counts acknowledgements that were ignored.
    mutating func noteGlitches(_ count: Int = 1) { counters.addGlitches(count) }

    /// Expires now-or-never notifications that can no longer be acknowledged.
    private mutating func expire(_ never: [DeviceStream.NowOrNever]) {
        for never in never {
            count(never)
            trace.recordLater(.expired, .notConnected, of: never.sequence, never.topic, on: never.device, at: now)
        }
    }

    /// Counts a now-or-never notification as expired; a broadcast counts with its last copy.
    private mutating func count(_ never: DeviceStream.NowOrNever) {
        guard never.isBroadcast else { return counters.removePending(of: never.topic, .expired) }
        addCopies(-1, of: never.sequence, never.topic)
    }

    private mutating func apply(_ event: StoreEvent.Delivery) {
        switch event {
        case .acceptedNotStored(_, let removal, let answer):
            accept(answer)
            counters.addGone(removal)
        case .removed(let removed, let removal, _):
            counters.removePending(of: removed.topic, removal)
            guard let queue = queues.known(removed.device) else { return }
            if queues.remove(removed.sequence, from: queue) == nil { queue.changeArchived(removed.topic, by: -1) }
            streams.forget(removed.sequence, of: queue)
        }
    }

    mutating func accept(_ answer: ReplyAddress) {
        counters.addAccepted()
        replies.accept(answer)
    }

    // MARK: Streams

    private mutating func apply(_ event: StoreEvent.StreamEvent) {
        switch event {
        case .dropUndelivered(let topic, let device): expire(drop(on: device) { $0.address.topic == topic })
        case .dropUndeliveredOfChannel(let channel, let device):
            for never in drop(on: device, where: { $0.channel == channel }) { count(never) }
        case .dropUndeliveredOfChannels(let topic):
            let isOfTopic = { (notification: Notification) in
                notification.channel != nil && notification.address.topic == topic
            }
            for never in streams.dropOutgoing(where: isOfTopic) { count(never) }
        case .power(let device, let isSaving):
            if let queue = queues.known(device) { streams.setSaving(isSaving, queue) }
        case .setSubscriptions(let device, let subscriptions):
            if let queue = connected(device) { subscribers.set(queue, subscriptions) }
        }
    }

    /// Drops the undelivered notifications of a device, or of all devices when it is nil.
    private mutating func drop(
        on device: DeviceID?, where isOfKind: (Notification) -> Bool
    ) -> [DeviceStream.NowOrNever] {
        guard let device else { return streams.dropOutgoing(where: isOfKind) }
        return queues.known(device).map { streams.dropOutgoing(on: $0, where: isOfKind) } ?? []
    }

    /// Returns the record of a device whose stream is open.
    private func connected(_ device: DeviceID) -> DeviceQueue? {
        guard let queue = queues.known(device), queue.stream != nil else { return nil }
        return queue
    }

    /// Opens a device's stream and ends an earlier one.
    mutating func attach(
        _ queue: DeviceQueue, _ stream: ReplyAddress, _ subscriptions: [ChannelSubscription]
    ) {
        let earlier = streams.attach(queue, stream)
        // The next time is that of the new stream's end.
        seen[queue.device] = nil
        close(earlier)
        if let earlier { replies.add(.ended(.replaced, stream: earlier.address), to: earlier.address) }
        subscribers.set(queue, subscriptions)
        replies.noteStream(on: stream.loop)
        replies.add(.attached(queue.device, stream: stream), to: stream)
    }

    /// Closes a stream; returns its device, or nil if another stream replaced it.
    mutating func detach(_ address: ReplyAddress) -> DeviceID? {
        guard let queue = streams.queue(at: address) else { return nil }
        close(streams.remove(queue))
        subscribers.remove(queue)
        queue.leftAt = now
        noteSeen([(device: queue.device, at: now)])
        return queue.device
    }

    /// Expires the now-or-never notifications of a closed stream.
    private mutating func close(_ stream: DeviceStream?) { if let stream { expire(stream.abandoned) } }

    /// Ends the stream of a removed device.
    private mutating func end(_ queue: DeviceQueue) {
        let stream = streams.remove(queue)
        close(stream)
        subscribers.remove(queue)
        if let stream { replies.add(.ended(.removed, stream: stream.address), to: stream.address) }
    }

    // MARK: Stored objects

    private mutating func apply(_ event: StoreEvent.CountEvent) {
        switch event {
        case .deviceAdded: counters.addDevices(1)
        case .deviceRemoved(let device):
            counters.addDevices(-1)
            seen[device] = nil
            histories.forget(device)
            if let queue = connected(device) { end(queue) }
        case .registrationsChanged(let device): queues.forgetRegistrations(of: device)
        case .registrationBegan(let topic): counters.addRegistrations(1, of: topic)
        case .registrationEnded(let topic): counters.addRegistrations(-1, of: topic)
        case .appAdded: counters.addApps(1)
        case .appRemoved(let topic):
            counters.addApps(-1)
            counters.endRegistrations(of: topic)
        case .subscribed(let channel, let subscription):
            counters.addSubscriptions(1, to: channel)
            if let subscription, let queue = connected(subscription.token.device) {
                subscribers.add(queue, subscription)
            }
        case .unsubscribed(let ended):
            counters.addSubscriptions(-1, to: ended.channel)
            if let queue = connected(ended.device) { subscribers.remove(queue, from: ended.channel) }
        case .channelRemoved(let channel):
            counters.endSubscriptions(to: channel)
            subscribers.remove(channel)
        }
    }

    // MARK: Questions

    /// Answers a query from memory, in the order of the events.
    private mutating func answer(_ query: StoreEvent.MemoryQuery, _ address: ReplyAddress) {
        switch query {
        case .counts: replies.answer(.counts(counters.counts(devicesConnected: streams.count)), address)
        case .longestQueues(let countMax): replies.answer(.queues(longestQueues(countMax)), address)
        case .app(let row): replies.answer(.app(counters.app(row)), address)
        case .apps(let rows): replies.answer(.apps(rows.map(counters.app)), address)
        case .device(let description): replies.answer(.device(completed(description)), address)
        case .devices(let descriptions, let next):
            replies.answer(.devices(descriptions.map(completed), next: next), address)
        case .channel(let description):
            replies.answer(.channel(counters.channel(description.channel, description.number)), address)
        case .channels(let descriptions):
            replies.answer(.channels(descriptions.map { counters.channel($0.channel, $0.number) }), address)
        case .trace(let search):
            if !searches.append(search) { replies.refuse(.tooMany, address) }
        }
    }

    /// Returns the longest queues, the longest first.
    private func longestQueues(_ countMax: Int) -> [QueueLength] {
        var longest: [QueueLength] = []
        queues.forEachWithRecent { queue in
            let count = queue.recent.count
            guard longest.count < countMax || count > longest[longest.count - 1].count else { return }
            let place = longest.firstIndex { $0.count < count } ?? longest.count
            longest.insert(QueueLength(device: queue.device, count: count, isConnected: queue.stream != nil), at: place)
            if longest.count > countMax { longest.removeLast() }
        }
        return longest
    }

    private func completed(_ description: StoreEvent.DeviceDescription) -> AdminAPI.Device {
        var device = description.device
        device.connected = queues.isConnected(description.id)
        if device.connected {
            device.seenAt = description.now
        } else if let at = seen[description.id] {
            device.seenAt = at
        }
        return device
    }
}
