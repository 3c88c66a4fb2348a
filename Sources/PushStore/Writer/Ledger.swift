// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What the writer keeps in memory: streams, who listens, counts and the outbox; changed by committed events only.
struct Ledger {
    private(set) var streams: Streams
    private(set) var tally: Tally
    private var audience = Audience()
    private var outbox: Outbox
    /// Devices whose streams closed, of which is to be written down that they were seen.
    private var departed: Set<DeviceID> = []
    private let trace: TraceRecorder
    /// Searches of the trace, the next one first.
    private var searches: [TraceSearch] = []
    /// Wall clock of this turn, UNIX milliseconds.
    var now: Int64 = 0

    init(tally: Tally, gatheringMilliseconds: Int64, trace: TraceRecorder, receivers: [any StoreReplyReceiver]) {
        self.trace = trace
        streams = Streams(gatheringMilliseconds: gatheringMilliseconds)
        self.tally = tally
        outbox = Outbox(receivers: receivers)
    }

    /// Lets committed events come true, in order; the answers wait for `handOut`.
    mutating func apply(_ events: [StoreEvent]) {
        for event in events {
            switch event {
            case .reply(let reply): add(reply)
            case .delivery(let event): apply(event)
            case .broadcast(let event): apply(event)
            case .stream(let event): apply(event)
            case .holding(let event): apply(event)
            case .question(let question): answer(question)
            }
        }
    }

    // MARK: Answers

    /// Refuses a command because of the disk.
    mutating func refuse(_ command: StoreCommand, _ text: String) {
        if case .detach(let stream) = command {
            _ = detach(stream)
        } else if let (reply, address) = StoreReply.unavailable(command, text) {
            outbox.add(reply, to: address)
        }
    }

    /// Refuses one that nobody had time or room for.
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

    /// Tells that a request is done.
    mutating func confirm(_ answer: ReplyAddress) { perform(.done, answer) }

    /// Hands out all answers and then all deliveries.
    mutating func handOut(now: Int64) {
        streams.takeOutgoing(now: now) { notifications, address in
            for sent in notifications {
                trace.recordLater(.sent, of: sent.sequence, on: sent.notification.address.device, at: now)
            }
            outbox.add(.deliver(notifications, stream: address), to: address)
        }
        outbox.handOut()
    }

    /// Hands a directory to all loops.
    func publish(_ directory: Directory) { outbox.publish(directory) }

    // MARK: Reading for streams

    /// Takes out the devices whose table should be read.
    mutating func takeHungry() -> [DeviceID] { streams.takeHungry() }

    /// Puts a device back in line.
    mutating func postpone(_ device: DeviceID) { streams.postpone(device) }

    /// Whether broadcasts may wait for a device whose stream is open.
    func listens(_ device: DeviceID) -> Bool { audience.listens(device) }

    /// Gives a device's stream what was read for it, up to a sequence.
    mutating func refill(_ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool) {
        expire(streams.refill(device, read, through: last, isComplete: isComplete))
    }

    /// Lets go what was kept back long enough for devices that save power.
    mutating func endGathering(by moment: MonotonicTime) { streams.endGathering(by: moment) }

    // MARK: Who was seen

    /// Devices whose streams closed since they were last taken, at most so many.
    mutating func takeDeparted(countMax: Int) -> [DeviceID] {
        let taken = Array(departed.prefix(countMax))
        departed.subtract(taken)
        return taken
    }

    /// Puts devices back, or counts connected ones as if they had left: they are to be written down too.
    mutating func noteSeen(_ devices: some Sequence<DeviceID>) { departed.formUnion(devices) }

    // MARK: Notifications

    /// A notification is accepted: it is on the disk, or its device has it.
    mutating func accept(_ unwritten: Unwritten, isAcknowledged: Bool) {
        let address = unwritten.pending.notification.address
        if unwritten.isAnswered { tally.addAccepted() } else { accept(unwritten.answer) }
        if isAcknowledged { tally.addGone(.acknowledged) } else { tally.addPending(of: address.topic) }
        for replaced in unwritten.replaced {
            if let older = replaced.older {
                if older.isAnswered { tally.addAccepted() } else { accept(older.answer) }
                tally.addGone(replaced.removal)
            } else {
                tally.removePending(of: replaced.entry.topic, replaced.removal)
            }
        }
    }

    /// Tells a provider that its notification is accepted, which is written later.
    mutating func answer(_ unwritten: Unwritten) {
        outbox.add(.accepted(answer: unwritten.answer), to: unwritten.answer)
    }

