// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What the writer keeps in memory: streams, who listens, counts and the outbox; changed by committed events only.
struct Ledger {
    private(set) var streams = Streams()
    private(set) var tally: Tally
    private var audience = Audience()
    private var outbox: Outbox
    /// Devices whose streams closed, of which is to be written down that they were seen.
    private var departed: Set<DeviceID> = []
    private let trace: TraceRecorder
    /// Searches of the trace, the next one first.
    private var searches: [TraceSearch] = []

    init(tally: Tally, trace: TraceRecorder, receivers: [any StoreReplyReceiver]) {
        self.tally = tally
        self.trace = trace
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

    /// Refuses a command because of the disk.
    mutating func refuse(_ command: StoreCommand, _ text: String) {
        if case .detach(let stream) = command {
            detach(stream)
        } else if let (reply, address) = StoreReply.unavailable(command, text) {
            outbox.add(reply, to: address)
        }
    }

    /// Refuses one that nobody had time for.
    mutating func shed(_ answer: ReplyAddress) {
        outbox.add(.refused(.serviceUnavailable, unregisteredUnixMilliseconds: nil, answer: answer), to: answer)
    }

    /// Hands out all answers and then all deliveries.
    mutating func handOut(now: Int64) {
        streams.takeOutgoing(now: now) { notifications, address in
            for sent in notifications where sent.sequence > 0 {
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
        let lateCount = streams.refill(device, read, through: last, isComplete: isComplete)
        tally.addGone(.expired, count: lateCount)
    }

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

    private mutating func apply(_ event: StoreEvent.Delivery) {
        switch event {
        case .stored(let pending, let answer):
            tally.addPending(of: pending.notification.address.topic)
            accept(answer)
            streams.offer(pending)
        case .nowOrNever(let notification, let sequence, let after, let answer):
            accept(answer)
            if !offerNow(notification, sequence, after: after) { tally.addGone(.expired) }
        case .acceptedNotStored(_, _, let removal, _, let answer):
            accept(answer)
            tally.addGone(removal)
        case .removed(let removed, let removal, _):
            tally.removePending(of: removed.topic, removal)
            streams.forget(removed.sequence, of: removed.device)
        case .outcome(let acknowledgement, _): tally.add(acknowledgement.outcome)
        }
    }

    private mutating func apply(_ event: StoreEvent.OfBroadcast) {
        switch event {
        case .stored(let template, let channel, let answer):
            tally.addPending(of: template.notification.address.topic)
            accept(answer)
            for token in audience.listeners(of: channel).values { streams.offer(template.addressed(to: token)) }
        case .nowOrNever(let template, let sequence, let channel, let after, let answer):
            accept(answer)
            var takerCount = 0
            for token in audience.listeners(of: channel).values {
                let notification = template.addressed(to: token)
                if offerNow(notification, sequence, after: after) { takerCount += 1 }
            }
            if takerCount == 0 { tally.addGone(.expired) }
        case .removed(let removed, let removal):
            tally.removePending(of: removed.topic, removal)
            for device in audience.listeners(of: removed.channel).keys {
                streams.forget(removed.sequence, of: device)
            }
        case .settled(let sequence, let device, _): streams.forget(sequence, of: device)
        }
    }

    /// Gives one that is now or never to its device's stream; false when it found none with room.
    private mutating func offerNow(_ notification: Notification, _ sequence: Int64, after: Int64) -> Bool {
        let device = notification.address.device
        let isTaken = streams.offerNow(notification, after: after)
        let detail: TraceDetail = isTaken ? .none : streams.isOpen(device) ? .windowFull : .notConnected
        trace.recordLater(
            isTaken ? .sent : .expired, detail, of: sequence, on: device, at: notification.acceptedUnixMilliseconds)
        return isTaken
    }

    private mutating func accept(_ answer: ReplyAddress) {
        tally.addAccepted()
        outbox.add(.accepted(answer: answer), to: answer)
    }

    // MARK: Streams

    private mutating func apply(_ event: StoreEvent.OfStream) {
        switch event {
        case .attach(let device, let stream, let listeners):
            let earlier = streams.attach(device, stream)
            close(earlier)
            if let earlier { outbox.add(.ended(.replaced, stream: earlier.address), to: earlier.address) }
            audience.set(device, listeners)
            outbox.add(.attached(device, stream: stream), to: stream)
        case .detach(let stream): detach(stream)
        case .silence(let topic, let device):
            let neverCount = streams.dropOutgoing(on: device) { $0.address.topic == topic }
            tally.addGone(.expired, count: neverCount)
        case .silenceChannel(let channel, let device):
            _ = streams.dropOutgoing(on: device) { $0.channel == channel }
        case .silenceChannels(let topic):
            _ = streams.dropOutgoing(on: nil) { $0.channel != nil && $0.address.topic == topic }
        case .listen(let device, let listeners):
            if streams.isOpen(device) { audience.set(device, listeners) }
        }
    }

    private mutating func detach(_ address: ReplyAddress) {
        guard let device = streams.device(at: address) else { return }
        close(streams.remove(device))
        audience.remove(device)
        departed.insert(device)
    }

    /// Counts what a stream that is gone would have delivered now or never.
    private mutating func close(_ stream: DeviceStream?) {
        if let stream { tally.addGone(.expired, count: stream.nowOrNeverCount) }
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
        guard searches.count < Limits.traceSearchCountMax else {
            return outbox.add(.performed(.failure(.tooMany), answer: search.answer), to: search.answer)
        }
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

extension Notification {
    /// A broadcast for one of its subscribers.
    fileprivate func addressed(to token: DeviceTokenContents) -> Notification {
        var notification = self
        notification.address = token
        return notification
    }
}

extension PendingNotification {
    /// A stored broadcast for one of its subscribers.
    fileprivate func addressed(to token: DeviceTokenContents) -> PendingNotification {
        PendingNotification(sequence: sequence, notification: notification.addressed(to: token))
    }
}
