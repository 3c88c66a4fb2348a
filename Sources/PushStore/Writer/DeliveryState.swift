// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The writer's delivery state in memory: streams, subscribers, counters and the outbox.
///
/// Committed events, the dispatcher and the writer change it, all on the writer's thread.
struct DeliveryState {
    private(set) var streams: Streams
    private(set) var counters: StoreCounters
    private var subscribers = SubscriberIndex()
    private var outbox: Outbox
    /// Devices whose streams closed and whose last-seen time is not written yet.
    private var departed: Set<DeviceID> = []
    private let trace: TraceRecorder
    private let histories: DeliveryHistories
    /// The number of unacknowledged copies of each now-or-never broadcast, by sequence.
    private var copies: [Int64: Int] = [:]
    /// The searches of the trace, the next one first.
    var searches: [TraceSearch] = []
    /// The wall-clock time of this turn in UNIX milliseconds.
    var now: Int64 = 0
    /// The monotonic time of this turn.
    var moment = MonotonicTime.now

    init(
        counters: StoreCounters, gatheringMilliseconds: Int64, trace: TraceRecorder, histories: DeliveryHistories,
        receivers: [any StoreReplyReceiver]
    ) {
        self.trace = trace
        self.histories = histories
        streams = Streams(gatheringMilliseconds: gatheringMilliseconds)
        self.counters = counters
        outbox = Outbox(receivers: receivers)
    }

    /// Applies committed events to memory, in order.
    ///
    /// The answers wait for `handOut`.
    mutating func apply(_ events: [StoreEvent]) {
        for event in events {
            switch event {
            case .reply(let reply): add(reply)
            case .delivery(let event): apply(event)
            case .broadcast(let event): apply(event)
            case .stream(let event): apply(event)
            case .holding(let event): apply(event)
            case .question(let question, let address): answer(question, address)
            }
        }
    }

    // MARK: Answers

    /// Refuses a command because the disk failed or is full.
    mutating func refuse(_ command: StoreCommand, _ text: String) {
        if case .detach(let stream) = command {
            _ = detach(stream)
        } else if let (reply, address) = StoreReply.unavailable(command, text) {
            outbox.add(reply, to: address)
        }
    }

    /// Refuses a notification or a broadcast because of overload or missing space.
    mutating func shed(_ answer: ReplyAddress) {
        refuse(.serviceUnavailable, endedUnixMilliseconds: nil, answer)
    }

    /// Refuses a notification.
    mutating func refuse(_ reason: RejectionReason, endedUnixMilliseconds: Int64?, _ answer: ReplyAddress) {
        outbox.add(.refused(reason, unregisteredUnixMilliseconds: endedUnixMilliseconds, answer: answer), to: answer)
    }

    /// Refuses a request, or a stream.
    mutating func refuse(_ refusal: StoreRefusal, _ answer: ReplyAddress) {
        outbox.add(.performed(.failure(refusal), answer: answer), to: answer)
    }

    /// Answers that a request is done.
    mutating func confirm(_ answer: ReplyAddress) { perform(.done, answer) }

    /// Answers with the device that has a secret.
    mutating func identify(_ device: DeviceID, _ answer: ReplyAddress) { perform(.identified(device), answer) }

    /// Delivers all answers and then all notifications to the loops.
    mutating func handOut(now: Int64) {
        streams.takeOutgoing(now: now) { notifications, stream in
            histories.noteSent(notifications, on: stream, at: moment) { sent in
                trace.recordLater(
                    .sent, of: sent.sequence, sent.notification.address.topic, on: stream.device, at: now)
            }
            outbox.add(.deliver(notifications, stream: stream.address), to: stream.address)
        }
        outbox.handOut()
    }

    /// Sends a directory to all loops.
    func publish(_ directory: Directory) {
        histories.setTeams(directory.topics)
        outbox.publish(directory)
    }

    // MARK: Reading for streams

    /// Returns the devices whose streams may need a refill, and clears the list.
    mutating func takeNeedingRefill() -> [DeviceID] { streams.takeNeedingRefill() }