    /// A notification could not be written, nor could what it would have replaced.
    mutating func refuse(_ unwritten: Unwritten) {
        refuse(unwritten.answer, isAnswered: unwritten.isAnswered)
        for replaced in unwritten.replaced {
            if let older = replaced.older { refuse(older.answer, isAnswered: older.isAnswered) }
        }
    }

    /// A notification that was accepted before it was written is lost after all: that is what its durability allows.
    private mutating func refuse(_ answer: ReplyAddress, isAnswered: Bool) {
        guard isAnswered else { return shed(answer) }
        tally.addAccepted()
        tally.addGone(.dropped)
    }

    /// A notification is accepted and goes nowhere.
    mutating func acceptNotStored(_ pending: PendingNotification, _ removal: Tally.Removal, _ answer: ReplyAddress) {
        accept(answer)
        tally.addGone(removal)
    }

    /// A notification is accepted, and its device gets it now or never.
    mutating func acceptNowOrNever(_ pending: PendingNotification, _ answer: ReplyAddress) {
        accept(answer)
        if streams.offerNow(pending) {
            tally.addPending(of: pending.notification.address.topic)
        } else {
            tally.addGone(.expired)
            let device = pending.notification.address.device
            let detail: TraceDetail = streams.isOpen(device) ? .windowFull : .notConnected
            trace.recordLater(.expired, detail, of: pending.sequence, on: device, at: now)
        }
    }