    /// Queues a device for a refill again.
    mutating func postpone(_ device: DeviceID) { streams.postpone(device) }

    /// Returns whether broadcasts may wait for a device with an open stream.
    func listens(_ device: DeviceID) -> Bool { subscribers.listens(device) }

    /// Sends the rows that were read for a device's stream, up to a sequence.
    mutating func refill(_ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool) {
        expire(streams.refill(device, read, through: last, isComplete: isComplete))
    }

    /// Ends the batch delays whose time is over, for devices that save power.
    mutating func endGathering(by moment: MonotonicTime) { streams.endGathering(by: moment) }

    // MARK: Last-seen times

    /// Returns devices whose streams closed since the last call, at most `countMax`, and removes them from the list.
    mutating func takeDeparted(countMax: Int) -> [DeviceID] {
        let taken = Array(departed.prefix(countMax))
        departed.subtract(taken)
        return taken
    }

    /// Adds devices to those whose last-seen time must be written.
    mutating func noteSeen(_ devices: some Sequence<DeviceID>) { departed.formUnion(devices) }

    // MARK: Notifications

    /// Records that a notification is accepted, because it is on the disk or its device acknowledged it.
    mutating func accept(_ unwritten: PendingWrite, isAcknowledged: Bool) {
        let address = unwritten.pending.notification.address
        if unwritten.isAnswered { counters.addAccepted() } else { accept(unwritten.answer) }
        if isAcknowledged { counters.addGone(.acknowledged) } else { counters.addPending(of: address.topic) }
        for replaced in unwritten.replaced {
            if let older = replaced.older {
                if older.isAnswered { counters.addAccepted() } else { accept(older.answer) }
                counters.addGone(replaced.removal)
            } else {
                counters.removePending(of: replaced.entry.topic, replaced.removal)
            }
        }
    }

    /// Answers that a notification is accepted although it is written later.
    mutating func answer(_ unwritten: PendingWrite) {
        outbox.add(.accepted(answer: unwritten.answer), to: unwritten.answer)
    }

    /// Refuses a notification that could not be written, and the unwritten ones that it replaced.
    mutating func refuse(_ unwritten: PendingWrite) {
        refuse(unwritten.answer, isAnswered: unwritten.isAnswered)
        for replaced in unwritten.replaced {
            if let older = replaced.older { refuse(older.answer, isAnswered: older.isAnswered) }
        }
    }

    /// Refuses a notification.
    ///
    /// One that was answered before the write is lost, which its durability allows.
    private mutating func refuse(_ answer: ReplyAddress, isAnswered: Bool) {
        guard isAnswered else { return shed(answer) }
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
    mutating func acceptNowOrNever(_ pending: PendingNotification, _ answer: ReplyAddress) {
        accept(answer)
        if streams.offerNow(pending) {
            counters.addPending(of: pending.notification.address.topic)
        } else {
            counters.addGone(.expired)
            let address = pending.notification.address
            let detail: TraceDetail = streams.isOpen(address.device) ? .windowFull : .notConnected
            trace.recordLater(.expired, detail, of: pending.sequence, address.topic, on: address.device, at: now)
        }
    }

    /// Offers a notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to stream: DeliveryWindow?, at moment: MonotonicTime
    ) -> DeliveryWindow.Offer {
        streams.offer(pending, to: stream, at: moment)
    }

    /// Records that a waiting notification was removed.
    mutating func remove(_ sequence: Int64, of device: DeviceID, _ topic: TopicID, _ removal: RemovalReason) {
        counters.removePending(of: topic, removal)
        streams.forget(sequence, of: device)
    }

    /// Records the acknowledgement of a now-or-never notification; returns false when the sequence is not one.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by device: DeviceID) -> Bool {
        guard let never = streams.acknowledgeNowOrNever(sequence, by: device) else { return false }
        // The first acknowledgement of a broadcast counts for all its copies.
        if !never.isBroadcast || copies.removeValue(forKey: never.sequence) != nil {
            counters.removePending(of: never.topic, .acknowledged)
        }
        return true
    }

    /// Removes a notification from its device's stream.
    mutating func forget(_ sequence: Int64, of device: DeviceID) { streams.forget(sequence, of: device) }

    /// Records that a device acknowledged a waiting notification.
    mutating func acknowledge(_ entry: QueueEntry, _ stream: DeliveryWindow?, at moment: MonotonicTime) {
        counters.removePending(of: entry.topic, .acknowledged)
        streams.acknowledge(entry.sequence, on: stream, at: moment)
    }

    /// Records that a device acknowledged a notification that is not written.
    mutating func acknowledge(_ sequence: Int64, _ stream: DeliveryWindow?, at moment: MonotonicTime) {
        streams.acknowledge(sequence, on: stream, at: moment)
    }

    /// Counts an outcome that a device reports for the first time.
    mutating func note(_ outcome: DeviceAPI.Outcome) { counters.add(outcome) }

    /// Counts acknowledgements that were ignored.
    mutating func noteGlitches(_ count: Int = 1) { counters.addGlitches(count) }

    /// Expires now-or-never notifications that can no longer be acknowledged.
    private mutating func expire(_ never: [DeliveryWindow.NowOrNever]) {
        for never in never {
            count(never)
            trace.recordLater(.expired, .notConnected, of: never.sequence, never.topic, on: never.device, at: now)
        }
    }

    /// Counts a now-or-never notification as expired; a broadcast counts with its last copy.
    private mutating func count(_ never: DeliveryWindow.NowOrNever) {
        guard never.isBroadcast else { return counters.removePending(of: never.topic, .expired) }
        guard let left = copies[never.sequence] else { return }
        copies[never.sequence] = left > 1 ? left - 1 : nil
        if left <= 1 { counters.removePending(of: never.topic, .expired) }
    }

    private mutating func apply(_ event: StoreEvent.Delivery) {
        switch event {
        case .acceptedNotStored(_, let removal, let answer):
            accept(answer)
            counters.addGone(removal)
        case .removed(let removed, let removal, _): remove(removed.sequence, of: removed.device, removed.topic, removal)
        }
    }

    private mutating func apply(_ event: StoreEvent.OfBroadcast) {
        switch event {
        case .stored(let template, let channel, let answer):
            counters.addPending(of: template.notification.address.topic)
            accept(answer)
            for token in subscribers.listeners(of: channel).values {
                _ = streams.offer(template.addressed(to: token), to: streams.stream(of: token.device), at: .now)
            }
        case .nowOrNever(let template, let channel, let answer):
            accept(answer)
            var takerCount = 0
            for token in subscribers.listeners(of: channel).values where streams.offerNow(template.addressed(to: token))
            {
                takerCount += 1
            }
            guard takerCount > 0 else { return counters.addGone(.expired) }
            copies[template.sequence] = takerCount
            counters.addPending(of: template.notification.address.topic)
        case .removed(let removed, let removal):
            counters.removePending(of: removed.topic, removal)
            for device in subscribers.listeners(of: removed.channel).keys {
                streams.forget(removed.sequence, of: device)
            }
        case .settled(let sequence, let device): streams.forget(sequence, of: device)
        }
    }

    private mutating func accept(_ answer: ReplyAddress) {
        counters.addAccepted()
        outbox.add(.accepted(answer: answer), to: answer)
    }

    // MARK: Streams

    private mutating func apply(_ event: StoreEvent.OfStream) {
        switch event {
        case .silence(let topic, let device):
            expire(streams.dropOutgoing(on: device) { $0.address.topic == topic })
        case .silenceChannel(let channel, let device):
            for never in streams.dropOutgoing(on: device, where: { $0.channel == channel }) { count(never) }
        case .silenceChannels(let topic):
            let isOfTopic = { (notification: Notification) in
                notification.channel != nil && notification.address.topic == topic
            }
            for never in streams.dropOutgoing(on: nil, where: isOfTopic) { count(never) }
        case .power(let device, let isSaving): streams.setSaving(isSaving, device)
        case .listen(let device, let listeners):
            if streams.isOpen(device) { subscribers.set(device, listeners) }
        }
    }

    /// Opens a device's stream and ends an earlier one.
    mutating func attach(_ device: DeviceID, _ stream: ReplyAddress, _ listeners: [SubscriptionTable.Listener]) {
        let earlier = streams.attach(device, stream)
        close(earlier)
        if let earlier { outbox.add(.ended(.replaced, stream: earlier.address), to: earlier.address) }
        subscribers.set(device, listeners)
        outbox.add(.attached(device, stream: stream), to: stream)
    }

    /// Closes a stream; returns its device, or nil when another stream replaced it.
    mutating func detach(_ address: ReplyAddress) -> DeviceID? {
        guard let device = streams.device(at: address) else { return nil }
        close(streams.remove(device))
        subscribers.remove(device)
        departed.insert(device)
        return device
    }

    /// Expires the now-or-never notifications of a closed stream.
    private mutating func close(_ stream: DeliveryWindow?) {
        if let stream { expire(stream.abandoned) }
    }

    // MARK: Stored objects

    private mutating func apply(_ event: StoreEvent.Holding) {
        switch event {
        case .deviceAdded: counters.addDevices(1)
        case .deviceRemoved(let device):
            counters.addDevices(-1)
            let stream = streams.remove(device)
            close(stream)
            subscribers.remove(device)
            departed.remove(device)
            histories.forget(device)
            if let stream { outbox.add(.ended(.removed, stream: stream.address), to: stream.address) }
        case .registrationsChanged: break
        case .registrationBegan(let topic): counters.addRegistrations(1, of: topic)
        case .registrationEnded(let topic): counters.addRegistrations(-1, of: topic)
        case .appAdded: counters.addApps(1)
        case .appRemoved(let topic):
            counters.addApps(-1)
            counters.endRegistrations(of: topic)
        case .subscribed(let channel, let listener):
            counters.addSubscriptions(1, to: channel)
            if let listener, streams.isOpen(listener.token.device) { subscribers.add(listener) }
        case .unsubscribed(let ended):
            counters.addSubscriptions(-1, to: ended.channel)
            subscribers.remove(ended.device, from: ended.channel)
        case .channelRemoved(let channel):
            counters.endSubscriptions(to: channel)
            subscribers.remove(channel)
        }
    }

    // MARK: Questions

    /// Answers a question from memory, in the order of the events.
    private mutating func answer(_ question: StoreEvent.Question, _ address: ReplyAddress) {
        switch question {
        case .counts: perform(.counts(counters.counts(devicesConnected: streams.count)), address)
        case .app(let row): perform(.app(counters.app(row)), address)
        case .apps(let rows): perform(.apps(rows.map(counters.app)), address)
        case .device(let description): perform(.device(completed(description)), address)
        case .devices(let descriptions, let next):
            perform(.devices(descriptions.map(completed), next: next), address)
        case .channel(let description):
            perform(.channel(counters.channel(description.channel, description.number)), address)
        case .channels(let descriptions):
            perform(.channels(descriptions.map { counters.channel($0.channel, $0.number) }), address)
        case .trace(let search): add(search)
        }
    }

    private func completed(_ description: StoreEvent.DeviceDescription) -> AdminAPI.Device {
        var device = description.device
        device.connected = streams.isOpen(description.id)
        if device.connected { device.seenAt = description.nowUnixSeconds }
        return device
    }

    mutating func perform(_ answer: StoreAnswer, _ address: ReplyAddress) {
        outbox.add(.performed(.success(answer), answer: address), to: address)
    }

    private mutating func add(_ reply: StoreReply) {
        switch reply {
        case .accepted(let address), .refused(_, _, let address), .attached(_, let address),
            .deliver(_, let address), .ended(_, let address), .performed(_, let address):
            outbox.add(reply, to: address)
        case .directory(let directory): outbox.publish(directory)
        }
    }
}