    /// Shows a notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to stream: DeviceStream?, at moment: MonotonicTime
    ) -> DeviceStream.Offer {
        streams.offer(pending, to: stream, at: moment)
    }

    /// A notification that waited is gone.
    mutating func remove(_ sequence: Int64, of device: DeviceID, _ topic: TopicID, _ removal: Tally.Removal) {
        tally.removePending(of: topic, removal)
        streams.forget(sequence, of: device)
    }

    /// A device acknowledged what may be now or never; false when it is not.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by device: DeviceID) -> Bool {
        guard let never = streams.acknowledgeNowOrNever(sequence, by: device) else { return false }
        if never.isCounted { tally.removePending(of: never.topic, .acknowledged) }
        return true
    }

    /// A notification makes room in its device's stream.
    mutating func forget(_ sequence: Int64, of device: DeviceID) { streams.forget(sequence, of: device) }

    /// A device acknowledged a notification that waited.
    mutating func acknowledge(_ entry: QueueEntry, _ stream: DeviceStream?, at moment: MonotonicTime) {
        tally.removePending(of: entry.topic, .acknowledged)
        streams.acknowledge(entry.sequence, on: stream, at: moment)
    }

    /// A device acknowledged a notification that is not written.
    mutating func acknowledge(_ sequence: Int64, _ stream: DeviceStream?, at moment: MonotonicTime) {
        streams.acknowledge(sequence, on: stream, at: moment)
    }

    /// Counts what a device tells.
    mutating func note(_ outcome: DeviceAPI.Outcome) { tally.add(outcome) }

    /// Counts now-or-never ones that came to nothing.
    private mutating func expire(_ never: [DeviceStream.NowOrNever]) {
        for never in never {
            if never.isCounted { tally.removePending(of: never.topic, .expired) }
            trace.recordLater(.expired, .notConnected, of: never.sequence, on: never.device, at: now)
        }
    }

    private mutating func apply(_ event: StoreEvent.Delivery) {
        switch event {
        case .acceptedNotStored(_, let removal, let answer):
            accept(answer)
            tally.addGone(removal)
        case .removed(let removed, let removal, _): remove(removed.sequence, of: removed.device, removed.topic, removal)
        }
    }

    private mutating func apply(_ event: StoreEvent.OfBroadcast) {
        switch event {
        case .stored(let template, let channel, let answer):
            tally.addPending(of: template.notification.address.topic)
            accept(answer)
            for token in audience.listeners(of: channel).values {
                _ = streams.offer(template.addressed(to: token), to: streams.stream(of: token.device), at: .now)
            }
        case .nowOrNever(let template, let channel, let answer):
            accept(answer)
            var takerCount = 0
            for token in audience.listeners(of: channel).values where streams.offerNow(template.addressed(to: token)) {
                takerCount += 1
            }
            if takerCount == 0 { tally.addGone(.expired) }
        case .removed(let removed, let removal):
            tally.removePending(of: removed.topic, removal)
            for device in audience.listeners(of: removed.channel).keys {
                streams.forget(removed.sequence, of: device)
            }
        case .settled(let sequence, let device): streams.forget(sequence, of: device)
        }
    }

    private mutating func accept(_ answer: ReplyAddress) {
        tally.addAccepted()
        outbox.add(.accepted(answer: answer), to: answer)
    }

    // MARK: Streams

    private mutating func apply(_ event: StoreEvent.OfStream) {
        switch event {
        case .silence(let topic, let device):
            expire(streams.dropOutgoing(on: device) { $0.address.topic == topic })
        case .silenceChannel(let channel, let device):
            _ = streams.dropOutgoing(on: device) { $0.channel == channel }
        case .silenceChannels(let topic):
            _ = streams.dropOutgoing(on: nil) { $0.channel != nil && $0.address.topic == topic }
        case .power(let device, let isSaving): streams.setSaving(isSaving, device)
        case .listen(let device, let listeners):
            if streams.isOpen(device) { audience.set(device, listeners) }
        }
    }

    /// Opens a device's stream, in place of an earlier one.
    mutating func attach(_ device: DeviceID, _ stream: ReplyAddress, _ listeners: [SubscriptionTable.Listener]) {
        let earlier = streams.attach(device, stream)
        close(earlier)
        if let earlier { outbox.add(.ended(.replaced, stream: earlier.address), to: earlier.address) }
        audience.set(device, listeners)
        outbox.add(.attached(device, stream: stream), to: stream)
    }

    /// Closes a stream; returns its device, or nil when another stream took over.
    mutating func detach(_ address: ReplyAddress) -> DeviceID? {
        guard let device = streams.device(at: address) else { return nil }
        close(streams.remove(device))
        audience.remove(device)
        departed.insert(device)
        return device
    }

    /// What a stream that is gone would have delivered now or never has expired.
    private mutating func close(_ stream: DeviceStream?) {
        if let stream { expire(stream.abandoned) }
    }

    // MARK: Holdings

    private mutating func apply(_ event: StoreEvent.Holding) {
        switch event {
        case .deviceAdded: tally.addDevices(1)
        case .deviceRemoved(let device):
            tally.addDevices(-1)
            let stream = streams.remove(device)
            close(stream)
            audience.remove(device)
            departed.remove(device)
            if let stream { outbox.add(.ended(.removed, stream: stream.address), to: stream.address) }
        case .registrationsChanged: break
        case .registrationBegan(let topic): tally.addRegistrations(1, of: topic)
        case .registrationEnded(let topic): tally.addRegistrations(-1, of: topic)
        case .appAdded: tally.addApps(1)
        case .appRemoved(let topic):
            tally.addApps(-1)
            tally.endRegistrations(of: topic)
        case .subscribed(let channel, let listener):
            tally.addSubscriptions(1, to: channel)
            if let listener, streams.isOpen(listener.token.device) { audience.add(listener) }
        case .unsubscribed(let ended):
            tally.addSubscriptions(-1, to: ended.channel)
            audience.remove(ended.device, from: ended.channel)
        case .channelRemoved(let channel):
            tally.endSubscriptions(to: channel)
            audience.remove(channel)
        }
    }

    // MARK: Questions

    /// Answers from what is in memory at this point of the order.
    private mutating func answer(_ question: StoreEvent.Question) {
        switch question {
        case .counts(let answer): perform(.counts(tally.counts(devicesConnected: streams.count)), answer)
        case .app(let row, let answer): perform(.app(tally.app(row)), answer)
        case .apps(let rows, let answer): perform(.apps(rows.map(tally.app)), answer)
        case .device(let description, let answer): perform(.device(completed(description)), answer)
        case .devices(let descriptions, let answer): perform(.devices(descriptions.map(completed)), answer)
        case .channel(let description, let answer): perform(.channel(tally.channel(description)), answer)
        case .channels(let descriptions, let answer):
            perform(.channels(descriptions.map(tally.channel)), answer)
        case .trace(let search): add(search)
        }
    }

    // MARK: Searches of the trace

    /// Whether a search goes on.
    var isSearching: Bool { !searches.isEmpty }

    private mutating func add(_ search: TraceSearch) {
        guard searches.count < Limits.traceSearchCountMax else { return refuse(.tooMany, search.answer) }
        searches.append(search)
    }

    /// Takes the next search in turn.
    mutating func takeSearch() -> TraceSearch? { searches.isEmpty ? nil : searches.removeFirst() }

    /// Puts a search back in line, or answers it.
    mutating func putBack(_ search: TraceSearch, isMore: Bool) {
        if isMore { searches.append(search) } else { perform(.trace(search.findings), search.answer) }
    }

    private func completed(_ description: StoreEvent.DeviceDescription) -> AdminAPI.Device {
        var device = description.device
        device.connected = streams.isOpen(description.id)
        if device.connected { device.seenAt = description.nowUnixSeconds }
        return device
    }

    private mutating func perform(_ answer: StoreAnswer, _ address: ReplyAddress) {
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
